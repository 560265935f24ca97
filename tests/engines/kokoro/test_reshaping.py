"""What is done to finished sound is exact."""

import numpy as np
import pytest

from tests.audio.tube import vowel
from voice_sculptor.audio.measure import measure
from voice_sculptor.domain import AudioClip
from voice_sculptor.engines.kokoro.reshaping import SAMPLE_RATE, resize_tract, tilt


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


def test_nothing_asked_changes_nothing():
    samples = vowel(140.0, 15.0).samples
    assert resize_tract(samples, 1.0) is samples
    assert tilt(samples, 0.0) is samples
