"""Sounds of which everything is known."""

from __future__ import annotations

import math

import numpy as np
from scipy.signal import lfilter

from voice_sculptor.domain import AudioClip

RATE = 24_000


def vowel(
    f0_hz: float,
    tract_cm: float,
    range_st: float = 0.0,
    noise: float = 0.0,
    seconds: float = 1.0,
    rate: int = RATE,
) -> AudioClip:
    """A uniform tube of that length, excited by pulses, half a second of silence on either side.

    Args:
        f0_hz: Of the pulses.
        tract_cm: Length of the tube, closed at one end.
        range_st: Swing of F0 to either side, twice a second.
        noise: Beside the pulses.
        seconds: Without the silence.
        rate: Samples a second.
    """
    num = round(seconds * rate)
    t = np.arange(num) / rate
    f0 = f0_hz * 2 ** (range_st * np.sin(2 * np.pi * 2 * t) / 12)
    sound = np.diff(np.floor(np.cumsum(f0 / rate)), prepend=0.0)
    sound = lfilter([1.0], [1.0, -0.97], sound) + noise * np.random.default_rng(0).standard_normal(num)
    k = 1
    while (hz := (2 * k - 1) * 35_000 / (4 * tract_cm)) < 0.47 * rate:
        r = math.exp(-math.pi * 80 / rate)
        sound = lfilter([1.0], [1.0, -2 * r * math.cos(2 * math.pi * hz / rate), r * r], sound)
        k += 1
    sound = np.pad(0.5 * sound / np.abs(sound).max(), rate // 2)
    return AudioClip(sound.astype(np.float32), rate)
