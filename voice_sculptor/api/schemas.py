"""What the API takes, as models: unknown fields fail, and every model carries an example."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from voice_sculptor.audio.streams import StreamFormat
from voice_sculptor.controls import SPEED_RANGE, Controls
from voice_sculptor.domain import (
    MAX_CANDIDATES,
    MAX_DESCRIPTION_CHARS,
    MAX_SEED,
    AudioFormat,
    TextLanguage,
    Voice,
)
from voice_sculptor.timbre import Timbre

MAX_TIMEOUT_S = 3600.0

Text = Annotated[str, Field(min_length=1, max_length=1_000_000, description="What to speak.")]
Seed = Annotated[int | None, Field(ge=0, le=MAX_SEED, description="Draws one where it is null.")]
Timeout = Annotated[
    float | None,
    Field(gt=0.0, le=MAX_TIMEOUT_S, description="Seconds after which the answer is 504; null for never."),
]
OutputFormat = AudioFormat | StreamFormat


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DesignRequest(_Asked):
    """Make new voices and let each speak a text."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "text": "Good evening. This is the news.",
                    "description": "an elderly man with a deep, calm voice",
                    "controls": {"speed": 0.9, "emotion": {"name": "neutral"}},
                    "n": 2,
                    "seed": 7,
                    "response_format": "mp3",
                }
            ]
        }
    )

    text: Text
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS)] = ""
    controls: Controls = Controls()
    timbre: Timbre = Timbre()
    language: TextLanguage = "auto"
    n: Annotated[int, Field(ge=1, le=MAX_CANDIDATES, strict=True)] = 3
    seed: Seed = None
    response_format: AudioFormat = "wav"
    options: Annotated[dict[str, Any], Field(description="The engine's own, see `/v1/engines`.")] = Field(
        default_factory=dict
    )
    timeout_s: Timeout = None


class SpeechRequest(_Asked):
    """Speak a text; OpenAI's shape, and a few fields of ours."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"model": "auto", "input": "Good evening.", "voice": "af_heart"}]}
    )

    model: Annotated[str, Field(min_length=1, max_length=100, description="As in `/v1/models`.")]
    input: Text
    voice: Annotated[
        Annotated[str, Field(min_length=1, max_length=200)] | Voice,
        Field(description="A name as in `/v1/audio/voices`, or the `voice` of a designed candidate, whole."),
    ]
    instructions: Annotated[
        str, Field(max_length=MAX_DESCRIPTION_CHARS, description="How to speak, in words.")
    ] = ""
    response_format: OutputFormat = "mp3"
    speed: Annotated[float | None, Field(ge=SPEED_RANGE[0], le=SPEED_RANGE[1])] = None
    stream_format: Annotated[
        Literal["audio", "sse"] | None,
        Field(
            description="`audio` sends bytes and `sse` events while they are made; null sends WAV and FLAC whole, with "
            "true lengths, and the others while they are made."
        ),
    ] = None
    seed: Seed = None
    language: TextLanguage = "auto"
    timeout_s: Timeout = None


class TtsRequest(_Asked):
    """Speak a text; Fish Speech's shape."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "Good evening.", "reference_id": "af_heart", "format": "mp3"}]
        }
    )

    text: Text
    reference_id: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=200,
            description="A name as in `/v1/audio/voices`; null draws a new voice by the seed.",
        ),
    ] = None
    references: Annotated[
        list[dict[str, Any]], Field(max_length=100, description="Must be empty: recordings are not cloned.")
    ] = Field(default_factory=list)
    format: OutputFormat = "wav"
    streaming: bool = False
    seed: Seed = None
    top_p: Annotated[float | None, Field(gt=0.0, le=1.0)] = None
    temperature: Annotated[float | None, Field(gt=0.0, le=2.0)] = None
    repetition_penalty: Annotated[float | None, Field(ge=1.0, le=2.0)] = None
    max_new_tokens: Annotated[int | None, Field(ge=0, le=100_000)] = None
    chunk_length: Annotated[int | None, Field(ge=1, le=10_000)] = None
    normalize: bool | None = None

    def sampling(self) -> dict[str, Any]:
        """What it says of sampling, as options an engine may have."""
        names = {"top_p", "temperature", "repetition_penalty", "max_new_tokens", "chunk_length", "normalize"}
        return {name: value for name in sorted(names) if (value := getattr(self, name)) is not None}


class KeepRequest(_Asked):
    """Keep a voice."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "narrator",
                    "voice": {
                        "format": "voice-sculptor/voice@1",
                        "name": "voice-7",
                        "engine": "kokoro",
                        "state": {},
                        "seed": 7,
                    },
                }
            ]
        }
    )

    voice: Annotated[Voice, Field(description="The `voice` of a designed candidate, whole.")]
    name: Annotated[
        str | None, Field(min_length=1, max_length=120, description="Null takes the voice's own.")
    ] = None


class ErrorBody(BaseModel):
    """What went wrong and what to do about it."""

    type: str
    message: str
    fix: str
    request_id: str


class ErrorAnswer(BaseModel):
    """The body of every error."""

    error: ErrorBody
