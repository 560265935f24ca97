"""The benchmark of quality with judges made up: what it lets them hear, and what it makes of their figures."""

from __future__ import annotations

import json

import pytest

from voice_sculptor.bench import quality, speakers
from voice_sculptor.bench.quality import Row, compare, measure, plain_words, report
from voice_sculptor.config import load_settings
from voice_sculptor.controls import CONTROL_NAMES
from voice_sculptor.domain import AudioClip, VoiceSpec
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import InvalidVoiceFile
from voice_sculptor.studio import Studio
from voice_sculptor.timbre import TIMBRE_NAMES

SENTENCES = ("The lake lay silent.", "Nobody had seen the ferry since noon.")


class Judges:
    """Hears every word but the last of the second sentence, and likes long clips."""

    def __init__(self) -> None:
        self.durations_s: list[float] = []

    def transcribe(self, clip: AudioClip) -> str:
        self.durations_s.append(clip.duration_s)
        return SENTENCES[0] if len(self.durations_s) % 2 else "Nobody had seen the ferry since"

    def cleanliness(self, clip: AudioClip) -> float:
        return clip.duration_s


@pytest.fixture
def few_designs(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: speakers.DESIGNED[name] for name in ("full, slow man", "whispering woman")}
    monkeypatch.setattr(speakers, "DESIGNED", few)


@pytest.mark.usefixtures("few_designs")
def test_a_designed_voice_is_made_once_and_speaks_every_sentence_as_a_kept_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, bool]] = []
    engine = FakeEngine()
    synthesize = engine.synthesize

    def watched(batch, is_cancelled):  # type: ignore[no-untyped-def]
        asked.extend((request.text, request.voice is not None) for request in batch)
        return synthesize(batch, is_cancelled)

    monkeypatch.setattr(engine, "synthesize", watched)
    judges = Judges()
    with Studio(load_settings(engine="fake", history_bytes=0), engine) as studio:
        rows = measure(studio, judges, SENTENCES, ("designed",))
    one_voice = [(SENTENCES[0], False), (SENTENCES[0], True), (SENTENCES[1], True)]
    assert asked == 2 * one_voice
    assert [(row.voice, row.kind) for row in rows] == [
        ("full, slow man", "designed"),
        ("whispering woman", "whisper"),
    ]
    # One of eleven words is not heard; a slow voice stays slow.
    assert rows[0].wer == pytest.approx(1 / 11)
    assert [row.pace for row in rows] == [0.6, 1.0]
    assert judges.durations_s[0] == pytest.approx(judges.durations_s[2] / 0.6, rel=0.01)
    assert rows[0].dnsmos == pytest.approx(sum(judges.durations_s[:2]) / 2)


def test_only_the_voices_of_the_asked_kind_are_taken() -> None:
    with Studio(load_settings(engine="fake", history_bytes=0), FakeEngine()) as studio:
        (*blends,) = speakers.speakers(studio, ("blend",), SENTENCES[0])
        assert [speaker.kind for speaker in blends] == ["blend"] * len(speakers.BLENDS)
        assert blends[0].name == "af_heart 0.6 + af_bella 0.4"
        with pytest.raises(InvalidVoiceFile):
            quality.say(studio, blends[0].voice, SENTENCES[0])


def test_what_the_pace_alone_costs_is_measured_with_stock_voices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speakers, "STOCK", ("fake_low",))
    with Studio(load_settings(engine="fake", history_bytes=0), FakeEngine()) as studio:
        usual, fast = speakers.speakers(studio, ("stock", "fast"), SENTENCES[0])
        assert (fast.kind, fast.name) == ("fast", "fake_low, 1.6 times as fast")
        lengths_s = [quality.say(studio, each.voice, SENTENCES[0]).audio.duration_s for each in (usual, fast)]
    assert (usual.pace, fast.pace) == (1.0, 1.6)
    assert lengths_s[0] / lengths_s[1] == pytest.approx(1.6, rel=0.01)
    assert max(spec.controls.speed or 1.0 for spec in speakers.DESIGNED.values()) == speakers.FAST.speed


