"""What an engine is: the protocol that built-in and foreign engines share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from voice_sculptor.domain import Language, Notice, SynthesisRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voice_sculptor.errors import VoiceSculptorError


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do. Callers ask here, never for names or types.

    Attributes:
        design: Makes a new voice from a spec.
        clone: Takes a reference recording.
        clone_needs_transcript: The recording must come with its words.
        streaming: Yields audio before the whole text is done.
        batching: Several requests in one call cost less than one after the other.
        seed: The same request and seed give the same bytes on one machine.
        voice_state: Its candidates can be kept and speak other text.
        controls: Names of the controls it can follow.
        timbre: Names of the dimensions of timbre it can follow.
    """

    design: bool = False
    clone: bool = False
    clone_needs_transcript: bool = False
    streaming: bool = False
    batching: bool = False
    seed: bool = False
    voice_state: bool = False
    controls: frozenset[str] = frozenset()
    timbre: frozenset[str] = frozenset()


@dataclass(frozen=True)
class EngineInfo:
    """Facts about an engine, known without loading it.

    Attributes:
        id: Lower-case name, as in `--engine`.
        title: For people.
        sample_rate: Output rate, Hz.
        codec_frame_rate: Frames or tokens per second of audio, Hz.
        languages: Languages of text it speaks.
        code_licence: SPDX identifier.
        weights_licence: SPDX identifier; shown where a user picks the engine.
        capabilities: What it can do.
        max_batch_size: Most requests in one call.
        memory_estimate_bytes: Device memory when loaded and speaking.
        weights_bytes: Device memory when loaded: all that is held while nobody speaks.
        bytes_per_token: Device memory that speaking takes on top for each token, prompt included; 0 where none.
        bytes_per_audio_s: The same for each second of audio of a piece.
        max_piece_s: Longest piece of audio made in one go, seconds: memory does not grow with what is longer.
        max_text_chars: Longest text of one request, characters.
        settings: Which of `config.ENGINE_SETTINGS` it reads; of others that are given the user is told.
    """

    id: str
    title: str
    sample_rate: int
    codec_frame_rate: float
    languages: tuple[Language, ...]
    code_licence: str
    weights_licence: str
    capabilities: Capabilities
    max_batch_size: int = 1
    memory_estimate_bytes: int = 0
    weights_bytes: int = 0
    bytes_per_token: int = 0
    bytes_per_audio_s: int = 0
    max_piece_s: float = float("inf")
    max_text_chars: int = 100_000
    settings: frozenset[str] = frozenset()


class Options(BaseModel):
    """Base of an engine's own options; an unknown one fails and names the valid ones."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class AudioChunk:
    """Audio of one candidate, in order, as soon as it is ready.

    Attributes:
        request_id: Whose it is.
        index: Which candidate of the request.
        samples: float32 `[num_samples]` at the engine's `sample_rate`, within ±1, at the engine's own level.
        fraction: Share of the candidate's text that is done with it, 0–1.
        at_s: When it was ready, on the clock of `time.perf_counter`.
    """

    request_id: str
    index: int
    samples: NDArray[np.float32]
    fraction: float
    at_s: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True)
class CandidateDone:
    """A candidate is complete.

    Attributes:
        request_id: Whose it is.
        index: Which candidate of the request.
        voice_state: Plain JSON values that make the engine speak other text with this voice.
        notices: What could not be done as asked.
        reference: What the voice measures on this text with nothing asked of how it speaks, as far as the engine knows:
            `f0_hz`, `f0_sd_st`, `tilt_db`; and `speed`, the factor on its own rate at which it was spoken.
        at_s: When it was complete, on the clock of `time.perf_counter`.
    """

    request_id: str
    index: int
    voice_state: Mapping[str, Any]
    notices: tuple[Notice, ...] = ()
    reference: Mapping[str, float] = field(default_factory=dict)
    at_s: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True)
class CandidateFailed:
    """A candidate cannot be made; its neighbours go on."""

    request_id: str
    index: int
    error: VoiceSculptorError


EngineEvent = AudioChunk | CandidateDone | CandidateFailed


@dataclass(frozen=True)
class StockVoice:
    """A voice that comes with an engine.

    Attributes:
        name: As in `speak --voice`.
        language: The language it was recorded in.
        gender: `male` or `female`.
        measurements: Measured attributes, unit in the name, e.g. `f0_hz`.
    """

    name: str
    language: str
    gender: str
    measurements: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at in an engine's weights.

    Attributes:
        en: What, in English.
        zh: What, in Chinese.
        detail: What was found: names and figures, the same in both languages.
        error: What is wrong with it.
    """

    en: str
    zh: str
    detail: str = ""
    error: VoiceSculptorError | None = None

    @classmethod
    def of(cls, en: str, zh: str, look: Callable[[], str]) -> Finding:
        """What `look` returns is the detail, what it raises the error."""
        from voice_sculptor.errors import VoiceSculptorError

        try:
            return cls(en, zh, look())
        except VoiceSculptorError as error:
            return cls(en, zh, error=error)


@runtime_checkable
class Engine(Protocol):
    """One model family. All methods but the listings are called on the worker's thread only.

    Made by a factory that takes the `Settings` and does nothing slow.
    """

    info: EngineInfo
    Options: type[Options]

    def load(self, device: str, dtype: str | None, progress: Callable[[float], None]) -> None:
        """Bring the model onto a device.

        Args:
            device: `cpu`, `cuda:0` ….
            dtype: `fp32`, `bf16`, `fp16` or `None` for the best one there.
            progress: Called with 0–1.

        Raises:
            WeightsNotFound: With the command that gets them.
            CheckpointMismatch: Damaged or foreign files.
            LoadFailed: Anything else; the cause is chained.
        """

    def warm_up(self) -> Iterator[None]:
        """Do beforehand, step by step, what the first request would wait for; called when nobody waits.

        Yields:
            After each step, a second or two of work at most: whoever iterates leaves off when a request comes.
        """

    def unload(self) -> None:
        """Free everything; `load` may be called again."""

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        """Speak each request's text once per seed.

        Args:
            batch: At most `info.max_batch_size` requests.
            is_cancelled: Asked with a request id at each step; a cancelled request yields nothing more.

        Yields:
            For each candidate its chunks in order, then one `CandidateDone` or `CandidateFailed`.
        """

    def weights_ready(self) -> bool:
        """Whether the weights are on this machine; works without loading the engine, from any thread."""

    def examine(self, device: str, dtype: str | None) -> Iterator[Finding]:
        """Look closely at the weights, without loading the engine; seconds, for `voice-sculptor doctor`.

        Args:
            device: As in `load`.
            dtype: As in `load`.

        Yields:
            What is there and whether it is right; one fault does not end it.
        """

    def stock_voices(self) -> tuple[StockVoice, ...]:
        """The voices that come with the engine; works without loading it, from any thread."""

    def stock_state(self, name: str) -> Mapping[str, Any]:
        """The `voice_state` of a stock voice; works without loading the engine, from any thread.

        Raises:
            UnknownVoice: No such stock voice.
        """


@runtime_checkable
class StatesMemory(Protocol):
    """What an engine may have on top: it tells its parts from each other."""

    def memory_parts(self) -> Mapping[str, int]:
        """Bytes held on the device by `weights`, `codec` and `cache`; empty while not loaded. From any thread."""
