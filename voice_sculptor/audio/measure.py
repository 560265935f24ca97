"""What a clip of speech measures: F0 and its spread, harmonicity, tilt, tract length, rate, loudness.

F0 and what depends on it is measured on the voiced frames of the speech in it, see `audio.f0` and `audio.rhythm`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voice_sculptor.audio.f0 import F0_FRAME_S, voiced_frames
from voice_sculptor.audio.loudness import loudness_lufs, true_peak_dbtp
from voice_sculptor.audio.rhythm import num_nuclei, speech_frames
from voice_sculptor.audio.vocal_tract import tract_length_cm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voice_sculptor.domain import AudioClip

_MIN_VOICED = 5
_DECILES_PER_SD = 2.563
_FENCES_OCTAVES = ((-0.85, -0.5), (0.85, 1.25))
"""From the median, where F0 begins to be an octave error or creak: between the two by how far F0 spreads."""
_HARMONICITY_S = 0.034
_HARMONICITY_FRAMES = 400
_TILT_BANDS_HZ = ((50.0, 1000.0), (1000.0, 5000.0))
_PART_S = 30.0


@dataclass(frozen=True)
class Measurements:
    """Measures of a clip; `None` where there is nothing to measure them on.

    Attributes:
        duration_s: Of the whole clip.
        speech_s: Without silence at the edges and pauses from 0.12 s up.
        f0_hz: Median F0 of voiced frames.
        f0_sd_st: Standard deviation of F0, semitones, by its 10th and 90th percentile, see `spread`.
        voiced_share: Voiced frames among frames of speech, 0–1; near 0 for a whisper.
        hnr_db: Mean harmonics-to-noise ratio of voiced frames, from the autocorrelation (Boersma 1993, IFA Proc. 17).
        jitter: Irregularity of F0 from frame to frame, %: median absolute second difference, small in clear voices.
        tilt_db: Energy of 1–5 kHz over that of 50–1000 Hz.
        tract_cm: Vocal-tract length by the formants, see `audio.vocal_tract`.
        loudness_lufs: Integrated (ITU-R BS.1770-4); −inf for silence.
        true_peak_dbtp: −inf for silence.
        syllables_per_s: Syllables per second of speech.
        syllables_from: Whether they were counted in the text or in the sound.
    """

    duration_s: float
    speech_s: float
    f0_hz: float | None
    f0_sd_st: float | None
    voiced_share: float
    hnr_db: float | None
    jitter: float | None
    tilt_db: float | None
    tract_cm: float | None
    loudness_lufs: float
    true_peak_dbtp: float
    syllables_per_s: float | None
    syllables_from: Literal["text", "audio"] | None

    def as_json(self) -> dict[str, Any]:
        """Plain values, rounded; what is `None` or infinite is `None`."""
        return {
            name: (round(value, 3) if math.isfinite(value) else None) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


def measure(clip: AudioClip, num_syllables: int | None = None) -> Measurements:
    """Measure a clip.

    Args:
        clip: Any length and sample rate from 8 kHz.
        num_syllables: In its text, where that is known; otherwise they are counted in the sound.
    """
    frames = speech_frames(clip)
    num_speech, speech_s = frames.num_speech, frames.speech_s
    times_s, f0_hz = voiced_frames(clip)
    is_speech = frames.holds(times_s)
    times_s, f0_hz = times_s[is_speech], f0_hz[is_speech]
    is_likely = _likely(f0_hz)
    times_s, f0_hz = times_s[is_likely], f0_hz[is_likely]
    has_voice = len(f0_hz) >= _MIN_VOICED
    count = num_syllables or num_nuclei(clip, times_s)
    has_rate = count > 0 and speech_s > 0.0
    return Measurements(
        duration_s=clip.duration_s,
        speech_s=speech_s,
        f0_hz=float(np.median(f0_hz)) if has_voice else None,
        f0_sd_st=12.0 * spread(np.log2(f0_hz)) if has_voice else None,
        voiced_share=min(1.0, len(f0_hz) / num_speech) if num_speech else 0.0,
        hnr_db=_harmonicity_db(clip, times_s, f0_hz) if has_voice else None,
        jitter=_jitter(times_s, f0_hz) if has_voice else None,
        tilt_db=_tilt_db(clip) if num_speech else None,
        tract_cm=tract_length_cm(clip, times_s, float(np.median(f0_hz))) if has_voice else None,
        loudness_lufs=loudness_lufs(clip),
        true_peak_dbtp=true_peak_dbtp(clip),
        syllables_per_s=count / speech_s if has_rate else None,
        syllables_from=("text" if num_syllables else "audio") if has_rate else None,
    )


def _likely(f0_hz: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Frames whose F0 is the voice's, not octave errors or creak (fences: Tukey 1977, *Exploratory Data Analysis*)."""
    if not len(f0_hz):
        return np.zeros(0, np.bool_)
    octaves = np.log2(f0_hz / np.median(f0_hz))
    low, high = np.quantile(octaves, (0.25, 0.75))
    fences = np.clip((2.5 * low - 1.5 * high, 2.5 * high - 1.5 * low), *np.transpose(_FENCES_OCTAVES))
    inside: NDArray[np.bool_] = (octaves > fences[0]) & (octaves < fences[1])
    return inside


