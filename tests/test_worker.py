"""The worker: one thread, one load, first come first served, a bounded queue, and nothing left behind."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from voice_sculptor.controls import Controls
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import AudioChunk, CandidateDone, EngineEvent
from voice_sculptor.engines.fake import FakeEngine, FakeOptions
from voice_sculptor.errors import (
    Cancelled,
    LoadFailed,
    OutOfMemory,
    QueueFull,
    ShuttingDown,
    SynthesisFailed,
    VoiceSculptorError,
    WeightsNotFound,
)
from voice_sculptor.scheduling.worker import CancelToken, Loading, Started, Waiting, Worker

PATIENCE_S = 5.0


def request(name: str = "a", text: str = "hello", seeds: tuple[int, ...] = (1,), delay_s: float = 0.0):
    return SynthesisRequest(name, text, "auto", Controls(), seeds, options=FakeOptions(step_delay_s=delay_s))


def eventually(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come true in time"
        time.sleep(0.002)


class GatedEngine(FakeEngine):
    """Waits before each request until the gate opens, and keeps the order of what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.threads: set[int] = set()
        self.spoken: list[str] = []

    def load(self, device: str, dtype: str | None, progress: Callable[[float], None]) -> None:
        self.threads.add(threading.get_ident())
        super().load(device, dtype, progress)

    def unload(self) -> None:
        self.threads.add(threading.get_ident())
        super().unload()

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        self.threads.add(threading.get_ident())
        self.spoken += [one.id for one in batch]
        while not self.gate.wait(0.002) and not is_cancelled(batch[0].id):
            pass
        yield from super().synthesize(batch, is_cancelled)


class ScriptedEngine(FakeEngine):
    """Raises what it is told to, once per entry, while loading or while speaking."""

    def __init__(self, on_load: Sequence[Exception] = (), on_speak: Sequence[Exception] = ()) -> None:
        super().__init__()
        self.on_load = list(on_load)
        self.on_speak = list(on_speak)

    def load(self, device: str, dtype: str | None, progress: Callable[[float], None]) -> None:
        if self.on_load:
            raise self.on_load.pop(0)
        super().load(device, dtype, progress)

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        if self.on_speak:
            raise self.on_speak.pop(0)
        yield from super().synthesize(batch, is_cancelled)


@pytest.fixture
def gated() -> Iterator[tuple[GatedEngine, Worker]]:
    engine = GatedEngine()
    worker = Worker(engine, "cpu", max_queue=3)
    yield engine, worker
    engine.gate.set()
    worker.close()


def occupied(worker: Worker) -> Iterator[object]:
    """The events of a request that has the device now."""
    events = worker.submit(request("running"))
    assert isinstance(next(events), Loading)
    assert isinstance(next(events), Started)
    return events


def scripted(**script: Sequence[Exception]) -> Worker:
    return Worker(ScriptedEngine(**script), "cpu")


def test_events_come_in_order() -> None:
    worker = Worker(FakeEngine(), "cpu")
    events = list(worker.submit(request(text="a" * 30, seeds=(1, 2))))
    worker.close()
    kinds = [type(event) for event in events]
    assert kinds == [Loading, Started, *[AudioChunk] * 3, CandidateDone, *[AudioChunk] * 3, CandidateDone]


def test_it_is_loaded_once_however_many_ask_at_once() -> None:
    engine = GatedEngine()
    engine.gate.set()
    worker = Worker(engine, "cpu", max_queue=20)
    barrier = threading.Barrier(20)

    def ask(i: int) -> str:
        barrier.wait(PATIENCE_S)
        events = list(worker.submit(request(f"r{i}")))
        assert all(event.request_id == f"r{i}" for event in events if isinstance(event, AudioChunk))
        return type(events[-1]).__name__

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(ask, range(20))) == ["CandidateDone"] * 20
    worker.close()
    assert engine.num_loads == 1
    assert not engine.is_loaded
    assert len(engine.threads) == 1, "the engine was touched by more than one thread"


