"""The worker: one thread, one load, first come first served, a bounded queue, and nothing left behind."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.scheduling.engines import PATIENCE_S, GatedEngine, ScriptedEngine, eventually, occupied, request
from voice_sculptor import metrics
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import AudioChunk, CandidateDone, EngineEvent
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import (
    Cancelled,
    DeadlineExceeded,
    QueueFull,
    ShuttingDown,
    SynthesisFailed,
    VoiceSculptorError,
    WeightsNotFound,
)
from voice_sculptor.scheduling.worker import CancelToken, Loading, Started, Waiting, Worker


def scripted(**script: Sequence[BaseException]) -> Worker:
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
    moved = next(second)
    assert isinstance(moved, Waiting)
    assert moved.position == 1
    assert moved.wait_s <= place.wait_s
    engine.gate.set()
    assert isinstance(list(running)[-1], CandidateDone)
    assert [type(event) for event in second] == [Started, AudioChunk, CandidateDone]


def test_the_wait_is_said_again_as_it_shrinks(gated: tuple[GatedEngine, Worker]) -> None:
    _, worker = gated
    running = occupied(worker)
    waiting = worker.submit(request("a", text="a longer text than the first one " * 9))
    first, second = next(waiting), next(waiting)
    assert isinstance(first, Waiting)
    assert isinstance(second, Waiting)
    assert first.position == second.position == 1
    assert 0.0 <= second.wait_s < first.wait_s
    del running


def test_a_place_that_stays_is_not_said_again(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    first, second = worker.submit(request("a")), worker.submit(request("b"))
    engine.gate.set()
    assert [event.position for event in first if isinstance(event, Waiting)] == [1]
    assert [event.position for event in second if isinstance(event, Waiting)] == [2], "both go on together"
    del running


def test_cancelling_what_waits(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    token = CancelToken()
    waiting = worker.submit(request("a"), token)
    assert isinstance(next(waiting), Waiting)
    token.cancel()
    assert worker.num_waiting == 0, "its place is free before anybody reads"
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


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RuntimeError("boom"), SynthesisFailed),
        (KeyError("x"), SynthesisFailed),
        (OSError(5, "disk"), SynthesisFailed),
        (ZeroDivisionError(), SynthesisFailed),
        (SystemExit(1), SynthesisFailed),
        (WeightsNotFound("none", "无"), WeightsNotFound),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_what_breaks_in_speaking_is_one_failed_request(
    raised: BaseException, expected: type[VoiceSculptorError]
) -> None:
    worker = scripted(on_speak=[raised])
    with pytest.raises(expected) as seen:
        list(worker.submit(request()))
    assert seen.value is raised or seen.value.__cause__ is raised
    assert seen.value.message("zh") != seen.value.message("en")
    assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
    worker.close()


def test_closing_refuses_what_waits_and_ends_what_runs(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    waiting = [worker.submit(request(name)) for name in "ab"]
    worker.close()
    with pytest.raises(ShuttingDown):
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


def test_closing_may_let_what_runs_come_to_its_end(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    waiting = worker.submit(request("a"))
    threading.Timer(0.05, engine.gate.set).start()
    worker.close(finish_s=PATIENCE_S)
    assert isinstance(list(running)[-1], CandidateDone)
    with pytest.raises(ShuttingDown):
        list(waiting)
    assert not engine.is_loaded


class StuckEngine(GatedEngine):
    """Takes no notice of anything until the gate opens."""

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        self.gate.wait(PATIENCE_S)
        yield from super().synthesize(batch, is_cancelled)


def test_even_what_is_stuck_is_answered() -> None:
    engine = StuckEngine()
    worker = Worker(engine, "cpu")
    running = worker.submit(request())
    eventually(lambda: worker.num_running == 1)
    worker.close(timeout_s=0.05)
    with pytest.raises(ShuttingDown):
        list(running)
    engine.gate.set()
    worker.close()


def test_a_thread_that_dies_leaves_nobody_without_an_answer() -> None:
    engine = GatedEngine()
    worker = Worker(engine, "cpu", max_batch_size=1)
    running = occupied(worker)
    waiting = worker.submit(request("a"))
    worker._scheduler.take = None  # type: ignore[method-assign, assignment]
    engine.gate.set()
    assert isinstance(list(running)[-1], CandidateDone)
    with pytest.raises(SynthesisFailed):
        list(waiting)
    with pytest.raises(ShuttingDown):
        worker.submit(request("late"))
    worker.close()


@pytest.mark.parametrize("is_running", [False, True])
def test_a_deadline_ends_a_request_wherever_it_is(
    gated: tuple[GatedEngine, Worker], is_running: bool
) -> None:
    engine, worker = gated
    running = None if is_running else occupied(worker)
    began_s = time.monotonic()
    events = worker.submit(request("late", deadline_s=began_s + 0.1))
    with pytest.raises(DeadlineExceeded):
        list(events)
    assert 0.1 <= time.monotonic() - began_s < PATIENCE_S / 2
    assert worker.num_waiting == 0
    engine.gate.set()
    assert isinstance(list(running or worker.submit(request("next")))[-1], CandidateDone)
    assert ("late" in engine.spoken) == is_running


def test_a_deadline_that_has_passed_does_no_work_and_holds_no_place(
    gated: tuple[GatedEngine, Worker],
) -> None:
    engine, worker = gated
    running = occupied(worker)
    unread = [worker.submit(request(name, deadline_s=time.monotonic() + 0.02)) for name in "abc"]
    time.sleep(0.03)
    following = worker.submit(request("next"))
    engine.gate.set()
    assert isinstance(list(following)[-1], CandidateDone)
    assert engine.spoken == ["running", "next"]
    for events in unread:
        with pytest.raises(DeadlineExceeded):
            list(events)
    del running


def test_what_the_caller_left_is_not_delivered_late() -> None:
    worker = Worker(FakeEngine(), "cpu")
    token = CancelToken()
    events = worker.submit(request(text="a" * 1200), token)
    eventually(lambda: worker.idle_s > 0.0)
    token.cancel()
    with pytest.raises(Cancelled):
        next(events)
    worker.close()


def test_a_token_keeps_nothing_of_what_has_ended() -> None:
    worker, token = Worker(FakeEngine(), "cpu"), CancelToken()
    list(worker.submit(request(), token))
    assert token._listeners == []
    assert not token.is_cancelled
    worker.close()


def test_idle_time_counts_from_the_last_work(gated: tuple[GatedEngine, Worker]) -> None:
    engine, worker = gated
    running = occupied(worker)
    assert worker.idle_s == 0.0
    engine.gate.set()
    list(running)
    eventually(lambda: 0.0 < worker.idle_s < PATIENCE_S)
    before_s = worker.idle_s
    time.sleep(0.02)
    assert worker.idle_s >= before_s + 0.02


def test_the_metrics_count_each_request_once() -> None:
    engine = ScriptedEngine(on_speak=[RuntimeError("boom")])
    engine.info = replace(engine.info, id=f"counted-{time.monotonic_ns()}")
    worker = Worker(engine, "cpu")
    before = {name: metrics.REGISTRY.get_sample_value(name) or 0.0 for name in _COUNTED}
    with pytest.raises(SynthesisFailed):
        list(worker.submit(request()))
    list(worker.submit(request(seeds=(1, 2))))
    worker.submit(request(text="a" * 400, delay_s=0.005)).close()
    worker.close()
    with pytest.raises(ShuttingDown):
        worker.submit(request())
    ended = {
        how: metrics.REGISTRY.get_sample_value(
            "voice_sculptor_requests_total", {"engine": engine.info.id, "outcome": how}
        )
        for how in ("done", "failed", "cancelled", "refused")
    }
    assert ended == {"done": 1.0, "failed": 1.0, "cancelled": 1.0, "refused": 1.0}
    gained = {name: (metrics.REGISTRY.get_sample_value(name) or 0.0) - before[name] for name in _COUNTED}
    assert gained["voice_sculptor_cancels_total"] == 1.0
    assert gained["voice_sculptor_ttfa_seconds_count"] in (1.0, 2.0)
    assert gained["voice_sculptor_wait_seconds_count"] in (2.0, 3.0)
    rtf = metrics.REGISTRY.get_sample_value("voice_sculptor_rtf_count", {"engine": engine.info.id})
    assert rtf == 2.0
    assert metrics.REGISTRY.get_sample_value("voice_sculptor_running_requests") == 0.0
    assert metrics.REGISTRY.get_sample_value("voice_sculptor_queue_requests") == 0.0


_COUNTED = (
    "voice_sculptor_cancels_total",
    "voice_sculptor_ttfa_seconds_count",
    "voice_sculptor_wait_seconds_count",
)


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