def spread(values: NDArray[np.floating[Any]]) -> float:
    """Standard deviation by the distance from the 10th to the 90th percentile, as of a normal distribution.

    Octave errors and creak, which lie outside, change it little.

    Args:
        values: `[num_values]`, any unit; not empty.
    """
    low, high = np.quantile(values, (0.1, 0.9))
    return float(high - low) / _DECILES_PER_SD


def _jitter(times_s: NDArray[np.float64], f0_hz: NDArray[np.float64]) -> float | None:
    """Median absolute second difference of log F0 over neighbouring frames, %."""
    log_f0 = np.log(f0_hz)
    bend = np.abs(log_f0[2:] - 2.0 * log_f0[1:-1] + log_f0[:-2])
    is_run = times_s[2:] - times_s[:-2] < 2.5 * F0_FRAME_S
    return float(100.0 * np.median(bend[is_run])) if is_run.any() else None


def _harmonicity_db(
    clip: AudioClip, times_s: NDArray[np.float64], f0_hz: NDArray[np.float64]
) -> float | None:
    """Normalised autocorrelation at the period, as a ratio of harmonics to noise."""
    rate = clip.sample_rate
    size = round(_HARMONICITY_S * rate)
    starts = np.round(times_s * rate).astype(np.int64) - size // 2
    inside = np.flatnonzero((starts >= 0) & (starts + size <= len(clip.samples)))
    if len(inside) > _HARMONICITY_FRAMES:
        inside = inside[np.linspace(0, len(inside) - 1, _HARMONICITY_FRAMES).round().astype(np.int64)]
    if not len(inside):
        return None
    frames = clip.samples[starts[inside][:, None] + np.arange(size)].astype(np.float64)
    frames -= frames.mean(axis=1, keepdims=True)
    window = np.hanning(size)
    padded = 1 << (2 * size - 1).bit_length()

    def autocorrelation(x: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.fft.irfft(np.square(np.abs(np.fft.rfft(x, padded))), padded)[
            ..., :size
        ]
        return found

    of_window = autocorrelation(window)
    shape = autocorrelation(frames * window)
    shape /= shape[:, :1] + 1e-30
    shape /= of_window / of_window[0] + 1e-3
    lags = np.arange(size)
    period = rate / f0_hz[inside][:, None]
    near = np.where((lags > 0.88 * period) & (lags < 1.14 * period), shape, -1.0)
    peak = near.argmax(axis=1).clip(1, size - 2)
    row = np.arange(len(peak))
    before, middle, after = (shape[row, peak + step] for step in (-1, 0, 1))
    curve = np.minimum(before - 2.0 * middle + after, -1e-9)
    best = (middle - np.square(before - after) / (8.0 * curve)).clip(1e-3, 1.0 - 1e-4)
    return float(np.mean(10.0 * np.log10(best / (1.0 - best))))


def _tilt_db(clip: AudioClip) -> float | None:
    """Over the whole clip, part by part."""
    size = round(_PART_S * clip.sample_rate)
    energy = np.zeros(2)
    for start in range(0, len(clip.samples), size):
        part = clip.samples[start : start + size]
        power = np.square(np.abs(np.fft.rfft(part)))
        hz = np.fft.rfftfreq(len(part), 1.0 / clip.sample_rate)
        energy += [power[(hz >= low) & (hz < high)].sum() for low, high in _TILT_BANDS_HZ]
    if energy.min() <= 0.0:
        return None
    return float(10.0 * np.log10(energy[1] / energy[0]))
