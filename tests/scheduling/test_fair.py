"""Turns between clients, as pure policy: own order kept, nobody starved, what each gets differs by little."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_sculptor.scheduling.fair import FairQueue

CLIENTS = st.sampled_from("abcd")
COSTS = st.floats(0.5, 20.0)
ARRIVALS = st.lists(st.tuples(CLIENTS, COSTS), max_size=40)
STEPS = st.lists(st.one_of(st.tuples(CLIENTS, COSTS), st.just("take"), st.just("remove")), max_size=120)


def drained(queue: FairQueue[tuple[str, int]]) -> list[tuple[str, int]]:
    """All items in the order of their turns."""
    served = []
    while len(queue):
        expected = next(iter(queue))
        assert queue.take(expected[0]) == expected
        served.append(expected)
    return served


def test_twenty_of_one_do_not_keep_another_waiting() -> None:
    queue: FairQueue[tuple[str, int]] = FairQueue()
    for number in range(20):
        queue.push("a", ("a", number), 1.0)
    for _ in range(5):
        queue.take("a")
    queue.push("b", ("b", 0), 1.0)
    assert drained(queue)[0] == ("b", 0)


def test_what_is_long_counts_for_more() -> None:
    queue: FairQueue[tuple[str, int]] = FairQueue()
    for number in range(3):
        queue.push("long", ("long", number), 10.0)
    for number in range(12):
        queue.push("short", ("short", number), 2.0)
    order = [client for client, _ in drained(queue)]
    assert order[:8] == ["long", "short", "short", "short", "short", "short", "long", "short"]


def test_a_client_is_not_charged_for_what_it_takes_back() -> None:
    queue: FairQueue[tuple[str, int]] = FairQueue()
    for number in range(3):
        queue.push("a", ("a", number), 10.0)
        queue.push("b", ("b", number), 10.0)
    queue.take("a")
    queue.refund("a", 10.0)
    assert queue.remove("a", ("a", 99)) is False
    assert [client for client, _ in drained(queue)] == ["b", "a", "b", "a", "b"]


def test_an_empty_line_has_nothing_to_take() -> None:
    queue: FairQueue[tuple[str, int]] = FairQueue()
    with pytest.raises(KeyError):
        queue.take("a")
    item = ("a", 0)
    queue.push("a", item, 1.0)
    assert queue.remove("a", item)
    assert queue.count("a") == len(queue) == 0
    with pytest.raises(KeyError):
        queue.take("a")


@given(STEPS)
def test_each_comes_once_and_in_its_clients_order(steps: list[object]) -> None:
    queue: FairQueue[tuple[str, int]] = FairQueue()
    pushed, served, removed = [], [], []
    for number, step in enumerate(steps):
        if isinstance(step, tuple):
            item = (step[0], number)
            queue.push(step[0], item, step[1])
            pushed.append(item)
        elif len(queue):
            order = list(queue)
            assert len(order) == len(queue)
            chosen = order[0] if step == "take" else order[-1]
            if step == "take":
                queue.take(chosen[0])
                served.append(chosen)
            else:
                assert queue.remove(chosen[0], chosen)
                removed.append(chosen)
    served += drained(queue)
    assert sorted(served + removed) == sorted(pushed)
    for client in "abcd":
        own = [number for name, number in served if name == client]
        assert own == sorted(own)
        assert queue.count(client) == 0


@given(ARRIVALS, ARRIVALS, st.integers(0, 30))
def test_what_two_get_while_both_wait_differs_by_little(
    first: list[tuple[str, float]], later: list[tuple[str, float]], num_before: int
) -> None:
    queue: FairQueue[tuple[str, float]] = FairQueue()
    for client, cost in first:
        queue.push(client, (client, cost), cost)
    for _ in range(min(num_before, len(queue))):
        queue.take(next(iter(queue))[0])
    for client, cost in later:
        queue.push(client, (client, cost), cost)
    largest = max([cost for _, cost in first + later], default=0.0)
    got: dict[str, float] = defaultdict(float)
    watched = {client for client in "abcd" if queue.count(client)}
    while len(watched) > 1:
        client, cost = next(iter(queue))
        queue.take(client)
        got[client] += cost
        watched = {name for name in watched if queue.count(name)}
        amounts = [got[name] for name in watched]
        assert not amounts or max(amounts) - min(amounts) <= 3 * largest


@given(st.lists(COSTS, min_size=1, max_size=6), st.integers(1, 5))
def test_newcomers_without_end_starve_nobody(costs: list[float], num_newcomers: int) -> None:
    queue: FairQueue[tuple[str, int]] = FairQueue()
    for number, cost in enumerate(costs):
        queue.push("old", ("old", number), cost)
    num_turns = 0
    # All that are there at once share the time.
    bound = (sum(costs) / 0.5 + 2) * (len(costs) + num_newcomers + 1)
    while queue.count("old"):
        # Each turn is followed by newcomers, each a client never seen before, up to a bound as the queue has one.
        while len(queue) < len(costs) + num_newcomers:
            queue.push(f"new-{num_turns}-{len(queue)}", ("new", num_turns), 0.5)
        queue.take(_client_of(queue))
        num_turns += 1
        assert num_turns <= bound, "the old client is never served"
    assert len(queue._lines) <= 4 * (len(costs) + num_newcomers) + 40, "clients that are gone are forgotten"


def _client_of(queue: FairQueue[tuple[str, int]]) -> str:
    item = next(iter(queue))
    return next(str(name) for name, line in queue._lines.items() if line.items and line.items[0][0] is item)


def test_a_queue_at_rest_remembers_nobody() -> None:
    queue: FairQueue[tuple[str, int]] = FairQueue()
    for number in range(100):
        queue.push(f"client-{number}", ("x", number), 1.0 + number)
    for number in range(100):
        queue.take(f"client-{number}")
    queue.rest()
    assert queue._lines == {}
    queue.push("a", ("a", 0), 1.0)
    queue.rest()
    assert len(queue) == 1
