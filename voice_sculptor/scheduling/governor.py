"""Watches the memory of the device once a second, and says what may begin."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from voice_sculptor import metrics
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import Engine, StatesMemory
from voice_sculptor.errors import OutOfMemory
from voice_sculptor.scheduling.activity import Activity, ActivityMeter
from voice_sculptor.scheduling.estimate import Estimate
from voice_sculptor.scheduling.memory import MemorySnapshot, memory_snapshot
from voice_sculptor.scheduling.pressure import Allowance, Level, Thresholds, pressure_percent

EVERY_S = 1.0
HISTORY_S = 300.0
STALL_S = 5.0
"""A pause is left out for one batch where nothing ran for so long: what it waits for may be memory of others that never
comes, or the engine's own, which is not freed by waiting."""

_log = logging.getLogger(__name__)


class Watched(Protocol):
    """What the governor looks at: a worker."""

    @property
    def device(self) -> str:
        """As `Worker.device`."""

    @property
    def is_loaded(self) -> bool:
        """As `Worker.is_loaded`."""

    @property
    def idle_s(self) -> float:
        """As `Worker.idle_s`."""

    def unload(self) -> None:
        """As `Worker.unload`."""


@dataclass(frozen=True)
class Look:
    """What was seen at one time.

    Attributes:
        at_s: On the clock of `time.monotonic`.
        memory: Of the device.
        parts: What is in use, by part.
        level: What that means.
        allowance: What may begin.
        activity: What was done lately.
    """

    at_s: float
    memory: MemorySnapshot
    parts: Mapping[str, int]
    level: Level
    allowance: Allowance
    activity: Activity = field(default_factory=Activity)


