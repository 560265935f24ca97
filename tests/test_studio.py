"""The use cases over the fake engine: what is planned, made, refused, and left behind."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from voice_sculptor.audio.io import encode
from voice_sculptor.config import load_settings
from voice_sculptor.controls import Controls
from voice_sculptor.domain import MAX_SEED, Candidate, SynthesisRequest, Voice, VoiceSpec
from voice_sculptor.engines.base import AudioChunk, CandidateDone, Capabilities, EngineEvent
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import (
    Cancelled,
    EmptyText,
    InvalidRequest,
    InvalidVoiceFile,
    QueueFull,
    RunawayOutput,
    SynthesisFailed,
    TextTooLong,
    UnknownVoice,
)
from voice_sculptor.events import Failed, Planned, Preview, Ready, StudioEvent
from voice_sculptor.library.voice_files import load_voice, save_voice
from voice_sculptor.scheduling.worker import CancelToken, Loading, Started
from voice_sculptor.studio import Studio

LONG = "A long sentence that takes the engine a while. " * 200
SLOW = {"step_delay_s": 0.01}


@pytest.fixture
def studio() -> Iterator[Studio]:
    with Studio(load_settings(max_queue=3), FakeEngine()) as made:
        yield made


def candidates(events: Iterator[StudioEvent]) -> list[Candidate]:
    return [event.candidate for event in events if isinstance(event, Ready)]


def same_audio(one: Candidate, other: Candidate) -> bool:
    return encode(one.audio, "wav") == encode(other.audio, "wav")


def test_the_events_of_a_design(studio: Studio) -> None:
    events = list(studio.design("hello", VoiceSpec(), num_candidates=2, seed=5))
    kinds = [type(event) for event in events]
    assert kinds == [Planned, Loading, Started, Preview, Ready, Preview, Ready]
    made = candidates(iter(events))
    assert [(one.index, one.seed) for one in made] == [(0, 5), (1, 6)]
    for one in made:
        assert one.audio.sample_rate == studio.engine.info.sample_rate
        assert one.audio.samples.dtype == np.float32
        assert np.abs(one.audio.samples).max() <= 1.0
        assert one.rtf > 0
        assert 0 < one.ttfa_s <= one.rtf * one.audio.duration_s


def test_the_plan_says_what_was_read_and_what_conflicts(studio: Studio) -> None:
    spec = VoiceSpec(description="a low old man", controls=Controls(gender="female"))
    planned = next(studio.design("hello", spec, num_candidates=2, seed=MAX_SEED))
    assert isinstance(planned, Planned)
    assert planned.understood.controls.gender == "male"
    assert planned.controls.gender == "female"
    assert planned.controls.pitch is not None
    assert planned.controls.pitch < 0
    assert planned.seeds == (MAX_SEED, 0)
    assert [notice.kind for notice in planned.notices] == ["conflict"]


def test_controls_the_engine_does_not_follow_are_said() -> None:
    class Plain(FakeEngine):
        info = replace(FakeEngine.info, capabilities=Capabilities(design=True, controls=frozenset({"speed"})))

    with Studio(load_settings(), Plain()) as plain:
        notices = plain.read(
            VoiceSpec(description="breathy", controls=Controls(speed=1.2, pitch=1.0))
        ).notices
    assert [notice.kind for notice in notices] == ["unsupported_control"]
    assert "pitch, breathiness" in notices[0].message()
    assert "speed" not in notices[0].message()


def test_same_seed_same_bytes_other_seed_others(studio: Studio) -> None:
    one, two, three = (
        candidates(studio.design("hello", VoiceSpec(), num_candidates=1, seed=seed))[0] for seed in (1, 1, 2)
    )
    assert same_audio(one, two)
    assert not same_audio(one, three)


def test_a_candidate_is_the_same_whatever_its_place(studio: Studio) -> None:
    second = candidates(studio.design("hello", VoiceSpec(), num_candidates=3, seed=1))[1]
    alone = candidates(studio.design("hello", VoiceSpec(), num_candidates=1, seed=2))[0]
    assert same_audio(second, alone)


def test_without_a_seed_one_is_drawn_and_said(studio: Studio) -> None:
    seeds = {candidates(studio.design("a", VoiceSpec(), num_candidates=1))[0].seed for _ in range(5)}
    assert len(seeds) > 1
    assert all(0 <= seed <= MAX_SEED for seed in seeds)


@pytest.mark.parametrize(
    "text", ["", "   \n\t", "。！？…", "🎵🎶", "\u200b\u200d\ufeff", "\x00\x07\x1b", "---", "<br>"]
)
def test_nothing_to_speak(studio: Studio, text: str) -> None:
    with pytest.raises(EmptyText):
        studio.design(text, VoiceSpec())
    with pytest.raises(EmptyText):
        studio.speak(studio.find_voice("fake_low"), text)


def test_too_much_to_speak(studio: Studio) -> None:
    with pytest.raises(TextTooLong, match="100,000"):
        studio.design("a" * 100_000, VoiceSpec())


@pytest.mark.parametrize("count", [0, -1, 7, 10**9])
def test_too_few_or_many_candidates(studio: Studio, count: int) -> None:
    with pytest.raises(InvalidRequest, match=str(count)):
        studio.design("hello", VoiceSpec(), num_candidates=count)


@pytest.mark.parametrize("seed", [-1, 2**32, 2**40])
def test_seeds_out_of_range(studio: Studio, seed: int) -> None:
    with pytest.raises(InvalidRequest, match=f"seed {seed} ") as refused:
        studio.design("hello", VoiceSpec(), seed=seed)
    assert str(MAX_SEED) in refused.value.message()


def test_unknown_options_name_the_valid_ones(studio: Studio) -> None:
    with pytest.raises(InvalidRequest, match="temperature") as refused:
        studio.design("hello", VoiceSpec(), options={"temperature": 1})
    assert "step_delay_s" in refused.value.message()
    with pytest.raises(InvalidRequest, match="step_delay_s"):
        studio.design("hello", VoiceSpec(), options={"step_delay_s": "slow"})


def test_what_is_refused_takes_no_place(studio: Studio) -> None:
    for _ in range(10):
        with pytest.raises(EmptyText):
            studio.design("", VoiceSpec())
    assert studio.worker.num_waiting == 0


def test_a_voice_speaks_again_from_its_file(studio: Studio, tmp_path: Path) -> None:
    spec = VoiceSpec(description="a slow man")
    made = candidates(studio.design("hello", spec, num_candidates=1, seed=3))[0]
    path = tmp_path / "kept.voice.json"
    save_voice(made.voice, path)
    with Studio(load_settings(), FakeEngine()) as tomorrow:
        again = candidates(tomorrow.speak(tomorrow.find_voice(str(path)), "hello"))[0]
        other = candidates(tomorrow.speak(load_voice(path), "hello there, how are you"))[0]
    assert same_audio(made, again)
    assert again.seed == 3
    assert other.audio.duration_s > again.audio.duration_s


def test_speaking_with_other_controls(studio: Studio) -> None:
    voice = studio.find_voice("fake_low").model_copy(update={"controls": Controls(speed=0.5)})
    plain, fast = (
        candidates(studio.speak(voice, "hello", controls=controls))[0]
        for controls in (None, Controls(speed=2.0))
    )
    assert plain.audio.duration_s == pytest.approx(4 * fast.audio.duration_s, rel=0.01)


def test_a_voice_of_another_engine(studio: Studio) -> None:
    voice = Voice(name="a", engine="another", state={})
    with pytest.raises(InvalidRequest, match="another"):
        studio.speak(voice, "hello")


def test_a_voice_the_engine_cannot_read_fails_alone(studio: Studio) -> None:
    events = list(studio.speak(Voice(name="a", engine="fake", state={"f0_hz": "low"}), "hello"))
    assert isinstance(events[-1], Failed)
    assert isinstance(events[-1].error, InvalidVoiceFile)


def test_unknown_voices_name_near_ones(studio: Studio) -> None:
    with pytest.raises(UnknownVoice, match="fake_lo'") as refused:
        studio.find_voice("fake_lo")
    assert "fake_low" in refused.value.message()


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "", "/", "nowhere.voice.json", "\0.json", "a" * 5000 + ".json"]
)
def test_odd_voice_names_are_refused(studio: Studio, name: str) -> None:
    with pytest.raises(InvalidRequest):
        studio.find_voice(name)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'"a"', b"\xff\xfe\x00", b'{"name": "a"}', b"[" * 100_000, b" " * 4_000_001],
    ids=lambda content: str(content[:12]),
)
def test_files_that_are_no_voices(studio: Studio, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.voice.json"
    path.write_bytes(content)
    with pytest.raises(InvalidVoiceFile, match=r"a\.voice\.json"):
        studio.find_voice(str(path))


def test_two_people_at_once_each_get_their_own(studio: Studio) -> None:
    texts = ["a", "hello", "a longer text than the others"]

    def make(text: str) -> float:
        return candidates(studio.design(text, VoiceSpec(), num_candidates=1, seed=1))[0].audio.duration_s

    alone = [make(text) for text in texts]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(make, texts)) == alone


def test_a_full_queue_is_said_before_anything_is_read(studio: Studio) -> None:
    running = studio.design(LONG, VoiceSpec(), options=SLOW)
    while not isinstance(next(running), Preview):
        pass
    waiting = [studio.design("hello", VoiceSpec()) for _ in range(3)]
    with pytest.raises(QueueFull):
        studio.design("hello", VoiceSpec())
    assert len(waiting) == 3


@pytest.mark.parametrize("num_read", [0, 1, 4])
@pytest.mark.parametrize("dropped", [False, True], ids=["closed", "dropped"])
def test_leaving_the_events_stops_the_work(studio: Studio, num_read: int, dropped: bool) -> None:
    left = studio.design(LONG, VoiceSpec(), options=SLOW)
    for _ in range(num_read):
        next(left)
    if dropped:
        del left
        gc.collect()
    else:
        left.close()  # type: ignore[attr-defined]
    began_s = time.monotonic()
    assert candidates(studio.design("next", VoiceSpec(), num_candidates=1))
    assert time.monotonic() - began_s < 2.0, "the next job waited for one that nobody reads"


def test_cancelling_from_another_thread(studio: Studio) -> None:
    token = CancelToken()
    events = studio.design(LONG, VoiceSpec(), options=SLOW, token=token)
    while not isinstance(next(events), Preview):
        pass
    threading.Timer(0.05, token.cancel).start()
    with pytest.raises(Cancelled):
        list(events)


class Odd(FakeEngine):
    """Says that candidates are done without having spoken, or with nothing in it, or nothing that can be heard."""

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        name = batch[0].id
        yield CandidateDone(name, 0, {})
        yield AudioChunk(name, 1, np.zeros(0, np.float32), 1.0)
        yield CandidateDone(name, 1, {})
        yield AudioChunk(name, 2, np.full(1600, 0.1, np.float32), 1.0)
        yield CandidateDone(name, 2, {"f0_hz": 1.0})
        yield AudioChunk(name, 3, np.full(16_000, 1e-5, np.float32), 1.0)
        yield CandidateDone(name, 3, {"f0_hz": 1.0})


def test_a_candidate_without_audio_fails_alone() -> None:
    with Studio(load_settings(), Odd()) as studio:
        events = list(studio.design("hello", VoiceSpec(), num_candidates=4))
    failed = [event for event in events if isinstance(event, Failed)]
    assert [(event.index, type(event.error)) for event in failed] == [
        (0, SynthesisFailed),
        (1, SynthesisFailed),
        (3, RunawayOutput),
    ]
    assert [one.index for one in candidates(iter(events))] == [2]
