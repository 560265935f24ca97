"""Events of an engine to the job they belong to, each piece of audio once, also where it is made a second time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import AudioChunk, CandidateDone, CandidateFailed, EngineEvent
from voice_sculptor.errors import SynthesisFailed, VoiceSculptorError
from voice_sculptor.scheduling.job import Job

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SAME_ENERGY = 0.02
"""Two makings of one piece may differ by rounding, so by this share of their energy."""


@dataclass
class _Track:
    """One candidate: what was delivered of it.

    Attributes:
        pieces: Number of samples and energy of each piece.
        num_again: Pieces that came in the present making.
        is_over: Whether its `CandidateDone` or `CandidateFailed` was delivered.
    """

    pieces: list[tuple[int, float]] = field(default_factory=list)
    num_again: int = 0
    is_over: bool = False


class Delivery:
    """What one job has got.

    Args:
        job: Whose.
        sample_rate: Of the engine, Hz.
        can_repeat: Whether the engine makes the same audio again from the same seed.

    Attributes:
        has_done: Whether a candidate is complete.
    """

    def __init__(self, job: Job, sample_rate: int, can_repeat: bool) -> None:
        self.job = job
        self.has_done = False
        self._sample_rate = sample_rate
        self._can_repeat = can_repeat
        self._tracks = [_Track() for _ in job.request.seeds]

    def left(self, indexes: Sequence[int]) -> tuple[int, ...]:
        """Those of these candidates that are not over."""
        return tuple(index for index in indexes if not self._tracks[index].is_over)

    def start_over(self, indexes: Sequence[int]) -> None:
        """These candidates are made from their beginning now."""
        for index in indexes:
            self._tracks[index].num_again = 0

    def give_up(self, indexes: Sequence[int], error: VoiceSculptorError) -> None:
        """Those of these candidates that are not over fail."""
        for index in self.left(indexes):
            self._finish(CandidateFailed(self.job.request.id, index, error))

    def give_up_heard(self, indexes: Sequence[int], error: VoiceSculptorError) -> None:
        """Those that were heard in part fail, unless the engine can make them again alike."""
        if not self._can_repeat:
            self.give_up([index for index in indexes if self._tracks[index].pieces], error)

    def close(self, indexes: Sequence[int]) -> None:
        """The engine has no more of these candidates."""
        for index in indexes:
            self._tracks[index].is_over = True
        self._end_if_complete()

    def take(self, event: EngineEvent) -> None:
        """Deliver an event, `index` counted in the job; what comes after the job's or candidate's end is dropped."""
        track = self._tracks[event.index]
        if self.job.is_over or track.is_over:
            return
        if isinstance(event, AudioChunk):
            self._take_chunk(track, event)
        else:
            self._finish(event)

    def _take_chunk(self, track: _Track, chunk: AudioChunk) -> None:
        piece = len(chunk.samples), _energy(chunk.samples)
        number, track.num_again = track.num_again, track.num_again + 1
        if number < len(track.pieces):
            if not _alike(piece, track.pieces[number]):
                self._finish(CandidateFailed(chunk.request_id, chunk.index, _another()))
            return
        track.pieces.append(piece)
        self.job.sounded(chunk.index, chunk.fraction, chunk.at_s)
        self.job.events.put(chunk)

    def _finish(self, event: CandidateDone | CandidateFailed) -> None:
        track = self._tracks[event.index]
        track.is_over = True
        if isinstance(event, CandidateDone):
            self.has_done = True
            num_samples = sum(count for count, _ in track.pieces)
            self.job.candidate_done(event.index, event.at_s, num_samples / self._sample_rate)
        else:
            self.job.candidate_failed(event.index, event.error)
        self.job.events.put(event)
        self._end_if_complete()

    def _end_if_complete(self) -> None:
        """At once: its caller does not wait for the neighbours."""
        if all(track.is_over for track in self._tracks):
            self.job.end()


@dataclass(frozen=True)
class Part:
    """Candidates of one job that are made in one call.

    Attributes:
        delivery: Of the job.
        indexes: Which of its candidates.
    """

    delivery: Delivery
    indexes: tuple[int, ...]

    @property
    def job(self) -> Job:
        """Whose they are."""
        return self.delivery.job

    @property
    def request(self) -> SynthesisRequest:
        """What the engine is asked: a candidate is its seed's alone, whatever others are made beside it."""
        whole = self.job.request
        if len(self.indexes) == len(whole.seeds):
            return whole
        return replace(whole, seeds=tuple(whole.seeds[index] for index in self.indexes))

    def take(self, event: EngineEvent) -> None:
        """Deliver an event of `request`."""
        index = self.indexes[event.index]
        self.delivery.take(event if index == event.index else replace(event, index=index))

    def left(self) -> Part | None:
        """What is not over; `None` where all is, or the job."""
        indexes = self.delivery.left(self.indexes)
        return Part(self.delivery, indexes) if indexes and not self.job.is_over else None

    def halves(self) -> list[Part]:
        """Half of the candidates each; the part itself where there is but one."""
        half = len(self.indexes) // 2
        cut = (self.indexes[:half], self.indexes[half:])
        return [Part(self.delivery, indexes) for indexes in cut if indexes]


def _energy(samples: NDArray[np.float32]) -> float:
    return float(samples @ samples)


def _alike(one: tuple[int, float], other: tuple[int, float]) -> bool:
    return one[0] == other[0] and abs(one[1] - other[1]) <= _SAME_ENERGY * max(one[1], other[1])


def _another() -> SynthesisFailed:
    return SynthesisFailed(
        "The work was interrupted, and its second making was another one.",
        "合成中断后重新生成，但结果与之前不同。",
        fix_en="Try again.",
        fix_zh="请重试。",
    )
