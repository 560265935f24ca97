"""Text and a voice to sound: the order in which the rooms of this engine work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from voice_sculptor.controls import Controls
from voice_sculptor.engines.kokoro.atlas import Atlas
from voice_sculptor.engines.kokoro.design import VoiceState
from voice_sculptor.engines.kokoro.joining import PAUSE_S, trim_edges, with_pause
from voice_sculptor.engines.kokoro.model import KokoroModel
from voice_sculptor.engines.kokoro.prosody import (
    PAUSE_EXPONENT,
    ProsodyEdit,
    edit_durations,
    edit_energy,
    edit_f0,
    edit_for,
)
from voice_sculptor.engines.kokoro.reading import Line, Reading
from voice_sculptor.errors import ConfigError

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}

# Lines whose features are kept for the next voice, 4 kB a symbol: nearly all texts, and at most 130 MB.
_NUM_KEPT_LINES = 64


@dataclass(frozen=True)
class Piece:
    """Sound of one line, silence after it included.

    Attributes:
        samples: float32 `[num_samples]` at 24 kHz, within ±1.
        fraction: Share of the text that is done with it, 0–1.
    """

    samples: NDArray[np.float32]
    fraction: float


class Speaker:
    """The loaded model with everything around it.

    Args:
        model: The acoustic model.
        atlas: Stock voices.
    """

    def __init__(self, model: KokoroModel, atlas: Atlas) -> None:
        self._model = model
        self._atlas = atlas

    @classmethod
    def load(cls, path: Path, device: str, dtype: str | None) -> Speaker:
        """Read a checkpoint onto a device; see `Engine.load`."""
        if dtype == "fp16" and device == "cpu":
            raise ConfigError(
                "The Kokoro engine does not run in fp16 on a CPU.",
                "Kokoro 引擎在 CPU 上不支持 fp16。",
                fix_en="Use --dtype fp32, bf16 or auto.",
                fix_zh="请使用 --dtype fp32、bf16 或 auto。",
            )
        model = KokoroModel.load(path, torch.device(device), _DTYPES[dtype] if dtype else None)
        return cls(model, Atlas.load())

    def speak(
        self, reading: Reading, state: VoiceState, controls: Controls, seed: int, check: Callable[[], None]
    ) -> Iterator[Piece]:
        """Speak a text, line by line.

        Args:
            reading: What to say.
            state: Who says it.
            controls: How it is said.
            seed: Of the noise in the source; the same inputs give the same bytes.
            check: Called at each step; what it raises ends the work.
        """
        edit = edit_for(controls, ProsodyEdit(speed=state.speed, pitch_st=state.pitch_st))
        pause_scale = edit.speed**-PAUSE_EXPONENT * edit.pause_scale
        generator = torch.Generator(self._model.device).manual_seed(seed)
        for line, fraction in reading.lines(british=_is_british(state)):
            check()
            samples = trim_edges(self._say(reading, line, state, edit, generator, check))
            pause_s = PAUSE_S[line.pause] * pause_scale if fraction < 1.0 else 0.0
            yield Piece(with_pause(samples, pause_s).clip(-1.0, 1.0), fraction)

    def _say(
        self,
        reading: Reading,
        line: Line,
        state: VoiceState,
        edit: ProsodyEdit,
        generator: torch.Generator,
        check: Callable[[], None],
    ) -> NDArray[np.float32]:
        features = reading.features.get(line)
        if features is None:
            features = self._model.read(torch.tensor(line.token_ids))
            if len(reading.features) < _NUM_KEPT_LINES:
                reading.features[line] = features
        style = torch.from_numpy(self._atlas.blend(state.blend, len(line.token_ids) - 2))
        encoded = self._model.encode(features, style)
        durations = edit_durations(encoded.durations, torch.tensor(line.is_pause), edit)
        check()
        f0_hz, energy = self._model.contours(encoded, durations, style)
        f0_hz, energy = edit_f0(f0_hz, edit), edit_energy(energy, edit)
        check()
        audio = self._model.decode(encoded, durations, f0_hz, energy, style, generator, check)
        samples: NDArray[np.float32] = audio.numpy()
        return samples


def _is_british(state: VoiceState) -> bool:
    return max(state.blend, key=lambda name: state.blend[name]).startswith("b")
