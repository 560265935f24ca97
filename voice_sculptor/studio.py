"""The use cases: design a voice, speak with one. Page, API and command line only translate these."""

from __future__ import annotations

import functools
import secrets
import threading
import uuid
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from voice_sculptor.config import Settings, load_settings
from voice_sculptor.controls import Controls
from voice_sculptor.domain import (
    MAX_CANDIDATES,
    MAX_SEED,
    AudioClip,
    Candidate,
    Notice,
    SynthesisRequest,
    TextLanguage,
    Understood,
    Voice,
    VoiceSpec,
)
from voice_sculptor.engines.base import AudioChunk, CandidateDone, CandidateFailed, Engine
from voice_sculptor.engines.registry import create_engine
from voice_sculptor.errors import (
    EmptyText,
    InvalidRequest,
    SynthesisFailed,
    TextTooLong,
    UnknownVoice,
    VoiceSculptorError,
)
from voice_sculptor.language.conflicts import merge
from voice_sculptor.language.description import understand
from voice_sculptor.language.script import has_han
from voice_sculptor.language.syllables import count_syllables
from voice_sculptor.language.text import speakable
from voice_sculptor.library.voice_files import SUFFIX, load_voice
from voice_sculptor.obedience import judge
from voice_sculptor.scheduling.worker import CancelToken, Loading, Started, Waiting, Worker
from voice_sculptor.timbre import Timbre

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Planned:
    """What the studio is about to do; the first event of every request.

    Attributes:
        controls: Effective controls: the explicit ones over those read from the description.
        timbre: Effective dimensions of timbre, alike.
        understood: What was read from the description.
        seeds: One per candidate.
        notices: Conflicts and unknown words.
    """

    controls: Controls
    timbre: Timbre
    understood: Understood
    seeds: tuple[int, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Reading:
    """What a spec means.

    Attributes:
        understood: What was read from the description.
        controls: Effective controls.
        timbre: Effective dimensions of timbre.
        notices: Conflicts, unknown words, and what the engine does not follow.
    """

    understood: Understood
    controls: Controls
    timbre: Timbre
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Preview:
    """Audio of a candidate that is not complete; its level is estimated from its beginning.

    Attributes:
        index: Which candidate.
        clip: The next piece.
        fraction: Share of the candidate's text done, 0–1.
    """

    index: int
    clip: AudioClip
    fraction: float


@dataclass(frozen=True)
class Ready:
    """A candidate is complete."""

    candidate: Candidate
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Failed:
    """A candidate cannot be made; the others go on."""

    index: int
    error: VoiceSculptorError


StudioEvent = Planned | Waiting | Loading | Started | Preview | Ready | Failed


@dataclass
class _Take:
    """A candidate in the making."""

    began_s: float
    chunks: list[NDArray[np.float32]] = field(default_factory=list)
    first_s: float | None = None
    gain_db: float = 0.0


class Studio:
    """One engine, one worker, and what can be done with them.

    Args:
        settings: How to run; environment and defaults where not given.
        engine: An engine to use in place of the one that `settings` names.
    """

    def __init__(self, settings: Settings | None = None, engine: Engine | None = None) -> None:
        self.settings = settings or load_settings()
        self.engine: Engine = engine or create_engine(self.settings.engine, self.settings)
        self.worker = Worker(
            self.engine, self.settings.device, _given(self.settings.dtype), self.settings.max_queue
        )

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def preload(self) -> None:
        """Begin what the first request would wait for, without waiting: loading, warming up, slow imports."""
        self.worker.preload()
        threading.Thread(target=_warm_measuring, name="measuring", daemon=True).start()

    def close(self) -> None:
        """Stop the work and free the device."""
        self.worker.close()

    def design(
        self,
        text: str,
        spec: VoiceSpec,
        *,
        language: TextLanguage = "auto",
        num_candidates: int = 3,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        token: CancelToken | None = None,
    ) -> Iterator[StudioEvent]:
        """Make new voices from a spec and let each speak a text.

        Args:
            text: What to speak.
            spec: Description and explicit controls.
            language: Language of the text.
            num_candidates: 1–6.
            seed: 0 … 2³²−1; candidate i uses seed + i. `None` draws one.
            options: The engine's own options.
            token: Cancels from another thread; closing the iterator cancels too.

        Yields:
            `Planned`, then progress, and `Ready` or `Failed` once per candidate.

        Raises:
            InvalidRequest: Before anything is yielded, for what cannot be done as asked.
            CapacityError: The queue or the memory is full.
            EngineError: The engine cannot do its work.
            Cancelled: It was cancelled.
        """
        if not 1 <= num_candidates <= MAX_CANDIDATES:
            raise InvalidRequest(
                f"{num_candidates} candidates cannot be made at once.",
                f"一次不能生成 {num_candidates} 个候选。",
                fix_en=f"Ask for 1 to {MAX_CANDIDATES}.",
                fix_zh=f"请选 1 到 {MAX_CANDIDATES} 个。",
            )
        reading = self.read(spec)
        seeds = _seeds(seed, num_candidates)
        request = SynthesisRequest(
            id=uuid.uuid4().hex,
            text=self._checked_text(text),
            language=language,
            controls=reading.controls,
            timbre=reading.timbre,
            seeds=seeds,
            description=spec.description,
            options=self._checked_options(options),
        )
        planned = Planned(reading.controls, reading.timbre, reading.understood, seeds, reading.notices)
        return self._events(request, planned, token)

    def speak(
        self,
        voice: Voice,
        text: str,
        *,
        controls: Controls | None = None,
        language: TextLanguage = "auto",
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        token: CancelToken | None = None,
    ) -> Iterator[StudioEvent]:
        """Speak a text with a kept or stock voice.

        Args:
            voice: Whose timbre; its own controls hold where `controls` says nothing.
            text: What to speak.
            controls: How to speak it this time.
            language: Language of the text.
            seed: `None` takes the voice's own.
            options: The engine's own options.
            token: Cancels from another thread; closing the iterator cancels too.

        Yields:
            As `design`, with one candidate.

        Raises:
            InvalidRequest: The voice belongs to another engine, or as `design`.
        """
        if voice.engine != self.engine.info.id:
            here = self.engine.info.id
            raise InvalidRequest(
                f"The voice {voice.name!r} belongs to the engine {voice.engine!r}, not {here!r}.",
                f"声音 {voice.name!r} 属于引擎 {voice.engine!r}，而不是 {here!r}。",
                fix_en=f"Use --engine {voice.engine}.",
                fix_zh=f"请使用 --engine {voice.engine}。",
            )
        asked = {**voice.controls.asked(), **(controls or Controls()).asked()}
        effective = Controls(**asked)
        seeds = _seeds(voice.seed if seed is None else seed, 1)
        request = SynthesisRequest(
            id=uuid.uuid4().hex,
            text=self._checked_text(text),
            language=language,
            controls=effective,
            seeds=seeds,
            description=voice.description,
            voice=voice,
            options=self._checked_options(options),
        )
        return self._events(request, Planned(effective, Timbre(), Understood(), seeds, ()), token)

    def read(self, spec: VoiceSpec) -> Reading:
        """What a spec means: read from the words, in effect, and what to warn about."""
        understood = understand(spec.description)
        controls, timbre, notices = merge(spec, understood)
        capabilities = self.engine.info.capabilities
        followed = capabilities.controls | capabilities.timbre
        missing = [name for name in controls.asked() | timbre.asked() if name not in followed]
        if missing:
            title = self.engine.info.title
            notices += (
                Notice(
                    "unsupported_control",
                    f"{title} does not follow: {', '.join(missing)}.",
                    f"{title} 不支持：{'、'.join(missing)}。",
                ),
            )
        return Reading(understood, controls, timbre, notices)

    def find_voice(self, name_or_path: str) -> Voice:
        """A stock voice by name, or a kept one by file.

        Args:
            name_or_path: As in `speak --voice`.

        Raises:
            UnknownVoice: Neither; the sentence names near ones.
            InvalidVoiceFile: The file is not a voice.
        """
        names = [voice.name for voice in self.engine.stock_voices()]
        if name_or_path in names:
            return Voice(
                name=name_or_path, engine=self.engine.info.id, state=self.engine.stock_state(name_or_path)
            )
        if name_or_path.endswith(SUFFIX) or Path(name_or_path).suffix == ".json":
            return load_voice(Path(name_or_path))
        import difflib

        near = difflib.get_close_matches(name_or_path, names, n=3, cutoff=0.4)
        raise UnknownVoice(
            f"There is no voice named {name_or_path!r}.",
            f"没有名为 {name_or_path!r} 的声音。",
            fix_en=(f"Did you mean {', '.join(near)}? " if near else "")
            + "`voice-sculptor voices` lists all; a kept voice is given as its .voice.json file.",
            fix_zh=(f"您是不是想用 {'、'.join(near)}？" if near else "")
            + "用 `voice-sculptor voices` 查看全部；自己保存的声音请给出 .voice.json 文件。",
        )

    def _checked_text(self, text: str) -> str:
        limit = min(self.settings.max_text_chars, self.engine.info.max_text_chars)
        if len(text) > limit:
            raise TextTooLong(len(text), limit)
        if not speakable(text):
            raise EmptyText
        return text

    def _checked_options(self, options: Mapping[str, Any] | None) -> BaseModel | None:
        if not options:
            return None
        try:
            return self.engine.Options(**options)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            valid = ", ".join(self.engine.Options.model_fields) or "none"
            raise InvalidRequest(
                f"The option {name!r} of {self.engine.info.title}: {first['msg']}.",
                f"{self.engine.info.title} 的选项 {name!r}：{first['msg']}。",
                fix_en=f"Valid options: {valid}.",
                fix_zh=f"可用的选项：{valid}。",
            ) from error

    def _events(
        self, request: SynthesisRequest, planned: Planned, token: CancelToken | None
    ) -> Iterator[StudioEvent]:
        threading.Thread(target=_warm_measuring, name="measuring", daemon=True).start()
        # Queued here and not at the first `next`, so that a full queue is said at once.
        events = self.worker.submit(request, token)

        def translate() -> Generator[StudioEvent, None, None]:
            with closing(events):
                yield planned  # Taken below.
                yield planned
                takes: dict[int, _Take] = {}
                free_since_s = 0.0
                for event in events:
                    if isinstance(event, Started):
                        free_since_s = event.at_s
                        yield event
                    elif isinstance(event, AudioChunk):
                        take = takes.setdefault(event.index, _Take(began_s=free_since_s))
                        yield self._preview(take, event, request.controls)
                    elif isinstance(event, CandidateDone):
                        made = takes.pop(event.index, None)
                        free_since_s = event.at_s
                        if made is None or not any(map(len, made.chunks)):
                            yield Failed(event.index, _no_audio())
                        else:
                            yield Ready(self._candidate(made, event, request), event.notices)
                    elif isinstance(event, CandidateFailed):
                        takes.pop(event.index, None)
                        yield Failed(event.index, event.error)
                    else:
                        yield event

        translated = translate()
        next(translated)  # As in the worker: one that never began could not be closed.
        return translated

    def _preview(self, take: _Take, chunk: AudioChunk, controls: Controls) -> Preview:
        from voice_sculptor.audio.loudness import apply_gain, gain_db_for

        clip = AudioClip(chunk.samples, self.engine.info.sample_rate)
        if take.first_s is None:
            take.first_s = chunk.at_s
            take.gain_db = gain_db_for(clip, controls.volume)
        take.chunks.append(chunk.samples)
        return Preview(chunk.index, apply_gain(clip, take.gain_db), chunk.fraction)

    def _candidate(self, take: _Take, done: CandidateDone, request: SynthesisRequest) -> Candidate:
        import numpy as np

        from voice_sculptor.audio.loudness import level
        from voice_sculptor.audio.measure import measure

        natural = AudioClip(np.concatenate(take.chunks), self.engine.info.sample_rate)
        seed = request.seeds[done.index]
        voice = request.voice or Voice(
            name=f"voice-{seed}",
            engine=self.engine.info.id,
            state=dict(done.voice_state),
            controls=request.controls,
            description=request.description,
            seed=seed,
        )
        audio = level(natural, request.controls.volume)
        measured = measure(audio, count_syllables(request.text, request.language))
        reference = dict(done.reference)
        if "speed" in reference and measured.syllables_per_s:
            reference["syllables_per_s"] = measured.syllables_per_s / reference["speed"]
        return Candidate(
            index=done.index,
            seed=seed,
            audio=audio,
            voice=voice,
            measured=measured,
            obedience=judge(
                request.controls,
                request.timbre,
                measured,
                "zh" if has_han(request.text) else "en",
                reference,
                is_given=request.voice is not None,
            ),
            rtf=(done.at_s - take.began_s) / natural.duration_s,
            ttfa_s=(take.first_s or done.at_s) - take.began_s,
        )


@functools.cache
def _warm_measuring() -> None:
    """Loudness and F0 take seconds to import: beside the engine's work, not after its first piece."""
    import numpy as np

    from voice_sculptor.audio.loudness import level
    from voice_sculptor.audio.measure import measure

    measure(level(AudioClip(np.full(16_000, 0.1, np.float32), 16_000)))


def _seeds(seed: int | None, count: int) -> tuple[int, ...]:
    if seed is None:
        seed = secrets.randbelow(MAX_SEED + 1)
    if not 0 <= seed <= MAX_SEED:
        raise InvalidRequest(
            f"The seed {seed} is out of range.",
            f"种子 {seed} 超出范围。",
            fix_en=f"Give a whole number from 0 to {MAX_SEED}.",
            fix_zh=f"请给 0 到 {MAX_SEED} 之间的整数。",
        )
    return tuple((seed + i) % (MAX_SEED + 1) for i in range(count))


def _no_audio() -> SynthesisFailed:
    return SynthesisFailed(
        "The engine returned no audio for this text.",
        "引擎没有为这段文本生成音频。",
        fix_en="Change the text, or try another seed.",
        fix_zh="请修改文本，或换一个种子。",
    )


def _given(value: str) -> str | None:
    return None if value == "auto" else value
