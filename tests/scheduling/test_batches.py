"""Batches on the worker: each gets its own audio, whatever happens to its neighbours."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.scheduling.engines import (
    PATIENCE_S,
    GatedEngine,
    OutOfMemoryError,
    eventually,
    occupied,
    request,
    sound,
)
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import AudioChunk, CandidateDone, CandidateFailed, EngineEvent
from voice_sculptor.engines.fake import FakeCosts, FakeEngine, FakeOptions
from voice_sculptor.errors import (
    Cancelled,
    DeadlineExceeded,
    OutOfMemory,
    SynthesisFailed,
    VoiceSculptorError,
)
from voice_sculptor.scheduling.limits import NoLimits
from voice_sculptor.scheduling.worker import CancelToken, Started, Worker

TEXTS = {"a": "hello there", "b": "a text of its own, which is longer", "c": "and one more of them"}


def alone(name: str, seeds: tuple[int, ...] = (1,), text: str = "") -> list[object]:
    """The events of a request that has an engine for itself."""
    return list(FakeEngine().synthesize([request(name, text or TEXTS[name], seeds)], lambda _: False))


class BatchEngine(GatedEngine):
    """Has a hand in each step: `trouble` is called with the ids of the batch and the number of its events so far."""

    def __init__(self, trouble: Callable[[list[str], int], None] = lambda ids, number: None) -> None:
        super().__init__()
        self.trouble = trouble

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        ids = [f"{one.id}:{','.join(map(str, one.seeds))}" for one in batch]
        for number, event in enumerate(super().synthesize(batch, is_cancelled)):
            self.trouble(ids, number)
            yield event
        self.trouble(ids, -1)


def together(engine: BatchEngine, *requests: SynthesisRequest, **kwargs: object) -> dict[str, object]:
    """Run requests in one batch; by id, their events or the error that they ended with."""
    worker = Worker(engine, "cpu", **kwargs)  # type: ignore[arg-type]
    running = occupied(worker)
    waiting = {one.id: worker.submit(one) for one in requests}
    engine.gate.set()
    list(running)
    outcomes: dict[str, object] = {}
    for name, events in waiting.items():
        try:
            outcomes[name] = list(events)
        except VoiceSculptorError as error:
            outcomes[name] = error
    assert isinstance(list(worker.submit(request("next")))[-1], CandidateDone), "the next one works"
    worker.close()
    return outcomes


def test_each_gets_its_own_audio() -> None:
    engine = BatchEngine()
    outcomes = together(engine, *(request(name, text, (1, 2)) for name, text in TEXTS.items()))
    assert engine.batches == [["running"], ["a", "b", "c"], ["next"]]
    for name, events in outcomes.items():
        assert isinstance(events, list)
        for index in (0, 1):
            assert sound(events, index) == sound(alone(name, (1, 2)), index) != b""
        assert {event.request_id for event in events if isinstance(event, AudioChunk)} == {name}


@pytest.mark.parametrize(
    ("kwargs", "size"), [({}, 4), ({"max_batch_size": 2}, 2), ({"max_batch_size": 99}, 4)]
)
def test_batches_are_bounded(kwargs: dict[str, int], size: int) -> None:
    engine = BatchEngine()
    together(engine, *(request(f"r{number}") for number in range(9)), **kwargs)
    assert max(map(len, engine.batches)) == size


class HalfLimits(NoLimits):
    """Allows two at once, keeps everything waiting while it is paused, and keeps what it is told."""

    def __init__(self) -> None:
        self.paused = threading.Event()
        self.peaks: list[tuple[list[str], int]] = []

    def batch_limit(self, max_batch_size: int) -> int:
        return 2

    def is_paused(self) -> bool:
        return self.paused.is_set()

    def admit(self, request: SynthesisRequest) -> None:
        if request.text == "too large":
            raise OutOfMemory("Too large.", "太大。", needed_bytes=2, free_bytes=1)

    def measured(self, batch: Sequence[SynthesisRequest], peak_bytes: int) -> None:
        self.peaks.append(([one.id for one in batch], peak_bytes))


def test_the_memory_has_a_say() -> None:
    engine, limits = BatchEngine(), HalfLimits()
    together(engine, *(request(f"r{number}") for number in range(4)), limits=limits)
    assert engine.batches == [["running"], ["r0", "r1"], ["r2", "r3"], ["next"]]
    assert [ids for ids, _ in limits.peaks] == engine.batches
    assert all(peak_bytes > 1_000_000 for _, peak_bytes in limits.peaks)


def test_what_can_never_fit_is_refused_before_it_waits() -> None:
    worker = Worker(FakeEngine(), "cpu", limits=HalfLimits())
    with pytest.raises(OutOfMemory):
        worker.submit(request(text="too large"))
    assert worker.num_waiting == 0
    worker.close()


def test_nothing_begins_while_the_memory_says_so() -> None:
    limits = HalfLimits()
    worker = Worker(FakeEngine(), "cpu", limits=limits)
    limits.paused.set()
    events = worker.submit(request())
    time.sleep(0.15)
    assert worker.num_waiting == 1
    limits.paused.clear()
    assert isinstance(list(events)[-1], CandidateDone)
    worker.close()


class BadLimits(NoLimits):
    def measured(self, batch: Sequence[SynthesisRequest], peak_bytes: int) -> None:
        raise RuntimeError("a fault of ours")


def test_a_fault_of_the_limits_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    worker = Worker(FakeEngine(), "cpu", limits=BadLimits())
    for _ in range(2):
        assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
    worker.close()
    assert "fault of ours" in caplog.text


def test_an_engine_that_gains_nothing_gets_one_at_a_time() -> None:
    engine = BatchEngine()
    engine.info = replace(engine.info, capabilities=replace(engine.info.capabilities, batching=False))
    together(engine, *(request(name) for name in "abc"))
    assert engine.batches == [["running"], ["a"], ["b"], ["c"], ["next"]]


def test_a_short_one_does_not_wait_for_its_neighbours() -> None:
    engine = BatchEngine()
    worker = Worker(engine, "cpu")
    running = occupied(worker)
    short = worker.submit(request("short", delay_s=0.02))
    long = worker.submit(request("long", text="a" * 60, delay_s=0.02))
    engine.gate.set()
    list(running)
    assert isinstance(list(short)[-1], CandidateDone)
    assert worker.num_running == 2
    assert isinstance(list(long)[-1], CandidateDone)
    assert engine.batches[1] == ["short", "long"]
    worker.close()


@pytest.mark.parametrize("how", ["token", "close", "deadline"])
def test_one_that_leaves_is_answered_at_once_and_its_neighbours_go_on(how: str) -> None:
    engine = BatchEngine()
    worker = Worker(engine, "cpu")
    running = occupied(worker)
    token = CancelToken()
    text = "a" * 480
    deadline_s = time.monotonic() + 0.15 if how == "deadline" else None
    leaving = worker.submit(request("leaving", text, delay_s=0.02, deadline_s=deadline_s), token)
    staying = worker.submit(request("staying", text, delay_s=0.02))
    engine.gate.set()
    list(running)
    while not isinstance(next(leaving), Started):
        pass
    began_s = time.monotonic()
    if how == "close":
        leaving.close()
    else:
        if how == "token":
            token.cancel()
        with pytest.raises(Cancelled if how == "token" else DeadlineExceeded):
            list(leaving)
    assert time.monotonic() - began_s < 0.4, "it waited for its neighbour"
    assert sound(list(staying)) == sound(alone("x", text=text))
    assert engine.batches[1] == ["leaving", "staying"]
    worker.close()


def test_when_all_have_left_the_engine_stops() -> None:
    engine = BatchEngine()
    worker = Worker(engine, "cpu")
    running = occupied(worker)
    both = [worker.submit(request(name, "a" * 1200, delay_s=0.02)) for name in "ab"]
    engine.gate.set()
    list(running)
    eventually(lambda: worker.num_running == 2)
    for events in both:
        events.close()
    began_s = time.monotonic()
    eventually(lambda: worker.num_running == 0)
    assert time.monotonic() - began_s < 0.5
    worker.close()


def test_a_candidate_that_fails_is_its_own_requests() -> None:
    from voice_sculptor.domain import Voice

    bad = Voice(name="x", engine="fake", state={"f0_hz": "low"})
    outcomes = together(BatchEngine(), request("a", TEXTS["a"]), replace(request("b", TEXTS["b"]), voice=bad))
    assert isinstance(outcomes["b"], list)
    assert isinstance(outcomes["b"][-1], CandidateFailed)
    assert isinstance(outcomes["a"], list)
    assert sound(outcomes["a"]) == sound(alone("a"))


def raiser(error: BaseException, when: Callable[[list[str], int], bool]) -> Callable[[list[str], int], None]:
    def trouble(ids: list[str], number: int) -> None:
        if when(ids, number):
            raise error

    return trouble


@pytest.mark.parametrize("number", [0, 1, 3], ids=["before any audio", "after some", "after more"])
def test_a_batch_that_breaks_is_run_again_one_by_one(number: int) -> None:
    trouble = raiser(RuntimeError("boom"), lambda ids, now: len(ids) > 1 and now == number)
    engine = BatchEngine(trouble)
    outcomes = together(engine, *(request(name, text) for name, text in TEXTS.items()))
    assert [batch for batch in engine.batches if len(batch) > 1] == [["a", "b", "c"]]
    for name, events in outcomes.items():
        assert isinstance(events, list)
        assert sound(events) == sound(alone(name)), "nothing twice, nothing left out"
        assert sum(isinstance(event, Started) for event in events) == 1
        assert isinstance(events[-1], CandidateDone)


def test_only_the_one_that_breaks_it_fails(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    trouble = raiser(RuntimeError("boom"), lambda ids, number: "b:1" in ids)
    outcomes = together(BatchEngine(trouble), *(request(name, text) for name, text in TEXTS.items()))
    assert isinstance(outcomes["b"], SynthesisFailed)
    for name in "ac":
        events = outcomes[name]
        assert isinstance(events, list)
        assert sound(events) == sound(alone(name))
    assert "boom" in caplog.text


def test_what_was_heard_and_cannot_be_repeated_fails_clearly() -> None:
    trouble = raiser(RuntimeError("boom"), lambda ids, number: len(ids) > 1 and number == 1)
    engine = BatchEngine(trouble)
    engine.info = replace(engine.info, capabilities=replace(engine.info.capabilities, seed=False))
    outcomes = together(engine, *(request(name, text) for name, text in TEXTS.items()))
    heard = outcomes["a"]
    assert isinstance(heard, list)
    assert [type(event) for event in heard[-2:]] == [AudioChunk, CandidateFailed]
    assert isinstance(heard[-1].error, SynthesisFailed)
    for name in "bc":
        events = outcomes[name]
        assert isinstance(events, list)
        assert sound(events) == sound(alone(name))


class MoodyEngine(BatchEngine):
    """Promises that a seed is the same audio, and breaks that after the first making."""

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        louder = np.float32(1.0 + 0.2 * len(self.batches))
        for event in super().synthesize(batch, is_cancelled):
            yield replace(event, samples=event.samples * louder) if isinstance(event, AudioChunk) else event


def test_a_second_making_that_is_another_one_is_not_put_behind_the_first() -> None:
    trouble = raiser(RuntimeError("boom"), lambda ids, number: len(ids) > 1 and number == 1)
    outcomes = together(MoodyEngine(trouble), *(request(name, text) for name, text in TEXTS.items()))
    heard = outcomes["a"]
    assert isinstance(heard, list)
    assert [type(event) for event in heard[-2:]] == [AudioChunk, CandidateFailed]
    assert "another one" in heard[-1].error.message()
    assert isinstance(outcomes["b"], list)
    assert isinstance(outcomes["b"][-1], CandidateDone)


SHORTAGES = [
    MemoryError(),
    OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB."),
    OutOfMemory("x", "y"),
]
SHORTAGE_IDS = ["python", "torch", "engine"]


@pytest.mark.parametrize("error", SHORTAGES, ids=SHORTAGE_IDS)
@pytest.mark.parametrize("fits", [1, 2, 3])
@pytest.mark.parametrize("number", [0, 2])
def test_out_of_memory_is_tried_again_in_halves(error: Exception, fits: int, number: int) -> None:
    engine = BatchEngine(raiser(error, lambda ids, now: len(ids) > fits and now == number))
    texts = {name: f"{name}, and what is more than one piece long" for name in "abcd"}
    outcomes = together(engine, *(request(name, text) for name, text in texts.items()))
    halves = {1: [["a"], ["b"], ["c"], ["d"]], 2: [["a", "b"], ["c", "d"]], 3: [["a", "b"], ["c", "d"]]}[fits]
    assert [batch for batch in engine.batches[2:-1] if len(batch) <= fits] == halves
    for name, events in outcomes.items():
        assert isinstance(events, list), events
        assert sound(events) == sound(alone(name, text=texts[name]))


def test_only_what_does_not_fit_even_alone_fails() -> None:
    error = OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has …")
    engine = BatchEngine(raiser(error, lambda ids, number: "b:1" in ids))
    outcomes = together(engine, *(request(name, text) for name, text in TEXTS.items()))
    refused = outcomes["b"]
    assert isinstance(refused, OutOfMemory)
    assert refused.needed_bytes == 2.5 * 2**30
    assert refused.free_bytes is not None
    assert f"2.68 GB more were needed, {refused.free_bytes / 1e9:.2f} GB are free" in refused.message()
    assert "2.68 GB" in refused.message("zh")
    for name in "ac":
        events = outcomes[name]
        assert isinstance(events, list)
        assert sound(events) == sound(alone(name))


@pytest.mark.parametrize(
    "error", [*SHORTAGES[:2], RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_one_alone_has_a_second_try_with_the_caches_free(error: Exception) -> None:
    troubles = iter([error])

    def once(ids: list[str], number: int) -> None:
        for trouble in troubles:
            raise trouble

    engine = BatchEngine(once)
    engine.gate.set()
    worker = Worker(engine, "cpu")
    assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
    engine.trouble = raiser(error, lambda ids, number: True)
    with pytest.raises(OutOfMemory) as refused:
        list(worker.submit(request()))
    assert refused.value.__cause__ is error
    assert len(engine.batches) == 4
    worker.close()


def test_candidates_are_made_fewer_at_once() -> None:
    engine = BatchEngine(raiser(MemoryError(), lambda ids, number: any(one.count(",") for one in ids)))
    outcomes = together(engine, request("a", TEXTS["a"], (1, 2, 3)))
    events = outcomes["a"]
    assert isinstance(events, list)
    for index in range(3):
        assert sound(events, index) == sound(alone("a", (1, 2, 3)), index)
    assert [event.index for event in events if isinstance(event, CandidateDone)] == [0, 1, 2]


def test_candidates_that_were_done_stay_done() -> None:
    engine = BatchEngine(raiser(MemoryError(), lambda ids, number: "2" in ids[0] and number != 0))
    outcomes = together(engine, request("a", TEXTS["a"], (1, 2)), max_batch_size=1)
    events = outcomes["a"]
    assert isinstance(events, list)
    assert [type(event) for event in events if not isinstance(event, AudioChunk)][-2:] == [
        CandidateDone,
        CandidateFailed,
    ]
    assert sound(events) == sound(alone("a"))


def test_nothing_of_a_shortage_is_held_on_to() -> None:
    import weakref

    class Tensor:
        pass

    held: list[weakref.ref[Tensor]] = []

    def trouble(ids: list[str], number: int) -> None:
        tensor = Tensor()
        held.append(weakref.ref(tensor))
        if len(held) == 1:
            raise MemoryError
        assert held[0]() is None, "the frames of the first try are still there"

    engine = BatchEngine(trouble)
    engine.gate.set()
    worker = Worker(engine, "cpu")
    assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
    worker.close()


def test_shortages_at_any_step_lose_nothing() -> None:
    engine = FakeEngine(costs=FakeCosts(step_s=0.0005, shortage_rate=0.05, seed=3))
    worker = Worker(engine, "cpu", max_queue=200)
    texts = {f"r{number}": f"text {number} " * (1 + number % 3) for number in range(60)}
    waiting = {name: worker.submit(request(name, text)) for name, text in texts.items()}
    num_failed = 0
    for name, events in waiting.items():
        try:
            heard = list(events)
        except OutOfMemory:
            num_failed += 1
            continue
        assert sound(heard) == sound(alone(name, text=texts[name]))
    assert num_failed < 10
    worker.close()


class WanderingEngine(FakeEngine):
    """Says things of requests and candidates that it was not given."""

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        yield AudioChunk("nobody's", 0, np.zeros(10, np.float32), 1.0)
        if batch[0].text == "index":
            yield CandidateDone(batch[0].id, 7, {})
        yield from super().synthesize(batch, is_cancelled)


def test_events_of_nobody_reach_nobody() -> None:
    worker = Worker(WanderingEngine(), "cpu")
    assert sound(list(worker.submit(request()))) == sound(alone("x", text="hello"))
    with pytest.raises(SynthesisFailed):
        list(worker.submit(request(text="index")))
    assert isinstance(list(worker.submit(request()))[-1], CandidateDone)
    worker.close()


def test_twenty_of_one_client_do_not_keep_another_waiting() -> None:
    engine = BatchEngine()
    worker = Worker(engine, "cpu", max_queue=40, max_batch_size=1)
    running = occupied(worker)
    many = [worker.submit(request(f"many-{number}", client="many")) for number in range(20)]
    one = worker.submit(request("one", client="one"))
    engine.gate.set()
    list(running)
    assert isinstance(list(one)[-1], CandidateDone)
    for events in many:
        assert isinstance(list(events)[-1], CandidateDone)
    assert engine.spoken.index("one") <= 3
    assert engine.spoken[1:3] != ["many-0", "many-1"] or engine.spoken.index("one") == 3
    worker.close()


def test_clients_that_ask_again_at_once_are_batched() -> None:
    engine = FakeEngine(costs=FakeCosts(step_s=0.04))
    sizes: list[int] = []
    speak = engine.synthesize

    def counted(
        batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        sizes.append(len(batch))
        return speak(batch, is_cancelled)

    engine.synthesize = counted  # type: ignore[method-assign]
    worker = Worker(engine, "cpu")

    def client(name: str) -> None:
        for number in range(6):
            list(worker.submit(request(f"{name}{number}", client=name)))

    threads = [threading.Thread(target=client, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    worker.close()
    assert sum(sizes) == 18
    assert len(sizes) <= 11, f"they hardly ever met: {sizes}"


def test_options_of_a_batch_are_alike() -> None:
    engine = BatchEngine()
    marked = replace(request("b", client="b"), options=FakeOptions(is_marked=True))
    together(engine, request("a"), marked, request("c"))
    assert engine.batches == [["running"], ["a", "c"], ["b"], ["next"]]
