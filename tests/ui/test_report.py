"""The table of what was asked and what was measured."""

from __future__ import annotations

from dataclasses import replace

from tests.test_obedience import REFERENCE, WOMAN
from voice_sculptor.controls import EMOTIONS, Controls, Emotion
from voice_sculptor.obedience import UNITS, judge
from voice_sculptor.timbre import LEVEL_TIMBRE_NAMES, Timbre
from voice_sculptor.ui.report import report
from voice_sculptor.ui.strings import STRINGS


def test_a_row_for_each_thing_asked_in_both_languages() -> None:
    found = judge(Controls(gender="female", pitch=-1), Timbre(breathiness=1), WOMAN, "en", REFERENCE)
    html = report(found)
    assert html.count("<tr>") == 1 + 3
    for words in ("Pitch", "音高", "low", "较低", "Breathiness", "✗ no", "✗ 未达到", "Match ", "符合度"):
        assert words in html
    assert "1 of 3 met" in html


def test_nothing_asked_shows_nothing_and_the_unmeasurable_is_not_claimed() -> None:
    assert report(judge(Controls(), Timbre(), WOMAN, "en")) == ""
    silent = replace(WOMAN, f0_hz=None)
    html = report(judge(Controls(pitch=1), Timbre(nasality=1), silent, "en"))
    assert "could not be measured" in html
    assert "not measured" in html
    assert "vs-mark-met" not in html


def test_every_measure_and_control_has_words() -> None:
    everything = Controls(
        age=40, gender="male", pitch=1, pitch_variation=1, volume=1, speed=1.2,
        emotion=Emotion(name=EMOTIONS[0], intensity=1.0),
    )  # fmt: skip
    timbre = Timbre(**dict.fromkeys(LEVEL_TIMBRE_NAMES, 1.0), whisper=True)
    html = report(judge(everything, timbre, WOMAN, "zh", REFERENCE))
    assert html.count("<tr>") == 1 + 13
    assert {f"{kind}_{measure}" for kind in ("cue", "note") for measure in UNITS} <= set(STRINGS)


def test_figures_are_explained_in_plain_words_each_once() -> None:
    sad = Controls(gender="female", pitch=-1, volume=0, emotion=Emotion(name="sad", intensity=1.0))
    html = report(judge(sad, Timbre(), replace(WOMAN, loudness_lufs=-24.0), "en", REFERENCE))
    for words in ("vibrations of the voice", "每秒振动的次数", "loudness −24.0 LUFS", "semitones", "半音"):
        assert words in html
    assert "-2" not in html  # a minus, which is no dash between two figures
    assert html.count("note") == 0
    assert html.count("vibrations of the voice") == html.count("Aim: near enough") == 1
    assert "a second: more is faster" not in report(
        judge(Controls(pitch=1), Timbre(), WOMAN, "en", REFERENCE)
    )


def test_what_has_no_figures_has_no_explanation() -> None:
    html = report(judge(Controls(), Timbre(nasality=1), WOMAN, "en"))
    assert "<table>" in html
    assert "<ul>" not in html


def test_an_emotion_that_cannot_be_judged_says_why() -> None:
    slight = Controls(pitch=0, emotion=Emotion(name="happy", intensity=0.2))
    html = report(judge(slight, Timbre(), WOMAN, "en", REFERENCE))
    assert "too slight, or set by other controls" in html
    assert "变化太小" in html
    assert "too slight" not in report(judge(Controls(), Timbre(nasality=1), WOMAN, "en"))
