"""Times of two or more ways to do the same, in turn, and their ratios."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

Times = Mapping[str, Sequence[float]]


def in_turn(
    ways: Mapping[str, Callable[[], object]], rounds: int, is_warm: bool = False
) -> dict[str, list[float]]:
    """Do each once untimed, then all in turn, A B A B.

    Args:
        ways: Name and what to do.
        rounds: How often.
        is_warm: It was done untimed already, perhaps in short.

    Returns:
        Seconds of each round by name.
    """
    for do in () if is_warm else ways.values():
        do()
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, do in ways.items():
            began = time.perf_counter()
            do()
            times[name].append(time.perf_counter() - began)
    return times


def ratio(times: Times, one: str, other: str) -> float:
    """Median of one / other, round by round."""
    return median(a / b for a, b in zip(times[one], times[other], strict=True))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """In Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def goal(value: float, bound: float, at_least: bool = False) -> str:
    """Whether a figure meets its goal, in words."""
    is_met = value >= bound if at_least else value <= bound
    return f"{'≥' if at_least else '≤'} {bound:g}: {'met' if is_met else 'not met'}"
