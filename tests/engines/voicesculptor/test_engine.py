"""The whole engine on a small checkpoint. What every engine promises is in tests/contract."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from voice_sculptor.config import load_settings
from voice_sculptor.controls import Controls
from voice_sculptor.domain import SynthesisRequest, Voice, VoiceSpec
from voice_sculptor.engines.base import AudioChunk, CandidateDone, CandidateFailed, StatesMemory
from voice_sculptor.engines.voicesculptor.decoding import Decoder
from voice_sculptor.engines.voicesculptor.engine import VoiceSculptorEngine, VoiceSculptorOptions
from voice_sculptor.engines.voicesculptor.passes import passes
from voice_sculptor.engines.voicesculptor.runaway import fault_of_audio, fault_of_tokens
from voice_sculptor.engines.voicesculptor.tiny import write_tiny
from voice_sculptor.errors import CheckpointMismatch, ConfigError, InvalidRequest, OutOfMemory, RunawayOutput
from voice_sculptor.events import Ready
from voice_sculptor.studio import Studio

LONG = "今天的天气很好，我们去公园散步。" * 13


def request(
    text: str = "早上好。", seeds: tuple[int, ...] = (1,), name: str = "r", **rest: Any
) -> SynthesisRequest:
    return SynthesisRequest(name, text, "auto", rest.pop("controls", Controls()), seeds, **rest)


def audio(events: list[Any], index: int = 0) -> bytes:
    return b"".join(e.samples.tobytes() for e in events if isinstance(e, AudioChunk) and e.index == index)


def run(engine: VoiceSculptorEngine, *batch: SynthesisRequest) -> list[Any]:
    return list(engine.synthesize(batch, lambda _: False))


def test_a_long_text_is_one_voice_in_pieces(engine) -> None:
    events = run(engine, request(LONG))
    chunks = [event for event in events if isinstance(event, AudioChunk)]
    assert len(chunks) == len(passes(LONG)) > 1
    state = events[-1].voice_state
    assert state["text"] == passes(LONG)[0]
    voice = Voice(name="v", engine="voicesculptor", state=state, seed=1)
    assert audio(run(engine, request(LONG, voice=voice))) == audio(events)
    other = [audio(run(engine, request("早。", seeds=(seed,), voice=voice))) for seed in (1, 2)]
    assert other[0] != other[1]


def test_passes_keep_the_text_and_the_bounds() -> None:
    assert passes("你好。") == ["你好。"]
    pieces = passes(LONG)
    assert "".join(pieces) == LONG
    assert len(pieces[0]) <= 80
    assert all(len(piece) + len(pieces[0]) <= 200 for piece in pieces[1:])
    assert "".join(passes("啊" * 1000)) == "啊" * 1000
    assert passes("有3只猫。") == ["有三只猫。"]
    assert all(len(piece) <= 60 for piece in passes(LONG, 190))


def test_a_description_that_is_too_long_fails_alone(engine) -> None:
    events = run(engine, request(description="温" * 300, name="a"), request(name="b"))
    failed = [event for event in events if isinstance(event, CandidateFailed)]
    assert [type(event.error) for event in failed] == [InvalidRequest]
    assert [event.request_id for event in events if isinstance(event, CandidateDone)] == ["b"]


def test_a_kept_voice_whose_sound_is_broken_fails_alone(engine, monkeypatch) -> None:
    state = run(engine, request())[-1].voice_state
    kept = Voice(name="v", engine="voicesculptor", state=state, seed=1)
    broken = Voice(name="v", engine="voicesculptor", state={**state, "tokens": [7]}, seed=1)
    decode = type(engine._codec).decode

    def silent(self, codes):
        return [np.zeros(320, np.float32)] if codes == [[7]] else decode(self, codes)

    monkeypatch.setattr(type(engine._codec), "decode", silent)
    events = run(engine, request(name="a", voice=broken), request(name="b", voice=kept))
    assert [event.error.kind for event in events if isinstance(event, CandidateFailed)] == ["RunawayOutput"]
    assert "没有声音" in events[0].error.message("zh")
    assert [event.request_id for event in events if isinstance(event, CandidateDone)] == ["b"]


def test_options_change_the_draw_and_stand_over_settings(engine) -> None:
    usual = audio(run(engine, request()))
    assert audio(run(engine, request(options=VoiceSculptorOptions(temperature=0.3)))) != usual
    assert audio(run(engine, request(options=VoiceSculptorOptions(temperature=0.9)))) == usual


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> VoiceSculptorEngine:
    model_dir, codec_dir = write_tiny(tmp_path_factory.mktemp("endless"), comes_to_an_end=False)
    made = VoiceSculptorEngine(load_settings(model_dir=model_dir, codec_dir=codec_dir, max_new_tokens=64))
    made.load("cpu", None, lambda fraction: None)
    return made


def test_a_runaway_is_tried_again_and_never_delivered(endless, monkeypatch) -> None:
    admitted = []
    admit = Decoder.admit
    monkeypatch.setattr(
        Decoder, "admit", lambda self, row, read: (admitted.append(row.seed), admit(self, row, read))
    )
    events = run(endless, request(seeds=(1, 2)))
    assert [type(event) for event in events] == [CandidateFailed, CandidateFailed]
    assert all(isinstance(event.error, RunawayOutput) for event in events)
    assert sorted(admitted) == [(1, 0, 0), (1, 0, 1), (2, 0, 0), (2, 0, 1)]


def test_what_a_runaway_is() -> None:
    fine = list(range(100))
    assert fault_of_tokens(fine, "早上好啊。", True) is None
    assert "end" in str(fault_of_tokens(fine, "早上好啊。", False))
    assert "over after" in str(fault_of_tokens(fine, "早" * 60, True))
    assert "over after" in str(fault_of_tokens([], "早", True))
    assert "takes" in str(fault_of_tokens(list(range(900)), "早上好啊。", True))
    assert "repeats" in str(fault_of_tokens([*range(60), *[7] * 120], "早上好啊。", True))
    assert fault_of_audio(np.zeros(100, np.float32))
    assert fault_of_audio(np.full(100, 0.1, np.float32)) is None


@pytest.mark.parametrize("stage", ["prefill", "step"])
def test_out_of_memory_leaves_it_usable(engine, monkeypatch, stage: str) -> None:
    before = audio(run(engine, request()))

    def fail(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(Decoder, stage, fail)
        with pytest.raises(MemoryError):
            run(engine, request(seeds=(1, 2)))
    assert audio(run(engine, request())) == before


def test_the_worker_says_out_of_memory(settings, engine, monkeypatch) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    with Studio(settings, engine) as studio:
        monkeypatch.setattr(Decoder, "prefill", fail)
        with pytest.raises(OutOfMemory):
            list(studio.design("早上好。", VoiceSpec(), num_candidates=1))
        monkeypatch.undo()
        events = list(
            studio.design("早上好。", VoiceSpec(description="温柔的女声"), num_candidates=2, seed=1)
        )
    assert sum(isinstance(event, Ready) for event in events) == 2
    engine.load("cpu", None, lambda fraction: None)


@pytest.mark.parametrize("num_steps", [0, 1, 30])
def test_cancelling_at_any_step_frees_the_slots(engine, num_steps: int) -> None:
    asked = 0

    def is_cancelled(_: str) -> bool:
        nonlocal asked
        asked += 1
        return asked > 3 * num_steps

    assert list(engine.synthesize([request(LONG, seeds=(1, 2, 3))], is_cancelled)) == []
    assert engine._decoder.num_free == len(engine._decoder.rows)


def test_closing_the_iterator_frees_the_slots(engine) -> None:
    events = engine.synthesize([request(LONG)], lambda _: False)
    next(events)
    events.close()
    assert engine._decoder.num_free == len(engine._decoder.rows)


def test_one_click_reads_its_prompt_once(engine, monkeypatch) -> None:
    read = []
    prefill = Decoder.prefill
    monkeypatch.setattr(
        Decoder, "prefill", lambda self, prompt: (read.append(prompt), prefill(self, prompt))[1]
    )
    run(engine, request(seeds=(1, 2, 3, 4, 5, 6)))
    assert len(read) == 1


def test_many_first_requests_load_once(settings, monkeypatch) -> None:
    made = VoiceSculptorEngine(settings)
    loads = []
    load = made.load
    monkeypatch.setattr(made, "load", lambda *rest: (loads.append(1), load(*rest)))
    with Studio(settings.model_copy(update={"max_queue": 32}), made) as studio:
        ready: list[int] = []

        def ask() -> None:
            events = studio.design("早", VoiceSpec(), num_candidates=1, seed=1)
            ready.append(sum(isinstance(event, Ready) for event in events))

        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(loads) == 1
    assert ready == [1] * 20


def test_half_precision_needs_a_card(settings) -> None:
    with pytest.raises(ConfigError, match="fp16"):
        VoiceSculptorEngine(settings).load("cpu", "fp16", lambda fraction: None)


def _copied(tiny: tuple[Path, Path], to: Path) -> Path:
    import shutil

    return Path(shutil.copytree(tiny[0], to / "model"))


@pytest.mark.parametrize("fault", ["truncated", "missing tensor", "other vocabulary"])
def test_a_wrong_checkpoint_is_named(tiny, tmp_path: Path, fault: str) -> None:
    from safetensors.torch import load_file, save_file

    model_dir = _copied(tiny, tmp_path)
    file = model_dir / "model.safetensors"
    if fault == "truncated":
        file.write_bytes(file.read_bytes()[:-1000])
    elif fault == "missing tensor":
        tensors = load_file(file)
        del tensors["model.layers.1.mlp.up_proj.weight"]
        save_file(tensors, file, metadata={"format": "pt"})
    else:
        tokenizer = model_dir / "tokenizer.json"
        tokenizer.write_text(tokenizer.read_text("utf-8").replace("<|s_9|>", "<|x_9|>"), "utf-8")
    made = VoiceSculptorEngine(load_settings(model_dir=model_dir, codec_dir=tiny[1]))
    named = {"truncated": "model", "missing tensor": r"up_proj", "other vocabulary": r"s_9"}[fault]
    with pytest.raises(CheckpointMismatch, match=named):
        made.load("cpu", None, lambda fraction: None)


def test_thirty_runs_keep_memory_flat_and_unloading_frees_it(settings) -> None:
    made = VoiceSculptorEngine(settings)
    made.load("cpu", None, lambda fraction: None)
    process = psutil.Process()
    for _ in range(5):
        run(made, request("早。", seeds=(1, 2, 3)))
    gc.collect()
    before = process.memory_info().rss
    for seed in range(30):
        run(made, request("早。", seeds=(seed,)))
    gc.collect()
    assert process.memory_info().rss - before < 30e6
    decoder = weakref.ref(made._decoder)
    made.unload()
    made.unload()
    assert decoder() is None


def test_it_tells_what_it_holds_by_part(settings, engine) -> None:
    assert isinstance(engine, StatesMemory)
    held = engine.memory_parts()
    assert set(held) == {"weights", "codec", "cache"}
    assert min(held.values()) > 0
    assert held["codec"] == engine._codec.num_bytes
    assert held["cache"] >= engine._decoder.cache.num_bytes
    fresh = VoiceSculptorEngine(settings.model_copy(update={"slots": 1, "max_new_tokens": 64}))
    assert fresh.memory_parts() == {}
    fresh.load("cpu", None, lambda fraction: None)
    smaller = fresh.memory_parts()
    assert smaller["cache"] < held["cache"] / 4
    assert smaller["weights"] == held["weights"]
    fresh.unload()
    assert fresh.memory_parts() == {}


@pytest.mark.parametrize(("wanted", "expected"), [(None, "replayed"), (True, "replayed"), (False, "forward")])
def test_the_graph_can_be_left_out(settings, monkeypatch, wanted: bool | None, expected: str) -> None:
    """On a card, that is; stand-ins for the two ways tell which is gone."""
    made = VoiceSculptorEngine(settings.model_copy(update={"cuda_graph": wanted}))
    made.load("cpu", None, lambda fraction: None)
    decoder = made._decoder
    ways: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(type(decoder), "is_on_card", property(lambda self: True))
        patched.setattr(decoder, "_replay", lambda *_: ways.append("replayed"))
        patched.setattr(decoder, "_forward", lambda *_: ways.append("forward"))
        decoder.step()
    assert ways == [expected]
    made.unload()
