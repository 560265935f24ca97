"""What is done to finished sound is exact."""

import numpy as np
import pytest

from tests.audio.tube import vowel
from voice_sculptor.audio.measure import measure
from voice_sculptor.domain import AudioClip
from voice_sculptor.engines.kokoro.reshaping import SAMPLE_RATE, clear, resize_tract, tilt


@pytest.mark.parametrize("scale", [0.85, 1.18])
def test_a_longer_tract_is_longer_by_the_factor(scale):
    clip = vowel(140.0, 15.0, range_st=2.0)
    resized = AudioClip(resize_tract(clip.samples, scale), SAMPLE_RATE)
    assert resized.duration_s == pytest.approx(clip.duration_s * scale, rel=1e-3)
    assert measure(resized).tract_cm == pytest.approx(measure(clip).tract_cm * scale, rel=0.04)
    assert measure(resized).f0_hz == pytest.approx(measure(clip).f0_hz / scale, rel=0.02)


@pytest.mark.parametrize("gain_db", [-6.0, 3.0, 8.0])
def test_a_tilt_is_heard_as_what_it_is(gain_db):
    noise = (np.random.default_rng(0).standard_normal(2 * SAMPLE_RATE) * 0.05).astype(np.float32)
    plain, tilted = (measure(AudioClip(each, SAMPLE_RATE)).tilt_db for each in (noise, tilt(noise, gain_db)))
    assert tilted - plain == pytest.approx(gain_db, rel=0.35)


def _gliding(num_frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contour, harmonics of it, and white noise: F0 moves by an octave and a half in two seconds."""
    hop = SAMPLE_RATE // 80
    f0_hz = 110.0 * 2.0 ** (1.5 * np.linspace(0.0, 1.0, num_frames))
    hz = np.interp(np.arange(num_frames * hop), (np.arange(num_frames) + 0.5) * hop, f0_hz)
    phase = 2.0 * np.pi * np.cumsum(hz) / SAMPLE_RATE
    tones = sum(np.cos(k * phase) / k for k in range(1, 12)) * 0.1
    noise = np.random.default_rng(1).standard_normal(len(tones)) * 0.03
    return f0_hz.astype(np.float32), tones.astype(np.float32), noise.astype(np.float32)


@pytest.mark.parametrize("gain_db", [1.0, 3.0, 4.7])
def test_noise_between_moving_harmonics_is_taken_out(gain_db):
    f0_hz, tones, noise = _gliding(160)
    inner = slice(2000, -2000)
    kept = clear(tones, f0_hz, gain_db)[inner]
    left = clear(tones + noise, f0_hz, gain_db)[inner] - kept
    assert np.std(kept - tones[inner]) < 0.03 * np.std(tones[inner])
    assert 20.0 * np.log10(np.std(noise[inner]) / np.std(left)) == pytest.approx(gain_db, abs=0.4)


def test_what_has_no_period_is_left_as_it_is():
    f0_hz, tones, noise = _gliding(160)
    f0_hz[60:100] = -3.0
    cleared = clear(tones + noise, f0_hz, 4.0)
    hop = SAMPLE_RATE // 80
    unvoiced = slice(62 * hop, 98 * hop)
    assert np.array_equal(cleared[unvoiced], (tones + noise)[unvoiced])
    assert len(cleared) == len(tones)
    assert cleared.dtype == np.float32


def test_nothing_asked_changes_nothing():
    samples = vowel(140.0, 15.0).samples
    assert clear(samples, np.full(80, 140.0, np.float32), 0.0) is samples
    assert clear(samples, np.full(80, -3.0, np.float32), 3.0) is samples
    assert resize_tract(samples, 1.0) is samples
    assert tilt(samples, 0.0) is samples
