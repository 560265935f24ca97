"""What is done to finished sound: another length of the vocal tract, another spectral tilt.

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
