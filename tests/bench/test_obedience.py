"""What the benchmark of obedience calls met: hand-made candidates where it judges, the fake engine where it renders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.voices import F0_HZ, REFERENCE, WOMAN
from voice_sculptor.audio.loudness import target_lufs
from voice_sculptor.bench.obedience import PRESETS, TEXTS, descriptions, make, statements
from voice_sculptor.bench.obedience.command import main
from voice_sculptor.bench.obedience.descriptions import Outcome
from voice_sculptor.bench.obedience.renderings import say
from voice_sculptor.bench.obedience.statements import SIDES, TABLES, Described, load_table
from voice_sculptor.bench.obedience.verdicts import Verdict, asked_speed, verdicts
from voice_sculptor.config import load_settings
from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.domain import AudioClip, Candidate, Voice, VoiceSpec
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import InvalidVoiceFile, OutOfMemory, SynthesisFailed
from voice_sculptor.obedience import judge
from voice_sculptor.presets import load_presets
from voice_sculptor.studio import Studio
from voice_sculptor.targets import usual_hnr_db, usual_tract_cm
from voice_sculptor.timbre import Timbre


@pytest.fixture
def studio() -> Iterator[Studio]:
    with Studio(load_settings(engine="fake", history_bytes=0), FakeEngine()) as made:
        yield made


def rendered(
    controls: Controls | None = None, timbre: Timbre | None = None, **changes: float | None
) -> Candidate:
    """A woman's voice that was read as asked and measures as usual, save for the changes."""
    controls, timbre = controls or Controls(), timbre or Timbre()
    measured = replace(WOMAN, **changes)  # type: ignore[arg-type]
    return Candidate(
        index=0,
        seed=1,
        audio=AudioClip(np.zeros(100, np.float32), 16_000),
        voice=Voice(name="v", engine="fake", state={}),
        measured=measured,
        obedience=judge(controls, timbre, measured, "en", REFERENCE),
        rtf=1.0,
        ttfa_s=1.0,
    )


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


def outcome(language: Any, table: str, *found: Verdict) -> Outcome:
    return Outcome(table, language, f"a {table} one", found)


OUTCOMES = [
    outcome("en", "known", Verdict("pitch", "low", True), Verdict("nasality", "nasal", None, "no measure")),
    outcome("zh", "fresh", Verdict("pitch", "high", False, "f0_hz 245 > 204"), Verdict("age", 8, True)),
]


def test_the_report_counts_by_language_table_and_control_and_lists_what_was_missed() -> None:
    text = descriptions.report(OUTCOMES)
    for line in (
        "| all | 2 | 1 | 1 | 66.7% |",
        "| English | 1 | 0 | 1 | 100.0% |",
        "| Chinese | 1 | 1 | 0 | 50.0% |",
        "| known | 1 | 0 | 1 | 100.0% |",
        "| fresh | 1 | 1 | 0 | 50.0% |",
        "| pitch | 1 | 1 | 0 | 50.0% |",
        "| nasality | 0 | 0 | 1 |  |",
        "Stated and met: 2 of 3, 66.7%, goal ≥ 90%: not met",
        "Not judged: 1 × nasality (no measure)",
        "- a fresh one (fresh): **pitch high**: f0_hz 245 > 204",
    ):
        assert line in text.splitlines()
    assert "goal ≥ 90%: met" in descriptions.report(OUTCOMES[:1])


def test_every_description_is_spoken_once_in_its_language_and_judged(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken: list[tuple[str, str]] = []

    def watched(studio: Studio, spec: VoiceSpec, text: str, seed: int) -> list[Candidate]:
        spoken.append((spec.description, text))
        return make(studio, spec, text, seed)

    monkeypatch.setattr(descriptions, "make", watched)
    found = list(descriptions.descriptions(studio, 2))
    stated = [(table, each.text, each.says) for table in TABLES for each in load_table(table)[:2]]
    assert [(each.table, each.text, {v.control: v.stated for v in each.verdicts}) for each in found] == stated
    assert spoken == [
        (stated[0][1], TEXTS["en"][0]),
        (stated[1][1], TEXTS["en"][1]),
        (stated[2][1], TEXTS["zh"][0]),
        (stated[3][1], TEXTS["zh"][1]),
    ]


def test_the_tables_hold_sixty_descriptions_of_each_language() -> None:
    cases = [each for table in TABLES for each in load_table(table)]
    assert len(cases) == 120
    assert sum(statements_language(each) == "zh" for each in cases) == 60


def statements_language(described: Described) -> str:
    return "zh" if any("\u4e00" <= char <= "\u9fff" for char in described.text) else "en"


def test_an_unknown_key_of_a_table_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "descriptions_known.yaml").write_text("- {text: a, says: {pitch: low}, nto: [age]}\n")
    monkeypatch.setattr(statements, "_DATA_DIR", tmp_path)
    with pytest.raises(TypeError, match="nto"):
        load_table("known")


def test_the_usual_rate_is_that_of_the_same_voice_at_speed_1(studio: Studio) -> None:
    described = Described("a fast woman", {"speed": "fast"}, ())
    text = TEXTS["en"][0]
    (fast,) = make(studio, VoiceSpec(description=described.text), text, seed=1)
    speed = asked_speed(fast)
    assert speed is not None
    assert speed > 1.1
    usual = descriptions._usual_rate(studio, fast, text)
    slow = say(studio, fast.voice, text, Controls(speed=1.0))
    assert usual == pytest.approx(slow.measured.syllables_per_s)
    assert slow.audio.duration_s == pytest.approx(speed * fast.audio.duration_s, rel=0.01)


