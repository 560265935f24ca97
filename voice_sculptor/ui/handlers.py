"""What the page does, as plain functions: widget values in, what is to be shown out. No Gradio here."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from voice_sculptor.domain import AudioFormat, Preset
from voice_sculptor.engines.registry import Choice, choose_engine
from voice_sculptor.errors import Cancelled, VoiceSculptorError
from voice_sculptor.events import Failed, Preview, Ready, StudioEvent
from voice_sculptor.obedience import by_obedience
from voice_sculptor.scheduling.worker import CancelToken, Loading, Started, Waiting
from voice_sculptor.studio import Studio
from voice_sculptor.ui import render
from voice_sculptor.ui.form import VoiceFields, read_seed
from voice_sculptor.ui.panel_handlers import PanelHandlers
from voice_sculptor.ui.report import report
from voice_sculptor.ui.shelf import Shelf

_SHOW_EVERY_S = 0.2


@dataclass(frozen=True)
class Card:
    """What a candidate's place shows.

    Attributes:
        facts: HTML.
        seed: Its seed; `None` where the candidate failed.
        played: WAV to play.
        download: The same in the asked format.
        voice: Voice file.
    """

    facts: str
    seed: int | None = None
    played: Path | None = None
    download: Path | None = None
    voice: Path | None = None


@dataclass(frozen=True)
class Shown:
    """One change of the page during a generation.

    Attributes:
        progress: HTML; `None` leaves what is there.
        message: HTML; `None` leaves what is there.
        cards: Places that are filled now, by index.
        facts: New HTML of places that are filled already, by index; their files stay.
        clears: Whether earlier candidates go away.
        is_running: Whether it goes on.
    """

    progress: str | None = None
    message: str | None = None
    cards: Mapping[int, Card] = field(default_factory=dict)
    facts: Mapping[int, str] = field(default_factory=dict)
    clears: bool = False
    is_running: bool = True


class Handlers:
    """The page's events over one studio.

    Args:
        studio: Does the work.
        presets: The picker's content.
        shelf: Where audio files go.
        choice: Why the studio has the engine it has; asked anew where it is not known.
    """

    def __init__(
        self, studio: Studio, presets: Sequence[Preset], shelf: Shelf, choice: Choice | None = None
    ) -> None:
        self.studio = studio
        self.panel = PanelHandlers(studio, choice or choose_engine(studio.settings))
        self.shelf = shelf
        self.presets = {preset.id: preset for preset in presets}
        self._running: dict[str, CancelToken] = {}

    def understand(self, fields: VoiceFields) -> str:
        """HTML of what is read from the description, with conflicts."""
        try:
            reading = self.studio.read(fields.spec())
        except VoiceSculptorError as problem:
            return render.error(problem)
        return render.understood(reading.understood, reading.notices, is_empty=not fields.description.strip())

    def pick(self, preset_id: str, language: str) -> tuple[VoiceFields, str]:
        """The widgets' values and the text to speak of a preset."""
        preset = self.presets[preset_id]
        return VoiceFields.of(preset.description.get(language), preset.controls), preset.text.get(language)

    def translated(
        self, preset_id: str | None, description: str, text: str, language: str
    ) -> tuple[str, str]:
        """Description and text in the page's new language where they are still the preset's own words."""
        preset = self.presets.get(preset_id or "")
        if preset is None:
            return description, text
        old = "en" if language == "zh" else "zh"
        return (
            preset.description.get(language) if description == preset.description.get(old) else description,
            preset.text.get(language) if text == preset.text.get(old) else text,
        )

    def generate(
        self,
        fields: VoiceFields,
        text: str,
        num_candidates: int,
        seed: str,
        audio_format: AudioFormat,
        session: str,
    ) -> Iterator[Shown]:
        """Make candidates.

        Args:
            fields: The voice.
            text: What to speak.
            num_candidates: 1–6.
            seed: As written in its field.
            audio_format: Of the downloads.
            session: Whose it is; one generation at a time each.

        Yields:
            What changes on the page; the last one is not running.
        """
        token = CancelToken()
        self.cancel(session)
        self._running[session] = token
        began_s = time.monotonic()
        fractions = [0.0] * num_candidates
        made: list[Ready] = []
        try:
            # Refused input leaves the earlier candidates where they are.
            events = self.studio.design(
                text or "", fields.spec(), num_candidates=num_candidates, seed=read_seed(seed), token=token
            )
            run = self.shelf.new_run()
            yield Shown(render.progress(fractions, render.said("sending")), "", clears=True)
            for shown in self._show(events, fractions, made, run, audio_format):
                # Whatever came before the cancelling was noticed is not shown any more.
                if token.is_cancelled:
                    raise Cancelled
                yield shown
        except Cancelled:
            yield Shown("", render.message("info", render.said("cancelled")), is_running=False)
        except VoiceSculptorError as problem:
            yield Shown("", render.error(problem), is_running=False)
        else:
            num_made = sum(fraction >= 1.0 for fraction in fractions)
            seconds = f"{time.monotonic() - began_s:.1f}"
            line = render.said("done", count=num_made, seconds=seconds)
            yield Shown(render.progress(fractions, line), facts=_ranked(made), is_running=False)
        finally:
            token.cancel()
            if self._running.get(session) is token:
                del self._running[session]

    def cancel(self, session: str) -> None:
        """Stop what a session has running; it ends within one step of the engine."""
        if token := self._running.get(session):
            token.cancel()

    def convert(self, played: Sequence[Path | None], audio_format: AudioFormat) -> list[Path | None]:
        """The downloads of cards in another format.

        Raises:
            VoiceSculptorError: A file is gone or cannot be written.
        """
        return [self.shelf.convert(path, audio_format) if path else None for path in played]

    def _show(
        self,
        events: Iterator[StudioEvent],
        fractions: list[float],
        made: list[Ready],
        run: Path,
        audio_format: AudioFormat,
    ) -> Iterator[Shown]:
        """Progress and cards; `fractions`, below 0 for a failed candidate, and `made` are kept up to date."""
        shown_s = 0.0
        # `Planned` has nothing to show: its notices stand below the description already.
        for event in events:
            if isinstance(event, Waiting):
                line = render.said("waiting", count=event.position, seconds=max(1, round(event.wait_s)))
                yield Shown(render.progress(fractions, line))
            elif isinstance(event, Loading):
                line = render.said("loading", percent=round(100 * event.fraction))
                yield Shown(render.progress(fractions, line))
            elif isinstance(event, Started):
                yield Shown(_making(fractions, 0))
            elif isinstance(event, Preview):
                # The last piece is not the end: the candidate is still to be levelled and written.
                fractions[event.index] = min(event.fraction, 0.99)
                if time.monotonic() - shown_s >= _SHOW_EVERY_S:
                    yield Shown(_making(fractions, event.index))
                    # Counted from when it has been sent: a slow connection gets fewer, not late ones.
                    shown_s = time.monotonic()
            elif isinstance(event, Ready):
                candidate = event.candidate
                fractions[candidate.index] = 1.0
                played, download, voice = self.shelf.put(run, candidate, audio_format)
                made.append(event)
                facts = render.card(candidate, event.notices, report(candidate.obedience))
                card = Card(facts, candidate.seed, played, download, voice)
                yield Shown(_making(fractions, candidate.index + 1), cards={candidate.index: card})
            elif isinstance(event, Failed):
                fractions[event.index] = -1.0
                card = Card(render.failed_card(event.index, event.error))
                yield Shown(_making(fractions, event.index + 1), cards={event.index: card})


def _ranked(made: Sequence[Ready]) -> dict[int, str]:
    """The cards' facts with their places, best first; nothing where there is nothing to compare."""
    if len(made) < 2 or all(ready.candidate.obedience.overall is None for ready in made):
        return {}
    order = by_obedience(ready.candidate for ready in made)
    ranks = {candidate.index: place for place, candidate in enumerate(order, start=1)}
    return {
        ready.candidate.index: render.card(
            ready.candidate,
            ready.notices,
            report(ready.candidate.obedience),
            ranks[ready.candidate.index],
        )
        for ready in made
    }


def _making(fractions: Sequence[float], index: int) -> str:
    count = len(fractions)
    index = min(index, count - 1)
    percent = round(100 * max(0.0, fractions[index]))
    return render.progress(fractions, render.said("making", index=index + 1, count=count, percent=percent))
