"""Measures how the stock voices sound, with the product's own measures.

Each voice speaks one sentence in each language as it does by itself, and again shifted to one F0: harmonicity, tilt and
tract length change with F0, and are compared between voices where it is the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from voice_sculptor.audio.measure import measure
from voice_sculptor.domain import AudioClip, Language, SynthesisRequest, Voice
from voice_sculptor.engines.kokoro.space import COMMON_F0_HZ

Speak = Callable[[str, str, Language, float], AudioClip]
"""Voice name, text, language and shift in semitones to the model's own sound at speed 1."""

# One breath each, without a pause inside.
TEXTS: dict[Language, str] = {
    "en": "The morning train rolled slowly past the harbor while gulls circled over the silver water.",
    "zh": "清晨的火车慢慢地驶过海港边上那一片银色的水面。",
}
NUM_SYLLABLES: dict[Language, int] = {"en": 22, "zh": len(re.findall(r"[\u4e00-\u9fff]", TEXTS["zh"]))}

_NATURAL = ("f0_hz", "f0_sd_st", "syllables_per_s", "loudness_lufs")
_AT_COMMON_F0 = ("hnr_db", "jitter", "tilt_db", "tract_cm")


def measure_voices(
    names: Sequence[str], speak: Speak | None = None
) -> dict[str, dict[str, dict[str, float]]]:
    """Attributes of voices, by voice and language, as in `atlas.VoiceInfo`.

    Args:
        names: Stock voices.
        speak: `None` uses the engine with its default settings.

    Raises:
        VoiceSculptorError: The engine cannot speak.
    """
    speak = speak or _engine()
    return {name: {language: _attributes(name, language, speak) for language in TEXTS} for name in names}


def _attributes(name: str, language: Language, speak: Speak) -> dict[str, float]:
    text, count = TEXTS[language], NUM_SYLLABLES[language]
    natural = measure(speak(name, text, language, 0.0), count)
    shift_st = 12.0 * math.log2(COMMON_F0_HZ / (natural.f0_hz or COMMON_F0_HZ))
    shifted = measure(speak(name, text, language, shift_st), count)
    values = {key: getattr(natural, key) for key in _NATURAL} | {
        key: getattr(shifted, key) for key in _AT_COMMON_F0
    }
    return {key: round(float(value), 3) for key, value in values.items()}


def _engine() -> Speak:
    from voice_sculptor.config import load_settings
    from voice_sculptor.controls import Controls
    from voice_sculptor.engines.base import AudioChunk, CandidateFailed
    from voice_sculptor.engines.kokoro.engine import KokoroEngine

    engine = KokoroEngine(load_settings())
    engine.load("cpu", "fp32", lambda fraction: None)

    def speak(name: str, text: str, language: Language, shift_st: float) -> AudioClip:
        state = {**engine.stock_state(name), "pitch_st": round(max(-12.0, min(12.0, shift_st)), 3)}
        voice = Voice(name=name, engine=engine.info.id, state=state)
        request = SynthesisRequest(name, text, language, Controls(), (0,), voice=voice)
        events = list(engine.synthesize([request], lambda _: False))
        for event in events:
            if isinstance(event, CandidateFailed):
                raise event.error
        pieces = [event.samples for event in events if isinstance(event, AudioChunk)]
        return AudioClip(np.concatenate(pieces), engine.info.sample_rate)

    return speak
