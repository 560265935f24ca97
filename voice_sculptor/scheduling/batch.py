"""A batch on the device: each of its jobs is answered, whatever becomes of the others."""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from contextlib import closing, nullcontext

from voice_sculptor import metrics
from voice_sculptor.engines.base import Engine
from voice_sculptor.errors import SynthesisFailed, VoiceSculptorError
from voice_sculptor.scheduling import shortage
from voice_sculptor.scheduling.delivery import Delivery, Part
from voice_sculptor.scheduling.job import Job

_log = logging.getLogger(__name__)


class Batch:
    """Jobs that are spoken together; for the worker's thread only.

    Args:
        engine: Loaded.
        device: As returned by `memory.choose`.
        jobs: At most `engine.info.max_batch_size`, of different ids.
    """

    def __init__(self, engine: Engine, device: str, jobs: Sequence[Job]) -> None:
        self._engine = engine
        self._device = device
        info = engine.info
        self._deliveries = [Delivery(job, info.sample_rate, info.capabilities.seed) for job in jobs]

    def run(self) -> None:
        """Speak; all jobs are answered afterwards."""
        for delivery in self._deliveries:
            if (cause := delivery.job.cause_to_stop()) is not None:
                delivery.job.end(cause)
            else:
                delivery.job.start()
        self._speak([Part(each, tuple(range(len(each.job.request.seeds)))) for each in self._deliveries])

    def _speak(self, parts: Sequence[Part], is_again: bool = False) -> None:
        parts = [left for part in parts if _goes_on(part.job) and (left := part.left())]
        error = self._drive(parts) if parts else None
        if error is None:
            for part in parts:
                part.delivery.close(part.indexes)
            return
        rest = [left for part in parts if (left := part.left())]
        if shortage.is_shortage(error):
            metrics.OUT_OF_MEMORY.inc()
            shortage.free_caches(error)
            is_smallest = sum(len(part.indexes) for part in parts) == 1
            self._speak_smaller(rest, error, is_last=is_again and is_smallest)
        else:
            self._speak_singly(rest, error, is_last=len(parts) == 1)

    def _drive(self, parts: Sequence[Part]) -> BaseException | None:
        """One call of the engine; what it broke with."""
        by_id = {part.job.request.id: part for part in parts}
        for part in parts:
            part.delivery.start_over(part.indexes)

        def is_cancelled(request_id: str) -> bool:
            part = by_id.get(request_id)
            return part is None or not _goes_on(part.job)

        try:
            events = self._engine.synthesize([part.request for part in parts], is_cancelled)
            with closing(events) if isinstance(events, Generator) else nullcontext():
                for event in events:
                    if not is_cancelled(event.request_id):
                        by_id[event.request_id].take(event)
                    elif not any(_goes_on(part.job) for part in parts):
                        break
        except BaseException as error:  # noqa: BLE001  # Where foreign exceptions enter, an engine's `exit()` included.
            return error
        return None

    def _speak_smaller(self, parts: Sequence[Part], error: BaseException, is_last: bool) -> None:
        """Out of memory: again in halves, down to one candidate, which has its last try with the caches free."""
        if not parts:
            return
        answer = shortage.said(error, self._device)
        _log.warning("%d requests at once: %s", len(parts), answer.message())
        if is_last:
            _fail(parts[0], answer)
            return
        for part in parts:
            part.delivery.give_up_heard(part.indexes, answer)
        middle = len(parts) // 2
        for half in (parts[:middle], parts[middle:]) if middle else ([each] for each in parts[0].halves()):
            self._speak(half, is_again=True)

    def _speak_singly(self, parts: Sequence[Part], error: BaseException, is_last: bool) -> None:
        """Something else broke: nobody knows by whose fault, so that each is tried alone."""
        if not isinstance(error, VoiceSculptorError):
            _log.error("The engine %s broke", self._engine.info.id, exc_info=error)
        answer = _answer(error)
        for part in parts:
            if is_last:
                part.job.end(answer)
            else:
                part.delivery.give_up_heard(part.indexes, answer)
                self._speak([part])


def _goes_on(job: Job) -> bool:
    """Whether there is anything left to do for a job; where not, it is answered at once, whatever its neighbours do."""
    if not job.is_over and (cause := job.cause_to_stop()) is not None:
        job.end(cause)
    return not job.is_over


def _fail(part: Part, error: VoiceSculptorError) -> None:
    """A candidate cannot be made, nor can those that follow: they are as long."""
    if part.delivery.has_done:
        part.delivery.give_up(range(len(part.job.request.seeds)), error)
    else:
        part.job.end(error)


def _answer(error: BaseException) -> VoiceSculptorError:
    if isinstance(error, VoiceSculptorError):
        return error
    answer = SynthesisFailed(
        f"The engine broke while it spoke: {error!r}.",
        f"引擎在合成时出错：{error!r}。",
        fix_en="Try again; if it repeats, report it with the log.",
        fix_zh="请重试；如果反复出现，请附上日志报告问题。",
    )
    answer.__cause__ = error
    return answer
