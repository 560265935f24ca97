"""What the controls mean in numbers that can be measured: norms of voices, and bands around what was asked.

A level is a step from what is usual for the asked gender and age, or, where the voice is given, from that voice as it
speaks with nothing asked. The bands are about what a listener just notices:

| measure | band | source |
|---|---|---|
| F0 | ±1 st | 't Hart 1981, JASA 69: under 3 st of movement is hardly told apart in running speech |
| F0 spread | ±20 % | |
| rate | ±8 % | Quené 2007, J. Phonetics 35: 5 % for isolated intervals, more in connected speech |
| loudness | ±1 LU | ITU-R BS.1770, Florentine et al. 1987, JASA 81 |
| tract length | ±5 % | Smith et al. 2005, JASA 117: 5–8 % of apparent speaker size |
| harmonicity | ±1.5 dB | Shrivastav & Camacho 2010, J. Voice 24 |
| tilt | ±2 dB | |
| irregularity | ×1.4 | |

Where no source is named the band is ours: half of one level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from voice_sculptor.audio.loudness import target_lufs
from voice_sculptor.controls import Controls, Gender
from voice_sculptor.domain import Language
from voice_sculptor.emotions import EmotionProfile, emotion_share
from voice_sculptor.timbre import Timbre

PITCH_STEP_ST = 2.5
"""Semitones per level of `pitch`: more than twice the just-noticeable step in running speech."""
RANGE_STEP = 1.45
"""Factor on the F0 spread per level of `pitch_variation`."""
BREATH_STEP_DB = 2.5
"""Harmonicity that one level of `breathiness` takes away."""
BRIGHT_STEP_DB = 3.0
"""Tilt that one level of `brightness` adds."""
BODY_STEP = 1.06
"""Factor on the tract length per level of `body`."""
ROUGH_STEP, SMOOTH_STEP = 1.6, 1.25
"""Factors on the irregularity of the periods per level of `roughness` above and below 0: the smoothest of the stock
voices have 0.6 of what is usual, the hoarsest 2.3 times as much."""

CHILD_UNTIL_YEARS = 13
"""Younger voices do not tell a gender (Perry, Ohala & Ohala 2001, JASA 109)."""
GENDERS: tuple[Gender, ...] = ("female", "male")

# Median F0 and tract length by age. F0: Hillenbrand et al. 1995 (JASA 97) for children, Stathopoulos, Huber & Sussman
# 2011 (JSLHR 54) for adults. Tract length: the growth of Fitch & Giedd 1999 (JASA 106), on the scale of
# `audio.vocal_tract`, on which the stock voices of the embedded engine have 14.7 and 17.4 cm.
_AGES = (4, 8, 12, 15, 19, 30, 45, 60, 75, 90)
_F0_HZ: dict[Gender, tuple[int, ...]] = {
    "female": (290, 265, 238, 218, 210, 204, 194, 183, 178, 180),
    "male": (285, 258, 225, 145, 122, 116, 112, 117, 130, 142),
}
_TRACT_CM: dict[Gender, tuple[float, ...]] = {
    "female": (11.2, 12.2, 13.3, 14.2, 14.6, 14.7, 14.9, 15.1, 15.2, 15.2),
    "male": (11.3, 12.4, 13.8, 15.8, 17.2, 17.4, 17.6, 17.7, 17.8, 17.8),
}
_SPREAD_ST: dict[Language, float] = {"en": 3.2, "zh": 3.4}
_RATE: dict[Language, float] = {"en": 4.7, "zh": 5.3}
_TILT_DB = -10.0
_IRREGULARITY: dict[Gender, float] = {"female": 0.95, "male": 1.15}
"""What is usual, %: about the medians of the stock voices, 0.93 and 1.13."""
_IRREGULARITY_EXPONENTS = (0.33, 0.68)
"""A voice that is spoken livelier measures less regular, with these powers of its F0 spread: ten stock voices from 0.4
times their own spread to it, and from there to 1.8 times."""

USUAL_AGE = 28

Scale = Literal["semitones", "ratio", "difference"]


@dataclass(frozen=True)
class Target:
    """What one measure should be.

    Attributes:
        control: The control or dimension of timbre that asks for it.
        measure: A field of `audio.measure.Measurements`.
        value: Aimed at, in the measure's unit.
        tolerance: Half of the band: semitones, a share of the value, or the measure's own unit.
        scale: How distances are told.
    """

    control: str
    measure: str
    value: float
    tolerance: float
    scale: Scale

    @property
    def band(self) -> tuple[float, float]:
        """Lower and upper end of what counts as met."""
        if self.scale == "difference":
            return self.value - self.tolerance, self.value + self.tolerance
        factor = 2.0 ** (self.tolerance / 12.0) if self.scale == "semitones" else 1.0 + self.tolerance
        return self.value / factor, self.value * factor

    def deviation(self, measured: float) -> float:
        """Signed distance of a measured value from the target, in units of the tolerance."""
        if self.scale == "difference":
            return (measured - self.value) / self.tolerance
        if measured <= 0.0:
            return -math.inf
        octaves = math.log2(measured / self.value)
        return octaves / (
            self.tolerance / 12.0 if self.scale == "semitones" else math.log2(1.0 + self.tolerance)
        )


def usual_f0_hz(gender: Gender, age: int | None) -> float:
    """Median F0 that is usual for a gender and age, Hz."""
    return float(np.interp(age or USUAL_AGE, _AGES, _F0_HZ[gender]))


def usual_rate(language: Language) -> float:
    """Syllables per second of speech without pauses that are usual in a language."""
    return _RATE[language]


def usual_tract_cm(gender: Gender, age: int | None) -> float:
    """Tract length that is usual for a gender and age, cm, on the scale of `audio.vocal_tract`."""
    return float(np.interp(age or USUAL_AGE, _AGES, _TRACT_CM[gender]))


def usual_hnr_db(f0_hz: float) -> float:
    """Harmonicity that is usual at an F0, dB: higher voices are clearer."""
    return 13.7 + 3.0 * math.log2(f0_hz / 165.0)


def gender_of(f0_hz: float | None, tract_cm: float | None) -> Gender:
    """The gender that a listener would take an adult voice for."""
    return "male" if male_probability(f0_hz, tract_cm) >= 0.5 else "female"


def male_probability(f0_hz: float | None, tract_cm: float | None) -> float:
    """Probability that an adult voice is a man's, by F0 and tract length.

    Both cues count, as for listeners (Hillenbrand & Clark 2009, Attention, Perception & Psychophysics 71); what could
    not be measured says nothing.

    Args:
        f0_hz: Median F0, Hz.
        tract_cm: On the scale of `audio.vocal_tract`.
    """
    log_odds = 0.0
    if f0_hz is not None:
        log_odds -= 10.0 * math.log2(f0_hz / 155.0)
    if tract_cm is not None:
        log_odds += 60.0 * math.log2(tract_cm / 16.1)
    return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, log_odds))))


def targets(
    controls: Controls,
    timbre: Timbre,
    language: Language,
    gender: Gender,
    reference: Mapping[str, float] | None = None,
    *,
    is_given: bool = False,
) -> tuple[Target, ...]:
    """What each asked control and dimension aims at; gender and emotion, which are several cues, have no single target.

    Args:
        controls: In effect.
        timbre: In effect.
        language: Of the text.
        gender: Of the voice, asked or found.
        reference: Measures of the same voice and text with nothing asked: `f0_hz`, `f0_sd_st`, `syllables_per_s`.
        is_given: The voice is not designed but given: levels are steps from the reference and not from norms.
    """
    known, found = reference or {}, []
    emotion, age = emotion_share(controls), controls.age
    f0_hz = usual_f0_hz(gender, age)
    if is_given and "f0_hz" in known:
        f0_hz = known["f0_hz"]
    f0_hz *= 2.0 ** ((PITCH_STEP_ST * (controls.pitch or 0.0) + emotion.pitch_st) / 12.0)
    if controls.pitch is not None:
        found.append(Target("pitch", "f0_hz", f0_hz, 1.0, "semitones"))
    if age is not None and not is_given:
        if controls.pitch is None:
            # As wide as healthy speakers of one age and gender differ.
            found.append(Target("age", "f0_hz", f0_hz, 2.5, "semitones"))
        tract = usual_tract_cm(gender, age) * BODY_STEP ** (timbre.body or 0.0)
        found.append(Target("age", "tract_cm", tract, 0.06, "ratio"))
    if controls.pitch_variation is not None:
        spread = known["f0_sd_st"] if is_given and "f0_sd_st" in known else _SPREAD_ST[language]
        spread *= RANGE_STEP**controls.pitch_variation * emotion.pitch_range
        found.append(Target("pitch_variation", "f0_sd_st", spread, 0.2, "ratio"))
    if controls.volume is not None:
        found.append(Target("volume", "loudness_lufs", target_lufs(controls.volume), 1.0, "difference"))
    if controls.speed is not None:
        rate, band = known.get("syllables_per_s"), 0.08
        if rate is None:
            rate, band = _RATE[language], 0.25  # Speakers and texts differ by that much.
        found.append(Target("speed", "syllables_per_s", rate * controls.speed * emotion.speed, band, "ratio"))
    if is_given:
        return tuple(found)
    range_factor = RANGE_STEP ** (controls.pitch_variation or 0.0) * emotion.pitch_range
    tract_cm = usual_tract_cm(gender, age)
    return tuple(found) + _timbre_targets(timbre, gender, f0_hz, tract_cm, range_factor, emotion)


def _timbre_targets(
    timbre: Timbre,
    gender: Gender,
    f0_hz: float,
    tract_cm: float,
    range_factor: float,
    emotion: EmotionProfile,
) -> tuple[Target, ...]:
    found = []
    if timbre.breathiness is not None and timbre.whisper is None:
        hnr_db = usual_hnr_db(f0_hz) - BREATH_STEP_DB * timbre.breathiness
        found.append(Target("breathiness", "hnr_db", hnr_db, 1.5, "difference"))
    if timbre.roughness is not None and timbre.whisper is None:
        step = ROUGH_STEP if timbre.roughness > 0.0 else SMOOTH_STEP
        exponent = _IRREGULARITY_EXPONENTS[range_factor > 1.0]
        irregularity = _IRREGULARITY[gender] * range_factor**exponent * step**timbre.roughness
        found.append(Target("roughness", "jitter", irregularity, 0.4, "ratio"))
    if timbre.brightness is not None:
        tilt_db = _TILT_DB + BRIGHT_STEP_DB * timbre.brightness + emotion.tilt_db
        found.append(Target("brightness", "tilt_db", tilt_db, 2.0, "difference"))
    if timbre.body is not None:
        found.append(Target("body", "tract_cm", tract_cm * BODY_STEP**timbre.body, 0.05, "ratio"))
    if timbre.whisper:
        found.append(Target("whisper", "voiced_share", 0.0, 0.35, "difference"))
    return tuple(found)
