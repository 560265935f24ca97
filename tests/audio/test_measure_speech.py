"""Second opinions on real speech: Praat and pYIN on sentences that the embedded engine has spoken.

`data/` holds one breath of four stock voices, 22 syllables each, made with
`voice-sculptor speak --voice NAME --text … --seed 1 --format opus`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voice_sculptor.audio.f0 import voiced_frames
from voice_sculptor.audio.io import decode, resample
from voice_sculptor.audio.measure import measure
from voice_sculptor.audio.rhythm import num_nuclei, speech_frames
from voice_sculptor.domain import AudioClip
from voice_sculptor.language.syllables import count_syllables

TEXTS = {
    "en": "The morning train rolled slowly past the harbor while gulls circled over the silver water.",
    "zh": "清晨的火车慢慢地驶过海港边上那一片银色的水面。",
}
CLIPS = {path.stem: decode(path) for path in sorted((Path(__file__).parent / "data").glob("*.opus"))}


@pytest.fixture(params=CLIPS)
def name(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


def differences_st(clip: AudioClip, times_s: np.ndarray, f0_hz: np.ndarray) -> np.ndarray:
    """Our F0 over another's, semitones, where both find a voice within 5 ms of each other."""
    own_s, own_hz = voiced_frames(clip)
    nearest = np.abs(times_s[:, None] - own_s).argmin(axis=1)
    is_common = (f0_hz > 0) & (np.abs(own_s[nearest] - times_s) < 0.005)
    assert is_common.sum() > 80
    found: np.ndarray = 12 * np.log2(own_hz[nearest[is_common]] / f0_hz[is_common])
    return found


def test_praat_agrees_on_f0(name: str) -> None:
    parselmouth: Any = pytest.importorskip("parselmouth")
    clip = CLIPS[name]
    sound = parselmouth.Sound(clip.samples.astype(np.float64), clip.sample_rate)
    pitch = sound.to_pitch_ac(time_step=0.004, pitch_floor=60.0, pitch_ceiling=600.0)
    apart_st = differences_st(clip, pitch.xs(), pitch.selected_array["frequency"])
    assert abs(np.median(apart_st)) < 0.15
    assert np.quantile(np.abs(apart_st), 0.9) < 0.8
    assert np.mean(np.abs(apart_st) > 6) < 0.05, "octaves, of either"
    # The median of a tonal sentence lies between its tones and moves with a few frames.
    praat_hz = pitch.selected_array["frequency"]
    assert measure(clip).f0_hz == pytest.approx(float(np.median(praat_hz[praat_hz > 0])), rel=0.12)


def test_pyin_agrees_on_f0(name: str) -> None:
    librosa: Any = pytest.importorskip("librosa")
    clip = CLIPS[name]
    pyin_hz, is_voiced, _ = librosa.pyin(
        clip.samples, fmin=60.0, fmax=600.0, sr=clip.sample_rate, frame_length=1024, hop_length=128
    )
    times_s = librosa.times_like(pyin_hz, sr=clip.sample_rate, hop_length=128)
    apart_st = differences_st(clip, times_s, np.where(is_voiced, pyin_hz, 0.0))
    assert abs(np.median(apart_st)) < 0.3
    assert np.mean(np.abs(apart_st) > 6) < 0.05, "octaves"


def test_syllables_are_heard_as_often_as_they_are_spoken(name: str) -> None:
    written = count_syllables(TEXTS[name[-2:]])
    assert written == 22
    clip = CLIPS[name]
    assert num_nuclei(clip, voiced_frames(clip)[0]) == pytest.approx(written, rel=0.15)
    noise = np.random.default_rng(0).standard_normal(len(clip.samples)) * clip.samples.std() * 0.1
    noisy = AudioClip((clip.samples + noise).astype(np.float32), clip.sample_rate)
    assert num_nuclei(noisy, voiced_frames(noisy)[0]) == pytest.approx(written, rel=0.2)


@pytest.mark.parametrize("rate", [12_000, 16_000, 22_050, 44_100, 96_000])
def test_the_sample_rate_changes_little(name: str, rate: int) -> None:
    plain, other = measure(CLIPS[name]), measure(resample(CLIPS[name], rate))
    assert plain.f0_hz is not None
    assert plain.tract_cm is not None
    assert other.f0_hz == pytest.approx(plain.f0_hz, rel=0.01)
    assert other.f0_sd_st == pytest.approx(plain.f0_sd_st, rel=0.05)
    assert other.hnr_db == pytest.approx(plain.hnr_db, abs=0.6)
    assert other.jitter == pytest.approx(plain.jitter, rel=0.25)
    assert other.tilt_db == pytest.approx(plain.tilt_db, abs=0.2)
    assert other.tract_cm == pytest.approx(plain.tract_cm, rel=0.05)
    assert other.speech_s == pytest.approx(plain.speech_s, rel=0.04)
    assert other.voiced_share == pytest.approx(plain.voiced_share, abs=0.03)
    assert other.loudness_lufs == pytest.approx(plain.loudness_lufs, abs=0.5)


def test_a_narrow_band_has_no_tract_length(name: str) -> None:
    narrow = measure(resample(CLIPS[name], 8000))
    assert narrow.tract_cm is None
    assert narrow.f0_hz == pytest.approx(measure(CLIPS[name]).f0_hz, rel=0.02)


def test_men_have_lower_voices_and_longer_tracts() -> None:
    woman, man = measure(CLIPS["af_heart_en"]), measure(CLIPS["am_onyx_en"])
    assert woman.f0_hz is not None
    assert man.f0_hz is not None
    assert man.f0_hz < 100 < 170 < woman.f0_hz
    assert man.tract_cm is not None
    assert woman.tract_cm is not None
    assert man.tract_cm > woman.tract_cm + 1.5


def test_noise_takes_harmonicity_and_voicing_away(name: str) -> None:
    clip = CLIPS[name]
    noise = np.random.default_rng(0).standard_normal(len(clip.samples)) * clip.samples.std()
    figures = [
        measure(AudioClip((clip.samples + noise * 10 ** (-snr_db / 20)).astype(np.float32), clip.sample_rate))
        for snr_db in (40, 20, 10, 5)
    ]
    hnr_db = [each.hnr_db for each in figures]
    assert hnr_db == sorted(hnr_db, key=lambda value: -(value or 0.0))
    assert speech_frames(clip).num_speech > 0
    assert all(each.f0_hz == pytest.approx(figures[0].f0_hz, rel=0.06) for each in figures)
