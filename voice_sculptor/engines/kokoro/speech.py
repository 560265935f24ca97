"""Text and a voice to sound: the order in which the rooms of this engine work."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from voice_sculptor.engines.kokoro.atlas import Atlas
from voice_sculptor.engines.kokoro.edits import CLEAR_DB_PER_BREATH, Edit
from voice_sculptor.engines.kokoro.joining import PAUSE_S, trim_edges, with_pause
from voice_sculptor.engines.kokoro.model import KokoroModel
from voice_sculptor.engines.kokoro.prosody import (
    PAUSE_EXPONENT,
    VOICED_HZ,
    edit_durations,
    edit_energy,
    edit_f0,
    within_reach,
)
from voice_sculptor.engines.kokoro.reading import Line, Reading
from voice_sculptor.engines.kokoro.reshaping import clear, resize_tract, tilt
from voice_sculptor.engines.kokoro.state import VoiceState
from voice_sculptor.engines.kokoro.text import Encoded
from voice_sculptor.errors import ConfigError

_LOUD_SHARE = 0.35
"""Of the highest energy in a line: fainter frames are hardly heard, and their F0 is not to be trusted."""

FRAME_S = 0.025
"""Of durations."""

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}

# Lines whose features are kept for the next voice, 4 kB a symbol: nearly all texts, and at most 130 MB.
_NUM_KEPT_LINES = 64
# Lines whose contours are kept while a voice is fitted: what is rehearsed and planned ahead.
_NUM_DRAFTS = 8


@dataclass(frozen=True)
class Piece:
    """Sound of one line, silence after it included.

    Attributes:
        samples: float32 `[num_samples]` at 24 kHz, within ±1.
        fraction: Share of the text that is done with it, 0–1.
    """

    samples: NDArray[np.float32]
    fraction: float


@dataclass(frozen=True)
class Draft:
    """A line as a voice says it by itself, for the rates at which it has been planned.

    Attributes:
        style: float32 `[256]`.
        encoded: From the text model.
        contours: F0 in Hz and energy, float32 `[2 * num_frames]` each, by the durations they belong to.
    """

    style: Tensor
    encoded: Encoded
    contours: dict[tuple[int, ...], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Plan:
    """A line before it is sound.

    Attributes:
        encoded: From the text model.
        style: float32 `[256]`.
        durations: int64 `[num_tokens]`, frames of 25 ms.
        f0_hz: float32 `[2 * num_frames]`, edited.
        energy: float32 `[2 * num_frames]`, edited.
        natural_f0_hz: float32 `[2 * num_frames]`, before any edit.
        is_voiced: bool `[2 * num_frames]`, frames whose F0 will be heard: voiced and not faint.
        natural_speech_s: Without pauses, before any edit.
        speech_s: Without pauses, as it will be spoken.
    """

    encoded: Encoded
    style: Tensor
    durations: Tensor
    f0_hz: Tensor
    energy: Tensor
    natural_f0_hz: Tensor
    is_voiced: Tensor
    natural_speech_s: float
    speech_s: float

    def log2_f0(self) -> NDArray[np.float64]:
        """Natural F0 of the frames in which it will be heard, within the voice's reach, octaves above 1 Hz."""
        log2_f0: NDArray[np.float64] = self.natural_f0_hz[self.is_voiced].double().log2().cpu().numpy()
        return within_reach(log2_f0, float(np.median(log2_f0))) if len(log2_f0) else log2_f0


