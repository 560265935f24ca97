"""From readings to what may begin: sequences, and what holds for all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_sculptor.scheduling.memory import MemorySnapshot
from voice_sculptor.scheduling.pressure import Allowance, Thresholds, pressure_percent

USUAL = Thresholds()
PERCENTS = st.floats(0.0, 100.0)


def run(percents: list[float], most: int = 4, thresholds: Thresholds = USUAL) -> list[tuple[int, bool]]:
    now, seen = Allowance(most), []
    for percent in percents:
        now = now.after(percent, thresholds, most)
        seen.append((now.limit, now.is_paused))
    return seen


@pytest.mark.parametrize(
    ("percents", "expected"),
    [
        # One step down per reading, never below one; nothing changes between 85 and 90; one step up below 85.
        ([90, 91, 94.9, 90, 90], [(3, False), (2, False), (1, False), (1, False), (1, False)]),
        ([90, 89.9, 85, 84.9, 84, 0, 0], [(3, False)] * 3 + [(4, False)] * 4),
        ([93, 93, 84, 84, 84], [(3, False), (2, False), (3, False), (4, False), (4, False)]),
        # A pause outlasts all that is not recovery.
        ([95, 90, 86, 85, 84.9], [(3, True), (2, True), (2, True), (2, True), (3, False)]),
        ([100, 100], [(3, True), (2, True)]),
    ],
)
def test_sequences(percents: list[float], expected: list[tuple[int, bool]]) -> None:
    assert run(percents) == expected


def test_all_three_can_be_set() -> None:
    thresholds = Thresholds(10.0, 20.0, 30.0)
    assert run([15, 20, 30, 25, 9], thresholds=thresholds) == [
        (4, False),
        (3, False),
        (2, True),
        (1, True),
        (2, False),
    ]
    assert [thresholds.level(percent) for percent in (9, 20, 30)] == ["normal", "warning", "critical"]


@given(st.lists(PERCENTS, max_size=60), st.integers(1, 16))
def test_it_stays_in_bounds_and_moves_by_one(percents: list[float], most: int) -> None:
    before = most
    for (limit, _), percent in zip(run(percents, most), percents, strict=True):
        assert 1 <= limit <= most
        assert abs(limit - before) <= 1
        assert not (limit > before and percent >= USUAL.recovery)
        before = limit


@given(st.lists(PERCENTS, max_size=40), st.integers(1, 16))
def test_it_pauses_only_when_critical_and_goes_on_only_when_recovered(
    percents: list[float], most: int
) -> None:
    was_paused = False
    for (_, is_paused), percent in zip(run(percents, most), percents, strict=True):
        if is_paused and not was_paused:
            assert percent >= USUAL.critical
        if was_paused and not is_paused:
            assert percent < USUAL.recovery
        was_paused = is_paused


@given(st.lists(PERCENTS, max_size=40), st.integers(1, 16))
def test_it_always_recovers(percents: list[float], most: int) -> None:
    assert run([*percents, *[0.0] * most], most)[-1] == (most, False)


@given(st.lists(st.floats(85.0, 89.99), max_size=20))
def test_between_recovery_and_warning_nothing_moves(percents: list[float]) -> None:
    assert run([95.0, *percents])[-1] == (3, True)


def test_changes_are_named() -> None:
    full, less, paused = Allowance(4), Allowance(3), Allowance(2, is_paused=True)
    assert full.changes_to(full) == ()
    assert full.changes_to(less) == ("smaller",)
    assert less.changes_to(paused) == ("smaller", "paused")
    assert paused.changes_to(less) == ("larger", "resumed")


def test_a_card_is_as_full_as_it_is() -> None:
    card = MemorySnapshot("vram", 96, 100, 50, "card")
    assert pressure_percent(card) == 96.0
    assert pressure_percent(replace(card, held_bytes=20)) == 76.0


@pytest.mark.parametrize(
    ("total_gb", "available_gb", "expected"),
    [
        (16.0, 0.8, 0.0),  # A laptop with a browser: 95 % used, and room for the engine.
        (64.0, 3.0, 0.0),
        (8.0, 0.4, 95.0),
        (1.5, 0.6, 0.0),
        (2.0, 0.1, 95.0),
    ],
)
def test_main_memory_counts_only_where_little_is_left(
    total_gb: float, available_gb: float, expected: float
) -> None:
    memory = MemorySnapshot("ram", round((total_gb - available_gb) * 1e9), round(total_gb * 1e9), 1, "cpu")
    assert pressure_percent(memory) == pytest.approx(expected)
    assert pressure_percent(replace(memory, kind="vram")) == memory.used_percent