def test_a_voice_that_cannot_be_made_misses_all_and_a_full_device_ends_the_run(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> list[Candidate]:
        raise SynthesisFailed("Nothing came.", "无。")

    monkeypatch.setattr(descriptions, "make", fails)
    (first, _) = descriptions.descriptions(studio, 1)
    assert {(v.is_met, v.why) for v in first.verdicts} == {(False, "Nothing came.")}

    def is_full(*_: object) -> list[Candidate]:
        raise OutOfMemory("Full.", "满。")

    monkeypatch.setattr(descriptions, "make", is_full)
    with pytest.raises(OutOfMemory):
        list(descriptions.descriptions(studio, 1))


def test_a_failure_is_raised_and_not_passed_over(studio: Studio) -> None:
    with pytest.raises(InvalidVoiceFile):
        say(studio, Voice(name="v", engine="fake", state={}), "a text")


def test_the_starting_presets_are_there() -> None:
    assert {*PRESETS} <= {preset.id for preset in load_presets()}
    assert {language: len(texts) for language, texts in TEXTS.items()} == {"en": 8, "zh": 8}


def test_the_command_prints_only_the_asked_part(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--part", "descriptions", "--descriptions", "1", "--engine", "fake"])
    out = capsys.readouterr().out
    assert out.startswith("| statements | met |")
    assert "in order" not in out
    assert "Presets:" not in out


def test_the_figures_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--part", "descriptions", "--descriptions", "1", "--engine", "fake", "--json"])
    figures = json.loads(capsys.readouterr().out)["descriptions"]
    assert [each["table"] for each in figures["descriptions"]] == [*TABLES]
    first = figures["tallies"][0]
    assert first["name"] == "all"
    num = sum(len(each["verdicts"]) for each in figures["descriptions"])
    assert first["num_met"] + first["num_missed"] + first["num_not_judged"] == num


def test_series_and_presets_are_what_is_measured_by_default(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from voice_sculptor.bench.obedience import command

    monkeypatch.setattr(command.series, "series", lambda *_: iter(()))
    outcome = command.presets.Outcome("a", "en", 0.9, 0.5, ("pitch",), ())
    monkeypatch.setattr(command.presets, "all_presets", lambda _: iter([outcome]))
    main(["--engine", "fake"])
    out = capsys.readouterr().out
    assert "| control | renderings |" in out
    assert "Presets: 50.0% of what they ask is met, mean score 0.900, lowest 0.90." in out
    assert "Nothing is missed in 0 of 1, by the best of 3 candidates in 1." in out
    assert "a en misses pitch; the best of 3 nothing" in out
    assert "| statements |" not in out


def test_where_the_first_candidate_misses_the_others_of_its_click_are_made(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    from voice_sculptor.bench.obedience import presets

    controls = Controls(pitch=2.0)
    whole, missing = rendered(controls, f0_hz=F0_HZ * 2 ** (5 / 12)), rendered(controls)
    asked: list[tuple[int, int]] = []
    one = load_presets()[:1]

    def make(_: Studio, spec: Any, text: str, seed: int, count: int = 1) -> list[Candidate]:
        asked.append((seed, count))
        return [missing, whole][:count]

    monkeypatch.setattr(presets, "make", make)
    monkeypatch.setattr(presets, "load_presets", lambda: one)
    found = list(presets.all_presets(studio))
    assert asked == [(1, 1), (2, 2), (1, 1), (2, 2)]
    assert [(each.missed, each.best_missed) for each in found] == [(("pitch",), ())] * 2


@pytest.mark.parametrize(
    "wrong",
    [["--texts", "9"], ["--texts", "0"], ["--presets", "0"], ["--descriptions", "0"], ["--seeds", "0"]],
)
def test_impossible_numbers_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(wrong)
    assert wrong[0] in capsys.readouterr().err


def test_one_series_of_the_fake_engine_is_in_order(studio: Studio) -> None:
    from voice_sculptor.bench.obedience import series

    rows = {row.control: row for row in series.series(studio, 1, 1, ("volume", "speed", "emotion"))}
    assert [*rows] == ["volume", "speed", "emotion"]
    assert rows["volume"].ordered == rows["volume"].on_target == 1.0
    assert rows["speed"].on_target == 1.0
    assert rows["volume"].num_renderings == 10
    # It gives no reference, without which an emotion is not judged.
    assert (rows["emotion"].num_renderings, rows["emotion"].on_target) == (0, None)
    assert "| emotion | 0 |  |  |  |" in series.report([rows["emotion"]])


def test_a_design_and_the_speaking_of_what_was_kept_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--engine", "fake", "--part", "cost", "--seeds", "2", "--json"])
    rows = json.loads(capsys.readouterr().out)["cost"]
    assert len({(row["voice"], row["num_characters"]) for row in rows}) == len(rows) == 10
    assert all(len(row["added"]) == 2 and min(row["added"]) > -1.0 for row in rows)


def test_what_designing_adds_is_the_median_of_the_seeds() -> None:
    from voice_sculptor.bench.obedience.cost import Row, report

    row = Row("a child", 68, (0.5, -0.01, 1.25))
    assert row.median == 0.5
    assert report([row]).splitlines()[2] == "| a child | 68 | +50% | +50%, -1%, +125% |"
