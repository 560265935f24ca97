"""A request on its way: whose it is, where it stands, what is said of it, and its one end."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from voice_sculptor import metrics
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import EngineEvent
from voice_sculptor.errors import Cancelled, DeadlineExceeded, VoiceSculptorError
from voice_sculptor.scheduling.length import predicted_s


class CancelToken:
    """A flag that one side sets and the other asks, from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._listeners: list[Callable[[], None]] = []

    def cancel(self) -> None:
        """Ask for the work to stop at its next step."""
        self._event.set()
        for listener in tuple(self._listeners):
            listener()

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` when `cancel` is, in that thread; it may be called more than once."""
        self._listeners.append(listener)

    def forget(self, listener: Callable[[], None]) -> None:
        """Undo `listen`."""
        if listener in self._listeners:
            self._listeners.remove(listener)


@dataclass(frozen=True)
class Waiting:
    """Place in the queue of a request that has not begun.

    Attributes:
        position: Requests before it, the running ones included.
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
    """The request has the device now, by itself or beside others.

    Attributes:
        at_s: Since when, on the clock of `time.perf_counter`.
    """

    at_s: float = field(default_factory=time.perf_counter)


WorkerEvent = EngineEvent | Waiting | Loading | Started

END = object()
"""Ends a stream of events where all is done."""


class Job:
    """One request from its acceptance to its answer.

    Args:
        request: What was asked.
        token: Lets its caller cancel it.
        engine_id: Who will speak, for the metrics.

    Attributes:
        length_s: Predicted audio of one candidate, seconds.
        cost: Predicted audio of all of them, seconds: what a turn is charged.
        events: What its caller reads; the last one is `END` or an error.
        place: Requests before it when that was last said; 0 while that has not been.
        begins_s: When it is expected to begin, on the clock of `time.monotonic`.
        is_running: Whether it has begun.
        is_over: Whether it was answered.
        is_done: Whether it was answered with all that was asked.
    """

    def __init__(self, request: SynthesisRequest, token: CancelToken, engine_id: str) -> None:
        self.request = request
        self.token = token
        self.engine_id = engine_id
        self.length_s = predicted_s(request)
        self.cost = self.length_s * len(request.seeds)
        self.events: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.place = 0
        self.begins_s = 0.0
        self.is_running = False
        self.is_over = False
        self.is_done = False
        self._accepted_s = time.perf_counter()
        self._free_since_s = 0.0
        self._has_sounded = False
        self._fractions: dict[int, float] = {}
        self._stopped: VoiceSculptorError | None = None
        self._answered = threading.Lock()

    def stop(self, cause: VoiceSculptorError) -> None:
        """Let it end with `cause` at the next step; the first cause counts."""
        self._stopped = self._stopped or cause

    def cause_to_stop(self) -> VoiceSculptorError | None:
        """Why nothing more should be done for it."""
        if self._stopped is None:
            deadline_s = self.request.deadline_s
            if self.token.is_cancelled:
                self._stopped = Cancelled()
            elif deadline_s is not None and time.monotonic() >= deadline_s:
                self._stopped = DeadlineExceeded()
        return self._stopped

    def wait_in(self, place: int, begins_s: float) -> None:
        """Say its place, where that has changed."""
        self.begins_s = begins_s
        if place and place != self.place:
            self.place = place
            self.events.put(self.waiting())

    def waiting(self) -> Waiting:
        """Its place, and the wait as it is estimated now."""
        return Waiting(self.place, max(0.0, self.begins_s - time.monotonic()))

    def start(self) -> None:
        """It has the device."""
        started = Started()
        self._free_since_s = started.at_s
        metrics.WAIT_S.observe(started.at_s - self._accepted_s)
        self.events.put(started)

    @property
    def fraction(self) -> float:
        """Share of its work that is done, 0–1."""
        return sum(self._fractions.values()) / len(self.request.seeds)

    def sounded(self, index: int, fraction: float, at_s: float) -> None:
        """Audio of a candidate, up to this share of it, was ready then, on the clock of `time.perf_counter`."""
        self._fractions[index] = fraction
        if not self._has_sounded:
            self._has_sounded = True
            metrics.TTFA_S.observe(at_s - self._accepted_s)

    def candidate_done(self, index: int, at_s: float, audio_s: float) -> None:
        """A candidate of so many seconds was complete then."""
        self._fractions[index] = 1.0
        if audio_s > 0.0:
            metrics.RTF.labels(self.engine_id).observe((at_s - self._free_since_s) / audio_s)
        self._free_since_s = at_s

    def candidate_failed(self, index: int, error: VoiceSculptorError) -> None:
        """A candidate cannot be made."""
        self._fractions[index] = 1.0
        metrics.count_error(error)

    def end(self, outcome: VoiceSculptorError | None = None) -> bool:
        """Answer it, once: `None` where all is done. Whether this was the answer."""
        if not self._answered.acquire(blocking=False):
            return False
        self.is_done = outcome is None
        self.is_over = True
        # Counted first: who has seen the end finds it in the metrics.
        if outcome is None:
            how = "done"
        elif isinstance(outcome, Cancelled):
            how = "cancelled"
            metrics.CANCELS.inc()
        else:
            how = "failed" if self.is_running else "refused"
            metrics.count_error(outcome)
        metrics.REQUESTS.labels(self.engine_id, how).inc()
        self.events.put(outcome or END)
        return True
