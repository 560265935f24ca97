"""The load test and the soak, small: they run, they keep their promises, and they notice what is broken."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from voice_sculptor.bench import load, soak
from voice_sculptor.bench.own_clips import Echoes
from voice_sculptor.config import load_settings
from voice_sculptor.controls import Controls
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines import fake_marks
from voice_sculptor.engines.base import AudioChunk, EngineEvent
from voice_sculptor.engines.fake import FakeCosts, FakeEngine, FakeOptions
from voice_sculptor.events import Ready
from voice_sculptor.studio import Studio


def test_a_short_soak_keeps_its_promises() -> None:
    outcome = soak.measure(300, num_clients=8)
    # Memory is watched in the long one only: a short one still loads what it needs.
    outcome.began_bytes = outcome.ended_bytes
    assert outcome.faults() == []
    assert sum(outcome.answers.values()) == 300
    assert outcome.answers["done"] > 200
    assert outcome.answers["refused"] > 5
    assert outcome.answers["cancelled"] + outcome.answers["deadline"] > 10
    assert outcome.clips >= outcome.answers["done"] - 30
    assert "All promises kept." in soak.report(outcome)


class CrossingEngine(FakeEngine):
    """Gives the audio of one request to its neighbour."""

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        for event in super().synthesize(batch, is_cancelled):
            if isinstance(event, AudioChunk) and len(batch) > 1:
                last = batch[-1]
                mark = fake_marks.code(last.text, last.seeds[0], 0)
                fake_marks.write(event.samples, mark)
            yield event


def test_crossed_audio_is_noticed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(soak, "FakeEngine", CrossingEngine)
    assert not soak.main(["--requests", "60", "--clients", "8"])
    assert "clips were not what was asked" in capsys.readouterr().out


def test_what_is_not_answered_or_grows_is_noticed() -> None:
    outcome = soak.Outcome(10, began_bytes=100, ended_bytes=106)
    outcome.answers["done"] = 9
    assert outcome.faults() == ["1 requests were not answered", "memory grew by 6.0%, more than 5%"]
    assert "WRONG: 1 requests" in soak.report(outcome)


def test_marks_are_read_at_any_level() -> None:
    request = SynthesisRequest(
        "r", "a text of two pieces", "auto", Controls(speed=2.0), (7,), options=FakeOptions(is_marked=True)
    )
    chunks = [
        event
        for event in FakeEngine().synthesize([request], lambda _: False)
        if isinstance(event, AudioChunk)
    ]
    assert len(chunks) == 2
    for number, chunk in enumerate(chunks):
        for gain in (0.05, 5.0):
            read = fake_marks.read(np.float32(gain) * chunk.samples)
            assert read == fake_marks.code(request.text, 7, number)


def test_another_engines_clips_are_compared_with_what_was_heard_before() -> None:
    with Studio(load_settings(engine="fake"), FakeEngine()) as studio:
        clips = Echoes(studio)
        asked, other = clips._asked[0], clips._asked[-1]
        (made,) = [
            event.candidate for event in asked.begin(studio, clips.options) if isinstance(event, Ready)
        ]
        assert clips.is_own(asked, made)
        assert not clips.is_own(other, made)


def test_the_load_of_more_clients_goes_in_batches() -> None:
    engine = FakeEngine(costs=FakeCosts(step_s=0.02))
    rows = load.measure(engine, load_settings(engine="fake"), clients=(1, 6), requests=3)
    assert [(row.clients, row.max_batch_size) for row in rows] == [(1, 1), (1, 4), (6, 1), (6, 4)]
    alone, batched = rows[2], rows[3]
    assert alone.mean_batch == 1.0
    assert batched.mean_batch > 1.5
    assert batched.requests_per_s > alone.requests_per_s
    assert all(0.0 < row.first_s <= row.latency_s <= row.latency_p95_s for row in rows)
    text = load.report(rows, "fake")
    assert "Overhead of the service at saturation (6 clients, batches up to 4)" in text
    assert load.saturated(rows) is batched


def test_the_load_over_http() -> None:
    engine = FakeEngine(costs=FakeCosts(step_s=0.02))
    rows = load.measure(engine, load_settings(engine="fake"), clients=(4,), requests=2, over_http=True)
    alone, batched = rows
    assert batched.mean_batch > alone.mean_batch == 1.0
    assert all(0.0 < row.first_s <= row.latency_s and row.audio_s_per_s > 0.0 for row in rows)


def test_the_load_goal_is_said_as_it_is() -> None:
    row = load.Row(16, 4, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0, 0.02)
    alone = replace(row, max_batch_size=1)
    assert "2.0% of the engine's time, goal 3%, met" in load.report([alone, row], "fake")
    assert "goal 3%, not met" in load.report([alone, replace(row, overhead=0.031)], "fake")


def test_the_load_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    load.main(["--clients", "2", "--requests", "1", "--step-ms", "5", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert [row["max_batch_size"] for row in rows] == [1, 4]


def test_numbers_of_clients_are_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        load.main(["--clients", "many"])
    assert "'many'" in capsys.readouterr().err
