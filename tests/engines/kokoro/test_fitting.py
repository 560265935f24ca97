"""A designed voice measures what it was asked for: the real weights, spoken and measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from voice_sculptor.config import load_settings
from voice_sculptor.controls import Controls, Emotion, EmotionName
from voice_sculptor.domain import Candidate, VoiceSpec
from voice_sculptor.emotions import EMOTION_PROFILES
from voice_sculptor.engines.kokoro.edits import SHELF_DB_PER_TILT_DB, Edit, edit_for
from voice_sculptor.engines.kokoro.fitting import Fitting, Take
from voice_sculptor.engines.kokoro.speech import Pace
from voice_sculptor.engines.kokoro.state import VoiceState
from voice_sculptor.events import Failed, Ready
from voice_sculptor.library.voice_files import load_voice, voice_bytes
from voice_sculptor.studio import Studio
from voice_sculptor.targets import Target
from voice_sculptor.timbre import Timbre

TEXTS = {
    "en": "The old harbor was quiet that morning, and only a few boats had come in from the sea.",
    "zh": "那天早上旧港口很安静，只有几条小船从海上回来。",
}


@pytest.fixture(scope="module")
def studio(checkpoints_dir: Path) -> Iterator[Studio]:
    with Studio(load_settings(engine="kokoro", checkpoints_dir=checkpoints_dir)) as made:
        yield made


def one(studio: Studio, spec: VoiceSpec, language: str = "en", seed: int = 0) -> Candidate:
    events = studio.design(TEXTS[language], spec, num_candidates=1, seed=seed)
    return next(event.candidate for event in events if isinstance(event, Ready))


def missed(candidate: Candidate) -> list[str]:
    return [f"{check.control}: {check.cues}" for check in candidate.obedience.checks if not check.is_met]


@pytest.mark.parametrize(
    ("language", "spec"),
    [
        ("en", VoiceSpec(controls=Controls(age=7))),
        ("zh", VoiceSpec(controls=Controls(gender="female", pitch=-1, volume=1))),
        ("en", VoiceSpec(controls=Controls(gender="male", age=72, speed=0.8))),
        ("zh", VoiceSpec(controls=Controls(gender="male", pitch=1), timbre=Timbre(brightness=1))),
        ("en", VoiceSpec(timbre=Timbre(breathiness=2))),
        ("zh", VoiceSpec(timbre=Timbre(body=2))),
        ("en", VoiceSpec(timbre=Timbre(whisper=True))),
        ("zh", VoiceSpec(controls=Controls(emotion=Emotion(name="angry", intensity=1.0)))),
    ],
)  # fmt: skip
def test_what_is_asked_is_heard(studio: Studio, language: str, spec: VoiceSpec) -> None:
    candidate = one(studio, spec, language)
    assert candidate.obedience.checks
    assert missed(candidate) == []


@pytest.mark.parametrize(("language", "name"), [("en", "surprised"), ("zh", "surprised"), ("en", "sad")])
def test_an_emotion_is_judged_against_the_same_voice_with_nothing_asked(
    studio: Studio, language: str, name: EmotionName
) -> None:
    candidate = one(studio, VoiceSpec(controls=Controls(emotion=Emotion(name=name, intensity=1.0))), language)
    assert missed(candidate) == []
    unmoved = candidate.voice.model_copy(update={"controls": Controls()})
    plain = next(
        event.candidate.measured
        for event in studio.speak(unmoved, TEXTS[language])
        if isinstance(event, Ready)
    )
    (check,) = candidate.obedience.checks
    profile = EMOTION_PROFILES[name]
    bases = {cue.measure: cue.target for cue in check.cues}
    bases["f0_sd_st"] /= profile.pitch_range
    bases["f0_hz"] /= 2.0 ** (profile.pitch_st / 12.0)
    assert bases["f0_sd_st"] == pytest.approx(plain.f0_sd_st, rel=0.15)
    assert bases["f0_hz"] == pytest.approx(plain.f0_hz, rel=0.06)


def test_a_lively_voice_leaves_room_for_its_surprise(studio: Studio) -> None:
    """It would end where no voice can go; who is sad needs no room."""
    ranges = {
        name: one(studio, VoiceSpec(controls=Controls(gender="male", emotion=Emotion(name=name))), "zh")
        .voice.state.get("pitch_range", 1.0)
        for name in ("surprised", "sad")
    }  # fmt: skip
    assert 0.3 < ranges["surprised"] < ranges["sad"] == 1.0


@pytest.mark.parametrize(
    "spec",
    [
        VoiceSpec(controls=Controls(age=10), timbre=Timbre(breathiness=1)),
        VoiceSpec(controls=Controls(gender="male", age=75, emotion=Emotion(name="surprised"))),
    ],
)
def test_a_kept_voice_is_the_same_voice_after_it_was_written_down(
    studio: Studio, tmp_path: Path, spec: VoiceSpec
) -> None:
    candidate = one(studio, spec, seed=6)
    path = tmp_path / "kept.voice.json"
    path.write_bytes(voice_bytes(candidate.voice))
    spoken = [
        event.candidate.audio.samples.tobytes()
        for voice in (candidate.voice, load_voice(path))
        for event in studio.speak(voice, TEXTS["en"])
        if isinstance(event, Ready)
    ]
    assert spoken == [candidate.audio.samples.tobytes()] * 2


@pytest.mark.parametrize("text", ["こんにちは", "嗯。", "Hm.", "a"])
def test_a_text_with_next_to_nothing_to_say_ends_well(studio: Studio, text: str) -> None:
    controls = Controls(age=8, pitch=1, pitch_variation=2, emotion=Emotion(name="sad"))
    spec = VoiceSpec(controls=controls, timbre=Timbre(breathiness=1, roughness=1))
    events = list(studio.design(text, spec, num_candidates=1, seed=0))
    assert isinstance(events[-1], Ready | Failed)


def test_a_given_voice_steps_from_itself(studio: Studio) -> None:
    voice = studio.find_voice("am_michael")
    plain, higher = (
        next(
            event.candidate
            for event in studio.speak(voice, TEXTS["en"], controls=controls)
            if isinstance(event, Ready)
        )
        for controls in (Controls(), Controls(pitch=1))
    )
    assert plain.obedience.checks == ()
    assert missed(higher) == []
    assert plain.measured.f0_hz is not None
    assert higher.measured.f0_hz == pytest.approx(plain.measured.f0_hz * 2 ** (2.5 / 12), rel=0.04)


class Rehearsing(Fitting):
    """Hears what it is told to, and remembers who spoke."""

    def __init__(self, *heard: dict[str, float]) -> None:
        self.coming = iter(heard)
        self.spoke: list[VoiceState] = []
        self.edits: list[Edit] = []

    def _has_words(self, state: VoiceState) -> bool:
        return True

    def _contours(self, state: VoiceState, edit: Edit) -> list[NDArray[np.float64]]:
        return [np.zeros(0)]

    def _rehearsed(self, state: VoiceState, edit: Edit, contours: list[NDArray[np.float64]]) -> Take:
        self.spoke.append(state)
        self.edits.append(edit)
        return Take(state, edit, iter(()), Pace(), heard=next(self.coming))


def test_f0_is_corrected_by_what_it_misses_whatever_the_last_correction_seemed_to_do() -> None:
    """The median of a wide contour jumps: lowered by a semitone it was heard half of one higher."""
    fitting = Rehearsing(*({"f0_hz": f0_hz} for f0_hz in (220.0, 227.0, 206.0)))
    wanted = {"f0_hz": Target("pitch", "f0_hz", 206.0, 1.0, "semitones")}
    take = fitting.fit(VoiceState(blend={"af_heart": 1.0}), Controls(pitch=0), wanted)
    shifts = [state.pitch_st for state in fitting.spoke]
    first, second = (12.0 * math.log2(206.0 / heard) for heard in (220.0, 227.0))
    assert shifts == pytest.approx([0.0, first, first + second], abs=1e-3)
    assert take.state is fitting.spoke[-1]


def test_where_the_contour_is_smoothest_already_noise_is_taken_out_unless_its_level_was_asked() -> None:
    smooth = VoiceState(blend={"af_heart": 1.0}, roughness=-1.0, breath=0.05)
    wanted = {"jitter": Target("roughness", "jitter", 0.8, 0.4, "ratio")}
    breathy = {"hnr_db": Target("breathiness", "hnr_db", 9.0, 1.5, "difference")}
    fitting = Rehearsing({"jitter": 1.4, "hnr_db": 9.0}, {"jitter": 0.9, "hnr_db": 12.0})
    assert fitting.fit(smooth, Controls(), wanted).state.breath == -0.022
    asked = Rehearsing({"jitter": 1.4, "hnr_db": 9.2})
    # It is met, and nothing else helps: one take is all.
    assert asked.fit(smooth, Controls(), wanted | breathy).state == smooth
    assert len(asked.spoke) == 1


PLAIN = {"f0_hz": 200.0, "f0_sd_st": 3.0, "tilt_db": -10.0}
SAD = Controls(emotion=Emotion(name="sad", intensity=1.0))
FITTED = VoiceState(blend={"af_heart": 1.0})


def expressed(
    controls: Controls, *heard: dict[str, float], wanted: dict[str, Target] | None = None
) -> tuple[Rehearsing, Take]:
    """A voice whose first take, whose own way of speaking, and whose second take are heard so."""
    fitting = Rehearsing(*heard[1:])
    take = Take(FITTED, FITTED.edit_as(controls), iter(()), Pace(), heard=heard[0])
    return fitting, fitting.express(take, controls, wanted or {})


def test_an_emotion_of_which_too_little_is_heard_is_enlarged_by_what_is_missing() -> None:
    half = {"f0_hz": 200.0 * 2.0 ** (-0.5 / 12.0), "f0_sd_st": 3.0 * 0.6, "tilt_db": -10.5}
    whole = {"f0_hz": 183.0, "f0_sd_st": 1.8, "tilt_db": -13.0}
    fitting, take = expressed(SAD, half, PLAIN, whole)
    asked = edit_for(SAD)
    assert take.heard == whole
    assert fitting.edits == [Edit(), take.edit]
    assert take.edit.pitch_st == pytest.approx(asked.pitch_st - 1.0)
    assert take.edit.pitch_range == asked.pitch_range
    assert take.edit.tilt_db == pytest.approx(asked.tilt_db - 2.5 * SHELF_DB_PER_TILT_DB)
    assert take.edit == take.state.edit_as(SAD)
    # It is the voice's own manner of this emotion: at half the intensity half of it, and of no other.
    assert take.state.edit() == FITTED.edit()
    half_sad = Controls(emotion=Emotion(name="sad", intensity=0.5))
    assert take.state.edit_as(half_sad).pitch_st == pytest.approx(edit_for(half_sad).pitch_st - 0.5)
    assert take.state.edit_as(SAD.changed_by(Controls(pitch=1))).pitch_st == 2.5
    happy = Controls(emotion=Emotion(name="happy"))
    assert take.state.edit_as(happy) == edit_for(happy)
    assert fitting.reference(take) == PLAIN


def test_an_emotion_that_is_heard_and_one_that_got_worse_stay_as_they_were() -> None:
    enough = {"f0_hz": 188.0, "f0_sd_st": 2.0, "tilt_db": -12.5}
    fitting, take = expressed(SAD, enough, PLAIN)
    assert (take.heard, take.edit, len(fitting.spoke)) == (enough, edit_for(SAD), 1)
    little = enough | {"f0_sd_st": 2.6}
    fitting, take = expressed(SAD, little, PLAIN, enough | {"f0_sd_st": 3.3})
    assert (take.heard, take.edit, len(fitting.spoke)) == (little, edit_for(SAD), 2)


def test_an_error_of_measuring_does_not_enlarge_an_emotion_without_end() -> None:
    risen = {"f0_hz": 300.0, "f0_sd_st": 1.8, "tilt_db": -13.0}
    _, take = expressed(SAD, risen, PLAIN, risen | {"f0_hz": 190.0})
    assert take.edit.pitch_st == pytest.approx(edit_for(SAD).pitch_st - 1.5 * 1.5)


def test_a_brightness_that_was_asked_is_not_moved_for_an_emotion() -> None:
    bright = {"tilt_db": Target("brightness", "tilt_db", -10.0, 2.0, "difference")}
    still = {"f0_hz": 183.0, "f0_sd_st": 1.8, "tilt_db": -10.0}
    fitting, take = expressed(SAD, still, PLAIN, wanted=bright)
    assert (take.edit, len(fitting.spoke)) == (edit_for(SAD), 1)


def test_a_neutral_voice_is_its_own_reference() -> None:
    neutral = Controls(emotion=Emotion(name="neutral"))
    fitting, take = expressed(neutral, PLAIN)
    assert fitting.reference(take) == PLAIN
    assert fitting.spoke == []
