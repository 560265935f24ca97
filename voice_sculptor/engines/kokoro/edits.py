"""What is changed of a voice's natural way of speaking: one set of numbers for rate, F0, source and sound.

Each acts where it is exact: durations and F0 between predictor and decoder, breath and roughness in the source, tract,
tilt and clearness on the sound. Who speaks is set in the style space instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from voice_sculptor.controls import Controls, EmotionName
from voice_sculptor.emotions import emotion_share
from voice_sculptor.targets import PITCH_STEP_ST, RANGE_STEP


@dataclass(frozen=True)
class Edit:
    """How a voice speaks this time. The default changes nothing.

    Attributes:
        speed: Rate factor on speech; 2 is twice as fast.
        pause_scale: Factor on pauses, on top of the speed's.
        pitch_st: Shift of the F0 contour, semitones.
        pitch_range: Factor on the spread of F0 around its median.
        emphasis: Factor on the excursion of the energy contour around its mean.
        voicing: Share of the voicing that stays: 1 as is, 0 a whisper.
        slope_st: Rise of the F0 contour from the first to the last voiced frame of a line, semitones.
        breath: Noise in the source where voiced, see `KokoroModel.source`; below 0 noise is taken out instead.
        roughness: Uneven periods in the source, 0–1; below 0, to −1, a smoother F0 contour.
        tract_scale: Factor on the length of the vocal tract: above 1 a larger speaker.
        tilt_db: Gain of the shelf above 1 kHz, see `reshaping.tilt`.
    """

    speed: float = 1.0
    pause_scale: float = 1.0
    pitch_st: float = 0.0
    pitch_range: float = 1.0
    emphasis: float = 1.0
    voicing: float = 1.0
    slope_st: float = 0.0
    breath: float = 0.0
    roughness: float = 0.0
    tract_scale: float = 1.0
    tilt_db: float = 0.0


CLEAR_DB_PER_BREATH = 105.0
"""Gain of the comb filter (`reshaping.clear`) per unit of breath below 0; about half of it is heard."""
CLEAREST_DB = 4.7
SHELF_DB_PER_TILT_DB = 1.6
"""The shelf lets through about two thirds of its gain between the bands of which tilt is measured."""

# What an emotion does beyond the measured profile of `targets`, at full intensity; the same reviews. Faster
# speech has a flatter contour, which some more range makes up for, and higher speech is about 1 dB duller.
_MANNER: dict[EmotionName, Edit] = {
    "happy": Edit(pause_scale=0.9, emphasis=1.2, pitch_range=1.05),
    "angry": Edit(pause_scale=0.8, emphasis=1.5, slope_st=-1.0, pitch_range=1.12, tilt_db=2.5),
    "sad": Edit(pause_scale=1.35, emphasis=0.75, slope_st=-2.0),
    "surprised": Edit(emphasis=1.25, slope_st=3.0),
    "disgusted": Edit(pause_scale=1.15, emphasis=1.15, slope_st=-1.0),
    "afraid": Edit(pause_scale=0.9, emphasis=0.85, roughness=0.15),
    "neutral": Edit(),
}


def edit_for(controls: Controls, base: Edit = Edit()) -> Edit:
    """The edit that carries out the controls.

    Args:
        controls: Pitch, pitch variation, speed and emotion are read.
        base: What the voice itself brings along; the controls act on top of it.
    """
    profile = emotion_share(controls)
    edit = replace(
        base,
        speed=base.speed * (controls.speed or 1.0) * profile.speed,
        pitch_st=base.pitch_st + PITCH_STEP_ST * (controls.pitch or 0.0) + profile.pitch_st,
        pitch_range=base.pitch_range * RANGE_STEP ** (controls.pitch_variation or 0.0) * profile.pitch_range,
        tilt_db=base.tilt_db + SHELF_DB_PER_TILT_DB * profile.tilt_db,
    )
    if controls.emotion is None:
        return edit
    manner, share = _MANNER[controls.emotion.name], controls.emotion.intensity
    return replace(
        edit,
        pause_scale=edit.pause_scale * manner.pause_scale**share,
        emphasis=edit.emphasis * manner.emphasis**share,
        slope_st=edit.slope_st + manner.slope_st * share,
        roughness=min(1.0, edit.roughness + manner.roughness * share),
        pitch_range=edit.pitch_range
        * (manner.pitch_range**share if controls.pitch_variation is None else 1.0),
        tilt_db=edit.tilt_db + manner.tilt_db * share,
    )
