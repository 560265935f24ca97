"""The governor over readings that are told, and once over this machine."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import replace

import pytest

from voice_sculptor import metrics
from voice_sculptor.config import Settings
from voice_sculptor.controls import Controls
from voice_sculptor.domain import SynthesisRequest, VoiceSpec
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import OutOfMemory
from voice_sculptor.scheduling import governor as module
from voice_sculptor.scheduling.governor import STALL_S, Governor
from voice_sculptor.scheduling.limits import Limits
from voice_sculptor.scheduling.memory import PARTS, MemorySnapshot
from voice_sculptor.scheduling.pressure import Thresholds
from voice_sculptor.studio import Studio

GB = 10**9


class PartedEngine(FakeEngine):
    """States what it holds and takes."""

    def __init__(self, settings: Settings | None = None, held: Mapping[str, int] | None = None) -> None:
        super().__init__(settings)
        self.info = replace(self.info, weights_bytes=6 * GB, bytes_per_audio_s=GB // 100, max_piece_s=40.0)
        self.held = held or {"weights": 6 * GB, "cache": 2 * GB}

    def memory_parts(self) -> Mapping[str, int]:
        return self.held if self.is_loaded else {}


class Worker:
    """What a governor looks at."""

    def __init__(self, device: str = "cuda:0", is_loaded: bool = True) -> None:
        self.device = device
        self.is_loaded = is_loaded
        self.idle_s = 0.0
        self.num_unloads = 0

    def unload(self) -> None:
        self.num_unloads += 1
        self.is_loaded = False


class Bench:
    """A governor whose readings and time are told."""

    def __init__(self, memory: MemorySnapshot, worker: Worker | None = None, **given: object) -> None:
        self.memory, self.now_s = memory, 100.0
        self.worker = worker or Worker()
        self.engine = PartedEngine()
        self.engine.is_loaded = self.worker.is_loaded
        self.governor = Governor(
            self.engine,
            max_batch_size=4,
            read=lambda device: self.memory,
            clock=lambda: self.now_s,
            **given,  # type: ignore[arg-type]
        )
        self.governor._worker = self.worker

    def look(self, percent: float, seconds: float = 1.0) -> Governor:
        self.now_s += seconds
        used_bytes = round(self.memory.total_bytes * percent / 100.0)
        self.memory = replace(self.memory, used_bytes=used_bytes, held_bytes=0)
        self.governor.look()
        return self.governor


def card(used_gb: float, total_gb: float = 24.0, own_gb: float = 9.0, held_gb: float = 0.5) -> MemorySnapshot:
    sizes = (round(gb * GB) for gb in (used_gb, total_gb, own_gb))
    return MemorySnapshot("vram", *sizes, "card", held_bytes=round(held_gb * GB))


def ram(
    available_gb: float, total_gb: float = 16.0, own_gb: float = 9.0, swap_gb: float = 0.0
) -> MemorySnapshot:
    used = round((total_gb - available_gb) * GB)
    return MemorySnapshot(
        "ram", used, round(total_gb * GB), round(own_gb * GB), "cpu", swap_bytes=round(swap_gb * GB)
    )


def request(num_words: int = 5) -> SynthesisRequest:
    return SynthesisRequest("r", "word " * num_words, "en", Controls(), (1,))


def counted(change: str) -> float:
    return metrics.REGISTRY.get_sample_value("voice_sculptor_memory_changes_total", {"change": change}) or 0.0


def test_it_is_what_the_worker_asks() -> None:
    limits: Limits = Governor(FakeEngine())
    assert limits.batch_limit(4) == 1
    assert not limits.is_paused()
    limits.admit(request(100_000))
    limits.measured([request()], GB)


def test_batches_shrink_and_grow_and_each_change_is_counted_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench(card(10))
    before = {change: counted(change) for change in ("smaller", "larger", "paused", "resumed")}
    with caplog.at_level(logging.INFO):
        assert bench.look(50).batch_limit(4) == 4
        assert bench.look(91).batch_limit(4) == 3
        assert bench.look(91).batch_limit(2) == 2
        assert bench.look(88).batch_limit(4) == 2
        assert bench.look(60).batch_limit(4) == 3
        assert bench.look(96).batch_limit(4) == 1
        assert bench.look(80).batch_limit(4) == 3
    now = {change: counted(change) - number for change, number in before.items()}
    assert now == {"smaller": 3, "larger": 2, "paused": 1, "resumed": 1}
    assert len(caplog.records) == 7
    assert "23.04 of 24.00 GB" in caplog.text
    assert metrics.REGISTRY.get_sample_value("voice_sculptor_batch_limit") == 3


def test_a_pause_holds_until_recovery_but_lets_one_through_now_and_then() -> None:
    bench = Bench(card(10), thresholds=Thresholds(50.0, 60.0, 70.0))
    governor = bench.look(71)
    assert governor.is_paused()
    assert bench.look(55).is_paused()
    assert [look.level for look in governor.looks] == ["critical", "critical"]
    bench.now_s += STALL_S
    assert not governor.is_paused()
    assert governor.is_paused()
    bench.now_s += STALL_S - 0.1
    governor.measured([request()], 9 * GB)  # Something has run until now.
    bench.now_s += STALL_S - 0.1
    assert governor.is_paused()
    assert governor.batch_limit(4) == 1
    assert not bench.look(49).is_paused()


def test_the_parts_are_those_of_the_engine_and_of_torch() -> None:
    bench = Bench(card(12))
    parts = bench.governor.look().parts
    assert tuple(parts) == PARTS
    assert {part: num_bytes / GB for part, num_bytes in parts.items()} == {
        "weights": 6,
        "codec": 0,
        "cache": 2,
        "working": 0.5,
        "held": 0.5,
        "others": 3,
    }
    for part, num_bytes in {**parts, "total": 24 * GB}.items():
        labels = {"device": "cuda:0", "part": part}
        assert metrics.REGISTRY.get_sample_value("voice_sculptor_memory_bytes", labels) == num_bytes


def test_an_engine_that_tells_no_parts_has_its_weights() -> None:
    engine = FakeEngine()
    engine.info = replace(engine.info, weights_bytes=GB)
    governor = Governor(engine, read=lambda device: card(12))
    governor._worker = Worker()
    assert governor.look().parts["weights"] == GB
    governor._worker.is_loaded = False
    assert governor.look().parts["weights"] == 0


@pytest.mark.parametrize(
    ("memory", "is_refused"),
    [
        (card(12), False),
        (card(23.9, own_gb=9), False),  # Others hold 14.9 GB, the engine 8: 1.1 GB are left.
        (card(23.9, own_gb=8.1, held_gb=0.1), True),  # Others hold 15.8 GB: 0.2 GB are left.
        (card(9.5, total_gb=9.5, own_gb=9.4), False),  # Full of our own: what is kept for later can be had.
        (card(8.2, total_gb=8.2, own_gb=8.1, held_gb=0.0), True),
        (ram(0.5), False),
        (ram(0.1, own_gb=8.0), True),
        (ram(0.1, own_gb=8.0, swap_gb=2), False),  # What can be swapped out is no refusal.
        (ram(0.1, own_gb=8.5), False),  # What earlier requests used is there for this one.
    ],
)
def test_what_cannot_fit_is_refused_with_the_figures(memory: MemorySnapshot, is_refused: bool) -> None:
    """A piece of 40 s takes 0.4 GB."""
    bench = Bench(memory, Worker("cuda:0" if memory.kind == "vram" else "cpu"))
    bench.governor.look()
    bench.governor.admit(request(3))
    if not is_refused:
        bench.governor.admit(request(5000))
        return
    before = counted("refused")
    with pytest.raises(OutOfMemory) as refused:
        bench.governor.admit(request(5000))
    assert refused.value.needed_bytes == pytest.approx(0.4 * GB)
    assert refused.value.free_bytes is not None
    assert 0 <= refused.value.free_bytes < 0.4 * GB
    for language in ("en", "zh"):
        assert "0.40 GB" in refused.value.message(language)
    assert counted("refused") == before + 1


def test_nothing_is_refused_before_the_device_is_known() -> None:
    bench = Bench(card(23.9, own_gb=0, held_gb=0), Worker("auto", is_loaded=False))
    bench.governor.admit(request(5000))
    bench.governor.look()
    bench.governor.admit(request(5000))
    bench.worker.device = "cuda:0"
    with pytest.raises(OutOfMemory):
        bench.governor.admit(request(5000))


def test_weights_that_are_stated_count_once_they_are_loaded() -> None:
    bench = Bench(ram(4, total_gb=8, own_gb=1), Worker("cpu", is_loaded=False))
    bench.governor.look()
    bench.governor.admit(request(5000))


def test_on_a_mac_memory_that_is_used_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(ram(0.05, own_gb=8.0), Worker("mps"))
    bench.governor.look()
    with pytest.raises(OutOfMemory):
        bench.governor.admit(request(5000))
    monkeypatch.setattr(module.sys, "platform", "darwin")
    bench.governor.admit(request(5000))


def test_the_peak_of_a_card_corrects_the_estimate() -> None:
    bench = Bench(card(12))
    bench.governor.look()
    stated = bench.governor.estimate.needed_bytes(request(5000))
    for _ in range(40):
        bench.governor.measured([request(5000)], 8 * GB + 3 * stated)
    assert bench.governor.estimate.ratio == pytest.approx(3.0, rel=0.01)


def test_a_process_is_measured_by_its_growth() -> None:
    bench = Bench(ram(4), Worker("cpu"))
    bench.governor.look()
    bench.governor.measured([request(5000)], 9 * GB)
    assert bench.governor.estimate.ratio == 1.0
    bench.governor.measured([request(5000)], 9 * GB + 800_000_000)
    assert bench.governor.estimate.ratio == pytest.approx(1.2)
    bench.governor.measured([request(5000)], 8 * GB)
    assert bench.governor.estimate.ratio == pytest.approx(1.2)


def test_an_idle_engine_is_unloaded() -> None:
    bench = Bench(card(12), idle_unload_s=60.0)
    bench.worker.idle_s = 59.0
    bench.governor.look()
    assert bench.worker.num_unloads == 0
    bench.worker.idle_s = 60.0
    bench.governor.look()
    bench.governor.look()
    assert bench.worker.num_unloads == 1
    never = Bench(card(12))
    never.worker.idle_s = 1e6
    never.governor.look()
    assert never.worker.num_unloads == 0


def test_looks_are_bounded() -> None:
    bench = Bench(card(12))
    for _ in range(400):
        bench.look(50)
    assert len(bench.governor.looks) == 300
    assert bench.governor.looks[-1].at_s == bench.now_s


def _watching() -> set[threading.Thread]:
    """The governors' threads; the page of other tests may have one."""
    return {thread for thread in threading.enumerate() if thread.name == "governor"}


