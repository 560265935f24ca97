"""Volume: loudness in LUFS, true peak in dBTP, and bringing a clip to a level without clipping (ITU-R BS.1770-4).

Everything works in blocks, so that memory beside the result stays small however long the clip.
"""

from __future__ import annotations

import functools
import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from voice_sculptor.domain import AudioClip
from voice_sculptor.errors import SynthesisFailed

if TYPE_CHECKING:
    from numpy.typing import NDArray

VOLUME_LUFS = MappingProxyType({-2.0: -30.0, -1.0: -26.0, 0.0: -22.0, 1.0: -18.0, 2.0: -14.0})
"""Loudness of the levels of the control `volume`, LUFS; between them it is linear."""

MAX_TRUE_PEAK_DBTP = -1.0
MAX_GAIN_DB = 30.0
"""Most amplification: near-silence stays quiet instead of becoming loud noise."""

_OFFSET_DB = -0.691
_ABSOLUTE_GATE_LUFS = -70.0
_RELATIVE_GATE_LU = -10.0
_HOPS_PER_BLOCK = 4
_HOPS_AT_ONCE = 600

_OVERSAMPLING = 4
_SAMPLES_AT_ONCE = 1 << 18
_FILTER_REACH = 256
"""Samples on either side that the oversampling filter can see; more than it needs."""

_STEP_S = 0.001
_LOOK_AHEAD_STEPS = 10
_TOLERANCE_LU = 0.1
_MAX_ROUNDS = 6


def target_lufs(volume: float | None) -> float:
    """Loudness that a value of the control `volume` asks for, LUFS.

    Args:
        volume: −2 … +2; `None`, unspecified, is medium.
    """
    return float(np.interp(volume or 0.0, list(VOLUME_LUFS), list(VOLUME_LUFS.values())))


def loudness_lufs(clip: AudioClip) -> float:
    """Integrated, gated loudness of a mono clip, LUFS; −inf for silence.

    A clip under one gating block of 0.4 s is measured as if it were repeated, so that its loudness does not depend on
    how much silence is put after it.

    Args:
        clip: Any length.
    """
    energies = _hop_energies(clip)
    blocks = np.convolve(energies, np.full(_HOPS_PER_BLOCK, 1.0 / _HOPS_PER_BLOCK), mode="valid")
    blocks = blocks[blocks > _energy(_ABSOLUTE_GATE_LUFS)]
    if len(blocks) == 0:
        return -math.inf
    blocks = blocks[blocks > blocks.mean() * 10.0 ** (_RELATIVE_GATE_LU / 10.0)]
    return _OFFSET_DB + 10.0 * math.log10(blocks.mean())


def true_peak_dbtp(clip: AudioClip) -> float:
    """Highest level between the samples too, by 4× oversampling (BS.1770-4 annex 2), dBTP; −inf for silence."""
    return _db(float(_peaks(clip).max(initial=0.0)))


def rms_dbfs(clip: AudioClip) -> float:
    """Root mean square of all samples, dB re full scale (a full-scale sine is −3.01); −inf for silence."""
    if len(clip.samples) == 0:
        return -math.inf
    return _db(math.sqrt(np.mean(np.square(clip.samples), dtype=np.float64)))


def gain_db_for(clip: AudioClip, volume: float | None = None) -> float:
    """Gain that brings a clip to a volume, peaks aside, dB, at most `MAX_GAIN_DB`; 0 for silence.

    Found on the first chunk of a stream, it can be given to `apply_gain` for the chunks as they come.

    Args:
        clip: Speech, best a second or more.
        volume: As for `target_lufs`.
    """
    loudness = loudness_lufs(clip)
    return min(target_lufs(volume) - loudness, MAX_GAIN_DB) if math.isfinite(loudness) else 0.0


def apply_gain(clip: AudioClip, gain_db: float) -> AudioClip:
    """The clip times a gain, its true peaks held at −1 dBTP by a look-ahead limiter where they would go over it.

    Args:
        clip: Any length.
        gain_db: dB.

    Raises:
        SynthesisFailed: The samples hold NaN or infinity.
    """
    _check_finite(clip)
    return _amplified(clip, _peaks(clip), gain_db)


def level(clip: AudioClip, volume: float | None = None) -> AudioClip:
    """The clip at the loudness that a volume asks for, true peak at most −1 dBTP.

    Plain gain where the peaks fit. Where they do not, a limiter holds them and the gain rises until the loudness is
    met; sound that is little but peaks (a click) ends as loud as it can be. Silence stays silence.

    Args:
        clip: Any length.
        volume: As for `target_lufs`; clips with the same volume come out equally loud.

    Raises:
        SynthesisFailed: The samples hold NaN or infinity.
    """
    _check_finite(clip)
    target, peaks, gain_db = target_lufs(volume), _peaks(clip), gain_db_for(clip, volume)
    result = _amplified(clip, peaks, gain_db)
    if not _needs_limiter(peaks, gain_db):
        return result
    slope = 1.0
    loudness = loudness_lufs(result)
    for _ in range(_MAX_ROUNDS):
        # Each dB put into a limiter brings less than one out; the last round tells how much.
        step_db = min((target - loudness) / slope, MAX_GAIN_DB - gain_db)
        if abs(target - loudness) < _TOLERANCE_LU or step_db <= 0.0:
            break
        gain_db += step_db
        result = _amplified(clip, peaks, gain_db)
        before, loudness = loudness, loudness_lufs(result)
        slope = min(max((loudness - before) / step_db, 0.25), 1.0)
    return result


