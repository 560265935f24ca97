"""A small real engine without a model: a tone whose pitch, length and level follow the request.

It keeps every promise of the protocol, so that skins and scheduling can be tested in milliseconds.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from voice_sculptor.config import Settings
from voice_sculptor.controls import CONTROL_NAMES, Controls
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines import fake_marks
from voice_sculptor.engines.base import (
    AudioChunk,
    CandidateDone,
    CandidateFailed,
    Capabilities,
    EngineEvent,
    EngineInfo,
    Finding,
    Options,
    StockVoice,
)
from voice_sculptor.errors import InvalidVoiceFile, UnknownVoice
from voice_sculptor.timbre import TIMBRE_NAMES

_STOCK = {"fake_low": ("male", 110.0), "fake_high": ("female", 220.0)}
_SECONDS_PER_CHAR = 0.06
_CHUNK_CHARS = 12


class FakeOptions(Options):
    """Options of the fake engine.

    Attributes:
        step_delay_s: Sleep before each step, to stand in for work.
        is_marked: Whether each piece of audio says whose it is: `fake_marks`.
    """

    step_delay_s: Annotated[float, Field(ge=0.0, le=60.0)] = 0.0
    is_marked: bool = False


@dataclass(frozen=True)
class FakeCosts:
    """What the fake engine's work costs, to stand in for a device.

    Attributes:
        step_s: Seconds for one step, a piece of audio for each request of the batch, of a batch of one.
        row_share: What each further request adds to a step, as a share of it.
        shortage_rate: Probability that a step runs out of memory, 0–1.
        seed: Of those shortages.
    """

    step_s: float = 0.0
    row_share: float = 0.25
    shortage_rate: float = 0.0
    seed: int = 0


class FakeEngine:
    """Sine tones instead of speech; the requests of a batch go on side by side, a piece each per step.

    Args:
        settings: As of every engine; not read.
        costs: What it pretends to work.
        max_batch_size: Most requests in one call.

    Attributes:
        work_s: Seconds that it pretended to work.
        num_shortages: Times that it pretended to run out of memory.
    """

    info = EngineInfo(
        id="fake",
        title="Fake (tones, for tests)",
        sample_rate=16_000,
        codec_frame_rate=100.0,
        languages=("zh", "en"),
        code_licence="Apache-2.0",
        weights_licence="Apache-2.0",
        capabilities=Capabilities(
            design=True,
            streaming=True,
            batching=True,
            seed=True,
            voice_state=True,
            controls=frozenset(CONTROL_NAMES),
            timbre=frozenset(TIMBRE_NAMES),
        ),
        max_batch_size=4,
    )
    Options = FakeOptions

    def __init__(
        self, settings: Settings | None = None, costs: FakeCosts | None = None, max_batch_size: int = 4
    ) -> None:
        self.info = replace(type(self).info, max_batch_size=max_batch_size)
        self.num_loads = 0
        self.is_loaded = False
        self.work_s = 0.0
        self.num_shortages = 0
        self._costs = costs or FakeCosts()
        self._random = random.Random(self._costs.seed)

    def load(self, device: str, dtype: str | None, progress: Callable[[float], None]) -> None:
        """See `Engine.load`."""
        self.num_loads += 1
        self.is_loaded = True
        progress(1.0)

    def warm_up(self) -> Iterator[None]:
        """See `Engine.warm_up`; there is nothing to do."""
        yield from ()

    def unload(self) -> None:
        """See `Engine.unload`."""
        self.is_loaded = False

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        """See `Engine.synthesize`."""
        rows = [(request, iter(_steps(request))) for request in batch]
        while rows := [(request, steps) for request, steps in rows if not is_cancelled(request.id)]:
            now = [(request, step) for request, steps in rows if (step := next(steps, None)) is not None]
            if not now:
                return
            self._work(len(now), max(_options(request).step_delay_s for request, _ in now))
            for request, (index, number) in now:
                for event in self._step(request, index, number):
                    if is_cancelled(request.id):
                        break
                    yield event

    def weights_ready(self) -> bool:
        """See `Engine.weights_ready`."""
        return True

    def examine(self, device: str, dtype: str | None) -> Iterator[Finding]:
        """See `Engine.examine`: it has no weights."""
        yield Finding("Weights", "权重", "none needed · 不需要")

    def stock_voices(self) -> tuple[StockVoice, ...]:
        """See `Engine.stock_voices`."""
        return tuple(
            StockVoice(name, "en", gender, {"f0_hz": f0_hz}) for name, (gender, f0_hz) in _STOCK.items()
        )

    def stock_state(self, name: str) -> Mapping[str, Any]:
        """See `Engine.stock_state`."""
        if name not in _STOCK:
            raise UnknownVoice(f"There is no voice {name!r}.", f"没有名为 {name!r} 的声音。")
        return {"f0_hz": _STOCK[name][1]}

    def _work(self, num_rows: int, delay_s: float) -> None:
        """One step of the whole batch."""
        costs = self._costs
        step_s = delay_s + costs.step_s * (1.0 + costs.row_share * (num_rows - 1))
        if step_s:
            self.work_s += step_s
            time.sleep(step_s)
        if costs.shortage_rate and self._random.random() < costs.shortage_rate:
            self.num_shortages += 1
            raise MemoryError("tried to allocate 3.00 GiB, as it was told to")

    def _step(self, request: SynthesisRequest, index: int, number: int) -> Iterator[EngineEvent]:
        """One piece of one candidate."""
        try:
            f0_hz = self._voice_f0_hz(request, request.seeds[index])
        except InvalidVoiceFile as error:
            if number == 0:
                yield CandidateFailed(request.id, index, error)
            return
        lengths = piece_lengths(request.text, request.controls)
        t_s = np.arange(lengths[number]) / self.info.sample_rate
        heard_hz = f0_hz * 2.0 ** ((request.controls.pitch or 0.0) * 3.0 / 12.0)
        samples = (0.1 * np.sin(2.0 * np.pi * heard_hz * t_s)).astype(np.float32)
        if _options(request).is_marked:
            fake_marks.write(samples, fake_marks.code(request.text, request.seeds[index], number))
        yield AudioChunk(request.id, index, samples, (number + 1) / len(lengths))
        if number + 1 == len(lengths):
            yield CandidateDone(request.id, index, {"f0_hz": f0_hz})

    def _voice_f0_hz(self, request: SynthesisRequest, seed: int) -> float:
        if request.voice is not None:
            f0_hz = request.voice.state.get("f0_hz")
            if not isinstance(f0_hz, float):
                raise InvalidVoiceFile(
                    "The voice file has no f0_hz for the fake engine.",
                    "该声音文件缺少 fake 引擎需要的 f0_hz。",
                )
            return f0_hz
        return self._design_f0_hz(request.controls, seed)

    @staticmethod
    def _design_f0_hz(controls: Controls, seed: int) -> float:
        base_hz = _STOCK["fake_low" if controls.gender == "male" else "fake_high"][1]
        return float(base_hz * 2.0 ** (np.random.default_rng(seed).uniform(-1.0, 1.0) / 12.0))


def piece_lengths(text: str, controls: Controls) -> list[int]:
    """Samples of each piece of audio that the fake engine makes of a text."""
    samples_per_char = _SECONDS_PER_CHAR * FakeEngine.info.sample_rate / (controls.speed or 1.0)
    starts = range(0, len(text), _CHUNK_CHARS)
    return [round(min(_CHUNK_CHARS, len(text) - start) * samples_per_char) for start in starts]


def _options(request: SynthesisRequest) -> FakeOptions:
    return request.options if isinstance(request.options, FakeOptions) else FakeOptions()


def _steps(request: SynthesisRequest) -> list[tuple[int, int]]:
    """Candidate and piece of each step of a request, one candidate after the other."""
    num_pieces = len(piece_lengths(request.text, request.controls))
    return [(index, number) for index in range(len(request.seeds)) for number in range(num_pieces)]
