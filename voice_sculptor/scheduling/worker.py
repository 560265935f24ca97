"""The one thread that owns the device.

Everything an engine does (load, synthesize, unload) happens on the worker's thread: CUDA graphs and compiled
code are bound to a thread, and one model used by two threads is a race. Callers hand in a request and read
its events.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from voice_sculptor import metrics
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import Engine
from voice_sculptor.errors import Cancelled, ShuttingDown, SynthesisFailed, VoiceSculptorError
from voice_sculptor.scheduling.batch import Batch
from voice_sculptor.scheduling.job import (
    END,
    CancelToken,
    Job,
    Loading,
    Started,
    Waiting,
    WorkerEvent,
)
from voice_sculptor.scheduling.limits import Limits, NoLimits
from voice_sculptor.scheduling.loading import Loader
from voice_sculptor.scheduling.scheduler import Scheduler
from voice_sculptor.scheduling.shortage import PeakMemory

__all__ = ["CancelToken", "Loading", "Started", "Waiting", "Worker", "WorkerEvent"]

_log = logging.getLogger(__name__)

_PAUSE_S = 0.1
_SAY_AGAIN_S = 1.0


class Worker:
    """Runs one engine on one thread: a bounded queue that is fair between clients, and batches where that pays.

    Args:
        engine: Not yet loaded; it is loaded when first needed, once however many ask.
        device: As in `Engine.load`.
        dtype: As in `Engine.load`.
        max_queue: Most requests that may wait beside the running ones. A quarter of the places is kept for clients that
            have none waiting.
        max_batch_size: Most requests in one batch; `None` for what the engine takes.
        batch_window_s: Longest wait for company between two batches; see `batching.Window`.
        limits: What the memory allows.

    Attributes:
        max_batch_size: Most requests in one batch; may be changed at any time, down to 1.
    """

    def __init__(
        self,
        engine: Engine,
        device: str,
        dtype: str | None = None,
        max_queue: int = 32,
        *,
        max_batch_size: int | None = None,
        batch_window_s: float = 0.05,
        limits: Limits | None = None,
    ) -> None:
        self.engine = engine
        self.dtype = dtype
        self.max_queue = max_queue
        self._limits = limits or NoLimits()
        most = engine.info.max_batch_size if engine.info.capabilities.batching else 1
        self.max_batch_size = min(most, max_batch_size or most)
        self._loader = Loader(engine, device, dtype)
        self._peak = PeakMemory()
        self._changed = threading.Condition()
        self._scheduler = Scheduler(max_queue, batch_window_s)
        self._left: deque[Job] = deque()
        self._is_inside = False
        self._is_closing = False
        self._has_preloaded = False
        self._wants_load = False
        self._wants_unload = False
        self._idle_since_s = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"worker-{engine.info.id}", daemon=True)
        self._thread.start()

    @property
    def device(self) -> str:
        """The device: as asked for until the engine is loaded, then the one it is on."""
        return self._loader.device

    @property
    def has_preloaded(self) -> bool:
        """Whether a preload is over, warm-up included, well or not."""
        return self._has_preloaded

    @property
    def is_loaded(self) -> bool:
        """Whether the engine is on the device."""
        return self._loader.is_loaded

    @property
    def num_waiting(self) -> int:
        """Requests that have not begun."""
        with self._inside():
            return len(self._scheduler)

    @property
    def num_running(self) -> int:
        """Requests on the device."""
        return len(self._scheduler.running)

    @property
    def idle_s(self) -> float:
        """Seconds since anything last ran or was loaded; 0 while something runs or waits."""
        with self._inside():
            is_busy = self._scheduler.running or len(self._scheduler)
            return 0.0 if is_busy else time.monotonic() - self._idle_since_s

    def submit(
        self, request: SynthesisRequest, token: CancelToken | None = None
    ) -> Generator[WorkerEvent, None, None]:
        """Queue a request and read its events.

        Closing the iterator, read or not, cancels the request and frees its place.

        Args:
            request: What to speak.
            token: Lets another thread cancel it.

        Yields:
            `Waiting` when its place changes and once a second, `Loading`, `Started`, then the engine's events.

        Raises:
            QueueFull: At once, when the queue's bound is reached.
            OutOfMemory: At once, where it can never fit; later, where it did not.
            ShuttingDown: The worker is closed.
            Cancelled: The token was set.
            DeadlineExceeded: The request's deadline has passed.
            EngineError: The engine could not be loaded or broke.
        """
        job = Job(request, token or CancelToken(), self.engine.info.id)
        try:
            self._limits.admit(request)
            with self._inside():
                if self._is_closing:
                    raise ShuttingDown
                self._drop_stopped()
                self._scheduler.admit(job, time.monotonic(), self._limit())
                self._changed.notify_all()
        except VoiceSculptorError as error:
            job.end(error)
            raise
        events = self._events_of(job)
        next(events)  # A generator that never began has no `finally`: closing it would leave the job queued.
        return events

    def preload(self) -> None:
        """Begin to load and warm up the engine now, without waiting; a failure shows on the first request."""
        self._want(load=True)

    def unload(self) -> None:
        """Free the device, without waiting: at once where it is idle, else after the batch; the next request loads."""
        self._want(unload=True)

    def reload(self) -> None:
        """`unload`, then `preload`."""
        self._want(load=True, unload=True)

    def close(self, timeout_s: float = 30.0, finish_s: float = 0.0) -> None:
        """Refuse what waits, end what runs, unload the engine and end the thread; all requests are answered.

        Args:
            timeout_s: Longest wait for the running step to end.
            finish_s: Longest time that what runs is given to come to its own end.
        """
        with self._inside():
            self._is_closing = True
            for job in list(self._scheduler):
                self._refuse(job, ShuttingDown())
            self._changed.notify_all()
        if finish_s and self._scheduler.running:
            self._thread.join(finish_s)
        for job in self._scheduler.running:
            job.stop(ShuttingDown())
        self._thread.join(timeout_s)
        for job in self._scheduler.running:
            job.end(ShuttingDown())

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """The lock, and what is to be done whenever it was held."""
        with self._changed:
            self._is_inside = True
            try:
                yield
            finally:
                while self._left:
                    job = self._left.popleft()
                    self._refuse(job, job.cause_to_stop() or Cancelled())
                metrics.QUEUE.set(len(self._scheduler))
                self._is_inside = False

    def _want(self, *, load: bool = False, unload: bool = False) -> None:
        with self._changed:
            self._wants_load = load or self._wants_load
            self._wants_unload = unload or self._wants_unload
            self._changed.notify_all()

    def _limit(self) -> int:
        """Most requests in the next batch."""
        most = self.max_batch_size
        return max(1, min(most, self._limits.batch_limit(most)))

    def _refuse(self, job: Job, error: VoiceSculptorError) -> None:
        """Answer a job that waits, and free its place; one that does not is left alone."""
        if self._scheduler.remove(job, time.monotonic(), self._limit()):
            job.end(error)

    def _drop_stopped(self) -> None:
        for job in [job for job in self._scheduler if job.cause_to_stop() is not None]:
            self._refuse(job, job.cause_to_stop() or Cancelled())

    def _events_of(self, job: Job) -> Generator[WorkerEvent, None, None]:
        def withdraw() -> None:
            self._left.append(job)
            with self._changed:
                # A generator may be collected in the middle of our own work: then it is seen to at its end.
                if not self._is_inside:
                    with self._inside():
                        self._changed.notify_all()

        job.token.listen(withdraw)
        try:
            yield Started()  # Taken by `submit`.
            while True:
                try:
                    event = job.events.get(timeout=self._patience_s(job))
                except queue.Empty:
                    if (cause := job.cause_to_stop()) is not None:
                        raise cause from None
                    if not job.is_running and job.place:
                        yield job.waiting()
                    continue
                if event is END:
                    return
                if isinstance(event, BaseException):
                    raise event
                if job.token.is_cancelled:
                    raise Cancelled
                yield event  # type: ignore[misc]
        finally:
            job.token.forget(withdraw)
            job.stop(Cancelled())
            withdraw()

    @staticmethod
    def _patience_s(job: Job) -> float:
        """How long its reader waits for an event before it looks around."""
        if job.is_running or job.request.deadline_s is None:
            return _SAY_AGAIN_S
        return min(_SAY_AGAIN_S, max(0.0, job.request.deadline_s - time.monotonic()))

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except Exception:  # noqa: BLE001  # A fault of ours: all are answered, and none taken any more.
            _log.exception("The worker of %s has ended", self.engine.info.id)
        finally:
            with self._inside():
                self._is_closing = True
                for job in list(self._scheduler):
                    self._refuse(job, _broken())
            self._loader.unload()

    def _turn(self) -> bool:
        """Wait for something to do, and do it; `False` where the thread is to end."""
        while True:
            with self._changed:
                with self._inside():
                    todo, patience_s = self._todo()
                if todo:
                    break
                self._changed.wait(patience_s)
        if todo == "close":
            return False
        if todo == "unload":
            self._wants_unload = False
            self._loader.unload()
        elif todo == "preload":
            self._wants_load = False
            self._loader.preload(lambda: bool(len(self._scheduler) or self._is_closing or self._wants_unload))
            self._has_preloaded = True
        else:
            self._run_batch()
        self._idle_since_s = time.monotonic()
        return True

    def _todo(self) -> tuple[str, float | None]:
        """What to do now; or nothing, and the longest wait until there may be something."""
        if self._is_closing:
            return "close", None
        if self._wants_unload:
            return "unload", None
        self._drop_stopped()
        now_s = time.monotonic()
        ready_s = self._scheduler.ready_s(now_s, self._limit())
        if ready_s is None:
            return ("preload" if self._wants_load else ""), None
        if self._limits.is_paused():
            return "", _PAUSE_S
        return ("", ready_s - now_s) if ready_s > now_s else ("batch", None)

    def _run_batch(self) -> None:
        with self._inside():
            jobs = self._scheduler.take(time.monotonic(), self._limit(), self.is_loaded)
            for job in jobs:
                job.is_running = True
        if not jobs:  # The worker was closed in between.
            return
        metrics.RUNNING.set(len(jobs))
        began_s = time.monotonic()
        try:
            load_s = self._loader.load(lambda fraction: _tell(jobs, Loading(fraction)))
            if load_s is not None:
                self._scheduler.speed.loaded(load_s)
            began_s = time.monotonic()
            self._peak.restart(self.device)
            metrics.BATCH_SIZE.observe(len(jobs))
            Batch(self.engine, self.device, jobs).run()
            self._limits.measured([job.request for job in jobs], self._peak.read_bytes(self.device))
        except VoiceSculptorError as error:
            for job in jobs:
                job.end(job.cause_to_stop() or error)
        except Exception:  # noqa: BLE001  # A fault of ours is one batch that failed.
            _log.exception("A batch broke the worker")
        finally:
            for job in jobs:
                job.end(_broken())
            with self._inside():
                ended_s = time.monotonic()
                self._scheduler.ended(ended_s, ended_s - began_s)
            metrics.RUNNING.set(0)


def _tell(jobs: tuple[Job, ...], event: WorkerEvent) -> None:
    for job in jobs:
        job.events.put(event)


def _broken() -> VoiceSculptorError:
    return SynthesisFailed(
        "The studio's worker broke over this request.",
        "工作室的工作线程在处理此请求时出错。",
        fix_en="Try again; if it repeats, start the studio again, and report it with the log.",
        fix_zh="请重试；如果反复出现，请重新启动工作室，并附上日志报告问题。",
    )
