"""Targets: norms that hold, levels in order, bands as documented."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_sculptor.controls import EMOTIONS, Controls, Emotion
from voice_sculptor.emotions import EMOTION_PROFILES, emotion_share
from voice_sculptor.targets import (
    GENDERS,
    PITCH_STEP_ST,
    RANGE_STEP,
    Target,
    gender_of,
    male_probability,
    targets,
    usual_f0_hz,
    usual_tract_cm,
)
from voice_sculptor.timbre import LEVEL_TIMBRE_NAMES, Timbre


def by_measure(found: tuple[Target, ...]) -> dict[str, Target]:
    return {target.measure: target for target in found}


def test_nothing_asked_has_no_target() -> None:
    assert targets(Controls(), Timbre(), "en", "female") == ()


@pytest.mark.parametrize("gender", GENDERS)
def test_people_grow_and_men_are_lower_and_larger(gender: str) -> None:
    f0 = [usual_f0_hz(gender, age) for age in (4, 8, 12, 25)]  # type: ignore[arg-type]
    tract = [usual_tract_cm(gender, age) for age in (4, 8, 12, 25)]  # type: ignore[arg-type]
    assert f0 == sorted(f0, reverse=True)
    assert tract == sorted(tract)
    assert usual_f0_hz("male", 30) < 0.7 * usual_f0_hz("female", 30)
    assert usual_tract_cm("male", 30) > 1.1 * usual_tract_cm("female", 30)


@pytest.mark.parametrize(
    ("control", "measure", "levels"),
    [
        ("pitch", "f0_hz", (-2, -1, 0, 1, 2)),
        ("pitch_variation", "f0_sd_st", (-2, -1, 0, 1, 2)),
        ("volume", "loudness_lufs", (-2, -1, 0, 1, 2)),
        ("speed", "syllables_per_s", (0.6, 0.8, 1.0, 1.25, 1.6)),
    ],
)
def test_levels_are_in_order_and_their_bands_do_not_touch_but_at_the_edges(
    control: str, measure: str, levels: tuple[float, ...]
) -> None:
    reference = {"syllables_per_s": 4.5}
    aims = [
        by_measure(targets(Controls(**{control: level}), Timbre(), "zh", "male", reference))[measure]
        for level in levels
    ]
    values = [aim.value for aim in aims]
    assert values == sorted(values)
    for low, high in pairwise(aims):
        assert low.band[1] < high.band[0] * (1.01 if low.value > 0 else 0.99)


def test_a_given_voice_steps_from_itself_and_a_designed_one_from_the_norm() -> None:
    asked, reference = Controls(pitch=1), {"f0_hz": 90.0}
    given_voice = by_measure(targets(asked, Timbre(), "en", "male", reference, is_given=True))["f0_hz"]
    designed = by_measure(targets(asked, Timbre(), "en", "male", reference))["f0_hz"]
    step = 2.0 ** (PITCH_STEP_ST / 12.0)
    assert given_voice.value == pytest.approx(90.0 * step)
    assert designed.value == pytest.approx(usual_f0_hz("male", None) * step)


def test_an_emotion_leaves_alone_what_a_control_sets() -> None:
    sad, reference = Emotion(name="sad", intensity=1.0), {"syllables_per_s": 5.0}
    asked = Controls(pitch=0, speed=1.0)
    moved = asked.changed_by(Controls(emotion=sad))
    assert targets(moved, Timbre(), "en", "female", reference) == targets(
        asked, Timbre(), "en", "female", reference
    )
    assert emotion_share(moved).pitch_range == EMOTION_PROFILES["sad"].pitch_range
    assert emotion_share(Controls(emotion=sad)) == EMOTION_PROFILES["sad"]
    assert set(EMOTION_PROFILES) == set(EMOTIONS)


@pytest.mark.parametrize("name", LEVEL_TIMBRE_NAMES)
def test_dimensions_of_timbre_are_in_order(name: str) -> None:
    found = [targets(Controls(), Timbre(**{name: level}), "en", "female") for level in (-2, -1, 0, 1, 2)]
    if name == "nasality":
        assert found == [()] * 5  # Nothing measures it yet.
        return
    values = [each[0].value for each in found]
    assert values in (sorted(values), sorted(values, reverse=True))
    assert len(set(values)) == 5


def test_a_lively_voice_and_a_man_may_be_less_regular() -> None:
    calm, usual, lively = (
        by_measure(targets(Controls(pitch_variation=level), Timbre(roughness=-1), "en", "male"))["jitter"]
        for level in (-1, 0, 1)
    )
    assert calm.value == pytest.approx(usual.value * RANGE_STEP**-0.33)
    assert lively.value == pytest.approx(usual.value * RANGE_STEP**0.68)
    woman = by_measure(targets(Controls(), Timbre(roughness=-1), "en", "female"))["jitter"]
    assert usual.value / woman.value == pytest.approx(1.21, abs=0.01)


def test_both_cues_make_a_gender() -> None:
    assert gender_of(120.0, 17.5) == "male"
    assert gender_of(210.0, 14.5) == "female"
    # A low woman and a high man are told by their size.
    assert gender_of(150.0, 14.5) == "female"
    assert gender_of(170.0, 17.5) == "male"
    assert male_probability(None, None) == 0.5


@given(st.floats(40.0, 600.0), st.floats(8.0, 22.0))
def test_probabilities_stay_probabilities(f0_hz: float, tract_cm: float) -> None:
    assert 0.0 <= male_probability(f0_hz, tract_cm) <= 1.0


@pytest.mark.parametrize("scale", ["semitones", "ratio", "difference"])
@given(value=st.floats(1.0, 400.0), tolerance=st.floats(0.05, 2.0))
def test_a_deviation_of_one_is_the_edge_of_the_band(scale: str, value: float, tolerance: float) -> None:
    target = Target("pitch", "f0_hz", value, tolerance, scale)  # type: ignore[arg-type]
    low, high = target.band
    assert target.deviation(high) == pytest.approx(1.0, abs=1e-6)
    assert target.deviation(value) == pytest.approx(0.0, abs=1e-9)
    if low > 0.0:
        assert target.deviation(low) == pytest.approx(-1.0, abs=1e-6)
    if scale != "difference":
        assert target.deviation(0.0) == -math.inf
