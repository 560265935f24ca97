"""Known sounds give known figures; nothing makes the measuring fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.audio.tube import RATE, vowel
from voice_sculptor.audio.io import resample
from voice_sculptor.audio.measure import measure, spread
from voice_sculptor.domain import AudioClip


@pytest.mark.parametrize("f0_hz", [70.0, 110.0, 165.0, 220.0, 300.0, 450.0])
@pytest.mark.parametrize("rate", [16_000, 24_000, 48_000])
def test_f0_of_pulses(f0_hz: float, rate: int) -> None:
    measured = measure(vowel(f0_hz, 15.0, rate=rate))
    assert measured.f0_hz == pytest.approx(f0_hz, rel=0.015)
    assert measured.f0_sd_st is not None
    assert measured.f0_sd_st < 0.3


@pytest.mark.parametrize("tract_cm", [12.0, 13.5, 15.0, 16.5, 18.0])
def test_the_length_of_a_tube(tract_cm: float) -> None:
    assert measure(vowel(120.0, tract_cm)).tract_cm == pytest.approx(tract_cm, rel=0.04)


@pytest.mark.parametrize("factor", [0.88, 1.14])
def test_a_tape_played_faster_has_a_shorter_tract(factor: float) -> None:
    """Resampling scales formants exactly, so the estimate has to follow."""
    clip = vowel(130.0, 16.0, range_st=2.0)
    faster = AudioClip(resample(AudioClip(clip.samples, round(RATE * factor)), RATE).samples, RATE)
    plain, scaled = measure(clip), measure(faster)
    assert plain.tract_cm is not None
    assert plain.f0_hz is not None
    assert scaled.tract_cm == pytest.approx(plain.tract_cm / factor, rel=0.03)
    assert scaled.f0_hz == pytest.approx(plain.f0_hz * factor, rel=0.02)


def test_a_swing_of_f0_is_its_spread() -> None:
    # The deciles of a sine of 4 st are at ±3.80 st.
    measured = measure(vowel(150.0, 16.0, range_st=4.0, seconds=3.0))
    assert measured.f0_sd_st == pytest.approx(2 * 3.80 / 2.563, rel=0.08)


def test_noise_takes_harmonicity_away_and_an_octave_error_hardly_counts() -> None:
    figures = [measure(vowel(150.0, 16.0, noise=noise)).hnr_db or 0.0 for noise in (0.0, 0.01, 0.05, 0.1)]
    assert figures == sorted(figures, reverse=True)
    assert figures[0] > 20.0
    steady = np.full(100, 7.0)
    assert spread(np.append(steady, [8.0] * 5)) == 0.0


@pytest.mark.parametrize("range_st", [2.0, 9.0])
def test_creak_is_not_the_voices_f0_and_a_lively_voice_is_not_creak(range_st: float) -> None:
    lively = vowel(150.0, 16.0, range_st=range_st, seconds=3.0)
    creak = vowel(66.0, 16.0, seconds=0.5)
    both = AudioClip(np.concatenate([lively.samples, creak.samples]), RATE)
    alone, mixed = measure(lively), measure(both)
    # The deciles of a sine are at ±0.951 of it.
    assert alone.f0_sd_st == pytest.approx(2 * 0.951 * range_st / 2.563, rel=0.08)
    assert mixed.f0_hz == pytest.approx(alone.f0_hz, rel=0.02)
    assert mixed.f0_sd_st == pytest.approx(alone.f0_sd_st, rel=0.08)


@pytest.mark.parametrize("hnr_db", [3.0, 8.0, 15.0])
def test_a_known_ratio_of_harmonics_to_noise(hnr_db: float) -> None:
    t = np.arange(2 * RATE) / RATE
    tone = sum(np.sin(2 * np.pi * 140.0 * k * t) / k for k in range(1, 8))
    noise = np.random.default_rng(1).standard_normal(len(t))
    # White noise up to the Nyquist frequency, as much as the ratio says.
    noise *= np.sqrt(np.mean(tone**2) / 10 ** (hnr_db / 10) / np.mean(noise**2))
    mixed = tone + noise
    clip = AudioClip((0.2 * mixed / np.abs(mixed).max()).astype(np.float32), RATE)
    assert measure(clip).hnr_db == pytest.approx(hnr_db, abs=1.0)


def test_level_rate_and_pauses() -> None:
    word, gap = (
        vowel(140.0, 15.0, seconds=0.5).samples[RATE // 2 : -RATE // 2],
        np.zeros(RATE // 4, np.float32),
    )
    clip = AudioClip(np.concatenate([word, gap] * 4 + [word]), RATE)
    measured = measure(clip, 10)
    assert measured.speech_s == pytest.approx(2.5, abs=0.15)
    assert measured.syllables_per_s == pytest.approx(10 / 2.5, rel=0.07)
    assert measured.syllables_from == "text"
    heard = measure(clip)
    assert heard.syllables_from == "audio"
    assert heard.syllables_per_s == pytest.approx(5 / 2.5, rel=0.1)
    louder = measure(AudioClip(clip.samples * np.float32(2.0), RATE))
    assert louder.loudness_lufs - measured.loudness_lufs == pytest.approx(6.02, abs=0.05)


def test_a_whisper_has_no_voice_and_brightness_is_tilt() -> None:
    noise = np.random.default_rng(2).standard_normal(2 * RATE).astype(np.float32) * 0.1
    assert measure(AudioClip(noise, RATE)).voiced_share < 0.1
    bright, dark = np.diff(noise), np.cumsum(noise - noise.mean()) * 0.05
    tilts = [measure(AudioClip(each.astype(np.float32), RATE)).tilt_db for each in (dark, noise, bright)]
    assert tilts == sorted(tilts, key=lambda value: value or 0.0)


@settings(max_examples=40, deadline=None)
@given(
    num_samples=st.integers(0, 9000),
    rate=st.sampled_from([4000, 5512, 8000, 11_025, 16_000, 44_100, 96_000]),
    level=st.sampled_from([0.0, 1e-7, 0.3, 1.0]),
    seed=st.integers(0, 5),
)
def test_any_clip_is_measured(num_samples: int, rate: int, level: float, seed: int) -> None:
    samples = (
        (np.random.default_rng(seed).standard_normal(num_samples) * level).clip(-1, 1).astype(np.float32)
    )
    plain = measure(AudioClip(samples, rate)).as_json()
    assert all(value is None or isinstance(value, (int, float, str)) for value in plain.values())
    assert all(math.isfinite(value) for value in plain.values() if isinstance(value, float))


def test_praat_agrees_on_f0_and_harmonicity() -> None:
    parselmouth = pytest.importorskip("parselmouth")
    for f0_hz, noise in ((110.0, 0.01), (200.0, 0.03)):
        clip = vowel(f0_hz, 15.5, range_st=2.0, noise=noise, seconds=2.0)
        sound = parselmouth.Sound(clip.samples.astype(np.float64), clip.sample_rate)
        pitch = sound.to_pitch_ac(pitch_floor=60.0, pitch_ceiling=600.0).selected_array["frequency"]
        harmonicity = sound.to_harmonicity_cc(minimum_pitch=60.0).values
        measured = measure(clip)
        assert measured.f0_hz == pytest.approx(float(np.median(pitch[pitch > 0])), rel=0.02)
        assert measured.hnr_db == pytest.approx(float(harmonicity[harmonicity > -200].mean()), abs=2.0)
