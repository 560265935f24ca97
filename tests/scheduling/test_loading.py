"""Loading, warming up, unloading: on the worker's thread, when somebody needs it or nobody waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from tests.scheduling.engines import (
    GatedEngine,
    OutOfMemoryError,
    ScriptedEngine,
    eventually,
    occupied,
    request,
)
from voice_sculptor.engines.base import CandidateDone
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import LoadFailed, OutOfMemory, VoiceSculptorError, WeightsNotFound
from voice_sculptor.scheduling.worker import Loading, Worker


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RuntimeError("boom"), LoadFailed),
        (ImportError("no module"), LoadFailed),
        (SystemExit(1), LoadFailed),
        (MemoryError(), OutOfMemory),
        (OutOfMemoryError("CUDA out of memory"), OutOfMemory),
        (WeightsNotFound("none", "无"), WeightsNotFound),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
@pytest.mark.parametrize("preloaded", [False, True])
def test_what_breaks_in_loading_is_said_and_can_load_later(
    raised: BaseException, expected: type[VoiceSculptorError], preloaded: bool
) -> None:
    engine = ScriptedEngine(on_load=[raised, raised] if preloaded else [raised])
    worker = Worker(engine, "cpu")
    if preloaded:
        worker.preload()
        eventually(lambda: worker.has_preloaded)
        assert len(engine.on_load) == 1
    with pytest.raises(expected) as seen:
        list(worker.submit(request()))
    assert seen.value is raised or seen.value.__cause__ is raised
    assert not worker.is_loaded
    assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
    assert worker.is_loaded
    worker.close()


def test_preloading_needs_no_request() -> None:
    engine = FakeEngine()
    worker = Worker(engine, "cpu")
    worker.preload()
    eventually(lambda: worker.is_loaded)
    assert not any(isinstance(event, Loading) for event in worker.submit(request()))
    assert engine.num_loads == 1
    worker.close()


class WarmingEngine(GatedEngine):
    """Warms up in endless steps, or breaks in the second one."""

    def __init__(self, breaks: bool = False) -> None:
        super().__init__()
        self.gate.set()
        self.breaks = breaks
        self.num_steps = 0

    def warm_up(self) -> Iterator[None]:
        while True:
            self.threads.add(threading.get_ident())
            self.num_steps += 1
            if self.breaks and self.num_steps == 2:
                raise RuntimeError("cold")
            time.sleep(0.001)
            yield


@pytest.mark.parametrize("breaks", [False, True])
def test_warming_up_makes_nobody_wait(breaks: bool) -> None:
    engine = WarmingEngine(breaks)
    worker = Worker(engine, "cpu")
    worker.preload()
    eventually(lambda: engine.num_steps >= 2)
    assert worker.is_loaded
    assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
    num_steps = engine.num_steps
    time.sleep(0.02)
    assert engine.num_steps == num_steps
    worker.close()
    assert len(engine.threads) == 1


def test_what_is_loaded_for_a_request_is_not_warmed_up() -> None:
    engine = WarmingEngine()
    worker = Worker(engine, "cpu")
    assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
    worker.close()
    assert engine.num_steps == 0


def test_closing_ends_the_warming_up() -> None:
    engine = WarmingEngine()
    worker = Worker(engine, "cpu")
    worker.preload()
    eventually(lambda: engine.num_steps >= 1)
    worker.close()
    assert not worker.is_loaded


def test_unloading_frees_the_device_and_the_next_request_loads() -> None:
    engine = GatedEngine()
    engine.gate.set()
    worker = Worker(engine, "cpu")
    list(worker.submit(request()))
    worker.unload()
    eventually(lambda: not worker.is_loaded)
    assert not engine.is_loaded
    events = list(worker.submit(request()))
    assert isinstance(events[0], Loading)
    assert isinstance(events[-1], CandidateDone)
    worker.close()
    assert engine.num_loads == 2
    assert len(engine.threads) == 1


def test_unloading_waits_for_the_batch_and_not_for_the_queue(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    waiting = worker.submit(request("a"))
    worker.unload()
    time.sleep(0.02)
    assert engine.is_loaded
    engine.gate.set()
    assert isinstance(list(running)[-1], CandidateDone)
    assert isinstance(list(waiting)[-1], CandidateDone)
    assert engine.num_loads == 2


def test_reloading() -> None:
    engine = FakeEngine()
    worker = Worker(engine, "cpu")
    worker.preload()
    eventually(lambda: engine.num_loads == 1)
    worker.reload()
    eventually(lambda: engine.num_loads == 2 and worker.is_loaded)
    worker.unload()
    worker.unload()
    eventually(lambda: not worker.is_loaded)
    worker.close()


class ClingingEngine(FakeEngine):
    """Breaks when it is unloaded."""

    def unload(self) -> None:
        super().unload()
        raise RuntimeError("stuck to the device")


def test_what_breaks_in_unloading_breaks_nothing_else() -> None:
    worker = Worker(ClingingEngine(), "cpu")
    for _ in range(2):
        assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
        worker.unload()
        eventually(lambda: not worker.is_loaded)
    worker.close()
