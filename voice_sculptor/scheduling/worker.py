"""The one thread that owns the device.

Everything an engine does (load, synthesize, unload) happens on the worker's thread: CUDA graphs and compiled
code are bound to a thread, and one model used by two threads is a race. Callers hand in a request and read
its events.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import chain

from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import Engine, EngineEvent
from voice_sculptor.errors import (
    Cancelled,
    LoadFailed,
    OutOfMemory,
    QueueFull,
    ShuttingDown,
    SynthesisFailed,
    VoiceSculptorError,
)
from voice_sculptor.scheduling.memory import choose

SPINS = 10_000
"""Turns for which a thread of GNU's OpenMP, which torch computes with on Linux, watches for work before it sleeps.

Its own default, 300,000, takes the cores away from whoever shares them: beside two busy processes on two cores the
embedded engine took 1.2–1.7 times as long with it as with this, and alone as long, within the noise. Far fewer turns
cost a tenth alone."""

_log = logging.getLogger(__name__)

_DEFAULT_JOB_S = 10.0
_SPEED_WINDOW = 8


class CancelToken:
    """A flag that one side sets and the other asks, from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask for the work to stop at its next step."""
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()


@dataclass(frozen=True)
class Waiting:
    """Place in the queue of a request that has not begun.

    Attributes:
        position: Requests before it, the running one included.
        wait_s: Estimated seconds until it begins.
    """

    position: int
    wait_s: float


@dataclass(frozen=True)
class Loading:
    """The engine is being loaded for this request; `fraction` runs from 0 to 1."""

    fraction: float


@dataclass(frozen=True)
class Started:
    """The request has the device now.

    Attributes:
        at_s: Since when, on the clock of `time.perf_counter`.
    """

    at_s: float = field(default_factory=time.perf_counter)


@dataclass(eq=False)
class _Job:
    request: SynthesisRequest
    token: CancelToken
    events: queue.SimpleQueue[object] = field(default_factory=queue.SimpleQueue)
    place: int = 0


WorkerEvent = EngineEvent | Waiting | Loading | Started

_END = object()


class Worker:
    """Runs one engine on one thread, first come first served, with a bounded queue.

    Args:
        engine: Not yet loaded; it is loaded when first needed, once however many ask.
        device: As in `Engine.load`.
        dtype: As in `Engine.load`.
        max_queue: Most requests that may wait beside the running one.
    """

    def __init__(self, engine: Engine, device: str, dtype: str | None = None, max_queue: int = 32) -> None:
        self.engine = engine
        self.device = device
        self.dtype = dtype
        self.max_queue = max_queue
        self._jobs: deque[_Job] = deque()
        self._running: _Job | None = None
        self._changed = threading.Condition()
        self._is_closing = False
        self._has_preloaded = False
        self._is_loaded = False
        self._wants_load = False
        self._recent_s: deque[float] = deque(maxlen=_SPEED_WINDOW)
        self._thread = threading.Thread(target=self._run, name=f"worker-{engine.info.id}", daemon=True)
        self._thread.start()

    @property
    def has_preloaded(self) -> bool:
        """Whether a preload is over, warm-up included, well or not."""
        return self._has_preloaded

    @property
    def is_loaded(self) -> bool:
        """Whether the engine is on the device."""
        return self._is_loaded

    @property
    def num_waiting(self) -> int:
        """Requests that have not begun."""
        with self._changed:
            return len(self._jobs)

    def submit(
        self, request: SynthesisRequest, token: CancelToken | None = None
    ) -> Generator[WorkerEvent, None, None]:
        """Queue a request and read its events.

        Closing the iterator, read or not, cancels the request and frees its place.

        Args:
            request: What to speak.
            token: Lets another thread cancel it.

        Yields:
            `Waiting` when its place changes, `Loading`, `Started`, then the engine's events.

        Raises:
            QueueFull: At once, when the queue's bound is reached.
            ShuttingDown: The worker is closed.
            Cancelled: The token was set.
            EngineError: The engine could not be loaded or broke.
        """
        job = _Job(request, token or CancelToken())
        with self._changed:
            if self._is_closing:
                raise ShuttingDown
            if len(self._jobs) >= self.max_queue:
                raise QueueFull(len(self._jobs), self._wait_s(len(self._jobs) + 1))
            self._jobs.append(job)
            self._announce_places()
            self._changed.notify_all()
        events = self._events_of(job)
        next(events)  # A generator that never began has no `finally`: closing it would leave the job queued.
        return events

    def preload(self) -> None:
        """Begin to load and warm up the engine now, without waiting; a failure shows on the first request."""
        with self._changed:
            self._wants_load = True
            self._changed.notify_all()

    def close(self, timeout_s: float = 30.0) -> None:
        """Refuse what waits, cancel what runs, unload the engine and end the thread.

        Args:
            timeout_s: Longest wait for the running step to end.
        """
        with self._changed:
            self._is_closing = True
            for job in self._jobs:
                job.events.put(ShuttingDown())
            self._jobs.clear()
            if self._running is not None:
                self._running.token.cancel()
            self._changed.notify_all()
        self._thread.join(timeout_s)

    def _events_of(self, job: _Job) -> Generator[WorkerEvent, None, None]:
        try:
            yield Started()  # Taken by `submit`.
            while True:
                try:
                    event = job.events.get(timeout=0.25)
                except queue.Empty:
                    if job.token.is_cancelled and self._withdraw(job):
                        raise Cancelled from None
                    continue
                if event is _END:
                    return
                if isinstance(event, BaseException):
                    raise event
                yield event  # type: ignore[misc]
        finally:
            job.token.cancel()
            self._withdraw(job)

    def _withdraw(self, job: _Job) -> bool:
        with self._changed:
            if job not in self._jobs:
                return False
            self._jobs.remove(job)
            self._announce_places()
            return True

    def _announce_places(self) -> None:
        running = int(self._running is not None)
        for place, job in enumerate(self._jobs, start=running):
            if place and place != job.place:
                job.place = place
                job.events.put(Waiting(place, self._wait_s(place)))

    def _wait_s(self, num_before: int) -> float:
        mean_s = sum(self._recent_s) / len(self._recent_s) if self._recent_s else _DEFAULT_JOB_S
        return num_before * mean_s

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._jobs or self._is_closing or (self._wants_load and not self._is_loaded)):
                    self._changed.wait()
                if self._is_closing:
                    break
                self._wants_load = False
                job = self._jobs.popleft() if self._jobs else None
                self._running = job
                self._announce_places()
            if job is None:
                self._preload_quietly()
                continue
            started = time.monotonic()
            job.events.put(self._outcome(job))
            with self._changed:
                self._running = None
                if not job.token.is_cancelled:
                    self._recent_s.append(time.monotonic() - started)
        if self._is_loaded:
            self.engine.unload()
            self._is_loaded = False

    def _preload_quietly(self) -> None:
        try:
            self._load(lambda fraction: None)
            for _ in chain((None,), self.engine.warm_up()):
                if self._jobs or self._is_closing:
                    break
        except VoiceSculptorError as error:
            _log.warning("The engine could not be made ready ahead: %s", error.message())
        except Exception:  # noqa: BLE001  # The thread goes on: whoever asks first is told what breaks.
            _log.exception("The engine %s could not be warmed up", self.engine.info.id)
        self._has_preloaded = True

    def _outcome(self, job: _Job) -> object:
        """Do the job; what ends its stream: `_END` or the error to raise there."""
        try:
            if job.token.is_cancelled:
                return Cancelled()
            self._load(lambda fraction: job.events.put(Loading(fraction)))
            job.events.put(Started())
            for event in self.engine.synthesize([job.request], lambda _: job.token.is_cancelled):
                job.events.put(event)
            return Cancelled() if job.token.is_cancelled else _END
        except VoiceSculptorError as error:
            return error
        except Exception as error:  # noqa: BLE001  # Where foreign exceptions enter: one is one failed request.
            if _is_out_of_memory(error):
                return _chained(_out_of_memory(), error)
            _log.exception("The engine %s broke", self.engine.info.id)
            return _chained(
                SynthesisFailed(
                    f"The engine broke while it spoke: {error!r}.",
                    f"引擎在合成时出错：{error!r}。",
                    fix_en="Try again; if it repeats, report it with the log.",
                    fix_zh="请重试；如果反复出现，请附上日志报告问题。",
                ),
                error,
            )

    def _load(self, progress: Callable[[float], None]) -> None:
        if self._is_loaded:
            return
        # Read by the library when torch is first imported; an operator's own value stands.
        os.environ.setdefault("GOMP_SPINCOUNT", str(SPINS))
        try:
            self.device = choose(self.device, self.engine.info.memory_estimate_bytes)
            self.engine.load(self.device, self.dtype, progress)
        except VoiceSculptorError:
            raise
        except Exception as error:
            if _is_out_of_memory(error):
                raise _out_of_memory() from error
            raise LoadFailed(
                f"The engine {self.engine.info.id!r} could not be loaded: {error!r}.",
                f"引擎 {self.engine.info.id!r} 加载失败：{error!r}。",
                fix_en="Run `bash run.sh setup` again; if it repeats, report it with the log.",
                fix_zh="请重新运行 `bash run.sh setup`；如果反复出现，请附上日志报告问题。",
            ) from error
        self._is_loaded = True


def _is_out_of_memory(error: Exception) -> bool:
    # torch is not imported here; its class is known by name.
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _out_of_memory() -> OutOfMemory:
    return OutOfMemory(
        "The device has too little memory left for this request.",
        "设备剩余内存不足，无法完成此请求。",
        fix_en="Shorten the text, ask for fewer candidates, or close other programs.",
        fix_zh="请缩短文本、减少候选数量，或关闭其他程序。",
    )


def _chained(error: VoiceSculptorError, cause: BaseException) -> VoiceSculptorError:
    error.__cause__ = cause
    return error
