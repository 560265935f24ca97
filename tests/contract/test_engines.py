"""What every engine promises, run on each one that the registry finds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from voice_sculptor.config import load_settings
from voice_sculptor.controls import CONTROL_NAMES, Controls, Emotion
from voice_sculptor.domain import SynthesisRequest, Voice
from voice_sculptor.engines.base import (
    AudioChunk,
    CandidateDone,
    CandidateFailed,
    Engine,
    EngineEvent,
    Options,
)
from voice_sculptor.engines.registry import DEFAULT_ENGINE, create_engine, engine_ids
from voice_sculptor.errors import InvalidVoiceFile, UnknownVoice, WeightsNotFound
from voice_sculptor.library.voice_files import load_voice, save_voice

TEXTS = {"en": "Good morning.", "zh": "早上好。"}
OTHER_TEXTS = {"en": "Where is the station?", "zh": "车站在哪里？"}
LEVELS = ("pitch", "pitch_variation", "volume")
HIGHEST = Controls(
    age=3,
    gender="female",
    speed=2.0,
    emotion=Emotion(name="angry", intensity=1.0),
    **dict.fromkeys(LEVELS, 2.0),
)
LOWEST = Controls(
    age=100,
    gender="male",
    speed=0.5,
    emotion=Emotion(name="sad", intensity=1.0),
    **dict.fromkeys(LEVELS, -2.0),
)


@pytest.fixture(scope="module", params=engine_ids())
def engine_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _tiny_voicesculptor(folder: Path) -> dict[str, Path]:
    pytest.importorskip("transformers", reason="transformers with the codec needs Python 3.11")
    from voice_sculptor.engines.voicesculptor.tiny import write_tiny

    return dict(zip(("model_dir", "codec_dir"), write_tiny(folder), strict=True))


TINY = {"voicesculptor": _tiny_voicesculptor}
"""Engines whose weights cannot be had everywhere are tried with small ones of the same layout."""


@pytest.fixture(scope="module")
def engine(engine_id: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A loaded engine, shared by the tests of this file."""
    folders = TINY[engine_id](tmp_path_factory.mktemp(engine_id)) if engine_id in TINY else {}
    made = create_engine(engine_id, load_settings(device="cpu", **folders))
    try:
        made.load("cpu", None, lambda fraction: None)
    except WeightsNotFound as error:
        if (
            engine_id == DEFAULT_ENGINE
        ):  # Its weights are packages: where they are missing, something is broken.
            raise
        pytest.skip(error.message())
    yield made
    made.unload()


@pytest.fixture
def text(engine: Engine) -> str:
    return TEXTS[engine.info.languages[0]]


def request(text: str, seeds: tuple[int, ...] = (1,), name: str = "r", **rest: Any) -> SynthesisRequest:
    return SynthesisRequest(name, text, "auto", rest.pop("controls", Controls()), seeds, **rest)


def run(engine: Engine, *batch: SynthesisRequest) -> list[EngineEvent]:
    return list(engine.synthesize(batch, lambda _: False))


def audio(
    events: list[EngineEvent], index: int = 0, name: str = "r"
) -> np.ndarray[Any, np.dtype[np.float32]]:
    chunks = [event for event in events if isinstance(event, AudioChunk)]
    return np.concatenate([one.samples for one in chunks if (one.request_id, one.index) == (name, index)])


def done(events: list[EngineEvent]) -> CandidateDone:
    last = events[-1]
    assert isinstance(last, CandidateDone), last
    return last


def voice_of(engine: Engine, state: Mapping[str, Any]) -> Voice:
    return Voice(name="kept", engine=engine.info.id, state=state, seed=1)


