"""Run as a program: dies at every step of a library's work, once each, in a folder of its own.

A step is a statement of SQLite or a call that changes the disk. Each child is a fork of this process, and is killed by
SIGKILL right before its step; the last one reaches the end.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peewee

from tests.library.making import clip, made, voice
from voice_sculptor.library.records import Limits
from voice_sculptor.library.store import Library

DAY_S = 86_400.0


def scenario(folder: Path) -> None:
    """Everything that writes: making it, keeping, renaming, deleting, recording, evicting, purging, sweeping."""
    now_s = [1_800_000_000.0]
    with Library(folder, Limits(history_bytes=20_000, history_days=10), lambda: now_s[0]) as library:
        first = library.keep(voice(), "first", clip(1))
        library.keep(voice(), "second", clip(2))
        library.rename(first.id, "renamed")
        library.record(*MADE[0])
        library.record(*MADE[1])
        library.record(*MADE[2])
        library.delete(first.id)
        library.restore(first.id)
        library.delete(first.id)
        now_s[0] += 40 * DAY_S
        library.tidy()


MADE = [made(number, duration_s=0.5) for number in range(3)]


class Steps:
    """Counts the steps of this process and ends it before one of them.

    Args:
        last: Its number.
    """

    def __init__(self, last: int) -> None:
        self.last = last
        self.count = 0

    def step(self, *_: object) -> None:
        self.count += 1
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        connect: Callable[..., sqlite3.Connection] = peewee.SqliteDatabase._connect

        def connected(database: Any) -> sqlite3.Connection:
            connection = connect(database)
            connection.set_trace_callback(self.step)
            return connection

        peewee.SqliteDatabase._connect = connected
        for owner, name in (
            (os, "fsync"),
            (Path, "replace"),
            (Path, "unlink"),
            (Path, "mkdir"),
            (os, "utime"),
        ):
            setattr(owner, name, self._before(getattr(owner, name)))

    def _before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **rest: Any) -> Any:
            self.step()
            return call(*args, **rest)

        return stepped


def main(folder: Path) -> None:
    for number in range(1, 1000):
        own = folder / f"{number:03}"
        own.mkdir()
        child = os.fork()
        if child == 0:
            steps = Steps(number)
            steps.watch()
            scenario(own)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            sys.exit(os.WEXITSTATUS(status))
        assert os.WTERMSIG(status) == signal.SIGKILL


if __name__ == "__main__":
    main(Path(sys.argv[1]))
