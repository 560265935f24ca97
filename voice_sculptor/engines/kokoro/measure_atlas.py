"""Measures how the stock voices sound, with Praat through `praat-parselmouth` (GPL-3.0, development only).

The figures in the committed atlas were measured on the int8 ONNX export, which has no source noise; its level, 1.5
times too high, is taken off. For two voices spoken by the engine itself they agree within 0.25 semitones of F0, 0.5
semitones of its spread, 0.8 dB of harmonicity, 0.2 cm, 0.7 dB of tilt, 3 % of rate and 0.7 LU.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voice_sculptor.audio.loudness import loudness_lufs
from voice_sculptor.domain import AudioClip, Language, SynthesisRequest, Voice
from voice_sculptor.errors import MissingDependency

if TYPE_CHECKING:
    from numpy.typing import NDArray

Speak = Callable[[str, str, Language], AudioClip]
"""Voice name, text and language to the model's own sound at speed 1."""

# One breath each, without a pause inside.
TEXTS: dict[Language, str] = {
    "en": "The morning train rolled slowly past the harbor while gulls circled over the silver water.",
    "zh": "清晨的火车慢慢地驶过海港边上那一片银色的水面。",
}
NUM_SYLLABLES: dict[Language, int] = {"en": 22, "zh": len(re.findall(r"[\u4e00-\u9fff]", TEXTS["zh"]))}

_F0_RANGE_HZ = (60.0, 600.0)
_FORMANT_CEILING_HZ = 5500.0
_SPEED_OF_SOUND_CM_S = 35_000.0
_SPEECH_RANGE_DB = 40.0
_FRAME_S = 0.01


def measure(names: Sequence[str], speak: Speak | None = None) -> dict[str, dict[str, dict[str, float]]]:
    """Attributes of voices, by voice and language, as in `atlas.VoiceInfo`.

    Args:
        names: Stock voices.
        speak: `None` uses the engine with its default settings.

    Raises:
        MissingDependency: `praat-parselmouth` is not installed.
        VoiceSculptorError: The engine cannot speak.
    """
    _parselmouth()
    speak = speak or _engine()
    return {
        name: {
            language: attributes(speak(name, text, language), NUM_SYLLABLES[language])
            for language, text in TEXTS.items()
        }
        for name in names
    }


def attributes(clip: AudioClip, num_syllables: int) -> dict[str, float]:
    """What is measured of one sentence without inner pauses.

    `f0_hz` median F0; `f0_sd_st` its standard deviation, semitones; `hnr_db` mean harmonicity; `vtl_cm` vocal-tract
    length from F3 and F4 of a tube closed at one end; `tilt_db` energy of 1–5 kHz over that of 50–1000 Hz;
    `syllables_per_s` between the edge silences; `loudness_lufs`.

    Args:
        clip: Speech.
        num_syllables: Syllables in it.

    Raises:
        MissingDependency: `praat-parselmouth` is not installed.
    """
    sound = _parselmouth().Sound(clip.samples.astype(np.float64), clip.sample_rate)
    pitch = sound.to_pitch_ac(time_step=_FRAME_S, pitch_floor=_F0_RANGE_HZ[0], pitch_ceiling=_F0_RANGE_HZ[1])
    all_f0_hz = pitch.selected_array["frequency"]
    is_voiced = all_f0_hz > 0
    f0_hz = all_f0_hz[is_voiced]
    median_hz = float(np.median(f0_hz))
    # Without the octave errors, of which breathy voices have many.
    deviation_st = 12.0 * np.log2(f0_hz / median_hz)
    deviation_st = deviation_st[np.abs(deviation_st) < 12.0]
    harmonicity = sound.to_harmonicity_cc(time_step=_FRAME_S, minimum_pitch=_F0_RANGE_HZ[0]).values
    measured = {
        "f0_hz": median_hz,
        "f0_sd_st": float(deviation_st.std()),
        "hnr_db": float(harmonicity[harmonicity > -200.0].mean()),
        "vtl_cm": _tract_length_cm(sound, pitch.xs()[is_voiced]),
        "tilt_db": _tilt_db(clip),
        "syllables_per_s": num_syllables / _speech_s(clip),
        "loudness_lufs": loudness_lufs(clip),
    }
    return {name: round(value, 2) for name, value in measured.items()}


def _tract_length_cm(sound: Any, times_s: NDArray[np.float64]) -> float:
    """Median over voiced frames; formant k of a uniform tube of length L lies at (2k − 1)·c / 4L."""
    formants = sound.to_formant_burg(
        time_step=_FRAME_S, max_number_of_formants=5.0, maximum_formant=_FORMANT_CEILING_HZ
    )
    lengths_cm = [
        (2 * k - 1)
        * _SPEED_OF_SOUND_CM_S
        / 4.0
        / np.array([formants.get_value_at_time(k, t) for t in times_s])
        for k in (3, 4)
    ]
    return float(np.mean([np.nanmedian(each) for each in lengths_cm]))


def _tilt_db(clip: AudioClip) -> float:
    power = np.square(np.abs(np.fft.rfft(clip.samples)))
    hz = np.fft.rfftfreq(len(clip.samples), 1.0 / clip.sample_rate)
    high, low = power[(hz >= 1000) & (hz < 5000)].sum(), power[(hz >= 50) & (hz < 1000)].sum()
    return float(10.0 * np.log10(high / low))


def _speech_s(clip: AudioClip) -> float:
    """Seconds from the first to the last frame within 40 dB of the loudest."""
    frame = round(_FRAME_S * clip.sample_rate)
    energy = np.square(clip.samples[: len(clip.samples) // frame * frame]).reshape(-1, frame).mean(axis=1)
    loud = np.flatnonzero(energy > energy.max() * 10.0 ** (-_SPEECH_RANGE_DB / 10.0))
    return float(loud[-1] - loud[0] + 1) * _FRAME_S


def _engine() -> Speak:
    from voice_sculptor.config import load_settings
    from voice_sculptor.controls import Controls
    from voice_sculptor.engines.base import AudioChunk, CandidateFailed
    from voice_sculptor.engines.kokoro.engine import KokoroEngine

    engine = KokoroEngine(load_settings())
    engine.load("cpu", "fp32", lambda fraction: None)

    def speak(name: str, text: str, language: Language) -> AudioClip:
        voice = Voice(name=name, engine=engine.info.id, state=engine.stock_state(name))
        request = SynthesisRequest(name, text, language, Controls(), (0,), voice=voice)
        events = list(engine.synthesize([request], lambda _: False))
        for event in events:
            if isinstance(event, CandidateFailed):
                raise event.error
        pieces = [event.samples for event in events if isinstance(event, AudioChunk)]
        return AudioClip(np.concatenate(pieces), engine.info.sample_rate)

    return speak


def _parselmouth() -> Any:
    try:
        return importlib.import_module("parselmouth")
    except ModuleNotFoundError as error:
        raise MissingDependency(
            "Measuring voices needs Praat.",
            "测量声音需要 Praat。",
            fix_en="Install it with: pip install praat-parselmouth",
            fix_zh="请安装：pip install praat-parselmouth",
        ) from error