def test_first_come_first_served(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    waiting = [worker.submit(request(name)) for name in "abc"]
    engine.gate.set()
    for events in (running, *waiting):
        assert isinstance(list(events)[-1], CandidateDone)
    assert engine.spoken == ["running", "a", "b", "c"]


def test_a_full_queue_is_said_at_once(gated: tuple[GatedEngine, Worker]) -> None:
    _, worker = gated
    running = occupied(worker)
    waiting = [worker.submit(request(name)) for name in "abc"]
    began_s = time.monotonic()
    with pytest.raises(QueueFull) as refused:
        worker.submit(request("d"))
    assert time.monotonic() - began_s < PATIENCE_S / 2
    assert refused.value.retry_after_s > 0
    assert worker.num_waiting == 3
    del running, waiting


def test_places_in_the_queue(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    first, second = worker.submit(request("a")), worker.submit(request("b"))
    place = next(second)
    assert isinstance(place, Waiting)
    assert place.position == 2
    assert place.wait_s > 0
    first.close()
    assert next(second) == Waiting(1, place.wait_s / 2)
    engine.gate.set()
    assert isinstance(list(running)[-1], CandidateDone)
    assert [type(event) for event in second] == [Started, AudioChunk, CandidateDone]


def test_a_place_that_stays_is_not_said_again(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    first, second = worker.submit(request("a")), worker.submit(request("b"))
    engine.gate.set()
    assert [event.position for event in first if isinstance(event, Waiting)] == [1]
    assert [event.position for event in second if isinstance(event, Waiting)] == [2, 1]
    del running


def test_cancelling_what_waits(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    token = CancelToken()
    waiting = worker.submit(request("a"), token)
    assert next(waiting) == Waiting(1, 10.0)
    token.cancel()
    with pytest.raises(Cancelled):
        next(waiting)
    assert worker.num_waiting == 0
    engine.gate.set()
    assert isinstance(list(running)[-1], CandidateDone)
    assert engine.spoken == ["running"]


def test_cancelling_what_runs() -> None:
    worker = Worker(FakeEngine(), "cpu")
    token = CancelToken()
    events = worker.submit(request(text="a" * 1200, delay_s=0.02), token)
    assert [type(next(events)) for _ in range(4)] == [Loading, Started, AudioChunk, AudioChunk]
    token.cancel()
    late: list[object] = []
    with pytest.raises(Cancelled):
        late.extend(events)
    assert len(late) <= 1
    assert isinstance(list(worker.submit(request("next")))[-1], CandidateDone)
    worker.close()


def test_a_token_set_beforehand_does_no_work(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        list(worker.submit(request("a"), token))
    assert engine.spoken == []


@pytest.mark.parametrize("read_first", [False, True])
@pytest.mark.parametrize("dropped", [False, True], ids=["closed", "dropped"])
def test_leaving_the_events_frees_the_place(
    gated: tuple[GatedEngine, Worker], read_first: bool, dropped: bool
) -> None:
    engine, worker = gated
    running = occupied(worker)
    waiting = worker.submit(request("left"))
    if read_first:
        next(waiting)
    assert worker.num_waiting == 1
    if dropped:
        del waiting
        gc.collect()
    else:
        waiting.close()
    assert worker.num_waiting == 0
    engine.gate.set()
    assert isinstance(list(running)[-1], CandidateDone)
    assert engine.spoken == ["running"]


def test_leaving_what_runs_frees_the_device(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    following = worker.submit(request("next"))
    running.close()  # type: ignore[attr-defined]
    eventually(lambda: engine.spoken == ["running", "next"])
    engine.gate.set()
    assert isinstance(list(following)[-1], CandidateDone)


class OutOfMemoryError(RuntimeError):
    """Named as torch names its own."""


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RuntimeError("boom"), SynthesisFailed),
        (KeyError("x"), SynthesisFailed),
        (OSError(5, "disk"), SynthesisFailed),
        (ZeroDivisionError(), SynthesisFailed),
        (MemoryError(), OutOfMemory),
        (OutOfMemoryError("CUDA out of memory"), OutOfMemory),
        (WeightsNotFound("none", "无"), WeightsNotFound),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_what_breaks_in_speaking_is_one_failed_request(
    raised: Exception, expected: type[VoiceSculptorError]
) -> None:
    worker = scripted(on_speak=[raised])
    with pytest.raises(expected) as seen:
        list(worker.submit(request()))
    assert seen.value is raised or seen.value.__cause__ is raised
    assert seen.value.message("zh") != seen.value.message("en")
    assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
    worker.close()


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RuntimeError("boom"), LoadFailed),
        (ImportError("no module"), LoadFailed),
        (MemoryError(), OutOfMemory),
        (OutOfMemoryError("CUDA out of memory"), OutOfMemory),
        (WeightsNotFound("none", "无"), WeightsNotFound),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
@pytest.mark.parametrize("preloaded", [False, True])
def test_what_breaks_in_loading_is_said_and_can_load_later(
    raised: Exception, expected: type[VoiceSculptorError], preloaded: bool
) -> None:
    worker = scripted(on_load=[raised, raised] if preloaded else [raised])
    engine = worker.engine
    assert isinstance(engine, ScriptedEngine)
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


def test_closing_refuses_what_waits_and_cancels_what_runs(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    waiting = [worker.submit(request(name)) for name in "ab"]
    worker.close()
    with pytest.raises(Cancelled):
        list(running)
    for events in waiting:
        with pytest.raises(ShuttingDown):
            list(events)
    with pytest.raises(ShuttingDown):
        worker.submit(request("late"))
    assert engine.spoken == ["running"]
    assert not engine.is_loaded
    assert not worker.is_loaded


def test_closing_twice_and_without_work() -> None:
    worker = Worker(FakeEngine(), "cpu")
    worker.close()
    worker.close()
    assert not worker.is_loaded


def test_the_estimate_follows_what_was_measured() -> None:
    engine = GatedEngine()
    engine.gate.set()
    worker = Worker(engine, "cpu", max_queue=1)
    for _ in range(3):
        list(worker.submit(request(delay_s=0.01)))
    engine.gate.clear()
    running = worker.submit(request("a"))
    eventually(lambda: worker.num_waiting == 0)
    waiting = worker.submit(request("b"))
    with pytest.raises(QueueFull) as refused:
        worker.submit(request("c"))
    assert 0.01 < refused.value.retry_after_s < 1.0
    running.close()
    waiting.close()
    worker.close()
