"""Prosody edits between predictor and decoder: durations, F0 and energy as plain tensors.

What is set here hits its target and leaves the timbre alone; who speaks is set in the style space instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from voice_sculptor.controls import Controls, EmotionName

PITCH_STEP_ST = 2.5
"""Semitones per level of the pitch control: more than twice the just-noticeable step in running speech (about 1 st)."""

RANGE_STEP = 1.45
"""Factor on the F0 excursion per level of the pitch-variation control."""

PAUSE_EXPONENT = 0.6
"""Pauses shrink and grow less than speech does when the rate changes."""

_VOICED_HZ = 40.0


@dataclass(frozen=True)
class ProsodyEdit:
    """How a voice speaks this time. The default changes nothing.

    Attributes:
        speed: Rate factor on speech; 2 is twice as fast.
        pause_scale: Factor on pauses, on top of the speed's.
        pitch_st: Shift of the F0 contour, semitones.
        pitch_range: Factor on the F0 excursion around its median.
        emphasis: Factor on the excursion of the energy contour around its mean.
        voicing: Share of the voicing that stays: 1 as is, 0 a whisper.
    """

    speed: float = 1.0
    pause_scale: float = 1.0
    pitch_st: float = 0.0
    pitch_range: float = 1.0
    emphasis: float = 1.0
    voicing: float = 1.0


# Directions from the reviews of vocal emotion by Scherer (2003, Speech Communication 40) and Juslin & Laukka (2003,
# Psychological Bulletin 129): F0 level, F0 range, rate, pauses and energy variability, at full intensity.
_EMOTION: dict[EmotionName, ProsodyEdit] = {
    "happy": ProsodyEdit(speed=1.08, pause_scale=0.9, pitch_st=2.0, pitch_range=1.45, emphasis=1.2),
    "angry": ProsodyEdit(speed=1.12, pause_scale=0.8, pitch_st=1.5, pitch_range=1.3, emphasis=1.5),
    "sad": ProsodyEdit(speed=0.84, pause_scale=1.35, pitch_st=-1.5, pitch_range=0.6, emphasis=0.75),
    "surprised": ProsodyEdit(speed=1.02, pause_scale=1.0, pitch_st=3.0, pitch_range=1.7, emphasis=1.25),
    "disgusted": ProsodyEdit(speed=0.9, pause_scale=1.15, pitch_st=-1.2, pitch_range=0.85, emphasis=1.15),
    "afraid": ProsodyEdit(speed=1.15, pause_scale=0.9, pitch_st=2.5, pitch_range=0.85, emphasis=0.85),
    "neutral": ProsodyEdit(),
}


def edit_for(controls: Controls, base: ProsodyEdit = ProsodyEdit()) -> ProsodyEdit:
    """The edit that carries out the controls.

    Args:
        controls: Pitch, pitch variation, speed and emotion are read.
        base: What the voice itself brings along; the controls act on top of it.
    """
    edit = replace(
        base,
        speed=base.speed * (controls.speed or 1.0),
        pitch_st=base.pitch_st + PITCH_STEP_ST * (controls.pitch or 0.0),
        pitch_range=base.pitch_range * RANGE_STEP ** (controls.pitch_variation or 0.0),
    )
    if controls.emotion is None:
        return edit
    profile, share = _EMOTION[controls.emotion.name], controls.emotion.intensity
    return replace(
        edit,
        speed=edit.speed * profile.speed**share,
        pause_scale=edit.pause_scale * profile.pause_scale**share,
        pitch_st=edit.pitch_st + profile.pitch_st * share,
        pitch_range=edit.pitch_range * profile.pitch_range**share,
        emphasis=edit.emphasis * profile.emphasis**share,
    )


def edit_durations(durations: Tensor, is_pause: Tensor, edit: ProsodyEdit) -> Tensor:
    """Durations at another rate, in whole frames.

    Rounding carries its remainder on to the next phoneme, so that the total is right to within one frame.

    Args:
        durations: float32 `[num_tokens]`, frames of 25 ms, before rounding.
        is_pause: bool `[num_tokens]`, tokens that are silence: punctuation and both ends.
        edit: Speed and pause scale are used.

    Returns:
        int64 `[num_tokens]`, each at least 1.
    """
    speech_scale = 1.0 / edit.speed
    pause_scale = speech_scale**PAUSE_EXPONENT * edit.pause_scale
    if speech_scale == 1.0 and pause_scale == 1.0:
        return durations.round().clamp(min=1).long()
    scale = torch.where(is_pause, pause_scale, speech_scale)
    # The model speaks whole frames at speed 1: what is scaled is what would have been heard.
    wanted = durations.round().clamp(min=1).double() * scale
    whole: list[int] = []
    debt = 0.0
    for frames in wanted.tolist():
        rounded = max(1, round(frames + debt))
        debt += frames - rounded
        whole.append(rounded)
    return torch.tensor(whole, dtype=torch.int64, device=durations.device)


def edit_f0(f0_hz: Tensor, edit: ProsodyEdit) -> Tensor:
    """The F0 contour shifted and stretched around its median.

    Args:
        f0_hz: float32 `[num_frames]`; near or below zero where unvoiced.
        edit: Pitch, range and voicing are used.

    Returns:
        float32 `[num_frames]`.
    """
    if edit.voicing <= 0.0:
        return torch.zeros_like(f0_hz)
    voiced = f0_hz > _VOICED_HZ
    if (edit.pitch_st == 0.0 and edit.pitch_range == 1.0) or not bool(voiced.any()):
        return f0_hz
    pivot = f0_hz[voiced].median().log2()
    deviation = f0_hz.clamp(min=_VOICED_HZ).log2() - pivot
    edited = torch.exp2(pivot + deviation * edit.pitch_range + edit.pitch_st / 12.0)
    return torch.where(voiced, edited, f0_hz)


def edit_energy(energy: Tensor, edit: ProsodyEdit) -> Tensor:
    """The energy contour with more or less contrast.

    Args:
        energy: float32 `[num_frames]`.
        edit: Emphasis is used.
    """
    if edit.emphasis == 1.0:
        return energy
    mean = energy.mean()
    return mean + (energy - mean) * edit.emphasis
