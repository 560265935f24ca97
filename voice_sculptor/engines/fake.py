"""A small real engine without a model: a tone whose pitch, length and level follow the request.

It keeps every promise of the protocol, so that skins and scheduling can be tested in milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from voice_sculptor.config import Settings
from voice_sculptor.controls import CONTROL_NAMES, Controls
from voice_sculptor.domain import SynthesisRequest
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
        step_delay_s: Sleep before each chunk, to stand in for work.
    """

    step_delay_s: float = 0.0


class FakeEngine:
    """Sine tones instead of speech."""

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

    def __init__(self, settings: Settings | None = None) -> None:
        self.num_loads = 0
        self.is_loaded = False

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
        for request in batch:
            for index, seed in enumerate(request.seeds):
                if is_cancelled(request.id):
                    break
                try:
                    f0_hz = self._voice_f0_hz(request, seed)
                except InvalidVoiceFile as error:
                    yield CandidateFailed(request.id, index, error)
                    continue
                yield from self._speak(request, index, f0_hz, is_cancelled)
                if not is_cancelled(request.id):
                    yield CandidateDone(request.id, index, {"f0_hz": f0_hz})

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

    def _speak(
        self, request: SynthesisRequest, index: int, f0_hz: float, is_cancelled: Callable[[str], bool]
    ) -> Iterator[AudioChunk]:
        options = request.options if isinstance(request.options, FakeOptions) else FakeOptions()
        controls = request.controls
        f0_hz *= 2.0 ** ((controls.pitch or 0.0) * 3.0 / 12.0)
        for start in range(0, len(request.text), _CHUNK_CHARS):
            time.sleep(options.step_delay_s)
            if is_cancelled(request.id):
                return
            num_chars = min(_CHUNK_CHARS, len(request.text) - start)
            duration_s = num_chars * _SECONDS_PER_CHAR / (controls.speed or 1.0)
            t_s = np.arange(round(duration_s * self.info.sample_rate)) / self.info.sample_rate
            samples = (0.1 * np.sin(2.0 * np.pi * f0_hz * t_s)).astype(np.float32)
            yield AudioChunk(request.id, index, samples, (start + num_chars) / len(request.text))

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
