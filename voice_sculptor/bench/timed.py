"""An engine that knows how long it worked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import Engine, EngineEvent


class TimedEngine:
    """Everything that the engine is, and the time it took.

    Args:
        engine: Any.

    Attributes:
        sizes: Requests of each call.
    """

    def __init__(self, engine: Engine) -> None:
        self.sizes: list[int] = []
        self._engine = engine
        self._inside_s = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @property
    def work_s(self) -> float:
        """Seconds of work so far: what the fake engine pretends to, what another one spent between its events."""
        return float(getattr(self._engine, "work_s", self._inside_s))

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        """See `Engine.synthesize`."""
        self.sizes.append(len(batch))
        began_s = time.perf_counter()
        for event in self._engine.synthesize(batch, is_cancelled):
            self._inside_s += time.perf_counter() - began_s
            yield event
            began_s = time.perf_counter()
        self._inside_s += time.perf_counter() - began_s
