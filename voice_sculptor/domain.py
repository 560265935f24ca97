"""The nouns of the studio: specs, voices, requests and what comes back. Frozen, typed, no I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from voice_sculptor.controls import Controls
from voice_sculptor.timbre import Timbre

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voice_sculptor.audio.measure import Measurements
    from voice_sculptor.obedience import Obedience

Language = Literal["zh", "en"]
TextLanguage = Literal["auto", "zh", "en"]
AudioFormat = Literal["wav", "mp3", "flac", "opus"]
PresetGroup = Literal["role", "profession", "scene"]

AUDIO_FORMATS: tuple[AudioFormat, ...] = ("wav", "mp3", "flac", "opus")
PRESET_GROUPS: tuple[PresetGroup, ...] = ("role", "profession", "scene")

MAX_SEED = 2**32 - 1
MAX_CANDIDATES = 6
MAX_DESCRIPTION_CHARS = 2000


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class VoiceSpec(_Frozen):
    """What a person asks for. Engine-neutral.

    Attributes:
        description: Free words, Chinese or English; may be empty.
        controls: The explicit controls; each wins over the description.
        timbre: Explicit dimensions of timbre; each wins over the description.
    """

    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS)] = ""
    controls: Controls = Controls()
    timbre: Timbre = Timbre()


class Bilingual(_Frozen):
    """One text in both languages."""

    zh: Annotated[str, Field(min_length=1)]
    en: Annotated[str, Field(min_length=1)]

    def get(self, language: str) -> str:
        """The text in `language`; English for any other code than `"zh"`."""
        return self.zh if language == "zh" else self.en


class Preset(_Frozen):
    """A named spec with a sample text; one YAML file in `presets/`.

    Attributes:
        id: File name without `.yaml`: lower-case letters, digits and hyphens.
        group: `role`, `profession` or `scene`.
        name: Shown in the picker.
        description: Put into the description field.
        controls: Put into the controls.
        text: Sample text to speak.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    group: PresetGroup
    name: Bilingual
    description: Bilingual
    controls: Controls = Controls()
    text: Bilingual


_STATE_DEPTH = 32


def _plain_json(state: Mapping[str, Any]) -> Mapping[str, Any]:
    level: list[Any] = [state]
    for _ in range(_STATE_DEPTH):
        level = [inner for each in level for inner in _inside(each)]
    if level:
        raise ValueError("is nested too deeply")
    try:
        json.dumps(dict(state), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ValueError("is not plain JSON") from error
    return state


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


class Voice(_Frozen):
    """A kept voice: speaks any text with the same timbre, in the engine that made it.

    Attributes:
        format: Version of this layout.
        name: Shown to people; also the stem of the file.
        engine: Engine id.
        state: What the engine needs, plain JSON values; the engine checks it on use.
        controls: The controls the voice was designed with: how it speaks unless told otherwise.
        description: The words it was designed from.
        seed: The seed it was made with.
    """

    format: Literal["voice-sculptor/voice@1"] = "voice-sculptor/voice@1"
    name: Annotated[str, Field(min_length=1, max_length=120)]
    engine: Annotated[str, Field(min_length=1)]
    state: Annotated[Mapping[str, Any], AfterValidator(_plain_json)]
    controls: Controls = Controls()
    description: str = ""
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0


@dataclass(frozen=True)
class Notice:
    """Something the user should know that does not stop the work, in both languages."""

    kind: str
    en: str
    zh: str

    def message(self, language: str = "en") -> str:
        """The sentence in `language`; English for any other code than `"zh"`."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True)
class Understood:
    """What was read out of a description.

    Attributes:
        controls: Controls the words imply.
        timbre: Dimensions of timbre the words imply.
        words: For each control and dimension read, the words it came from.
        unknown: Words that look like voice attributes or moods but are not known.
    """

    controls: Controls = Controls()  # noqa: RUF009  # It is frozen.
    timbre: Timbre = Timbre()  # noqa: RUF009  # It is frozen.
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class AudioClip:
    """Mono audio.

    Attributes:
        samples: float32 `[num_samples]`, within ±1.
        sample_rate: Hz.
    """

    samples: NDArray[np.float32]
    sample_rate: int

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.sample_rate


@dataclass(frozen=True)
class SynthesisRequest:
    """One job for an engine: speak `text` once per seed.

    Attributes:
        id: Unique while the request lives.
        text: What to speak, as the user wrote it.
        language: Language of the text; `auto` decides per run of text.
        controls: Effective controls (description and explicit ones merged).
        timbre: Effective dimensions of timbre, as `controls`.
        description: Free words, for engines that read them themselves.
        seeds: One candidate per seed, each 0 … 2³²−1.
        voice: A kept voice to speak with; `None` designs one per seed.
        options: Engine-specific options, already validated by the engine's `Options`.
        client: Whose it is: turns are shared between clients, not between requests.
        deadline_s: When nobody waits for it any more, on the clock of `time.monotonic`; `None` for never.
    """

    id: str
    text: str
    language: TextLanguage
    controls: Controls
    seeds: tuple[int, ...]
    timbre: Timbre = Timbre()  # noqa: RUF009  # It is frozen.
    description: str = ""
    voice: Voice | None = None
    options: BaseModel | None = None
    client: str = ""
    deadline_s: float | None = None


@dataclass(frozen=True)
class Candidate:
    """One rendering.

    Attributes:
        index: Position in its request, from 0.
        seed: The seed it was made with; the same spec, text and seed give the same bytes.
        audio: Final audio at the asked volume.
        voice: What speaks any other text with this timbre.
        measured: What the audio measures.
        obedience: How far that is what was asked.
        rtf: Wall time / audio duration; lower is faster.
        ttfa_s: Seconds from the start of its synthesis to its first audio.
    """

    index: int
    seed: int
    audio: AudioClip
    voice: Voice
    measured: Measurements
    obedience: Obedience
    rtf: float
    ttfa_s: float


_UNSAFE = re.compile(r"[^\w-]+", re.UNICODE)


def safe_stem(text: str, fallback: str = "voice") -> str:
    """A file-name stem made of the letters, digits and hyphens of `text`, at most 60 bytes in UTF-8.

    Args:
        text: Any user text.
        fallback: Used when nothing is left.
    """
    stem = _UNSAFE.sub("-", text).strip("-_").casefold()
    stem = stem.encode()[:60].decode(errors="ignore").strip("-_")
    return stem or fallback
