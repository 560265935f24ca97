"""Whose turn it is: a queue that shares work between clients, and keeps each client's own order."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass
class _Line(Generic[Item]):
    """One client's items.

    Attributes:
        start: Virtual time at which its first item's turn comes.
        items: Each with its cost, oldest first.
        last_turn: Number of its last turn.
    """

    start: float
    items: deque[tuple[Item, float]] = field(default_factory=deque)
    last_turn: int = -1


class FairQueue(Generic[Item]):
    """Start-time fair queueing (Goyal, Vin & Cheng 1996), one flow per client, all of equal weight.

    An item's turn comes at the virtual time at which its client's earlier work would be done if all clients were served
    at once, each at the same rate. Virtual time goes on by the work begun over the number of clients that have any, so
    that a client which comes later is not before those that have waited, and none can be passed for ever by newcomers.
    While two clients both have work waiting, what they got differs by a few of their largest items at most.
    """

    def __init__(self) -> None:
        self._lines: dict[Hashable, _Line[Item]] = {}
        self._time = 0.0
        self._num_turns = 0
        self._len = 0

    def __len__(self) -> int:
        return self._len

    def __iter__(self) -> Iterator[Item]:
        """The items in the order of their turns, as things stand."""
        order = []
        for number, line in enumerate(self._lines.values()):
            turn = line.start
            for place, (item, cost) in enumerate(line.items):
                order.append((turn, line.last_turn, number, place, item))
                turn += cost
        order.sort(key=lambda entry: entry[:4])
        return iter([entry[-1] for entry in order])

    def count(self, client: Hashable) -> int:
        """Items of a client."""
        line = self._lines.get(client)
        return len(line.items) if line else 0

    def push(self, client: Hashable, item: Item, cost: float) -> None:
        """Put an item behind its client's others.

        Args:
            client: Whose it is.
            item: Itself.
            cost: Work it is expected to make, over 0, in a unit of the caller's.
        """
        line = self._lines.setdefault(client, _Line(self._time))
        if not line.items:
            line.start = max(line.start, self._time)
        line.items.append((item, cost))
        self._len += 1

    def remove(self, client: Hashable, item: Item) -> bool:
        """Take an item out that will not be served; its client is not charged. Whether it was there."""
        line = self._lines.get(client)
        for place, (other, _) in enumerate(line.items if line else ()):
            if line is not None and other is item:
                del line.items[place]
                self._len -= 1
                return True
        return False

    def take(self, client: Hashable) -> Item:
        """Take a client's oldest item out to serve it now.

        Raises:
            KeyError: It has none.
        """
        line = self._lines[client]
        if not line.items:
            raise KeyError(client)
        num_active = sum(1 for each in self._lines.values() if each.items)
        item, cost = line.items.popleft()
        self._len -= 1
        self._time = max(self._time, line.start) + cost / num_active
        line.start += cost
        line.last_turn = self._num_turns
        self._num_turns += 1
        for gone in [
            name for name, each in self._lines.items() if not each.items and each.start <= self._time
        ]:
            del self._lines[gone]
        return item

    def refund(self, client: Hashable, cost: float) -> None:
        """Give a client back what it was charged for work that was not done."""
        line = self._lines.get(client)
        if line is not None:
            line.start = line.start - cost if line.items else max(self._time, line.start - cost)

    def rest(self) -> None:
        """Nothing waits and nothing runs: nobody owes anything."""
        if not self._len:
            self._lines.clear()
            self._time = 0.0