def test_info(engine: Engine, engine_id: str) -> None:
    info = engine.info
    assert isinstance(engine, Engine)
    assert info.id == engine_id
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", info.id)
    assert info.title
    assert 8_000 <= info.sample_rate <= 48_000
    assert 0 < info.codec_frame_rate <= info.sample_rate
    assert set(info.languages) <= {"zh", "en"}
    assert info.languages
    assert info.code_licence
    assert info.weights_licence
    assert info.capabilities.controls <= set(CONTROL_NAMES)
    assert info.max_batch_size >= 1
    assert info.max_text_chars >= 1
    assert info.memory_estimate_bytes >= 0


def test_listings_need_no_loading(engine_id: str) -> None:
    fresh = create_engine(engine_id, load_settings())
    names = [voice.name for voice in fresh.stock_voices()]
    assert len(set(names)) == len(names)
    for voice in fresh.stock_voices():
        state = fresh.stock_state(voice.name)
        assert json.loads(json.dumps(state, allow_nan=False)) == state
        assert voice.gender in ("male", "female")
        assert all(np.isfinite(value) for value in voice.measurements.values())
    with pytest.raises(UnknownVoice):
        fresh.stock_state("nobody")


def test_options_are_closed(engine: Engine) -> None:
    assert issubclass(engine.Options, Options)
    with pytest.raises(ValidationError):
        engine.Options(no_engine_has_this=1)


def test_events_come_in_order(engine: Engine, text: str) -> None:
    events = run(engine, request(text, seeds=(1, 2)))
    assert {event.request_id for event in events} == {"r"}
    # Candidates of one request may be made side by side; each is in order by itself.
    for index in (0, 1):
        own = [event for event in events if event.index == index]
        assert isinstance(own[-1], CandidateDone)
        chunks = own[:-1]
        assert chunks
        assert all(isinstance(event, AudioChunk) for event in chunks)
        fractions = [event.fraction for event in chunks if isinstance(event, AudioChunk)]
        assert fractions == sorted(fractions)
        assert fractions[0] > 0.0
        assert fractions[-1] == pytest.approx(1.0)
    times_s = [event.at_s for event in events if not isinstance(event, CandidateFailed)]
    assert times_s == sorted(times_s)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_audio_is_sound(engine: Engine, language: str) -> None:
    if language not in engine.info.languages:
        pytest.skip("it does not speak this language")
    for event in run(engine, request(TEXTS[language])):
        if isinstance(event, AudioChunk):
            assert event.samples.dtype == np.float32
            assert event.samples.ndim == 1
            assert np.isfinite(event.samples).all()
            assert np.abs(event.samples).max() <= 1.0
    made = audio(run(engine, request(TEXTS[language])))
    assert 0.2 < len(made) / engine.info.sample_rate < 10.0
    assert np.sqrt(np.mean(made**2)) > 1e-3


def test_same_seed_same_bytes_other_seed_others(engine: Engine, text: str) -> None:
    if not engine.info.capabilities.seed:
        pytest.skip("it takes no seed")
    one, two = (audio(run(engine, request(text))) for _ in range(2))
    assert one.tobytes() == two.tobytes()
    both = run(engine, request(text, seeds=(2, 1)))
    assert audio(both, 1).tobytes() == one.tobytes(), "a candidate depends on the ones before it"
    assert audio(both, 0).tobytes() != one.tobytes()


@pytest.mark.parametrize("num_sentences", [1, 60], ids=["at the end", "in the midst"])
def test_cancelling_yields_nothing_more(engine: Engine, text: str, num_sentences: int) -> None:
    cancelled: set[str] = set()
    long = request(text * num_sentences, seeds=(1, 2, 3))
    events = engine.synthesize([long], lambda name: name in cancelled)
    assert isinstance(next(events), AudioChunk)
    cancelled.add("r")
    assert list(events) == []
    assert list(engine.synthesize([long], lambda name: name in cancelled)) == []
    assert done(run(engine, request(text)))


