"""Speech is found among silence, and syllables of a known number are counted."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.audio.tube import vowel
from voice_sculptor.audio.f0 import F0_FRAME_S, voiced_frames
from voice_sculptor.audio.measure import measure
from voice_sculptor.audio.rhythm import num_nuclei, speech_frames
from voice_sculptor.domain import AudioClip

RATES = [8000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000]


def steady(seconds: float, rate: int, f0_hz: float = 140.0) -> np.ndarray:
    """A vowel without silence around it."""
    samples: np.ndarray = vowel(f0_hz, 15.0, seconds=seconds, rate=rate).samples[rate // 2 : -(rate // 2)]
    return samples


def bursts(per_s: float, seconds: float, rate: int = 24_000, floor: float = 0.0) -> AudioClip:
    """A vowel that swells and fades so many times a second."""
    sound = steady(seconds, rate)
    t = np.arange(len(sound)) / rate
    swell = np.sin(np.pi * per_s * t) ** 2
    noise = np.random.default_rng(0).standard_normal(len(sound)) * floor
    return AudioClip((sound * swell + noise).astype(np.float32), rate)


@pytest.mark.parametrize("per_s", [2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
@pytest.mark.parametrize("floor", [0.0, 0.003])
def test_bursts_of_a_known_rate(per_s: float, floor: float) -> None:
    clip = bursts(per_s, 4.0, floor=floor)
    assert num_nuclei(clip, voiced_frames(clip)[0]) == pytest.approx(4 * per_s, abs=1)


@pytest.mark.parametrize("rate", RATES)
def test_bursts_at_any_sample_rate(rate: int) -> None:
    clip = bursts(4.0, 5.0, rate)
    assert num_nuclei(clip, voiced_frames(clip)[0]) == pytest.approx(20, abs=1)


def test_a_steady_vowel_is_one_syllable_and_noise_is_none() -> None:
    clip = vowel(150.0, 15.0)
    assert num_nuclei(clip, voiced_frames(clip)[0]) == 1
    noise = AudioClip((np.random.default_rng(0).standard_normal(48_000) * 0.1).astype(np.float32), 24_000)
    measured = measure(noise)
    assert measured.syllables_per_s is None
    assert measured.syllables_from is None
    assert measured.speech_s == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("noise_dbfs", [-120.0, -62.0])
def test_a_little_speech_in_much_silence(rate: int, noise_dbfs: float) -> None:
    rng = np.random.default_rng(0)
    samples = rng.standard_normal(60 * rate).astype(np.float32) * np.float32(10 ** (noise_dbfs / 20))
    spoken = steady(1.5, rate)
    for at_s in (41.0, 57.0):
        samples[round(at_s * rate) : round(at_s * rate) + len(spoken)] += spoken
    clip = AudioClip(samples, rate)
    measured = measure(clip)
    assert measured.speech_s == pytest.approx(3.0, abs=0.12)
    # Frames of power and frames of F0 mean the same moments, late in the file too.
    assert measured.voiced_share > 0.93
    assert measured.f0_hz == pytest.approx(140.0, rel=0.02)


@pytest.mark.parametrize(("gap_s", "is_pause"), [(0.08, False), (0.2, True), (1.0, True)])
def test_only_pauses_are_left_out(gap_s: float, is_pause: bool) -> None:
    rate = 24_000
    part, gap = steady(0.6, rate), np.zeros(round(gap_s * rate), np.float32)
    edge = np.zeros(rate, np.float32)
    clip = AudioClip(np.concatenate([edge, part, gap, part, edge]), rate)
    assert speech_frames(clip).speech_s == pytest.approx(1.2 + (0.0 if is_pause else gap_s), abs=0.06)


def test_long_files_are_taken_part_by_part() -> None:
    minute = np.tile(bursts(4.0, 5.0).samples, 12)
    alone = measure(AudioClip(minute, 24_000))
    for num_minutes in (2, 8):
        clip = AudioClip(np.tile(minute, num_minutes), 24_000)
        tracemalloc.start()
        measured = measure(clip)
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert measured.f0_hz == pytest.approx(alone.f0_hz, rel=0.01)
        assert measured.syllables_per_s == pytest.approx(alone.syllables_per_s, rel=0.02)
        assert measured.hnr_db == pytest.approx(alone.hnr_db, abs=1.0)
        assert peak_bytes < 40e6


def test_f0_frames_go_on_where_parts_meet() -> None:
    times_s, f0_hz = voiced_frames(AudioClip(np.tile(steady(10.0, 16_000), 7), 16_000))
    steps = np.diff(times_s)
    assert (steps > 0.99 * F0_FRAME_S).all()
    assert np.median(steps) == pytest.approx(F0_FRAME_S)
    assert times_s[-1] == pytest.approx(70.0, abs=0.1)
    assert np.mean(np.abs(f0_hz - 140.0) < 3.0) > 0.98
