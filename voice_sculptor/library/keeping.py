"""A studio's hold on its library: opened when it is first needed, and never in the way of a generation."""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import replace
from pathlib import Path

from voice_sculptor.config import Settings
from voice_sculptor.domain import AudioClip, Candidate, Notice, SynthesisRequest, Voice
from voice_sculptor.engines.base import Engine
from voice_sculptor.errors import LibraryError, ShuttingDown, UnknownVoice, VoiceSculptorError
from voice_sculptor.events import Failed, Ready
from voice_sculptor.library.records import KeptVoice, Limits
from voice_sculptor.library.store import Library
from voice_sculptor.library.voice_files import load_voice
from voice_sculptor.library.voice_rows import unknown_voice

PAUSE_S = 60.0
"""How long nothing is recorded after it failed: a disk that hangs holds up one generation, not all."""

_log = logging.getLogger(__name__)


class Keeping:
    """Kept voices beside an engine's stock voices, and the history of what it makes.

    Args:
        settings: `data_dir`, `history_days`, `history_bytes`.
        engine: Whose stock voices come first.
    """

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self._settings = settings
        self._engine = engine
        self._lock = threading.Lock()
        self._library: Library | None = None
        self._is_closed = False
        self._paused_until_s = -math.inf
        self._is_told = False

    @property
    def library(self) -> Library:
        """The library, opened at the first use.

        Raises:
            LibraryError: It cannot be opened.
            ShuttingDown: It is closed already.
        """
        with self._lock:
            if self._is_closed:
                raise ShuttingDown
            if self._library is None:
                self._library = open_library(self._settings)
            return self._library

    def close(self) -> None:
        """Let go of the library."""
        with self._lock:
            self._is_closed = True
            if self._library is not None:
                self._library.close()

    def keep(
        self, made: Candidate | Voice, name: str | None = None, audio: AudioClip | None = None
    ) -> KeptVoice:
        """Keep a candidate with its clip, or a voice; see `Library.keep`. It gets no stock voice's name."""
        if isinstance(made, Candidate):
            audio = audio or made.audio
            made = made.voice
        return self.library.keep(made, name, audio, self._stock_names())

    def rename(self, id: str, name: str) -> KeptVoice:
        """See `Library.rename`; it gets no stock voice's name."""
        return self.library.rename(id, name, self._stock_names())

    def restore(self, id: str) -> KeptVoice:
        """See `Library.restore`; it gets no stock voice's name."""
        return self.library.restore(id, self._stock_names())

    def named(self, name: str) -> Voice:
        """A stock voice by name, or a kept one by name or id. No file is ever looked for by that name.

        Raises:
            UnknownVoice: Neither; the sentence names near ones.
            InvalidVoiceFile: The kept one is damaged.
            LibraryError: It is no stock voice, and the library cannot be opened.
        """
        stock = self._stock_names()
        if name in stock:
            return Voice(name=name, engine=self._engine.info.id, state=self._engine.stock_state(name))
        kept: list[str] = []
        # Only asking makes no library.
        if self._library is not None or Library.is_in(self._settings.data_dir):
            try:
                return self.library.find(name).voice
            except UnknownVoice:
                kept = [each.name for each in self.library.voices()]
        raise unknown_voice(name, [*stock, *kept])

    def found(self, name_or_path: str) -> Voice:
        """As `named`; where there is none, the voice file at that path if it ends in `.json`.

        Raises:
            UnknownVoice: None of these.
            InvalidVoiceFile: The file is not a voice.
            LibraryError: As `named`.
        """
        try:
            return self.named(name_or_path)
        except (UnknownVoice, LibraryError):
            if Path(name_or_path).suffix != ".json":
                raise
        return load_voice(Path(name_or_path))

    def recorded(self, request: SynthesisRequest, made: Ready | Failed) -> Ready | Failed:
        """Write down what was made, if that can be done; that it cannot is said once and stops nothing.

        Returns:
            What was made, with the notice where there is one.
        """
        if not isinstance(made, Ready) or time.monotonic() < self._paused_until_s:
            return made
        limits = limits_of(self._settings)
        if not limits.keeps_history:
            return made
        try:
            self.library.record(request, made.candidate)
        except ShuttingDown:
            return made
        except Exception as error:  # noqa: BLE001  # Whatever it is, the clip is made and must be delivered.
            notice = self._not_recorded(error)
            return replace(made, notices=(*made.notices, notice)) if notice else made
        self._is_told = False
        return made

    def _not_recorded(self, error: Exception) -> Notice | None:
        self._paused_until_s = time.monotonic() + PAUSE_S
        if isinstance(error, VoiceSculptorError):
            _log.warning("not recorded in the history: %s", error.message())
        else:
            _log.warning("not recorded in the history", exc_info=error)
        if self._is_told:
            return None
        self._is_told = True
        # Not the error's own words: they name a folder, and the page may be open to others.
        return Notice(
            "not_recorded",
            "This is not written into the history: the library cannot be written. The log says why.",
            "本次结果未写入历史记录：声音库无法写入。原因见日志。",
        )

    def _stock_names(self) -> tuple[str, ...]:
        return tuple(voice.name for voice in self._engine.stock_voices())


def engine_of_voice(name_or_path: str, engine: Engine, settings: Settings) -> str | None:
    """The id of the engine that a kept voice or a voice file belongs to; `None` for a stock voice.

    Args:
        name_or_path: As for `Keeping.found`.
        engine: Whose stock voices come first.
        settings: Where the library is.

    Raises:
        UnknownVoice: There is none; this and all others as `Keeping.found`.
    """
    keeping = Keeping(settings, engine)
    try:
        found = keeping.found(name_or_path).engine
    finally:
        keeping.close()
    return None if found == engine.info.id else found


def limits_of(settings: Settings) -> Limits:
    """The bounds that the settings ask for."""
    return Limits(history_days=settings.history_days, history_bytes=settings.history_bytes)


def open_library(settings: Settings) -> Library:
    """The library of the settings' folder.

    Raises:
        LibraryError: It cannot be opened.
    """
    return Library(settings.data_dir, limits_of(settings))
