"""Volume: known loudness and peaks are measured as such, and clips are brought to them."""

from __future__ import annotations

import math

import numpy as np
import pyloudnorm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from voice_sculptor.audio import loudness
from voice_sculptor.domain import AudioClip
from voice_sculptor.errors import SynthesisFailed

RATE = 24_000


def sine(
    hz: float, duration_s: float, amplitude: float = 1.0, rate: int = RATE, phase: float = 0.0
) -> AudioClip:
    t = np.arange(round(duration_s * rate)) / rate
    return AudioClip((amplitude * np.sin(2 * np.pi * hz * t + phase)).astype(np.float32), rate)


def speech_like(duration_s: float, seed: int = 0, f0_hz: float = 110.0, rate: int = RATE) -> AudioClip:
    """Glottal pulses through three formants in syllables and pauses, with breath noise: peaky, as speech is."""
    rng = np.random.default_rng(seed)
    num_samples = round(duration_s * rate)
    t = np.arange(num_samples) / rate
    sound = np.diff(np.floor(np.cumsum(np.full(num_samples + 1, f0_hz / rate)))) + 0.02 * rng.standard_normal(
        num_samples
    )
    for hz, width_hz in ((500, 80), (1500, 120), (2500, 160)):
        r = math.exp(-math.pi * width_hz / rate)
        sound = lfilter([1.0], [1.0, -2 * r * math.cos(2 * math.pi * hz / rate), r * r], sound)
    sound *= np.abs(np.sin(2 * np.pi * 2.1 * t)) ** 0.7 * (np.sin(2 * np.pi * 0.3 * t) > -0.8)
    return AudioClip((0.5 * sound / np.abs(sound).max()).astype(np.float32), rate)


def with_samples(clip: AudioClip, samples: np.ndarray) -> AudioClip:
    return AudioClip(samples.astype(np.float32), clip.sample_rate)


@pytest.mark.parametrize("rate", [8000, 16_000, 22_050, 24_000, 44_100, 48_000])
def test_calibration_sine_of_the_standard(rate: int) -> None:
    # BS.1770-4: a 997 Hz sine at 0 dBFS in one channel reads -3.01 LKFS.
    assert loudness.loudness_lufs(sine(997, 5, rate=rate)) == pytest.approx(-3.01, abs=0.05)
    assert loudness.loudness_lufs(sine(997, 5, 0.1, rate=rate)) == pytest.approx(-23.01, abs=0.05)


def test_gate_leaves_out_silence_and_quiet_parts() -> None:
    # EBU Tech 3341, case 3 in one channel: -36, -23 and -36 LUFS for 10, 60 and 10 s read -23.
    parts = [
        sine(1000, seconds, 10 ** ((lufs + 3.01) / 20)).samples
        for lufs, seconds in ((-36, 10), (-23, 60), (-36, 10))
    ]
    assert loudness.loudness_lufs(AudioClip(np.concatenate(parts), RATE)) == pytest.approx(-23.0, abs=0.1)
    clip = speech_like(4)
    padded = with_samples(clip, np.pad(clip.samples, RATE * 3))
    assert loudness.loudness_lufs(padded) == pytest.approx(loudness.loudness_lufs(clip), abs=0.3)


@pytest.mark.parametrize(
    ("rate", "duration_s"),
    [(16_000, 3.0), (24_000, 0.4), (24_000, 3.0), (24_000, 65.0), (44_100, 3.0), (48_000, 3.0)],
)
def test_agrees_with_pyloudnorm(rate: int, duration_s: float) -> None:
    clip = speech_like(duration_s, rate=rate)
    expected = pyloudnorm.Meter(rate, filter_class="DeMan").integrated_loudness(
        clip.samples.astype(np.float64)
    )
    assert loudness.loudness_lufs(clip) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("duration_s", [0.002, 0.05, 0.1, 0.25, 0.39, 0.41])
def test_short_clips_are_as_loud_as_long_ones(duration_s: float) -> None:
    assert loudness.loudness_lufs(sine(1000, duration_s)) == pytest.approx(-3.0, abs=0.3)


@pytest.mark.parametrize("num_samples", [0, 1, 100, RATE])
def test_silence_measures_as_minus_infinity_and_stays_silence(num_samples: int) -> None:
    silence = AudioClip(np.zeros(num_samples, np.float32), RATE)
    for measure in (loudness.loudness_lufs, loudness.true_peak_dbtp, loudness.rms_dbfs):
        assert measure(silence) == -math.inf
    assert loudness.gain_db_for(silence) == 0.0
    out = loudness.level(silence, 2.0).samples
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, silence.samples)


def test_rms_of_known_signals() -> None:
    assert loudness.rms_dbfs(sine(1000, 1)) == pytest.approx(-3.01, abs=0.01)
    assert loudness.rms_dbfs(AudioClip(np.full(100, -0.1, np.float32), RATE)) == pytest.approx(-20, abs=0.01)


def test_true_peak_sees_between_the_samples() -> None:
    # A sine at a quarter of the rate, 45 degrees off, has every sample 3.01 dB under its peak.
    clip = sine(RATE / 4, 1, 0.5, phase=math.pi / 4)
    assert 20 * math.log10(np.abs(clip.samples).max()) == pytest.approx(-9.03, abs=0.01)
    assert loudness.true_peak_dbtp(clip) == pytest.approx(-6.02, abs=0.15)


