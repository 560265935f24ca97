"""What every command knows: the language of its messages, and where they go."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

PROGRAM = "voice-sculptor"
_COMMAND = re.compile(rf"(?<![\w./-]){PROGRAM} (?=[a-z-])")
"""The name in a sentence that tells what to run."""


@dataclass
class Session:
    """One run of the command line.

    Attributes:
        language: Of messages, `"zh"` or `"en"`.
        data_dir: `--data-dir` as far as it was given before a command of `kept`.
    """

    language: str = "en"
    data_dir: Path | None = None

    def pick(self, en: str, zh: str) -> str:
        """The sentence in the language of the session."""
        return zh if self.language == "zh" else en

    def say(self, message: str) -> None:
        """One line for people, on stderr; stdout belongs to results."""
        typer.echo(_COMMAND.sub(f"{program()} ", message), err=True)

    @contextmanager
    def progress(self) -> Iterator[Callable[[str, float], None]]:
        """A function that shows what is being done and how far, 0–1; it is silent where nobody watches."""
        if not sys.stderr.isatty():
            yield lambda label, fraction: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
        )
        # Results printed meanwhile go above the bar only where stdout is the same terminal.
        shares_terminal = sys.stdout.isatty()
        console = Console(stderr=True)
        with Progress(*columns, console=console, transient=True, redirect_stdout=shares_terminal) as bar:
            task = bar.add_task("", total=1.0)
            yield lambda label, fraction: bar.update(task, description=label, completed=fraction)


def program() -> str:
    """How this command line was called: `run.sh` says that it was by it."""
    return os.environ.get("VOICE_SCULPTOR_PROGRAM") or PROGRAM


def language_of(environ: Mapping[str, str]) -> str:
    """The language that a POSIX environment asks messages to be in: `"zh"` or `"en"`."""
    locale = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return "zh" if locale.lower().startswith("zh") else "en"


def print_json(document: Any) -> None:
    """Put one JSON document on stdout."""
    import json

    typer.echo(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))


def print_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Aligned columns on a terminal, tab-separated lines elsewhere."""
    if not sys.stdout.isatty():
        for row in (header, *rows):
            typer.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for index, title in enumerate(header):
        # What is typed in again, the first column, is never cut short.
        table.add_column(title, no_wrap=index == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
