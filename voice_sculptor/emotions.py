"""What an emotion does to speech: how far it moves a voice from its own way of saying the same text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from voice_sculptor.controls import Controls, EmotionName

ENOUGH = 0.5
"""Of the profile's move, from which on an emotion is heard."""
_LOG_ST = math.log(2.0) / 12.0
"""Natural logarithm of the factor of a semitone."""
_LEAST = {
    "f0_hz": 0.5 * _LOG_ST,
    "f0_sd_st": math.log(1.2),
    "syllables_per_s": math.log(1.04),
    "tilt_db": 2.5,
}
"""Least move that a listener notices, as in `Move`."""


@dataclass(frozen=True)
class EmotionProfile:
    """How an emotion changes speech, at full intensity.

    Attributes:
        pitch_st: Shift of the median F0, semitones.
        pitch_range: Factor on the F0 spread.
        speed: Factor on the rate.
        tilt_db: Change of 1–5 kHz against 50–1000 Hz.
    """

    pitch_st: float = 0.0
    pitch_range: float = 1.0
    speed: float = 1.0
    tilt_db: float = 0.0


# Directions from the reviews of vocal emotion by Scherer (2003, Speech Communication 40) and Juslin & Laukka (2003,
# Psychological Bulletin 129); sizes within what they report and what stays intelligible.
EMOTION_PROFILES: dict[EmotionName, EmotionProfile] = {
    "happy": EmotionProfile(2.0, 1.45, 1.08, 1.5),
    "angry": EmotionProfile(1.5, 1.3, 1.12, 4.0),
    "sad": EmotionProfile(-1.5, 0.6, 0.84, -3.0),
    "surprised": EmotionProfile(3.0, 1.7, 1.02, 1.5),
    "disgusted": EmotionProfile(-1.2, 0.85, 0.9, 0.0),
    "afraid": EmotionProfile(2.5, 0.85, 1.15, 1.0),
    "neutral": EmotionProfile(),
}


def emotion_share(controls: Controls) -> EmotionProfile:
    """What the asked emotion moves, at its intensity: what a control sets itself, it leaves to that control."""
    if controls.emotion is None:
        return EmotionProfile()
    full, share = EMOTION_PROFILES[controls.emotion.name], controls.emotion.intensity
    return EmotionProfile(
        pitch_st=full.pitch_st * share if controls.pitch is None else 0.0,
        pitch_range=full.pitch_range**share if controls.pitch_variation is None else 1.0,
        speed=full.speed**share if controls.speed is None else 1.0,
        tilt_db=full.tilt_db * share,
    )


@dataclass(frozen=True)
class Move:
    """How far an emotion should move one measure.

    Attributes:
        measure: A field of `audio.measure.Measurements`.
        expected: Natural logarithm of a factor, for the tilt dB. Zero where a neutral voice should stay as it is.
        least: What a listener notices, likewise.
    """

    measure: str
    expected: float
    least: float

    def made(self, base: float, value: float) -> float | None:
        """How far a measured value is from that with nothing asked; `None` where that cannot be told."""
        if self.measure == "tilt_db":
            return value - base
        return math.log(value / base) if min(value, base) > 0.0 else None

    def at(self, base: float, move: float) -> float:
        """The value that is so far from that with nothing asked."""
        return base + move if self.measure == "tilt_db" else base * math.exp(move)


def emotion_moves(controls: Controls) -> tuple[Move, ...]:
    """How the asked emotion should be heard.

    What another control sets, and what moves less than a listener notices, is left out. A neutral voice should move
    nothing.
    """
    if controls.emotion is None:
        return ()
    share = emotion_share(controls)
    expected: Mapping[str, float] = {
        "f0_hz": share.pitch_st * _LOG_ST,
        "f0_sd_st": math.log(share.pitch_range),
        "syllables_per_s": math.log(share.speed),
        "tilt_db": share.tilt_db,
    }
    set_by = {
        "f0_hz": controls.pitch,
        "f0_sd_st": controls.pitch_variation,
        "syllables_per_s": controls.speed,
    }
    is_neutral = controls.emotion.name == "neutral"
    return tuple(
        Move(measure, expected[measure], least)
        for measure, least in _LEAST.items()
        if set_by.get(measure) is None and (is_neutral or abs(expected[measure]) >= least)
    )