def _needs_limiter(peaks: NDArray[np.float32], gain_db: float) -> bool:
    return _db(float(peaks.max(initial=0.0))) + gain_db > MAX_TRUE_PEAK_DBTP


def _amplified(clip: AudioClip, peaks: NDArray[np.float32], gain_db: float) -> AudioClip:
    factor = np.float32(_factor(gain_db))
    if not _needs_limiter(peaks, gain_db):
        return AudioClip(clip.samples * factor, clip.sample_rate)
    curve = factor * _limiter_curve(peaks * factor, _step(clip))
    limited = AudioClip(clip.samples * curve[: len(clip.samples)], clip.sample_rate)
    # The curve bends a little between samples; what that adds is taken off the whole.
    excess_db = max(0.0, true_peak_dbtp(limited) - MAX_TRUE_PEAK_DBTP)
    return AudioClip(limited.samples * np.float32(_factor(-excess_db)), clip.sample_rate)


def _limiter_curve(peaks: NDArray[np.float32], step: int) -> NDArray[np.float32]:
    """Gain per sample, ≤ 1, that keeps peaks under the ceiling: low around each of them, with smooth flanks.

    Args:
        peaks: float32 `[num_steps]`, from `_peaks`.
        step: Samples a step.

    Returns:
        float32 `[num_steps · step]`: straight lines between the bounds of the steps.
    """
    from scipy.ndimage import minimum_filter1d, uniform_filter1d

    allowed = np.minimum(_factor(MAX_TRUE_PEAK_DBTP) / np.maximum(peaks, 1e-9), 1.0)
    bounds = np.minimum(np.append(allowed, 1.0), np.append(1.0, allowed))
    # Two running means of this width see so far to both sides. After a running minimum over the same stretch, each
    # mean is of values that are at most what its place allows.
    width = 2 * (_LOOK_AHEAD_STEPS // 2) + 1
    bounds = minimum_filter1d(bounds, 2 * width - 1, mode="nearest")
    for _ in range(2):
        bounds = uniform_filter1d(bounds, width, mode="nearest")
    start, rise = bounds[:-1, None].astype(np.float32), np.diff(bounds)[:, None].astype(np.float32)
    curve: NDArray[np.float32] = start + rise * (np.arange(step, dtype=np.float32) / step)
    return curve.reshape(-1)


def _step(clip: AudioClip) -> int:
    return max(1, round(_STEP_S * clip.sample_rate))


def _peaks(clip: AudioClip) -> NDArray[np.float32]:
    """Highest magnitude in each step of 1 ms, between the samples too; float32 `[num_steps]`."""
    import soxr

    samples, step = clip.samples, _step(clip)
    peaks = np.zeros(-(-len(samples) // step), np.float32)
    piece_size = _SAMPLES_AT_ONCE // step * step
    for start in range(0, len(samples), piece_size):
        first, stop = max(0, start - _FILTER_REACH), min(start + piece_size, len(samples))
        piece = np.pad(samples[first : stop + _FILTER_REACH], (0, _FILTER_REACH))
        fine = soxr.resample(piece, 1, _OVERSAMPLING)
        fine = np.abs(fine[_OVERSAMPLING * (start - first) : _OVERSAMPLING * (stop - first)])
        fine = np.pad(fine, (0, -len(fine) % (_OVERSAMPLING * step)))
        highest = fine.reshape(-1, _OVERSAMPLING * step).max(axis=1)
        peaks[start // step : start // step + len(highest)] = highest
    return peaks


def _hop_energies(clip: AudioClip) -> NDArray[np.float64]:
    """Mean square of the K-weighted clip in whole hops of 0.1 s, at least four; float64 `[num_hops]`."""
    from scipy.signal import sosfilt

    hop = round(clip.sample_rate / 10)
    samples = clip.samples
    if len(samples) < _HOPS_PER_BLOCK * hop:
        samples = np.resize(samples, _HOPS_PER_BLOCK * hop)
    sos = _k_weighting(clip.sample_rate)
    state = np.zeros((len(sos), 2))
    energies = []
    for start in range(0, len(samples) - hop + 1, hop * _HOPS_AT_ONCE):
        piece = samples[start : start + hop * _HOPS_AT_ONCE]
        weighted, state = sosfilt(sos, piece[: len(piece) // hop * hop], zi=state)
        energies.append(np.square(weighted).reshape(-1, hop).mean(axis=1))
    return np.concatenate(energies)


@functools.lru_cache(maxsize=16)
def _k_weighting(sample_rate: int) -> NDArray[np.float64]:
    """The two filters of BS.1770-4 annex 1 for any sample rate; float64 `[2, 6]`."""
    from pyloudnorm import Meter

    filters: dict[str, Any] = Meter(sample_rate, filter_class="DeMan")._filters
    return np.array([[*each.b, *each.a] for each in filters.values()])


def _check_finite(clip: AudioClip) -> None:
    if not np.isfinite(clip.samples).all():
        raise SynthesisFailed(
            "The engine made invalid samples (NaN or infinity).",
            "引擎生成了无效采样（NaN 或无穷大）。",
            fix_en="Try another seed, or a higher precision (--dtype fp32).",
            fix_zh="请换一个种子，或使用更高精度（--dtype fp32）。",
        )


def _factor(gain_db: float) -> float:
    return float(10.0 ** (gain_db / 20.0))


def _energy(lufs: float) -> float:
    return float(10.0 ** ((lufs - _OFFSET_DB) / 10.0))


def _db(amplitude: float) -> float:
    return 20.0 * math.log10(amplitude) if amplitude > 0.0 else -math.inf
