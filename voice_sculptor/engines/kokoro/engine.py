"""The embedded engine behind the protocol."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from voice_sculptor.config import Settings
from voice_sculptor.controls import CONTROL_NAMES
from voice_sculptor.domain import Notice, SynthesisRequest
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
from voice_sculptor.engines.kokoro import phonemes, weights
from voice_sculptor.engines.kokoro.atlas import Atlas, VoiceInfo
from voice_sculptor.engines.kokoro.design import design
from voice_sculptor.engines.kokoro.reading import Reading
from voice_sculptor.engines.kokoro.space import StyleSpace
from voice_sculptor.engines.kokoro.state import VoiceState, read_state
from voice_sculptor.errors import Cancelled, InvalidRequest, InvalidVoiceFile
from voice_sculptor.timbre import TIMBRE_NAMES

if TYPE_CHECKING:
    from voice_sculptor.engines.kokoro.fitting import Fitting, Take
    from voice_sculptor.engines.kokoro.speech import Speaker

_LOADED_BYTES = 700_000_000
_WEIGHTS_BYTES = 268_000_000
_BYTES_PER_AUDIO_S = 20_000_000
"""Measured in fp32 on a CPU: 14–24 MB of peak for each second of a line of 3–10 s (docs/serving.md)."""
_MAX_PIECE_S = 36.0
"""510 phonemes, the most of a line, at the usual rate."""


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
            design=True,
            streaming=True,
            seed=True,
            voice_state=True,
            controls=frozenset(CONTROL_NAMES),
            timbre=frozenset(TIMBRE_NAMES) - {"nasality"},
        ),
        memory_estimate_bytes=_LOADED_BYTES,
        weights_bytes=_WEIGHTS_BYTES,
        bytes_per_audio_s=_BYTES_PER_AUDIO_S,
        max_piece_s=_MAX_PIECE_S,
    )
    Options = Options

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._speaker: Speaker | None = None
        self._held: Mapping[str, int] = {}

    def load(self, device: str, dtype: str | None, progress: Callable[[float], None]) -> None:
        """See `Engine.load`."""
        path = weights.prepare(self._settings.checkpoints_dir, lambda fraction: progress(0.8 * fraction))
        from voice_sculptor.engines.held import held_bytes
        from voice_sculptor.engines.kokoro.speech import Speaker

        self._speaker = Speaker.load(path, device, dtype)
        self._held = {"weights": held_bytes(self._speaker)}
        progress(1.0)

    def memory_parts(self) -> Mapping[str, int]:
        """See `StatesMemory.memory_parts`."""
        return self._held

    def warm_up(self) -> Iterator[None]:
        """See `Engine.warm_up`: the dictionaries, and torch's kernels, which are made at their first use."""
        if self._speaker is None:
            raise RuntimeError("load() comes before warm_up()")
        phonemes.preload(chinese=False)
        yield
        reading, state = Reading("One, two.", "en"), VoiceState(blend={"af_heart": 1.0})
        for _ in self._speaker.speak(reading, state, state.edit(), 0, lambda: None):
            yield
        phonemes.preload(english=False)
        yield

    def unload(self) -> None:
        """See `Engine.unload`."""
        self._speaker = None
        self._held = {}
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

    def examine(self, device: str, dtype: str | None) -> Iterator[Finding]:
        """See `Engine.examine`: every tensor's name and shape, and the checksum of a converted file."""
        yield Finding.of("Weights", "权重", self._examined)

    def _examined(self) -> str:
        from voice_sculptor.engines.kokoro.checkpoint import load_state

        path = weights.prepare(self._settings.checkpoints_dir)
        state = load_state(path)
        kinds = "+".join(sorted({str(tensor.dtype).removeprefix("torch.") for tensor in state.values()}))
        return f"{path.name}, {path.stat().st_size / 1e6:.0f} MB, {len(state)} tensors, {kinds}"

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
        return {"format": "kokoro/voice@3", "blend": {name: 1.0}}

    def _candidates(
        self, speaker: Speaker, request: SynthesisRequest, is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        def check() -> None:
            if is_cancelled(request.id):
                raise Cancelled

        reading = Reading(request.text, request.language)
        if next(reading.lines(), None) is None:
            for index in range(len(request.seeds)):
                yield CandidateFailed(request.id, index, _unreadable(reading))
            return
        for index, seed in enumerate(request.seeds):
            check()
            try:
                fitting, take = self._take(speaker, request, reading, seed, check)
            except InvalidVoiceFile as error:
                yield CandidateFailed(request.id, index, error)
                continue
            for piece in take.pieces:
                yield AudioChunk(request.id, index, piece.samples, piece.fraction)
            check()
            notices = _notices(reading) if index == 0 else ()
            state = take.state
            state_json = state.model_dump(mode="json", exclude_defaults=True) | {"format": state.format}
            reference = fitting.reference(take) if _is_relative(request) else {}
            reference["speed"] = take.pace.factor(state.speed)
            yield CandidateDone(request.id, index, state_json, notices, reference)

    @staticmethod
    def _take(
        speaker: Speaker,
        request: SynthesisRequest,
        reading: Reading,
        seed: int,
        check: Callable[[], None],
    ) -> tuple[Fitting, Take]:
        """Who speaks, and what knows how that voice speaks this text."""
        from voice_sculptor.engines.kokoro.fitting import Fitting  # Here, because torch comes with it.

        atlas, controls = Atlas.load(), request.controls
        fitting = Fitting(speaker, reading, seed, check)
        if request.voice is not None:
            return fitting, fitting.speak(read_state(request.voice.state, atlas), controls)
        space = StyleSpace.load()
        state, wanted = design(controls, request.timbre, reading.language, seed, atlas, space)
        return fitting, fitting.express(fitting.fit(state, controls, wanted), controls, wanted)


def _is_relative(request: SynthesisRequest) -> bool:
    """Whether something is asked that is told by how far the voice moves from itself."""
    controls = request.controls
    pitch, variation = controls.pitch is not None, controls.pitch_variation is not None
    is_moved = controls.emotion is not None and not (pitch and variation)
    return is_moved or (request.voice is not None and (pitch or variation))


def _unreadable(reading: Reading) -> InvalidRequest:
    shown = " ".join(reading.dropped[:8])[:80]
    return InvalidRequest(
        f"Nothing in this text can be read aloud: {shown}.",
        f"这段文本中没有可以朗读的内容：{shown}。",
        fix_en="This engine speaks English and Chinese: write the text in one of them.",
        fix_zh="此引擎只会说中文和英文，请用其中一种书写。",
    )


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
