"""What is done to finished sound: less noise between the harmonics, another tract length, another spectral tilt.

A voice slowed down by a factor s has formants, F0 and rate 1/s of what they were. Spoken s times higher and faster
beforehand, only the formants remain changed: those of a tract s times as long. It is exact, where moves in the style
space are not, and costs s times the synthesis.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE_RATE = 24_000
_MOST_MIXED = 1.0
_PERIOD_TOLERANCE = 0.2
_FADE_S = 0.005
_SHELF_HZ = 1000.0
_SHELF_SLOPE = 0.6


def resize_tract(samples: NDArray[np.float32], scale: float) -> NDArray[np.float32]:
    """Sound slowed down by `scale`, as by a tape.

    Args:
        samples: float32 `[num_samples]`.
        scale: Above 0; 1 changes nothing.

    Returns:
        float32 `[round(num_samples * scale)]`.
    """
    if scale == 1.0:
        return samples
    import soxr

    slowed: NDArray[np.float32] = soxr.resample(samples, SAMPLE_RATE / scale, SAMPLE_RATE)
    return slowed


def clear(samples: NDArray[np.float32], f0_hz: NDArray[np.float32], gain_db: float) -> NDArray[np.float32]:
    """Sound with less noise between the harmonics: each period mixed with its neighbours (a comb filter).

    The periods are those that the contour gives, so harmonics stay in place however F0 moves; what is not periodic
    averages out. Where F0 begins or ends, and where there is none, the sound stays as it is.

    Args:
        samples: float32 `[num_samples]`.
        f0_hz: float32 `[num_frames]` over the whole of it, as spoken; near or below zero where unvoiced.
        gain_db: Gain in harmonics over noise for a steady voice and white noise, 0–4.7.
    """
    if gain_db <= 0.0 or not (f0_hz > 0.0).any():
        return samples
    from scipy.ndimage import map_coordinates, spline_filter1d, uniform_filter1d

    place = np.arange(len(samples), dtype=np.float64)
    middles = (np.arange(len(f0_hz)) + 0.5) * (len(samples) / len(f0_hz))
    hz = np.interp(place + 0.5, middles, np.maximum(f0_hz, 0.0))
    cycles = np.cumsum(hz / SAMPLE_RATE)
    period = SAMPLE_RATE / np.maximum(hz, 1.0)
    before, after = (np.interp(cycles + step, cycles, place) for step in (-1.0, 1.0))
    is_regular = hz > 0.0
    for neighbour in (before, after):
        is_regular &= np.abs(np.abs(neighbour - place) / period - 1.0) < _PERIOD_TOLERANCE
    weight = uniform_filter1d(is_regular.astype(np.float64), round(_FADE_S * SAMPLE_RATE)) * is_regular
    where = np.flatnonzero(weight > 0.0)
    spline = spline_filter1d(samples.astype(np.float64))
    neighbours = sum(
        map_coordinates(spline, [there[where]], order=3, prefilter=False) for there in (before, after)
    )
    share = _mixed(gain_db)
    cleared = samples.copy()
    cleared[where] += weight[where] * (neighbours - 2.0 * samples[where]) * (share / (1.0 + 2.0 * share))
    return cleared


def _mixed(gain_db: float) -> float:
    """How much of each neighbour is mixed in for a gain: `(1 + 2a)² / (1 + 2a²)` solved for `a` up to 1."""
    shares = np.linspace(0.0, _MOST_MIXED, 101)
    gains_db = 10.0 * np.log10((1.0 + 2.0 * shares) ** 2 / (1.0 + 2.0 * shares**2))
    return float(np.interp(gain_db, gains_db, shares))


def tilt(samples: NDArray[np.float32], gain_db: float) -> NDArray[np.float32]:
    """Sound with more (or, below 0, less) energy above 1 kHz: a high shelf (Bristow-Johnson, *Audio EQ Cookbook*).

    Args:
        samples: float32 `[num_samples]`.
        gain_db: Of the shelf.
    """
    if gain_db == 0.0:
        return samples
    from scipy.signal import lfilter

    numerator, denominator = _shelf(gain_db)
    # Half of it below and half above, so that the level stays about as it was.
    filtered = lfilter(numerator, denominator, samples) * 10.0 ** (-gain_db / 40.0)
    shaped: NDArray[np.float32] = filtered.astype(np.float32)
    return shaped


@functools.lru_cache(maxsize=64)
def _shelf(gain_db: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    amplitude = 10.0 ** (gain_db / 40.0)
    omega = 2.0 * math.pi * _SHELF_HZ / SAMPLE_RATE
    cosine = math.cos(omega)
    alpha = (
        math.sin(omega) / 2.0 * math.sqrt((amplitude + 1.0 / amplitude) * (1.0 / _SHELF_SLOPE - 1.0) + 2.0)
    )
    root = 2.0 * math.sqrt(amplitude) * alpha
    up, down = amplitude + 1.0, amplitude - 1.0
    numerator = amplitude * np.array(
        [up + down * cosine + root, -2.0 * (down + up * cosine), up + down * cosine - root]
    )
    denominator = np.array([up - down * cosine + root, 2.0 * (down - up * cosine), up - down * cosine - root])
    return numerator / denominator[0], denominator / denominator[0]
