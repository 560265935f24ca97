"""Engines that a test holds in its hand, and requests for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from voice_sculptor.controls import Controls
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import AudioChunk, EngineEvent
from voice_sculptor.engines.fake import FakeEngine, FakeOptions
from voice_sculptor.scheduling.worker import Loading, Started, Worker, WorkerEvent

PATIENCE_S = 5.0


def request(
    name: str = "a", text: str = "hello", seeds: tuple[int, ...] = (1,), delay_s: float = 0.0, **rest: Any
) -> SynthesisRequest:
    options = FakeOptions(step_delay_s=delay_s)
    return SynthesisRequest(
        name, text, "auto", rest.pop("controls", Controls()), seeds, options=options, **rest
    )


def sound(events: Sequence[object], index: int = 0) -> bytes:
    """The audio of one candidate."""
    return b"".join(
        event.samples.tobytes() for event in events if isinstance(event, AudioChunk) and event.index == index
    )


def eventually(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come true in time"
        time.sleep(0.002)


def occupied(worker: Worker) -> Generator[WorkerEvent, None, None]:
    """The events of a request that has the device now."""
    events = worker.submit(request("running"))
    assert isinstance(next(events), Loading)
    assert isinstance(next(events), Started)
    return events


class GatedEngine(FakeEngine):
    """Waits before each request until the gate opens, and keeps the order of what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.threads: set[int] = set()
        self.spoken: list[str] = []
        self.batches: list[list[str]] = []

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
        self.batches.append([one.id for one in batch])
        while not self.gate.wait(0.002) and not all(is_cancelled(one.id) for one in batch):
            pass
        yield from super().synthesize(batch, is_cancelled)


class ScriptedEngine(FakeEngine):
    """Raises what it is told to, once per entry, while loading or while speaking."""

    def __init__(self, on_load: Sequence[BaseException] = (), on_speak: Sequence[BaseException] = ()) -> None:
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


class OutOfMemoryError(RuntimeError):
    """Named as torch names its own."""
