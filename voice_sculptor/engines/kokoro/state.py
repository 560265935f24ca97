"""A kept voice of this engine, as data: what it is made of, written down and checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voice_sculptor.controls import Controls, EmotionName
from voice_sculptor.engines.kokoro.atlas import TIMBRE_SIZE, Atlas
from voice_sculptor.engines.kokoro.edits import Edit, edit_for
from voice_sculptor.errors import InvalidVoiceFile
from voice_sculptor.faults import first_said

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Offset = Annotated[float, Field(ge=-4.0, le=4.0)]


class Manner(BaseModel):
    """How much further a voice goes in one emotion than is usual, so that it is heard; at full intensity.

    Attributes:
        emotion: Which.
        pitch_st: Further shift of F0, semitones.
        pitch_range: Further factor on the F0 spread.
        tilt_db: Further gain of the shelf, see `Edit`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    emotion: EmotionName
    pitch_st: Annotated[float, Field(ge=-6.0, le=6.0)] = 0.0
    pitch_range: Annotated[float, Field(ge=0.4, le=2.5)] = 1.0
    tilt_db: Annotated[float, Field(ge=-12.0, le=12.0)] = 0.0


class VoiceState(BaseModel):
    """What a kept voice of this engine is.

    Attributes:
        format: Version of this layout.
        blend: Stock voices and their weights.
        timbre: Added to the timbre half of the blend's style, 128 numbers; none where it is empty.
        pitch_st: The voice's own shift from its blend, semitones.
        pitch_range: The voice's own factor on its F0 spread.
        speed: The voice's own rate factor.
        tract_scale: See `Edit`, as those below.
        tilt_db: dB.
        breath: Level of noise; below 0 some is taken out.
        roughness: −1–1.
        voicing: 0 for a whisper, otherwise 1.
        manner: Of the emotion that the voice was designed with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["kokoro/voice@1", "kokoro/voice@2", "kokoro/voice@3"] = "kokoro/voice@3"
    blend: Annotated[dict[str, Annotated[float, Field(gt=0.0, le=1.0)]], Field(min_length=1, max_length=54)]
    timbre: tuple[_Offset, ...] = ()
    pitch_st: Annotated[float, Field(ge=-15.0, le=15.0)] = 0.0
    pitch_range: Annotated[float, Field(ge=0.1, le=4.0)] = 1.0
    speed: Annotated[float, Field(ge=0.5, le=2.0)] = 1.0
    tract_scale: Annotated[float, Field(ge=0.75, le=1.35)] = 1.0
    tilt_db: Annotated[float, Field(ge=-15.0, le=15.0)] = 0.0
    breath: Annotated[float, Field(ge=-0.05, le=0.2)] = 0.0
    roughness: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.0
    voicing: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0
    manner: Manner | None = None

    def edit(self) -> Edit:
        """What the voice brings along before any control."""
        return Edit(
            speed=self.speed,
            pitch_st=self.pitch_st,
            pitch_range=self.pitch_range,
            tract_scale=self.tract_scale,
            tilt_db=self.tilt_db,
            breath=self.breath,
            roughness=self.roughness,
            voicing=self.voicing,
        )

    def edit_as(self, controls: Controls) -> Edit:
        """The edit that carries out the controls, in the voice's own manner."""
        edit, manner, emotion = edit_for(controls, self.edit()), self.manner, controls.emotion
        if manner is None or emotion is None or emotion.name != manner.emotion:
            return edit
        share = emotion.intensity
        # What a control sets itself, the emotion leaves to it.
        pitch_st = manner.pitch_st * share if controls.pitch is None else 0.0
        pitch_range = manner.pitch_range**share if controls.pitch_variation is None else 1.0
        return replace(
            edit,
            pitch_st=edit.pitch_st + pitch_st,
            pitch_range=edit.pitch_range * pitch_range,
            tilt_db=edit.tilt_db + manner.tilt_db * share,
        )

    def style(self, atlas: Atlas, num_phonemes: int) -> NDArray[np.float32]:
        """Style for a text, float32 `[256]`; see `Atlas.style`."""
        style = atlas.blend(self.blend, num_phonemes)
        if self.timbre:
            style = style.copy()
            style[:TIMBRE_SIZE] += np.array(self.timbre, np.float32)
        return style


def read_state(state: Mapping[str, Any], atlas: Atlas) -> VoiceState:
    """Check a state that came from outside.

    Raises:
        InvalidVoiceFile: Another layout, a number out of range, or a voice that the atlas does not have.
    """
    try:
        checked = VoiceState.model_validate(dict(state))
    except ValidationError as error:
        raise _invalid(*first_said(error)) from error
    for name in checked.blend:
        if name not in atlas.names:
            raise _invalid(f"no stock voice {name!r}", f"没有自带声音 {name!r}")
    if len(checked.timbre) not in (0, TIMBRE_SIZE):
        raise _invalid(
            f"timbre has {len(checked.timbre)} numbers, not {TIMBRE_SIZE}",
            f"timbre 有 {len(checked.timbre)} 个数，应为 {TIMBRE_SIZE} 个",
        )
    return checked


def _invalid(en: str, zh: str) -> InvalidVoiceFile:
    return InvalidVoiceFile(
        f"The voice's state is not one of the Kokoro engine ({en}).",
        f"该声音的数据不属于 Kokoro 引擎（{zh}）。",
        fix_en="Make the voice again with `voice-sculptor design`.",
        fix_zh="请用 `voice-sculptor design` 重新生成该声音。",
    )
