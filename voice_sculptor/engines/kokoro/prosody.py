"""Prosody edits between predictor and decoder: durations, F0 and energy as plain tensors.

What is set here hits its target and leaves the timbre alone; who speaks is set in the style space instead.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from voice_sculptor.engines.kokoro.edits import Edit

PAUSE_EXPONENT = 0.6
"""Pauses shrink and grow less than speech does when the rate changes."""

_SMOOTHING = (1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 3.0, 2.0, 1.0)
"""Weights of neighbouring frames of 12.5 ms."""

VOICED_HZ = 40.0
"""F0 from here up is voiced."""


def edit_durations(durations: Tensor, is_pause: Tensor, edit: Edit) -> Tensor:
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


def edit_f0(f0_hz: Tensor, edit: Edit, is_heard: Tensor) -> Tensor:
    """The F0 contour shifted and stretched around its median.

    Args:
        f0_hz: float32 `[num_frames]`; near or below zero where unvoiced.
        edit: Pitch, range and voicing are used.
        is_heard: bool `[num_frames]`, voiced frames that are not faint; the range is stretched around their median.

    Returns:
        float32 `[num_frames]`.
    """
    if edit.voicing <= 0.0:
        return torch.zeros_like(f0_hz)
    voiced = f0_hz > VOICED_HZ
    is_same = edit.pitch_st == 0.0 and edit.pitch_range == 1.0 and edit.slope_st == 0.0
    if edit.roughness < 0.0 and bool(voiced.any()):
        f0_hz = torch.where(voiced, _smoothed(f0_hz, voiced, -edit.roughness), f0_hz)
    if is_same or not bool(voiced.any()):
        return f0_hz
    pivot = f0_hz[is_heard if bool(is_heard.any()) else voiced].median().log2()
    deviation = f0_hz.clamp(min=VOICED_HZ).log2() - pivot
    edited = pivot + deviation * edit.pitch_range + edit.pitch_st / 12.0
    if edit.slope_st:
        first, last = voiced.nonzero()[[0, -1], 0].tolist()
        place = (torch.arange(len(f0_hz), device=f0_hz.device) - first) / max(1, last - first)
        edited = edited + (place.clamp(0.0, 1.0) - 0.5) * (edit.slope_st / 12.0)
    edited = torch.exp2(edited)
    return torch.where(voiced, edited, f0_hz)


def _smoothed(f0_hz: Tensor, voiced: Tensor, share: float) -> Tensor:
    """The contour with some of its bends taken out: a share of it is its mean over about a tenth of a second."""
    weights = f0_hz.new_tensor(_SMOOTHING)[None, None]
    both = torch.stack([f0_hz.clamp(min=VOICED_HZ).log2() * voiced, voiced.to(f0_hz.dtype)])[:, None]
    total, count = F.conv1d(both, weights, padding=len(_SMOOTHING) // 2)[:, 0]
    return torch.exp2(torch.lerp(f0_hz.clamp(min=VOICED_HZ).log2(), total / count.clamp(min=1e-6), share))


def edit_energy(energy: Tensor, edit: Edit) -> Tensor:
    """The energy contour with more or less contrast.

    Args:
        energy: float32 `[num_frames]`.
        edit: Emphasis is used.
    """
    if edit.emphasis == 1.0:
        return energy
    mean = energy.mean()
    return mean + (energy - mean) * edit.emphasis
