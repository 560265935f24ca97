"""How fast the device has been, and how long what it has to do will take."""

from __future__ import annotations

from collections import deque

_NUM_REMEMBERED = 8
_UNKNOWN = 1.0
"""Seconds of work per second of audio until something was measured."""
_LEAST_LEFT = 0.1
"""Of what was expected: taken to be left of work that takes longer than that."""


class Speed:
    """Seconds of work per predicted second of audio, over the last batches, the gain of batching included."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, float]] = deque(maxlen=_NUM_REMEMBERED)
        self._load_s = 0.0

    def measured(self, cost: float, work_s: float) -> None:
        """A batch was done.

        Args:
            cost: Its predicted audio, seconds.
            work_s: What it took.
        """
        self._recent.append((cost, work_s))

    def loaded(self, load_s: float) -> None:
        """The engine was loaded in that time."""
        self._load_s = load_s

    def work_s(self, cost: float, is_loaded: bool = True) -> float:
        """Expected seconds of work for so many predicted seconds of audio, loading included where that comes first."""
        costs = sum(each for each, _ in self._recent)
        ratio = sum(each for _, each in self._recent) / costs if costs else _UNKNOWN
        return cost * ratio + (0.0 if is_loaded else self._load_s)

    @staticmethod
    def left_s(expected_s: float, elapsed_s: float) -> float:
        """What is left of work that was expected to take so long; never nothing."""
        return max(expected_s - elapsed_s, _LEAST_LEFT * expected_s)
