"""What the benchmark of obedience calls met, by hand-made candidates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.voices import F0_HZ, rendered
from voice_sculptor.audio.loudness import target_lufs
from voice_sculptor.bench.obedience.statements import SIDES
from voice_sculptor.bench.obedience.verdicts import Verdict, verdicts
from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.domain import Candidate
from voice_sculptor.targets import usual_hnr_db, usual_tract_cm
from voice_sculptor.timbre import Timbre


def verdict(name: str, stated: Any, candidate: Candidate, usual_rate: float | None = None) -> Verdict:
    (found,) = verdicts({name: stated}, candidate, usual_rate)
    return found


def test_met_is_read_and_measured() -> None:
    low = Controls(pitch=-1)
    assert verdict("pitch", "low", rendered(low, f0_hz=F0_HZ * 2 ** (-2.5 / 12))).is_met is True
    missed = verdict("pitch", "low", rendered(low))
    assert missed.is_met is False
    assert missed.why == f"f0_hz {F0_HZ * 2 ** (-2.5 / 12):.4g} > {F0_HZ:.4g}"


def test_what_is_read_otherwise_is_missed_however_it_measures() -> None:
    other = verdict("pitch", "low", rendered(Controls(pitch=0)))
    assert (other.is_met, other.why) == (False, "not understood: read 0.0")
    unread = verdict("gender", "female", rendered())
    assert (unread.is_met, unread.why) == (False, "not understood: read not at all")
    assert verdict("age", 40, rendered(Controls(gender="female", age=25))).is_met is False
    assert verdict("pitch", "not high", rendered()).is_met is False


LIMITS = [
    ("pitch", "f0_hz", lambda level: F0_HZ * 2 ** (2.5 * level / 12)),
    ("pitch_variation", "f0_sd_st", lambda level: 3.2 * 1.45**level),
    ("volume", "loudness_lufs", target_lufs),
    ("breathiness", "hnr_db", lambda level: usual_hnr_db(F0_HZ) - 2.5 * level),
    ("roughness", "jitter", lambda level: 0.95 * (1.6 if level > 0.0 else 1.25) ** level),
    ("brightness", "tilt_db", lambda level: -10.0 + 3.0 * level),
    ("body", "tract_cm", lambda level: usual_tract_cm("female", None) * 1.06**level),
]


@pytest.mark.parametrize(("name", "measure", "at"), LIMITS, ids=[limit[0] for limit in LIMITS])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("read", [0.0, 0.5])
def test_a_limit_ends_half_a_level_from_the_middle(
    name: str, measure: str, at: Any, sign: int, read: float
) -> None:
    """Whatever was read on the allowed side, and wherever on it the voice is."""
    value = {name: -sign * read}
    timbre = Timbre(**value) if name in Timbre.model_fields else Timbre()
    controls = Controls(gender="female", **({} if name in Timbre.model_fields else value))
    stated = f"not {SIDES[name][1 + sign]}"
    for level, is_met in ((-2.0, True), (0.0, True), (0.45, True), (0.55, False), (2.0, False)):
        found = verdict(name, stated, rendered(controls, timbre, **{measure: at(sign * level)}))
        assert found.is_met is is_met, (level, found)
        assert is_met == (not found.why)


def test_a_speed_is_held_against_the_voice_at_speed_1_and_not_against_its_plan() -> None:
    fast = rendered(Controls(speed=1.25), syllables_per_s=6.25)
    assert fast.obedience.checks[0].is_met is True
    assert verdict("speed", "fast", fast, usual_rate=5.0).is_met is True
    unmoved = verdict("speed", "fast", fast, usual_rate=6.25)
    assert (unmoved.is_met, unmoved.why) == (False, "syllables_per_s 7.812 > 6.25")
    assert verdict("speed", "fast", fast).is_met is False


@pytest.mark.parametrize(
    ("stated", "rate", "is_met"),
    [("not fast", 5.4, True), ("not fast", 5.6, False), ("not slow", 4.6, True), ("not slow", 4.4, False)],
)
def test_slow_and_fast_begin_where_the_levels_do(stated: str, rate: float, is_met: bool) -> None:
    candidate = rendered(Controls(speed=1.0), syllables_per_s=rate)
    assert verdict("speed", stated, candidate, usual_rate=5.0).is_met is is_met


def test_what_cannot_be_judged_says_why_and_is_neither_met_nor_missed() -> None:
    nasal = verdict("nasality", "nasal", rendered(timbre=Timbre(nasality=1)))
    child = verdict("gender", "male", rendered(Controls(gender="male", age=8)))
    whispered = rendered(Controls(gender="female"), Timbre(whisper=True, breathiness=1), voiced_share=0.0)
    breath = verdict("breathiness", "breathy", whispered)
    set_otherwise = Controls(
        emotion=Emotion(name="afraid", intensity=0.5), pitch=1, pitch_variation=0, speed=1.2
    )
    emotion = verdict("emotion", "afraid", rendered(set_otherwise))
    for found, reason in (
        (nasal, "nothing"),
        (child, "child"),
        (breath, "whisper"),
        (emotion, "other words"),
    ):
        assert found.is_met is None
        assert reason in found.why
    assert verdict("whisper", True, whispered).is_met is True


def test_a_measure_that_is_missing_without_a_reason_is_missed() -> None:
    silent = {"f0_hz": None, "tract_cm": None, "tilt_db": None, "f0_sd_st": None, "hnr_db": None}
    sad = Controls(gender="female", pitch=-1, emotion=Emotion(name="sad"))
    for name, stated in (("pitch", "low"), ("gender", "female"), ("emotion", "sad")):
        found = verdict(name, stated, rendered(sad, **silent, syllables_per_s=None))
        assert (found.is_met, found.why) == (False, "nothing was measured")
