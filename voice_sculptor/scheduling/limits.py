"""What the memory of the device allows now: asked by the scheduler, answered by whoever watches the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from voice_sculptor.domain import SynthesisRequest


class Limits(Protocol):
    """Answers within a millisecond and from any thread; nothing here may block or touch the device."""

    def batch_limit(self, max_batch_size: int) -> int:
        """Most requests in the next batch; asked before each one, and for estimates.

        Args:
            max_batch_size: What engine and settings allow.

        Returns:
            1 … `max_batch_size`; what is out of that range is brought into it.
        """

    def is_paused(self) -> bool:
        """Whether no request may begin now: what runs goes on, what waits keeps its place.

        Asked about ten times a second while something waits.
        """

    def admit(self, request: SynthesisRequest) -> None:
        """Refuse a request that can never fit; asked on the caller's thread before the request is queued.

        Raises:
            OutOfMemory: With the bytes it needs and those there are.
        """

    def measured(self, batch: Sequence[SynthesisRequest], peak_bytes: int) -> None:
        """Learn what a batch took; called by the worker's thread after each batch that came to its end.

        Args:
            batch: Its requests.
            peak_bytes: On a CUDA device the most that torch's allocator had in use meanwhile, weights included;
                elsewhere what the process holds afterwards.
        """


class NoLimits:
    """Everything fits, as far as anyone knows."""

    def batch_limit(self, max_batch_size: int) -> int:
        """See `Limits.batch_limit`."""
        return max_batch_size

    def is_paused(self) -> bool:
        """See `Limits.is_paused`."""
        return False

    def admit(self, request: SynthesisRequest) -> None:
        """See `Limits.admit`."""

    def measured(self, batch: Sequence[SynthesisRequest], peak_bytes: int) -> None:
        """See `Limits.measured`."""