class Governor:
    """`limits.Limits` by what the memory holds. Make one, give it to a worker, then `start` it with that worker.

    Args:
        engine: Whose memory it is.
        thresholds: What use of the memory means.
        max_batch_size: Most requests in a batch with all memory free.
        idle_unload_s: Time without a request after which the engine is unloaded; `None` for never.
        read: Reads the memory of a device.
        clock: As `time.monotonic`.
    """

    def __init__(
        self,
        engine: Engine,
        thresholds: Thresholds | None = None,
        max_batch_size: int = 1,
        idle_unload_s: float | None = None,
        read: Callable[[str], MemorySnapshot] = memory_snapshot,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.thresholds = thresholds or Thresholds()
        self.estimate = Estimate(engine.info)
        self._engine = engine
        self._most = max(1, max_batch_size)
        self._idle_unload_s = idle_unload_s
        self._read, self._clock = read, clock
        self._allowance = Allowance(self._most)
        self._worker: Watched | None = None
        self._looks: deque[Look] = deque(maxlen=round(HISTORY_S / EVERY_S))
        self._activity = ActivityMeter(engine.info.id)
        self._resting_bytes: int | None = None
        self._tried_s = float("-inf")
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def looks(self) -> tuple[Look, ...]:
        """What was seen in the last minutes, oldest first; empty before the first look."""
        return tuple(self._looks.copy())

    def start(self, worker: Watched) -> None:
        """Begin to watch, in a thread of its own."""
        self._worker = worker
        self._thread = threading.Thread(target=self._watch, name="governor", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(5.0)

    def batch_limit(self, max_batch_size: int) -> int:
        """See `Limits.batch_limit`."""
        allowance = self._allowance
        return 1 if allowance.is_paused else max(1, min(allowance.limit, max_batch_size))

    def is_paused(self) -> bool:
        """See `Limits.is_paused`: the worker asks while nothing runs, and begins a batch where it is not."""
        if not self._allowance.is_paused:
            return False
        now_s = self._clock()
        if now_s - self._tried_s < STALL_S:
            return True
        self._tried_s = now_s
        self._count("let_through")
        return False

    def admit(self, request: SynthesisRequest) -> None:
        """See `Limits.admit`."""
        needed_bytes = self.estimate.needed_bytes(request)
        free_bytes = self._room_bytes()
        if free_bytes is None or needed_bytes <= free_bytes:
            return
        self._count("refused")
        needed, free = f"{needed_bytes / 1e9:.2f} GB", f"{max(0, free_bytes) / 1e9:.2f} GB"
        raise OutOfMemory(
            f"This request needs about {needed} of memory; {free} can be had.",
            f"此请求约需 {needed} 内存，可用的只有 {free}。",
            fix_en="Shorten the text, close other programs, or choose a smaller engine.",
            fix_zh="请缩短文本、关闭其他程序，或换用更小的引擎。",
            needed_bytes=needed_bytes,
            free_bytes=max(0, free_bytes),
        )

    def measured(self, batch: Sequence[SynthesisRequest], peak_bytes: int) -> None:
        """See `Limits.measured`."""
        self._tried_s = self._clock()
        look = self._latest()
        if look is None:
            return
        if look.memory.kind == "vram":
            self.estimate.learn(batch, max(0, peak_bytes - sum(self._stated().values())))
            return
        # A process holds much that is no engine's: only its growth over what it held at rest is counted.
        if self._resting_bytes is not None and peak_bytes > self._resting_bytes:
            self.estimate.learn(batch, peak_bytes - self._resting_bytes)
        self._resting_bytes = min(peak_bytes, self._resting_bytes or peak_bytes)

    def look(self) -> Look:
        """Read the memory once, and draw the conclusions."""
        worker, now_s = self._worker, self._clock()
        memory = self._read(worker.device if worker else "auto")
        percent = pressure_percent(memory)
        before = self._allowance
        self._allowance = before.after(percent, self.thresholds, self._most)
        for change in before.changes_to(self._allowance):
            if change == "paused":
                self._tried_s = now_s
            self._count(change)
            _log.log(
                logging.INFO if change in ("larger", "resumed") else logging.WARNING,
                "Memory %.1f %% full (%.2f of %.2f GB): %s, batches of up to %d",
                memory.used_percent,
                memory.used_bytes / 1e9,
                memory.total_bytes / 1e9,
                change,
                self._allowance.limit,
            )
        level = "critical" if self._allowance.is_paused else self.thresholds.level(percent)
        parts = memory.parts(self._stated())
        seen = Look(now_s, memory, parts, level, self._allowance, self._activity.read(now_s))
        self._looks.append(seen)
        self._publish(seen)
        self._unload_where_idle()
        return seen

    def _watch(self) -> None:
        is_told = False
        while True:
            try:
                self.look()
                is_told = False
            except Exception:  # noqa: BLE001  # What cannot be read now may be read the next time.
                # Once for a row of them: a driver that is gone would fill the log, a trace a second.
                if not is_told:
                    _log.exception("The memory could not be read")
                is_told = True
            if self._stopped.wait(EVERY_S):
                return

    def _latest(self) -> Look | None:
        return self._looks[-1] if self._looks else None

    def _stated(self) -> Mapping[str, int]:
        """What the engine holds, by part."""
        if self._worker is not None and not self._worker.is_loaded:
            return {}
        if isinstance(self._engine, StatesMemory):
            return self._engine.memory_parts()
        return {"weights": self._engine.info.weights_bytes}

    def _room_bytes(self) -> int | None:
        """Memory that a request alone could have, now and with nothing else of ours running; `None` if unknown."""
        look = self._latest()
        if look is None:
            return None
        memory, stated = look.memory, self._stated()
        # Before it is loaded: what an engine states is for its real weights, which may not be those that are here.
        fixed_bytes = sum(stated.values())
        if memory.kind == "vram":
            if not stated and self._worker is not None and self._worker.device == "auto":
                return None  # It may yet be the CPU.
            return memory.total_bytes - look.parts["others"] - fixed_bytes
        if sys.platform == "darwin":
            # It compresses and swaps as needed; what is available now tells little.
            return memory.total_bytes - fixed_bytes
        return memory.total_bytes - memory.used_bytes + memory.swap_bytes + look.parts["working"]

    def _publish(self, look: Look) -> None:
        device = self._worker.device if self._worker else "auto"
        if look.memory.kind == "vram" and not device.startswith("cuda:"):
            device = "cuda:0"
        elif look.memory.kind == "ram" and device != "mps":
            device = "cpu"
        for part, num_bytes in {**look.parts, "total": look.memory.total_bytes}.items():
            metrics.MEMORY_BYTES.labels(device, part).set(num_bytes)
        metrics.BATCH_LIMIT.set(look.allowance.limit)

    def _unload_where_idle(self) -> None:
        worker = self._worker
        if self._idle_unload_s is None or worker is None or not worker.is_loaded:
            return
        if worker.idle_s >= self._idle_unload_s:
            self._count("unloaded")
            _log.info("Nobody has spoken for %.0f s: the engine is unloaded", self._idle_unload_s)
            worker.unload()

    @staticmethod
    def _count(change: str) -> None:
        metrics.MEMORY_CHANGES.labels(change).inc()
