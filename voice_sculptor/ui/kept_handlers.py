"""What the page does with kept voices, as plain functions. No Gradio here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from voice_sculptor.audio.io import decode
from voice_sculptor.domain import AudioFormat
from voice_sculptor.errors import VoiceSculptorError
from voice_sculptor.library.records import KeptVoice
from voice_sculptor.library.store import Library
from voice_sculptor.library.voice_files import load_voice
from voice_sculptor.ui import render
from voice_sculptor.ui.form import refused
from voice_sculptor.ui.handlers import Card, Handlers, Shown


@dataclass(frozen=True)
class Listing:
    """The list after something was done to it.

    Attributes:
        choices: Name and id of each kept voice, newest first.
        chosen: Id of the chosen one.
        name: Its name.
        message: HTML of what was done or went wrong.
        deleted: Id of the voice that was deleted last and can be brought back; empty where none can, `None` where that
            has not changed.
        is_done: Whether what was asked was done.
    """

    choices: tuple[tuple[str, str], ...] = ()
    chosen: str | None = None
    name: str = ""
    message: str = ""
    deleted: str | None = None
    is_done: bool = True


class KeptHandlers:
    """Events of the list of kept voices.

    Args:
        handlers: Those of the rest of the page.
    """

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers
        self._studio = handlers.studio

    def listed(self, chosen: str | None = None) -> Listing:
        """The list, with one voice chosen if it is still there."""
        # Looking at the page makes no library.
        if not Library.is_in(self._studio.settings.data_dir):
            return Listing()
        try:
            voices = self._studio.library.voices()
        except VoiceSculptorError as problem:
            return Listing(message=render.error(problem), is_done=False)
        names = {voice.id: voice.name for voice in voices}
        here = self._studio.engine.info.id
        choices = tuple(
            (each.name if each.voice.engine == here else f"{each.name} ({each.voice.engine})", each.id)
            for each in voices
        )
        return Listing(choices, chosen if chosen in names else None, names.get(chosen or "", ""))

    def keep(self, card: Card | None, name: str, chosen: str | None) -> Listing:
        """Keep the voice of a candidate; a name of blanks leaves it to the voice's own."""

        def work() -> KeptVoice:
            if card is None or card.voice is None or card.played is None or not card.played.is_file():
                raise refused("kept_gone")
            return self._studio.keep(load_voice(card.voice), name.strip() or None, decode(card.played))

        return self._done("kept_done", work, chosen)

    def rename(self, chosen: str | None, name: str) -> Listing:
        """Give the chosen voice another name."""
        return self._done("kept_renamed", lambda: self._studio.rename_voice(_one(chosen), name), chosen)

    def delete(self, chosen: str | None) -> Listing:
        """Take the chosen voice off the list."""

        def work() -> KeptVoice:
            voice = self._studio.library.find(_one(chosen))
            self._studio.library.delete(voice.id)
            return voice

        listing = self._done("kept_deleted", work, chosen)
        return replace(listing, deleted=chosen) if listing.is_done else listing

    def restore(self, deleted: str | None) -> Listing:
        """Bring back the voice that was deleted last."""
        listing = self._done("kept_restored", lambda: self._studio.restore_voice(deleted or ""), None)
        return replace(listing, deleted="") if listing.is_done else listing

    def speak(
        self, chosen: str | None, text: str, audio_format: AudioFormat, session: str
    ) -> Iterator[Shown]:
        """Speak a text with the chosen voice; as `Handlers.generate`, with one card."""
        return self._handlers.make(
            lambda token: self._studio.speak(
                self._studio.voice_named(_one(chosen)), text or "", token=token, client=session
            ),
            1,
            audio_format,
            _own(session),
        )

    def cancel(self, session: str) -> None:
        """Stop what a session's kept voice is saying."""
        self._handlers.cancel(_own(session))

    def _done(self, key: str, work: Callable[[], KeptVoice], chosen: str | None) -> Listing:
        try:
            voice = work()
        except VoiceSculptorError as problem:
            return replace(self.listed(chosen), message=render.error(problem), is_done=False)
        after = self.listed(voice.id)
        return replace(
            after, message=after.message or render.message("info", render.said(key, name=voice.name))
        )


def _one(chosen: str | None) -> str:
    if not chosen:
        raise refused("kept_none")
    return chosen


def _own(session: str) -> str:
    """A session's kept voice and its candidates do not cancel each other."""
    return f"{session}/kept"
