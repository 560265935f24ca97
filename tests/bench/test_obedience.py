"""The benchmark of obedience renders, counts and reports, with the fake engine and hand-made outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.voices import F0_HZ, rendered
from voice_sculptor.bench.obedience import PRESETS, TEXTS, descriptions, make, statements
from voice_sculptor.bench.obedience.command import main
from voice_sculptor.bench.obedience.descriptions import Outcome
from voice_sculptor.bench.obedience.renderings import say
from voice_sculptor.bench.obedience.statements import TABLES, Described, load_table
from voice_sculptor.bench.obedience.verdicts import Verdict, asked_speed
from voice_sculptor.config import load_settings
from voice_sculptor.controls import Controls
from voice_sculptor.domain import Candidate, Voice, VoiceSpec
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import InvalidVoiceFile, OutOfMemory, SynthesisFailed
from voice_sculptor.presets import load_presets
from voice_sculptor.studio import Studio


@pytest.fixture
def studio() -> Iterator[Studio]:
    with Studio(load_settings(engine="fake", history_bytes=0), FakeEngine()) as made:
        yield made


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
