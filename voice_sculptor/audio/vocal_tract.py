"""Vocal-tract length from the spacing of the formants.

A uniform tube closed at one end has its resonances at (2k − 1)·c / 4L (Fant 1960, *Acoustic Theory of Speech
Production*). The third and fourth move least with the vowel, so their medians over a text say how long the tube is
(Lammert & Narayanan 2015, PLoS ONE 10). Formants come from linear prediction, which must be told how many of them to
look for up to which frequency; here the band is the one in which a tract of the length found has as many formants as
are looked for. So the estimate scales as it should: speech resampled by a factor k measures 1/k of the length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voice_sculptor.domain import AudioClip

SPEED_OF_SOUND_CM_S = 35_000.0
"""In the warm, moist air of a vocal tract."""

_ORDER = 12
_BAND_HZ_CM = 5250.0 * 15.6
"""Band of linear prediction × tract length: a 15.6 cm tract is analysed up to 5.25 kHz."""
_LENGTHS_CM = np.geomspace(8.5, 23.0, 17)
_REACH = 4
"""Lengths on either side of a fall that say how clear it is; a fourth of the length."""
_LIKELY_CM, _LIKELY_EXPONENT = 17.4, -0.3
"""Length at 112 Hz that is likely, and how it goes with F0: adults and children together, as in `targets`."""
_UNLIKELY = 4.0
_WINDOW_S = 0.03
_PRE_EMPHASIS = 0.97
_LOWEST_HZ = 200.0
_WIDEST = 0.11
"""Bandwidth of what still counts as a formant, as a share of the band."""
_NUM_FRAMES = 100
_MIN_FRAMES = 8
_MIN_RATE = 11_000
"""Below it the fourth formant of most voices is not in the recording."""


def tract_length_cm(clip: AudioClip, times_s: NDArray[np.float64], f0_hz: float) -> float | None:
    """Estimated length of the vocal tract, cm; `None` where there is too little voiced speech or bandwidth.

    Whoever compares estimates should keep language and style of speech alike: about ±0.5 cm come from the text.

    Args:
        clip: Speech; from a sample rate of 11 kHz up, from 16 kHz for the shortest tracts.
        times_s: Centres of voiced frames, `[num_frames]`.
        f0_hz: Median F0. Where the formants allow two lengths, the one that is likelier at this F0 is taken.
    """
    if clip.sample_rate < _MIN_RATE:
        return None
    frames = _frames(clip, times_s)
    if len(frames) < _MIN_FRAMES:
        return None
    size = 2 * frames.shape[1]
    power = np.square(np.abs(np.fft.rfft(frames, size, axis=1)))
    hz = np.fft.rfftfreq(size, 1.0 / clip.sample_rate)
    found = np.array([_length_in_band(power, hz, _BAND_HZ_CM / length) for length in _LENGTHS_CM.tolist()])
    # The tube that the formants give, over the one that the band was made for, falls through 1 at the answer. Where a
    # formant is missed it may do so elsewhere too, but not with as clear a fall, and at a less likely length.
    likely_cm = _LIKELY_CM * (f0_hz / 112.0) ** _LIKELY_EXPONENT
    excess = np.nan_to_num(np.log(found / _LENGTHS_CM))
    fall = [
        excess[max(0, i - _REACH + 1) : i + 1].sum()
        - excess[i + 1 : i + 1 + _REACH].sum()
        - _UNLIKELY * np.log(_LENGTHS_CM[i] / likely_cm) ** 2
        if excess[i] >= 0.0 > excess[i + 1]
        else -np.inf
        for i in range(len(excess) - 1)
    ]
    at = int(np.argmax(fall))
    if not np.isfinite(fall[at]):
        return None
    share = excess[at] / (excess[at] - excess[at + 1])
    return float(_LENGTHS_CM[at] * (_LENGTHS_CM[at + 1] / _LENGTHS_CM[at]) ** share)


def _frames(clip: AudioClip, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Windowed frames `[num_frames, size]` around some of the times, evenly picked."""
    size = round(_WINDOW_S * clip.sample_rate)
    starts = np.round(times_s * clip.sample_rate).astype(np.int64) - size // 2
    starts = starts[(starts >= 0) & (starts + size <= len(clip.samples))]
    if len(starts) > _NUM_FRAMES:
        starts = starts[np.linspace(0, len(starts) - 1, _NUM_FRAMES).round().astype(np.int64)]
    frames = clip.samples[starts[:, None] + np.arange(size)].astype(np.float64)
    frames = frames[np.square(frames).sum(axis=1) > 0.0]
    windowed: NDArray[np.float64] = frames * np.hanning(size)
    return windowed


def _length_in_band(power: NDArray[np.float64], hz: NDArray[np.floating[Any]], band_hz: float) -> float:
    """Length by the third and fourth formant, looked for up to `band_hz`; NaN where they are not found."""
    inside = hz <= band_hz
    angle = np.pi * hz[inside] / band_hz
    emphasis = np.square(np.abs(1.0 - _PRE_EMPHASIS * np.exp(-1j * angle)))
    # The autocorrelation of the frame as it would be if it were sampled at twice the band.
    lags = np.arange(_ORDER + 1)
    correlation = (power[:, inside] * emphasis) @ np.cos(angle[:, None] * lags)
    correlation[:, 0] *= 1.0 + 1e-6
    order = np.arange(_ORDER)
    toeplitz = correlation[:, np.abs(order[:, None] - order)]
    companion = np.zeros_like(toeplitz)
    companion[:, order[1:], order[:-1]] = 1.0
    companion[:, 0] = np.linalg.solve(toeplitz, correlation[:, 1:, None])[:, :, 0]
    poles = np.linalg.eigvals(companion)
    pole_hz = np.angle(poles) * band_hz / np.pi
    width_hz = -np.log(np.maximum(np.abs(poles), 1e-9)) * 2.0 * band_hz / np.pi
    is_formant = (pole_hz > _LOWEST_HZ) & (pole_hz < 0.95 * band_hz) & (width_hz < _WIDEST * band_hz)
    formants = np.sort(np.where(is_formant, pole_hz, np.inf), axis=1)[:, :4]
    formants = formants[np.isfinite(formants[:, 3])]
    if len(formants) < _MIN_FRAMES:
        return float("nan")
    third, fourth = np.median(formants[:, 2:], axis=0)
    return float((5.0 / third + 7.0 / fourth) / 2.0 * SPEED_OF_SOUND_CM_S / 4.0)