@given(st.floats(0.02, 0.45), st.floats(0, 2 * math.pi), st.floats(0.05, 1.0))
@settings(max_examples=40, deadline=None)
def test_true_peak_of_any_sine_is_its_amplitude(share_of_rate: float, phase: float, amplitude: float) -> None:
    clip = sine(share_of_rate * RATE, 0.5, amplitude, phase=phase)
    faded = with_samples(clip, clip.samples * np.hanning(len(clip.samples)) ** 0.25)
    # Four points a sample miss at most cos(pi/8 · 0.9), 0.55 dB.
    assert -0.6 < loudness.true_peak_dbtp(faded) - 20 * math.log10(amplitude) < 0.1


def test_true_peak_does_not_depend_on_where_blocks_end() -> None:
    rng = np.random.default_rng(1)
    clip = AudioClip(rng.uniform(-0.3, 0.3, loudness._SAMPLES_AT_ONCE * 2 + 777).astype(np.float32), RATE)
    step = loudness._step(clip)
    bound = loudness._SAMPLES_AT_ONCE // step * step
    window = slice(bound - 40 * step, bound + 40 * step)
    alone = loudness._peaks(with_samples(clip, clip.samples[window]))
    np.testing.assert_allclose(
        loudness._peaks(clip)[window.start // step : window.stop // step][15:-15], alone[15:-15], rtol=1e-3
    )


def test_levels_of_the_control_are_four_lu_apart_and_linear_between() -> None:
    assert [loudness.target_lufs(v) for v in (-2, -1, 0, 1, 2)] == [-30, -26, -22, -18, -14]
    assert loudness.target_lufs(None) == loudness.target_lufs(0.0) == loudness.VOLUME_LUFS[0.0]
    assert loudness.target_lufs(0.5) == -20


@given(
    st.one_of(st.none(), st.floats(-2, 2)), st.integers(0, 50), st.floats(0.3, 4), st.floats(90, 300),
    st.floats(-20, 6),
)  # fmt: skip
@settings(max_examples=30, deadline=None)
def test_any_speech_reaches_its_volume_below_the_ceiling(
    volume: float | None, seed: int, duration_s: float, f0_hz: float, given_db: float
) -> None:
    clip = speech_like(duration_s, seed, f0_hz)
    clip = with_samples(clip, clip.samples * 10 ** (given_db / 20))
    out = loudness.level(clip, volume)
    assert out.samples.dtype == np.float32
    assert len(out.samples) == len(clip.samples)
    assert loudness.true_peak_dbtp(out) <= -1.0 + 0.01
    assert np.abs(out.samples).max() < 1.0
    target = loudness.target_lufs(volume)
    if target <= -16:
        # Pulses this bare cannot all be as loud as -14 LUFS with their peaks held.
        assert loudness.loudness_lufs(out) == pytest.approx(target, abs=0.5)


def test_where_peaks_fit_the_sound_is_only_scaled() -> None:
    clip = speech_like(3)
    out = loudness.level(clip, -1.0)
    ratio = out.samples[np.abs(clip.samples) > 0.01] / clip.samples[np.abs(clip.samples) > 0.01]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)
    assert loudness.loudness_lufs(out) == pytest.approx(-26, abs=0.01)


def test_candidates_at_different_levels_come_out_equally_loud() -> None:
    loud, soft = speech_like(2), speech_like(2, seed=3)
    soft = with_samples(soft, 0.1 * soft.samples)
    for clip in (loud, soft):
        assert loudness.loudness_lufs(loudness.level(clip)) == pytest.approx(-22, abs=0.1)


def test_the_limiter_turns_down_only_around_the_peak() -> None:
    samples = sine(300, 2, 0.2).samples.copy()
    samples[RATE : RATE + 5] = 0.99
    clip = AudioClip(samples, RATE)
    out = loudness.apply_gain(clip, 6.0)
    assert loudness.true_peak_dbtp(out) <= -1.0 + 0.01
    far = np.abs(np.arange(2 * RATE) - RATE) > 0.02 * RATE
    gain_db = 20 * np.log10(np.abs(out.samples[far]).max() / np.abs(samples[far]).max())
    assert gain_db == pytest.approx(6.0, abs=0.1)


def test_noise_floor_is_not_blown_up() -> None:
    noise = AudioClip((1e-3 * np.random.default_rng(0).standard_normal(RATE * 2)).astype(np.float32), RATE)
    before = loudness.loudness_lufs(noise)
    assert before < -50
    assert loudness.loudness_lufs(loudness.level(noise, 2.0)) <= before + loudness.MAX_GAIN_DB + 0.1


def test_a_click_ends_loud_but_finite() -> None:
    samples = np.zeros(RATE, np.float32)
    samples[RATE // 2] = 0.01
    out = loudness.level(AudioClip(samples, RATE), 2.0)
    assert np.isfinite(out.samples).all()
    assert loudness.true_peak_dbtp(out) <= -1.0 + 0.01


def test_first_chunk_gain_serves_the_whole() -> None:
    clip = speech_like(6)
    gain_db = loudness.gain_db_for(with_samples(clip, clip.samples[: RATE * 2]), 0.0)
    assert loudness.loudness_lufs(loudness.apply_gain(clip, gain_db)) == pytest.approx(-22, abs=1.5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_invalid_samples_are_a_named_failure(bad: float) -> None:
    clip = AudioClip(np.array([0.0, bad] * RATE, np.float32), RATE)
    with pytest.raises(SynthesisFailed, match="invalid"):
        loudness.level(clip)
    with pytest.raises(SynthesisFailed, match="invalid"):
        loudness.apply_gain(clip, 1.0)


def test_input_is_not_changed_and_output_repeats() -> None:
    clip = speech_like(2)
    kept = clip.samples.copy()
    first, second = loudness.level(clip, 2.0), loudness.level(clip, 2.0)
    np.testing.assert_array_equal(clip.samples, kept)
    np.testing.assert_array_equal(first.samples, second.samples)
