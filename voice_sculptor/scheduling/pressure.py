"""From how full the memory is to what may begin: plain steps, one per reading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from voice_sculptor.scheduling.memory import MemorySnapshot

RAM_SPARE_BYTES = 512_000_000
"""Of main memory: where more than that can be had, its use in percent says nothing about the next request."""

Level = Literal["normal", "warning", "critical"]
Change = Literal["smaller", "larger", "paused", "resumed"]


@dataclass(frozen=True)
class Thresholds:
    """Use of the memory in percent, rising.

    Attributes:
        recovery: Below it batches grow and admission goes on.
        warning: From it batches get smaller.
        critical: From it nothing begins.
    """

    recovery: float = 85.0
    warning: float = 90.0
    critical: float = 95.0

    def level(self, percent: float) -> Level:
        """What such a use means."""
        if percent >= self.critical:
            return "critical"
        return "warning" if percent >= self.warning else "normal"


@dataclass(frozen=True)
class Allowance:
    """What may begin.

    Attributes:
        limit: Most requests in a batch, at least 1.
        is_paused: Whether nothing may.
    """

    limit: int
    is_paused: bool = False

    def after(self, percent: float, thresholds: Thresholds, most: int) -> Allowance:
        """What may begin after one more reading. Between recovery and warning all stays as it is.

        Args:
            percent: Use of the memory.
            thresholds: What that means.
            most: Most requests in a batch with all memory free.
        """
        if percent >= thresholds.warning:
            is_paused = self.is_paused or percent >= thresholds.critical
            return Allowance(max(1, self.limit - 1), is_paused)
        if percent < thresholds.recovery:
            return Allowance(min(most, self.limit + 1))
        return self

    def changes_to(self, later: Allowance) -> tuple[Change, ...]:
        """What is different then."""
        found: list[Change] = []
        if later.limit != self.limit:
            found.append("smaller" if later.limit < self.limit else "larger")
        if later.is_paused != self.is_paused:
            found.append("paused" if later.is_paused else "resumed")
        return tuple(found)


def pressure_percent(memory: MemorySnapshot) -> float:
    """How full the memory is, as far as that matters; 0–100. What torch's allocator keeps for later is there to be had.

    Main memory is for other programs, too: a laptop is often nine tenths full and has room. There it counts only where
    less than `RAM_SPARE_BYTES` can be had.
    """
    if memory.kind == "ram" and memory.total_bytes - memory.used_bytes > RAM_SPARE_BYTES:
        return 0.0
    return 100.0 * (memory.used_bytes - memory.held_bytes) / max(1, memory.total_bytes)