def test_a_reading_that_fails_is_followed_by_the_next(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "EVERY_S", 0.01)
    gone = OSError("gone")
    readings = iter([gone, gone, gone, card(12), gone, card(13)])

    def read(device: str) -> MemorySnapshot:
        memory = next(readings, card(14))
        if isinstance(memory, OSError):
            raise memory
        return memory

    before = _watching()
    governor = Governor(FakeEngine(), read=read)
    governor.start(Worker())
    deadline_s = time.monotonic() + 5.0
    while len(governor.looks) < 3 and time.monotonic() < deadline_s:
        time.sleep(0.01)
    governor.close()
    assert len(governor.looks) >= 3
    assert caplog.text.count("The memory could not be read") == 2, "once for a row of faults"
    assert _watching() == before
    governor.close()


def test_a_studio_is_watched_and_unloads_and_speaks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY_S", 0.02)
    engine = FakeEngine()
    settings = Settings(engine="fake", device="cpu", idle_unload_s=1.0)
    before = _watching()
    with Studio(settings, engine) as studio:
        assert len(list(studio.design("Hello there.", VoiceSpec(), num_candidates=1))) > 2
        assert engine.num_loads == 1
        deadline_s = time.monotonic() + 10.0
        while studio.worker.is_loaded and time.monotonic() < deadline_s:
            time.sleep(0.02)
        assert not studio.worker.is_loaded
        look = studio.governor.looks[-1]
        assert look.memory.kind == "ram"
        assert look.parts["working"] > 10_000_000
        assert look.activity.requests_per_min >= 1
        list(studio.design("Hello again.", VoiceSpec(), num_candidates=1))
        assert engine.num_loads == 2
    assert _watching() == before
