"""What is kept of a voice of this engine: what it said first, word and token, and how it was asked to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voice_sculptor.engines.voicesculptor.vocabulary import NUM_SPEECH_TOKENS
from voice_sculptor.errors import InvalidVoiceFile
from voice_sculptor.faults import first_said


class VoiceState(BaseModel):
    """A voice: every text is spoken as the continuation of what it has said.

    Attributes:
        format: Version of this layout.
        description: In the model's words.
        tags: Words of its tags.
        text: What it said.
        tokens: The speech tokens of that.
        seed: Of the candidate that was kept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["voicesculptor/voice@1"] = "voicesculptor/voice@1"
    description: Annotated[str, Field(max_length=1000)] = ""
    tags: Annotated[tuple[Annotated[str, Field(max_length=20)], ...], Field(max_length=7)] = ()
    text: Annotated[str, Field(min_length=1, max_length=1000)]
    tokens: Annotated[
        tuple[Annotated[int, Field(ge=0, lt=NUM_SPEECH_TOKENS)], ...], Field(min_length=1, max_length=4096)
    ]
    seed: Annotated[int, Field(ge=0)] = 0


def read_state(state: Mapping[str, Any]) -> VoiceState:
    """The state in a voice file.

    Raises:
        InvalidVoiceFile: It is not one of this engine's, or damaged.
    """
    try:
        return VoiceState.model_validate(state, strict=False)
    except ValidationError as error:
        en, zh = first_said(error, "state")
        raise InvalidVoiceFile(
            f"The voice file does not fit Voice Sculptor: {en}.",
            f"该声音文件不适用于 Voice Sculptor：{zh}。",
            fix_en="Use a voice that this engine made.",
            fix_zh="请使用由该引擎生成的声音。",
        ) from error
