"""Every voice is measured as it is and at the common F0."""

from __future__ import annotations

import pytest

from tests.audio.tube import vowel
from voice_sculptor.domain import AudioClip, Language
from voice_sculptor.engines.kokoro import measure_atlas
from voice_sculptor.engines.kokoro.space import COMMON_F0_HZ


def test_every_voice_is_measured_in_both_languages_and_at_one_f0() -> None:
    asked: list[tuple[str, str, int]] = []

    def speak(name: str, text: str, language: Language, shift_st: float) -> AudioClip:
        asked.append((name, language, round(shift_st)))
        return vowel(110.0 * 2.0 ** (shift_st / 12.0), 16.0)

    measured = measure_atlas.measure_voices(["a", "b"], speak)
    assert asked == [
        (name, language, shift) for name in "ab" for language in ("en", "zh") for shift in (0, 7)
    ]
    assert pytest.approx(110.0 * 2.0 ** (7.02 / 12.0), rel=0.01) == COMMON_F0_HZ
    assert measured["a"]["en"] == measured["b"]["zh"]
    assert measured["a"]["en"]["f0_hz"] == pytest.approx(110.0, rel=0.01)
    assert measure_atlas.NUM_SYLLABLES == {"en": 22, "zh": 22}
