"""Prosody edits between predictor and decoder: durations, F0 and energy as plain tensors.

What is set here hits its target and leaves the timbre alone; who speaks is set in the style space instead.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from voice_sculptor.audio.measure import spread
from voice_sculptor.engines.kokoro.edits import Edit

PAUSE_EXPONENT = 0.6
"""Pauses shrink and grow less than speech does when the rate changes."""

_SMOOTHING = (1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 3.0, 2.0, 1.0)
"""Weights of neighbouring frames of 12.5 ms."""

VOICED_HZ = 40.0
"""F0 from here up is voiced."""

_REACH_HZ = (52.0, 580.0)
_REACH_ST = (14.0, 20.0)
"""How far a voice reaches below and above its median, within the limits of all voices."""
_LEAST_REACH_ST = 6.0
_MOST_STRETCH = 4.0
"""Of what is asked: more is not tried, where the reach leaves no room."""
_HALVINGS = 24


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
    """The F0 contour shifted, and its excursions scaled, within what a voice can reach.

    Excursions are scaled until their spread over the frames that are heard is the asked multiple of what it was. Near
    the ends of a voice's reach they are compressed: speakers widen their range upwards, their lowest F0 hardly moves
    (Liberman & Pierrehumbert 1984, in: Language Sound Structure), and what lies below is creak without a pitch.

    Args:
        f0_hz: float32 `[num_frames]`, before `reshaping`; near or below zero where unvoiced.
        edit: Pitch, range, slope, voicing, roughness below 0 and the tract's scale are used.
        is_heard: bool `[num_frames]`, voiced frames that are not faint; their median and spread are those set.

    Returns:
        float32 `[num_frames]`.
    """
    if edit.voicing <= 0.0:
        return torch.zeros_like(f0_hz)
    voiced = f0_hz > VOICED_HZ
    is_same = edit.pitch_st == 0.0 and edit.pitch_range == 1.0 and edit.slope_st == 0.0
    if (is_same and edit.roughness >= 0.0) or not bool(voiced.any()):
        return f0_hz
    is_heard = is_heard if bool(is_heard.any()) else voiced
    natural = f0_hz.clamp(min=VOICED_HZ).log2()
    if edit.roughness < 0.0:
        smooth = _smoothed(natural, voiced, -edit.roughness)
        if is_same:
            return torch.where(voiced, smooth.exp2(), f0_hz)
    else:
        smooth = natural
    first, last = voiced.nonzero()[[0, -1], 0].tolist()
    place = (torch.arange(len(f0_hz), device=f0_hz.device) - first) / max(1, last - first)
    rise = (place.clamp(0.0, 1.0) - 0.5) * (edit.slope_st / 12.0)
    edited = _stretched(
        natural[is_heard].double().cpu().numpy(),
        smooth.double().cpu().numpy(),
        rise.double().cpu().numpy(),
        is_heard.cpu().numpy(),
        edit,
    )
    return torch.where(voiced, torch.from_numpy(edited).to(f0_hz).exp2(), f0_hz)


def _stretched(
    natural: NDArray[np.float64],
    smooth: NDArray[np.float64],
    rise: NDArray[np.float64],
    is_heard: NDArray[np.bool_],
    edit: Edit,
) -> NDArray[np.float64]:
    """A contour with the asked median and spread, octaves above 1 Hz.

    Args:
        natural: `[num_heard]`, of the frames that are heard.
        smooth: `[num_frames]`, the contour to stretch.
        rise: `[num_frames]`, added to it.
        is_heard: `[num_frames]`.
        edit: As of `edit_f0`.
    """
    middle = float(np.median(natural))
    goal = middle + edit.pitch_st / 12.0

    def shaped(stretch: float) -> NDArray[np.float64]:
        moved = (smooth - middle) * stretch + rise
        return within_reach(moved - float(np.median(moved[is_heard])) + goal, goal, edit.tract_scale)

    wanted = edit.pitch_range * spread(within_reach(natural, middle, edit.tract_scale))
    low, high = 0.0, _MOST_STRETCH * edit.pitch_range
    for _ in range(_HALVINGS):
        stretch = 0.5 * (low + high)
        low, high = (stretch, high) if spread(shaped(stretch)[is_heard]) < wanted else (low, stretch)
    return shaped(high)


def within_reach(log2_f0: NDArray[np.float64], middle: float, scale: float = 1.0) -> NDArray[np.float64]:
    """F0 held within a voice's reach: what lies far from the middle is compressed, the middle stays.

    Args:
        log2_f0: Octaves above 1 Hz.
        middle: The voice's median F0, likewise.
        scale: How many times as high it is here as it will be heard.
    """
    lowest, highest = (math.log2(hz * scale) for hz in _REACH_HZ)
    low = min(max(lowest, middle - _REACH_ST[0] / 12.0), middle - _LEAST_REACH_ST / 12.0)
    high = max(min(highest, middle + _REACH_ST[1] / 12.0), middle + _LEAST_REACH_ST / 12.0)
    # Half the way to each end is free, the other half is approached exponentially.
    down, up = 0.5 * (middle - low), 0.5 * (high - middle)
    deviation = log2_f0 - middle
    free = deviation.clip(-down, up)
    over = deviation - free
    bent = np.where(over < 0.0, -down * -np.expm1(over / down), up * -np.expm1(-over / up))
    held: NDArray[np.float64] = middle + free + bent
    return held


def _smoothed(log2_f0: Tensor, voiced: Tensor, share: float) -> Tensor:
    """The contour with some of its bends taken out: a share of it is its mean over about a tenth of a second."""
    weights = log2_f0.new_tensor(_SMOOTHING)[None, None]
    both = torch.stack([log2_f0 * voiced, voiced.to(log2_f0.dtype)])[:, None]
    total, count = F.conv1d(both, weights, padding=len(_SMOOTHING) // 2)[:, 0]
    return torch.lerp(log2_f0, total / count.clamp(min=1e-6), share)


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
