"""F0 by swift-f0, a small network that keeps to the right octave (Nieradzik 2025, arXiv 2508.18440)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from voice_sculptor.audio.io import resample
from voice_sculptor.domain import AudioClip

if TYPE_CHECKING:
    from numpy.typing import NDArray

F0_RANGE_HZ = (50.0, 600.0)
F0_FRAME_S = 0.016

_RATE = 16_000
_MIN_SAMPLES = 512
_VOICED_CONFIDENCE = 0.5
_PART_S = 30.0


def voiced_frames(clip: AudioClip) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres of the voiced frames, s, and F0 there, Hz; a long clip is taken part by part.

    Args:
        clip: Any length and sample rate.

    Returns:
        float64 `[num_voiced]` twice, times ascending in steps of `F0_FRAME_S` or more.
    """
    size = round(_PART_S * clip.sample_rate)
    times, pitches = [], []
    for start in range(0, len(clip.samples), size):
        part = AudioClip(clip.samples[start : start + size], clip.sample_rate)
        samples = resample(part, _RATE).samples
        if len(samples) < _MIN_SAMPLES or not samples.any():
            continue
        found = _detector().detect(samples, _RATE, fmin=F0_RANGE_HZ[0], fmax=F0_RANGE_HZ[1])
        hz = np.asarray(found.pitch_hz, np.float64)
        is_voiced = np.asarray(found.confidence) >= _VOICED_CONFIDENCE
        is_voiced &= (hz >= F0_RANGE_HZ[0]) & (hz <= F0_RANGE_HZ[1])
        times.append(np.asarray(found.timestamps, np.float64)[is_voiced] + start / clip.sample_rate)
        pitches.append(hz[is_voiced])
    if not times:
        return np.empty(0), np.empty(0)
    return np.concatenate(times), np.concatenate(pitches)


@functools.cache
def _detector() -> Any:
    from swift_f0 import SwiftF0

    # Two threads: no more help a network this small. They sleep between calls.
    return SwiftF0(threads=2, spin=False)