class Pace:
    """Seconds of speech, without pauses, as spoken and as the voice would by itself."""

    def __init__(self) -> None:
        self._spoken_s = self._natural_s = 0.0

    def add(self, plan: Plan) -> None:
        """Count a line."""
        self._spoken_s += plan.speech_s
        self._natural_s += plan.natural_speech_s

    def factor(self, own_speed: float) -> float:
        """How many times as fast it was spoken.

        Args:
            own_speed: The voice's own factor, which nobody asked for.
        """
        return self._natural_s / (self._spoken_s * own_speed) if self._spoken_s > 0.0 else 1.0


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
        self,
        reading: Reading,
        state: VoiceState,
        edit: Edit,
        seed: int,
        check: Callable[[], None],
        pace: Pace | None = None,
    ) -> Iterator[Piece]:
        """Speak a text, line by line.

        Args:
            reading: What to say.
            state: Who says it.
            edit: How it is said.
            seed: Of the noise in the source; the same inputs give the same bytes.
            check: Called at each step; what it raises ends the work.
            pace: Told how fast each line is spoken.
        """
        pause_scale = edit.speed**-PAUSE_EXPONENT * edit.pause_scale
        generator = torch.Generator(self._model.device).manual_seed(seed)
        for line, fraction in reading.lines(british=self.is_british(state)):
            check()
            plan = self.plan(reading, line, state, edit, check)
            if pace is not None:
                pace.add(plan)
            samples = trim_edges(self.render(plan, edit, generator, check))
            pause_s = PAUSE_S[line.pause] * pause_scale if fraction < 1.0 else 0.0
            yield Piece(with_pause(samples, pause_s).clip(-1.0, 1.0), fraction)

    def plan(
        self, reading: Reading, line: Line, state: VoiceState, edit: Edit, check: Callable[[], None]
    ) -> Plan:
        """How a line will be spoken: everything but the sound, at a tenth of its cost or less."""
        draft = self._draft(reading, line, state)
        style, encoded = draft.style, draft.encoded
        is_pause = torch.tensor(line.is_pause)
        # What slows the sound down afterwards must be spoken faster and higher: see `reshaping`.
        spoken = replace(
            edit,
            speed=edit.speed * edit.tract_scale,
            pitch_st=edit.pitch_st + 12.0 * math.log2(edit.tract_scale),
        )
        durations = edit_durations(encoded.durations, is_pause, spoken)
        check()
        frames = tuple(durations.tolist())
        if frames not in draft.contours:
            draft.contours[frames] = self._model.contours(encoded, durations, style)
        f0_hz, energy = draft.contours[frames]
        is_heard = (f0_hz > VOICED_HZ) & (energy > _LOUD_SHARE * energy.max())
        natural_frames = encoded.durations.cpu().round().clamp(min=1.0)[~is_pause].sum()
        return Plan(
            encoded=encoded,
            style=style,
            durations=durations,
            f0_hz=edit_f0(f0_hz, spoken, is_heard),
            energy=edit_energy(energy, edit),
            natural_f0_hz=f0_hz,
            is_voiced=is_heard,
            natural_speech_s=float(natural_frames) * FRAME_S,
            speech_s=float(durations.cpu()[~is_pause].sum()) * FRAME_S * edit.tract_scale,
        )

    def _draft(self, reading: Reading, line: Line, state: VoiceState) -> Draft:
        """What is known of a line in this voice: a voice that is fitted plans the same beginning again and again."""
        features = reading.features.get(line)
        if features is None:
            features = self._model.read(torch.tensor(line.token_ids))
            if len(reading.features) < _NUM_KEPT_LINES:
                reading.features[line] = features
        style = torch.from_numpy(state.style(self._atlas, len(line.token_ids) - 2))
        draft: Draft | None = reading.drafts.get(line)
        if draft is None or not torch.equal(draft.style, style):
            draft = Draft(style, self._model.encode(features, style), {})
            if line in reading.drafts or len(reading.drafts) < _NUM_DRAFTS:
                reading.drafts[line] = draft
        return draft

    def render(
        self, plan: Plan, edit: Edit, generator: torch.Generator, check: Callable[[], None]
    ) -> NDArray[np.float32]:
        """The sound of a plan, float32 `[num_samples]` at 24 kHz, edges included."""
        check()
        source = self._model.source(
            plan.f0_hz,
            generator=generator,
            breath=max(0.0, edit.breath),
            roughness=max(0.0, edit.roughness),
        )
        audio = self._model.decode(
            plan.encoded, plan.durations, plan.f0_hz, plan.energy, plan.style, source, check
        )
        samples = clear(audio.numpy(), plan.f0_hz.cpu().numpy(), -edit.breath * CLEAR_DB_PER_BREATH)
        return tilt(resize_tract(samples, edit.tract_scale), edit.tilt_db)

    @staticmethod
    def is_british(state: VoiceState) -> bool:
        """Whether a voice says English the British way: as its main stock voice does."""
        return max(state.blend, key=lambda name: state.blend[name]).startswith("b")
