"""Obedience: what is met is met, what is missed says by how much, what cannot be measured is not claimed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.voices import REFERENCE, WOMAN
from voice_sculptor.audio.measure import Measurements
from voice_sculptor.controls import CONTROL_NAMES, EMOTIONS, Controls, Emotion
from voice_sculptor.emotions import EMOTION_PROFILES
from voice_sculptor.obedience import UNITS, Obedience, judge
from voice_sculptor.targets import usual_f0_hz
from voice_sculptor.timbre import TIMBRE_NAMES, Timbre


def check(name: str, found: Obedience):  # type: ignore[no-untyped-def]
    return next(each for each in found.checks if each.control == name)


def test_a_usual_woman_is_a_woman_of_medium_everything() -> None:
    asked = Controls(gender="female", age=28, pitch=0, pitch_variation=0, volume=0, speed=1.0)
    found = judge(asked, Timbre(breathiness=0, brightness=0, body=0, roughness=0), WOMAN, "en", REFERENCE)
    assert [each.control for each in found.checks if not each.is_met] == []
    assert found.overall == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("asked", "change"),
    [
        (Controls(pitch=1), {"f0_hz": 204.0}),
        (Controls(pitch_variation=-1), {"f0_sd_st": 3.2}),
        (Controls(volume=1), {"loudness_lufs": -22.0}),
        (Controls(speed=1.25), {"syllables_per_s": 5.0}),
        (Controls(gender="male"), {}),
        (Controls(age=8), {}),
        (Controls(emotion=Emotion(name="sad", intensity=1.0)), {}),
    ],
)
def test_what_did_not_move_is_missed_and_lowers_the_score(asked: Controls, change: dict[str, float]) -> None:
    found = judge(asked, Timbre(), replace(WOMAN, **change), "en", REFERENCE)
    assert found.checks[0].is_met is False
    assert found.overall is not None
    assert found.overall < 0.9


def test_a_thin_or_high_man_is_still_held_to_what_is_usual_for_men() -> None:
    man = replace(WOMAN, f0_hz=usual_f0_hz("male", None) * 2 ** (5 / 12), tract_cm=17.4 / 1.06**2)
    found = judge(Controls(pitch=2), Timbre(body=-2), man, "en")
    assert [each.is_met for each in found.checks] == [True, True]


def test_nearer_is_better() -> None:
    scores = [
        judge(Controls(pitch=2), Timbre(), replace(WOMAN, f0_hz=hz), "en").overall or 0.0
        for hz in (204.0, 230.0, 245.0, 270.0)
    ]
    assert scores == sorted(scores)
    assert scores[0] == 0.0
    assert scores[-1] == 1.0


@pytest.mark.parametrize("name", [name for name in EMOTIONS if name != "neutral"])
def test_an_emotion_is_met_where_it_moved_and_not_where_it_moved_the_other_way(name: str) -> None:
    profile = EMOTION_PROFILES[name]  # type: ignore[index]
    asked = Controls(emotion=Emotion(name=name, intensity=1.0))  # type: ignore[arg-type]

    def moved(share: float) -> Measurements:
        return replace(
            WOMAN,
            f0_hz=REFERENCE["f0_hz"] * 2.0 ** (share * profile.pitch_st / 12.0),
            f0_sd_st=3.2 * profile.pitch_range**share,
            syllables_per_s=5.0 * profile.speed**share,
            tilt_db=-10.0 + profile.tilt_db * share,
        )

    assert judge(asked, Timbre(), moved(1.0), "en", REFERENCE).checks[0].is_met
    assert judge(asked, Timbre(), moved(0.6), "en", REFERENCE).checks[0].is_met
    assert judge(asked, Timbre(), moved(0.2), "en", REFERENCE).checks[0].is_met is False
    assert judge(asked, Timbre(), moved(-1.0), "en", REFERENCE).overall == 0.0


def test_what_a_control_sets_is_not_the_emotions_business() -> None:
    asked = Controls(pitch=0, speed=1.0, emotion=Emotion(name="sad", intensity=1.0))
    darker = replace(WOMAN, tilt_db=-13.0, f0_sd_st=1.9)
    found = judge(asked, Timbre(), darker, "en", REFERENCE)
    assert {cue.measure for cue in check("emotion", found).cues} == {"f0_sd_st", "tilt_db"}
    assert [each.is_met for each in found.checks] == [True] * 3


def test_what_cannot_be_measured_is_neither_met_nor_missed() -> None:
    silent = replace(WOMAN, f0_hz=None, f0_sd_st=None, hnr_db=None, jitter=None, tract_cm=None)
    found = judge(Controls(gender="female", pitch=1), Timbre(nasality=1, breathiness=1), silent, "en")
    assert [each.is_met for each in found.checks] == [None] * 4
    assert found.overall is None
    assert judge(Controls(), Timbre(), WOMAN, "en").checks == ()


def test_a_childs_gender_is_not_judged() -> None:
    child = replace(WOMAN, f0_hz=262.0, tract_cm=12.3)
    found = judge(Controls(age=8, gender="male"), Timbre(), child, "zh")
    assert check("gender", found).is_met is None
    assert check("age", found).is_met


def test_a_whisper_is_told_by_its_missing_voice() -> None:
    asked = Timbre(whisper=True, breathiness=2)
    whispered = replace(WOMAN, voiced_share=0.05, f0_hz=None, hnr_db=None)
    assert check("whisper", judge(Controls(), asked, whispered, "en")).is_met
    assert check("whisper", judge(Controls(), asked, WOMAN, "en")).is_met is False


numbers = st.one_of(st.none(), st.floats(0.01, 500.0))


@given(
    f0=numbers, spread=numbers, hnr=st.one_of(st.none(), st.floats(-20, 40)), tract=numbers, rate=numbers,
    lufs=st.floats(-70, 0), pitch=st.floats(-2, 2), speed=st.floats(0.5, 2.0), age=st.integers(3, 100),
    emotion=st.sampled_from(EMOTIONS), intensity=st.floats(0, 1), given_voice=st.booleans(),
    reference=st.fixed_dictionaries({}, optional={
        "f0_hz": st.floats(50, 500), "f0_sd_st": st.floats(0.1, 12), "syllables_per_s": st.floats(0.5, 12),
    }),
)  # fmt: skip
def test_any_measurement_gives_a_report(  # type: ignore[no-untyped-def]
    f0, spread, hnr, tract, rate, lufs, pitch, speed, age, emotion, intensity, given_voice, reference
) -> None:
    measured = replace(
        WOMAN, f0_hz=f0, f0_sd_st=spread, hnr_db=hnr, tract_cm=tract, syllables_per_s=rate, loudness_lufs=lufs
    )
    asked = Controls(
        age=age, gender="female", pitch=pitch, pitch_variation=pitch, volume=pitch, speed=speed,
        emotion=Emotion(name=emotion, intensity=intensity),
    )  # fmt: skip
    timbre = Timbre(breathiness=pitch, roughness=pitch, brightness=pitch, body=pitch, nasality=pitch)
    found = judge(asked, timbre, measured, "zh", reference, is_given=given_voice)
    plain = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert [each["control"] for each in plain["checks"]] == [*CONTROL_NAMES, *TIMBRE_NAMES[:-1]]
    assert all(each["score"] is None or 0.0 <= each["score"] <= 1.0 for each in plain["checks"])
    assert {cue["measure"] for each in plain["checks"] for cue in each["cues"]} <= set(UNITS)