def test_a_kept_voice_speaks_again(engine: Engine, text: str, tmp_path: Path) -> None:
    if not engine.info.capabilities.voice_state:
        pytest.skip("its voices cannot be kept")
    controls = Controls(gender="female", age=25)
    designed = run(engine, request(text, controls=controls))
    state = done(designed).voice_state
    assert json.loads(json.dumps(state, allow_nan=False)) == state
    kept = voice_of(engine, state)
    save_voice(kept, tmp_path / "kept.voice.json")
    recalled = load_voice(tmp_path / "kept.voice.json")
    assert recalled == kept
    again = audio(run(engine, request(text, voice=recalled, controls=controls)))
    assert again.tobytes() == audio(designed).tobytes(), "the kept voice does not speak as the candidate did"
    other_text = OTHER_TEXTS[engine.info.languages[0]]
    others = [run(engine, request(other_text, voice=voice, controls=controls)) for voice in (kept, recalled)]
    assert audio(others[0]).tobytes() == audio(others[1]).tobytes()
    assert audio(others[0]).tobytes() != again.tobytes()
    assert done(others[0]).voice_state == state


def test_stock_voices_speak(engine: Engine, text: str) -> None:
    names = [voice.name for voice in engine.stock_voices()]
    spoken = set()
    for name in {*names[:1], *names[-1:]}:
        events = run(engine, request(text, voice=voice_of(engine, engine.stock_state(name))))
        assert done(events)
        spoken.add(audio(events).tobytes())
    assert len(spoken) == min(2, len(names)), "two stock voices sound the same"


@pytest.mark.parametrize("state", [{}, {"nonsense": 1}, {"f0_hz": "low", "blend": {"nobody": 1.0}}], ids=str)
def test_a_foreign_voice_fails_alone(engine: Engine, text: str, state: dict[str, Any]) -> None:
    events = run(engine, request(text, voice=voice_of(engine, state)))
    assert [type(event) for event in events] == [CandidateFailed]
    assert isinstance(events[0], CandidateFailed)
    assert isinstance(events[0].error, InvalidVoiceFile)
    assert done(run(engine, request(text)))


def test_speed_changes_the_duration(engine: Engine, text: str) -> None:
    if "speed" not in engine.info.capabilities.controls:
        pytest.skip("it does not follow speed")
    slow, own, fast = (
        len(audio(run(engine, request(text, controls=Controls(gender="male", speed=speed)))))
        for speed in (0.6, 1.0, 1.7)
    )
    assert slow > 1.15 * own > 1.15 * 1.15 * fast


@pytest.mark.parametrize("controls", [HIGHEST, LOWEST], ids=["highest", "lowest"])
def test_extreme_controls_still_sound(engine: Engine, text: str, controls: Controls) -> None:
    made = audio(run(engine, request(text, controls=controls)))
    assert np.isfinite(made).all()
    assert np.abs(made).max() <= 1.0
    assert np.sqrt(np.mean(made**2)) > 1e-3


def test_a_batch_gives_each_its_own(engine: Engine, text: str) -> None:
    if engine.info.max_batch_size == 1:
        pytest.skip("it takes one request at a time")
    other_text = OTHER_TEXTS[engine.info.languages[0]]
    together = run(engine, request(text, name="a"), request(other_text, name="b"))
    alone = {"a": run(engine, request(text, name="a")), "b": run(engine, request(other_text, name="b"))}
    for name, events in alone.items():
        assert audio(together, name=name).tobytes() == audio(events, name=name).tobytes()
    cancel_a: Callable[[str], bool] = lambda name: name == "a"  # noqa: E731
    left = list(engine.synthesize([request(text, name="a"), request(other_text, name="b")], cancel_a))
    assert {event.request_id for event in left} == {"b"}
    assert done(left)


def test_unloading_and_loading_again(engine: Engine, text: str) -> None:
    before = audio(run(engine, request(text)))
    engine.unload()
    engine.unload()
    progress: list[float] = []
    engine.load("cpu", None, progress.append)
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    list(engine.warm_up())
    assert audio(run(engine, request(text))).tobytes() == before.tobytes()