def test_the_designs_cover_what_can_be_asked() -> None:
    specs = speakers.DESIGNED.values()
    named = {name for spec in specs for name in spec.controls.asked() | spec.timbre.asked()}
    # The level is set after the voice, and nasality is not followed.
    assert named == {*CONTROL_NAMES, *TIMBRE_NAMES} - {"volume", "nasality"}
    assert all(isinstance(spec, VoiceSpec) and not spec.description for spec in specs)
    for name in ("pitch", "pitch_variation", "brightness", "body"):
        values = [value for spec in specs if (value := getattr(spec.controls, name, None)) is not None]
        values += [value for spec in specs if (value := getattr(spec.timbre, name, None)) is not None]
        assert {value > 0 for value in values} == {True, False}, name


ROWS = [Row("a", "stock", 0.02, 3.2), Row("b", "stock", 0.04, 3.0), Row("w", "whisper", 0.9, 1.2)]


def test_designed_voices_are_compared_with_stock_voices_whispers_aside() -> None:
    good = [*ROWS, Row("c", "designed", 0.05, 3.01), Row("d", "blend", 0.9, 1.0)]
    text = report(good)
    assert "WER of designed over stock voices: +0.020, goal ≤ +0.02: met" in text
    assert "DNSMOS of designed over stock voices: -0.090, goal ≥ -0.10: met" in text
    assert "| **mean of 2** | stock | **0.030** | **3.10** |" in text
    assert "| **mean of 1** | whisper | **0.900** | **1.20** |" in text
    bad = [*ROWS, Row("c", "designed", 0.051, 2.99)]
    assert [found.is_met for found in compare(bad)] == [False, False]
    assert report(bad).count("not met") == 2


def test_what_is_fast_is_compared_with_stock_voices_as_fast_too() -> None:
    fast = [Row("a", "fast", 0.1, 3.0, 1.6), Row("b", "fast", 0.2, 3.0, 1.6)]
    designed = [
        Row("c", "designed", 0.05, 3.1),
        Row("d", "designed", 0.17, 3.1, 1.6),
        Row("e", "designed", 0.03, 3.1, 0.6),
    ]
    found = {each.measure: each.difference for each in compare([*ROWS, *fast, *designed])}
    assert found["WER"] == pytest.approx(0.25 / 3 - 0.03, abs=1e-6)
    assert found["WER, each at its own pace,"] == pytest.approx((0.02 + 0.02 + 0.0) / 3, abs=1e-6)
    assert "each at its own pace, of designed" in report([*ROWS, *fast, *designed])


def test_without_both_kinds_nothing_is_compared() -> None:
    assert compare(ROWS) == []
    assert "goal" not in report(ROWS)


def test_the_command_takes_the_asked_kinds_and_prints_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []

    def measured(studio, judges, sentences, kinds):  # type: ignore[no-untyped-def]
        seen.append((len(sentences), list(kinds)))
        return [*ROWS, Row("c", "designed", 0.03, 3.1)]

    monkeypatch.setattr(quality, "Judges", Judges)
    monkeypatch.setattr(quality, "measure", measured)
    quality.main(["--kind", "stock", "--kind", "designed", "--sentences", "1", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert [row["voice"] for row in figures["voices"]] == ["a", "b", "w", "c"]
    assert [(found["measure"], found["is_met"]) for found in figures["comparisons"]] == [
        ("WER", True),
        ("DNSMOS", True),
    ]
    quality.main([])
    assert seen == [(1, ["stock", "designed"]), (6, ["stock", "fast", "blend", "designed"])]
    assert "| voice | kind |" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["--kind", "made-up"], ["--sentences", "0"], ["--sentences", "7"]])
def test_impossible_choices_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        quality.main(wrong)
    assert wrong[0] in capsys.readouterr().err


def test_words_are_compared_without_case_and_punctuation() -> None:
    assert plain_words("It's NINE, at the Bridge!") == ["it's", "nine", "at", "the", "bridge"]
