"""Measuring a voice: known sounds give known figures."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy.signal import lfilter

from voice_sculptor.domain import AudioClip, Language
from voice_sculptor.engines.kokoro import measure_atlas
from voice_sculptor.errors import MissingDependency

RATE = 24_000


def vowel(f0_hz: float, tract_cm: float, range_st: float = 0.0, noise: float = 0.0) -> AudioClip:
    """One second of a uniform tube of that length, half a second of silence on either side."""
    t = np.arange(RATE) / RATE
    f0 = f0_hz * 2 ** (range_st * np.sin(2 * np.pi * 2 * t) / 12)
    sound = np.diff(np.floor(np.cumsum(f0 / RATE)), prepend=0.0)
    sound = lfilter([1.0], [1.0, -0.97], sound) + noise * np.random.default_rng(0).standard_normal(RATE)
    for k in range(1, 6):
        hz = (2 * k - 1) * 35_000 / (4 * tract_cm)
        r = math.exp(-math.pi * 80 / RATE)
        sound = lfilter([1.0], [1.0, -2 * r * math.cos(2 * math.pi * hz / RATE), r * r], sound)
    sound = np.pad(0.5 * sound / np.abs(sound).max(), RATE // 2)
    return AudioClip(sound.astype(np.float32), RATE)


@pytest.fixture(scope="module", autouse=True)
def _praat() -> None:
    pytest.importorskip("parselmouth")


@pytest.mark.parametrize(("f0_hz", "tract_cm"), [(110.0, 17.0), (150.0, 15.5), (180.0, 14.5)])
def test_a_tube_is_measured_as_what_it_is(f0_hz: float, tract_cm: float) -> None:
    measured = measure_atlas.attributes(vowel(f0_hz, tract_cm), 5)
    assert measured["f0_hz"] == pytest.approx(f0_hz, rel=0.01)
    assert measured["f0_sd_st"] < 0.3
    assert measured["vtl_cm"] == pytest.approx(tract_cm, rel=0.05)
    assert measured["syllables_per_s"] == pytest.approx(5.0, rel=0.05)


def test_range_and_noise_move_their_own_measure() -> None:
    plain = measure_atlas.attributes(vowel(150, 16), 5)
    lively = measure_atlas.attributes(vowel(150, 16, range_st=4), 5)
    # A sine of 4 semitones has a standard deviation of 4 / sqrt(2).
    assert lively["f0_sd_st"] == pytest.approx(2.83, abs=0.3)
    hoarse = measure_atlas.attributes(vowel(150, 16, noise=0.05), 5)
    assert hoarse["hnr_db"] < plain["hnr_db"] - 3


def test_every_voice_is_measured_in_both_languages() -> None:
    asked = []

    def speak(name: str, text: str, language: Language) -> AudioClip:
        asked.append((name, language))
        return vowel(150, 16)

    measured = measure_atlas.measure(["a", "b"], speak)
    assert asked == [("a", "en"), ("a", "zh"), ("b", "en"), ("b", "zh")]
    assert measured["a"]["en"]["f0_hz"] == measured["b"]["zh"]["f0_hz"]
    assert measure_atlas.NUM_SYLLABLES == {"en": 22, "zh": 22}


def test_without_praat_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "parselmouth", None)
    with pytest.raises(MissingDependency, match="Praat") as caught:
        measure_atlas.measure(["af_heart"])
    assert "praat-parselmouth" in caught.value.fix_en
