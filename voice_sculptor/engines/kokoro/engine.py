"""The embedded engine behind the protocol."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from voice_sculptor.config import Settings
from voice_sculptor.controls import CONTROL_NAMES, Controls
from voice_sculptor.domain import Language, Notice, SynthesisRequest
from voice_sculptor.engines.base import (
    AudioChunk,
    CandidateDone,
    CandidateFailed,
    Capabilities,
    EngineEvent,
    EngineInfo,
    Options,
    StockVoice,
)
from voice_sculptor.engines.kokoro import phonemes, weights
from voice_sculptor.engines.kokoro.atlas import Atlas, VoiceInfo
from voice_sculptor.engines.kokoro.design import VoiceState, design, read_state
from voice_sculptor.engines.kokoro.reading import Reading
from voice_sculptor.errors import Cancelled, InvalidVoiceFile

if TYPE_CHECKING:
    from voice_sculptor.engines.kokoro.speech import Speaker

_LOADED_BYTES = 700_000_000


class KokoroEngine:
    """Kokoro-82M: no GPU, no model hub, 54 stock voices and every blend of them.

    Args:
        settings: Where the weights are.
    """

    info = EngineInfo(
        id="kokoro",
        title="Kokoro-82M",
        sample_rate=24_000,
        codec_frame_rate=40.0,
        languages=("zh", "en"),
        code_licence="Apache-2.0",
        weights_licence="Apache-2.0",
        capabilities=Capabilities(
            design=True, streaming=True, seed=True, voice_state=True, controls=frozenset(CONTROL_NAMES)
        ),
        memory_estimate_bytes=_LOADED_BYTES,
    )
    Options = Options

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._speaker: Speaker | None = None

    def load(self, device: str, dtype: str | None, progress: Callable[[float], None]) -> None:
        """See `Engine.load`."""
        path = weights.prepare(self._settings.checkpoints_dir, lambda fraction: progress(0.8 * fraction))
        from voice_sculptor.engines.kokoro.speech import Speaker

        self._speaker = Speaker.load(path, device, dtype)
        progress(1.0)

    def warm_up(self) -> Iterator[None]:
        """See `Engine.warm_up`: the dictionaries, and torch's kernels, which are made at their first use."""
        if self._speaker is None:
            raise RuntimeError("load() comes before warm_up()")
        phonemes.preload(chinese=False)
        yield
        reading, state = Reading("One, two.", "en"), VoiceState(blend={"af_heart": 1.0})
        for _ in self._speaker.speak(reading, state, Controls(), 0, lambda: None):
            yield
        phonemes.preload(english=False)
        yield

    def unload(self) -> None:
        """See `Engine.unload`."""
        self._speaker = None
        gc.collect()

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        """See `Engine.synthesize`."""
        if self._speaker is None:
            raise RuntimeError("load() comes before synthesize()")
        for request in batch:
            try:
                yield from self._candidates(self._speaker, request, is_cancelled)
            except Cancelled:
                continue

    def weights_ready(self) -> bool:
        """See `Engine.weights_ready`."""
        return weights.find(self._settings.checkpoints_dir) is not None

    def stock_voices(self) -> tuple[StockVoice, ...]:
        """See `Engine.stock_voices`; the measurements are means over both languages."""
        atlas = Atlas.load()
        return tuple(
            StockVoice(info.name, info.language, info.gender, _means(info))
            for info in map(atlas.info, atlas.names)
        )

    def stock_state(self, name: str) -> Mapping[str, Any]:
        """See `Engine.stock_state`."""
        Atlas.load().info(name)
        return VoiceState(blend={name: 1.0}).model_dump(mode="json")

    def _candidates(
        self, speaker: Speaker, request: SynthesisRequest, is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        def check() -> None:
            if is_cancelled(request.id):
                raise Cancelled

        reading = Reading(request.text, request.language)
        for index, seed in enumerate(request.seeds):
            check()
            try:
                state = self._state(request, reading.language, seed)
            except InvalidVoiceFile as error:
                yield CandidateFailed(request.id, index, error)
                continue
            for piece in speaker.speak(reading, state, request.controls, seed, check):
                yield AudioChunk(request.id, index, piece.samples, piece.fraction)
            check()
            notices = _notices(reading) if index == 0 else ()
            yield CandidateDone(request.id, index, state.model_dump(mode="json"), notices)

    @staticmethod
    def _state(request: SynthesisRequest, language: Language, seed: int) -> VoiceState:
        if request.voice is not None:
            return read_state(request.voice.state, Atlas.load())
        return design(request.controls, language, seed, Atlas.load())


def _notices(reading: Reading) -> tuple[Notice, ...]:
    if not reading.dropped:
        return ()
    shown = " ".join(reading.dropped[:8])
    return (
        Notice(
            "unspoken",
            f"Not spoken, because no reading is known: {shown}",
            f"以下内容没有读音，已跳过：{shown}",
        ),
    )


def _means(info: VoiceInfo) -> dict[str, float]:
    spoken = list(info.measurements.values())
    return {name: round(fmean(each[name] for each in spoken), 2) for name in spoken[0]}
