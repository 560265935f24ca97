"""What a caller reads of its request, and what becomes of it when the caller leaves."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Generator
from typing import cast

from voice_sculptor.errors import Cancelled
from voice_sculptor.scheduling.job import END, Job, Started, WorkerEvent

_SAY_AGAIN_S = 1.0


def read(job: Job, withdraw: Callable[[Job], None]) -> Generator[WorkerEvent, None, None]:
    """The events of a job; one comes before them, so that the generator can have begun when it is handed out.

    Args:
        job: Has a place.
        withdraw: Called with it in whatever thread its caller cancels or leaves, maybe more than once.

    Raises:
        VoiceSculptorError: The job's answer, where that is an error.
    """

    def leave() -> None:
        withdraw(job)

    job.token.listen(leave)
    try:
        yield Started()
        while True:
            try:
                event = job.events.get(timeout=_patience_s(job))
            except queue.Empty:
                # Also where the engine is in a long step: its device is freed after that, its caller now.
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
            yield cast(WorkerEvent, event)
    finally:
        job.token.forget(leave)
        job.stop(Cancelled())
        leave()


def _patience_s(job: Job) -> float:
    """How long to wait for an event before looking around."""
    if job.is_running or job.request.deadline_s is None:
        return _SAY_AGAIN_S
    return min(_SAY_AGAIN_S, max(0.0, job.request.deadline_s - time.monotonic()))
