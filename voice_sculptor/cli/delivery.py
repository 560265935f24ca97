"""From a studio's events to files, lines on the terminal and the JSON document of docs/cli.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voice_sculptor.cli.session import Session, print_json

if TYPE_CHECKING:
    from voice_sculptor.domain import Candidate
    from voice_sculptor.events import StudioEvent
    from voice_sculptor.studio import Studio


@dataclass(frozen=True)
class Saved:
    """Where a candidate went.

    Attributes:
        path: Its audio.
        voice: What `speak --voice` takes to speak as it does.
        replaced: Whether an older file of that name is gone.
    """

    path: Path
    voice: str
    replaced: bool = False


def deliver(
    session: Session,
    studio: Studio,
    events: Iterator[StudioEvent],
    save: Callable[[Candidate], Saved],
    as_json: bool,
) -> None:
    """Save each candidate as it comes, and say what was made."""
    from voice_sculptor.documents import design_json, understood_json
    from voice_sculptor.events import Failed, Planned, Preview, Ready
    from voice_sculptor.scheduling.worker import Loading

    made: list[tuple[Candidate, Saved]] = []
    warnings: list[dict[str, str]] = []
    understood: dict[str, Any] = {}
    count, exit_code = 1, 0

    def warn(kind: str, message: str) -> None:
        warnings.append({"kind": kind, "message": message})
        session.say(message)

    with session.progress() as show:
        for event in events:
            if isinstance(event, Planned):
                count, understood = len(event.seeds), understood_json(event.understood)
                for notice in event.notices:
                    warn(notice.kind, notice.message(session.language))
            elif isinstance(event, Loading):
                show(session.pick("Loading the engine", "正在加载引擎"), event.fraction)
            elif isinstance(event, Preview):
                label = session.pick("Candidate", "候选") + f" {event.index + 1}/{count}"
                show(label, (event.index + event.fraction) / count)
            elif isinstance(event, Failed):
                label = session.pick(f"Candidate {event.index + 1}: ", f"候选 {event.index + 1}：")
                warn(event.error.kind, label + event.error.message(session.language))
                exit_code = exit_code or event.error.exit_code
            elif isinstance(event, Ready):
                for notice in event.notices:
                    warn(notice.kind, notice.message(session.language))
                saved = save(event.candidate)
                if saved.replaced:
                    session.say(session.pick(f"Replaced {saved.path}.", f"已替换 {saved.path}。"))
                made.append((event.candidate, saved))
                if not as_json:
                    typer.echo(saved.path)
                    _say_obedience(session, event.candidate)
    if as_json and made:
        from voice_sculptor.obedience import by_obedience

        saved_of = {candidate.index: saved for candidate, saved in made}
        best_first = by_obedience(candidate for candidate, _ in made)
        listed = [_candidate(candidate, saved_of[candidate.index]) for candidate in best_first]
        print_json(design_json(studio.engine.info, listed, understood, warnings))
    raise typer.Exit(exit_code)


def _candidate(candidate: Candidate, saved: Saved) -> dict[str, Any]:
    from voice_sculptor.documents import candidate_json

    return {"path": str(saved.path), **candidate_json(candidate, saved.voice)}


def _say_obedience(session: Session, candidate: Candidate) -> None:
    """One line on how far it did what was asked; nothing where nothing was, or nobody watches."""
    overall = candidate.obedience.overall
    if overall is None or not sys.stderr.isatty():
        return
    missed = [check.control for check in candidate.obedience.checks if check.is_met is False]
    line = session.pick(f"  match {overall:.0%}", f"  符合度 {overall:.0%}")
    if missed:
        line += session.pick("; missed: ", "；未达到：") + ", ".join(missed)
    session.say(line)
