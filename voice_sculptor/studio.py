"""The use cases: design a voice, speak with one. Page, API and command line only translate these."""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
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
    TextTooLong,
)
from voice_sculptor.events import Failed, Planned, StudioEvent
from voice_sculptor.faults import said
from voice_sculptor.language.conflicts import merge
from voice_sculptor.language.description import understand
from voice_sculptor.language.text import speakable
from voice_sculptor.library.keeping import Keeping
from voice_sculptor.scheduling.governor import Governor
from voice_sculptor.scheduling.memory import prepare_allocator
from voice_sculptor.scheduling.pressure import Thresholds
from voice_sculptor.scheduling.worker import CancelToken, Started, Worker
from voice_sculptor.takes import Take, warm_measuring
from voice_sculptor.timbre import Timbre

if TYPE_CHECKING:
    from voice_sculptor.library.records import KeptVoice
    from voice_sculptor.library.store import Library


_IMPORT_S = 10.0


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


class Studio:
    """One engine, one worker, and what can be done with them.

    Args:
        settings: How to run; environment and defaults where not given.
        engine: An engine to use in place of the one that `settings` names.
    """

    def __init__(self, settings: Settings | None = None, engine: Engine | None = None) -> None:
        self.settings = settings or load_settings()
        self.engine: Engine = engine or create_engine(self.settings.engine, self.settings)
        self._keeping = Keeping(self.settings, self.engine)
        prepare_allocator(self.settings.expandable_segments)
        info = self.engine.info
        most = _least(
            self.settings.max_batch_size, self.settings.max_concurrent_requests, info.max_batch_size
        )
        self.governor = Governor(
            self.engine,
            Thresholds(
                self.settings.memory_recovery_percent,
                self.settings.memory_warning_percent,
                self.settings.memory_critical_percent,
            ),
            (most or 1) if info.capabilities.batching else 1,
            self.settings.idle_unload_s,
        )
        self.worker = Worker(
            self.engine,
            self.settings.device,
            _given(self.settings.dtype),
            self.settings.max_queue,
            max_batch_size=most,
            batch_window_s=self.settings.batch_window_ms / 1000.0,
            limits=self.governor,
        )
        self.governor.start(self.worker)
        self._measuring: threading.Thread | None = None

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def preload(self) -> None:
        """Begin what the first request would wait for, without waiting: loading, warming up, slow imports."""
        self.worker.preload()
        self._warm_measuring()

    def _warm_measuring(self) -> None:
        if self._measuring is None:
            self._measuring = threading.Thread(target=warm_measuring, name="measuring", daemon=True)
            self._measuring.start()

    def close(self) -> None:
        """Stop the work, free the device, let go of the library."""
        self.governor.close()
        try:
            self.worker.close()
        finally:
            self._keeping.close()
            # A thread in the middle of loading a library takes the whole process down where that ends under it.
            if self._measuring is not None:
                self._measuring.join(_IMPORT_S)

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
        client: str = "",
        timeout_s: float | None = None,
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
            client: Whose request it is; turns are shared between clients.
            timeout_s: Seconds after which nobody waits for it any more; `None` for never.

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
            client=client,
            deadline_s=None if timeout_s is None else time.monotonic() + timeout_s,
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
        client: str = "",
        timeout_s: float | None = None,
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
            client: Whose request it is; turns are shared between clients.
            timeout_s: Seconds after which nobody waits for it any more; `None` for never.

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
            client=client,
            deadline_s=None if timeout_s is None else time.monotonic() + timeout_s,
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

    @property
    def library(self) -> Library:
        """Kept voices and the record of what was made, in `settings.data_dir`; opened at the first use.

        Raises:
            LibraryError: It cannot be opened.
            ShuttingDown: The studio is closed.
        """
        return self._keeping.library

    def keep(
        self, made: Candidate | Voice, name: str | None = None, audio: AudioClip | None = None
    ) -> KeptVoice:
        """Keep a candidate, with its clip, or any voice.

        Args:
            made: What to keep.
            name: What to call it; `None` takes its own. Where that is taken, also by a stock voice, it gets a number.
            audio: A clip of the voice; `None` takes the candidate's.

        Raises:
            InvalidRequest: The name is empty or too long.
            OutputError: The clip cannot be written.
            LibraryError: The library cannot be used.
        """
        return self._keeping.keep(made, name, audio)

    def rename_voice(self, id: str, name: str) -> KeptVoice:
        """Give a kept voice another name, as `keep`.

        Raises:
            UnknownVoice: There is none of that id.
            InvalidRequest: The name is empty or too long.
        """
        return self._keeping.rename(id, name)

    def restore_voice(self, id: str) -> KeptVoice:
        """Bring back a kept voice that was deleted; its name as with `keep`.

        Raises:
            UnknownVoice: No deleted one has that id.
        """
        return self._keeping.restore(id)

    def voice_named(self, name: str) -> Voice:
        """A stock voice by name, or a kept one by name or id; no name ever touches the file system.

        Raises:
            UnknownVoice: Neither; the sentence names near ones.
            InvalidVoiceFile: The kept one is damaged.
            LibraryError: The library cannot be used.
        """
        return self._keeping.named(name)

    def find_voice(self, name_or_path: str) -> Voice:
        """As `voice_named`, and then a voice file. For those only who may read this machine's files.

        Args:
            name_or_path: As in `speak --voice`.

        Raises:
            UnknownVoice: None of these; the sentence names near ones.
            InvalidVoiceFile: The file is not a voice.
            LibraryError: The library cannot be used.
        """
        return self._keeping.found(name_or_path)

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
            en, zh = said(first)
            valid = ", ".join(self.engine.Options.model_fields) or "none"
            raise InvalidRequest(
                f"The option {name!r} of {self.engine.info.title} {en}.",
                f"{self.engine.info.title} 的选项 {name!r} {zh}。",
                fix_en=f"Valid options: {valid}.",
                fix_zh=f"可用的选项：{valid}。",
            ) from error

    def _events(
        self, request: SynthesisRequest, planned: Planned, token: CancelToken | None
    ) -> Iterator[StudioEvent]:
        self._warm_measuring()
        # Queued here and not at the first `next`, so that a full queue is said at once.
        events = self.worker.submit(request, token)

        def translate() -> Generator[StudioEvent, None, None]:
            with closing(events):
                yield planned  # Taken below.
                yield planned
                takes: dict[int, Take] = {}
                info = self.engine.info
                begin = partial(Take, info.id, info.sample_rate, request)
                free_since_s = 0.0
                for event in events:
                    if isinstance(event, Started):
                        free_since_s = event.at_s
                        yield event
                    elif isinstance(event, AudioChunk):
                        yield takes.setdefault(event.index, begin(free_since_s)).add(event)
                    elif isinstance(event, CandidateDone):
                        take = takes.pop(event.index, begin(free_since_s))
                        free_since_s = event.at_s
                        yield self._keeping.recorded(request, take.finish(event))
                    elif isinstance(event, CandidateFailed):
                        takes.pop(event.index, None)
                        yield Failed(event.index, event.error)
                    else:
                        yield event

        translated = translate()
        next(translated)  # As in the worker: one that never began could not be closed.
        return translated


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


def _least(*bounds: int | None) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _given(value: str) -> str | None:
    return None if value == "auto" else value
