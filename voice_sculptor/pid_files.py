"""Which servers run out of a data folder: one small file for each, that outlives a server which was killed.

A number alone names whatever process has it now. So a file holds when its process began and how it was called, and only
a process to which all of that still applies is taken for the one that wrote it.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil
from pydantic import BaseModel, ConfigDict, Field, ValidationError

_log = logging.getLogger(__name__)

FOLDER = "run"
_SAME_S = 2.0
"""The system's clock of when processes began may be set right in between."""
_MAX_BYTES = 64_000
_LOOK_S = 0.05
_PRODUCT = ("voice_sculptor", "voice-sculptor", "app.py")


class _Record(BaseModel):
    """Content of a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pid: int = Field(gt=0)
    began_s: float
    command: tuple[str, ...]
    port: int = Field(ge=0, le=65535)


@dataclass(frozen=True)
class Server:
    """One that runs.

    Attributes:
        process: Known by more than its number: psutil refuses to end another one that has got it.
        port: Where its page is.
        file: What says so.
    """

    process: psutil.Process
    port: int
    file: Path


Ending = Literal["ended", "killed", "left"]
"""After it was asked to; by force; not at all: it is another user's."""


@contextmanager
def written(data_dir: Path, port: int) -> Iterator[None]:
    """A file for this process as long as the block lasts; those of processes that are gone are removed.

    Args:
        data_dir: Of this server. Where nothing can be written there it runs all the same, and that is logged.
        port: Where its page is.
    """
    running(data_dir)
    me = psutil.Process()
    record = _Record(pid=me.pid, began_s=me.create_time(), command=tuple(me.cmdline()), port=port)
    path = data_dir / FOLDER / f"{me.pid}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".new")
        unfinished.write_text(record.model_dump_json(), encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        _log.warning("%s cannot be written, so `run.sh --clean` will not find this server: %s", path, error)
    try:
        yield
    finally:
        _remove(path)


def running(data_dir: Path) -> tuple[Server, ...]:
    """Servers that were started with this folder and still run, without this process; other files are removed."""
    found = []
    for path in sorted((data_dir / FOLDER).glob("*.json")):
        if path.stem == str(os.getpid()):
            continue
        server = _server(path)
        if server is None:
            _remove(path)
        else:
            found.append(server)
    return tuple(found)


def end(server: Server, gentle_s: float = 15.0, firm_s: float = 5.0) -> Ending:
    """End a server and what it has started.

    Args:
        server: Which.
        gentle_s: Time it is given to finish by itself.
        firm_s: Time for the system to remove it after that.
    """
    try:
        family = [server.process, *server.process.children(recursive=True)]
        server.process.terminate()
    except psutil.NoSuchProcess:
        _remove(server.file)
        return "ended"
    except psutil.AccessDenied:
        return "left"
    alive = _still_there(family, gentle_s)
    was_gentle = server.process not in alive
    for process in alive:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.kill()
    if server.process in _still_there(alive, firm_s):
        return "left"
    _remove(server.file)
    return "ended" if was_gentle else "killed"


def _server(path: Path) -> Server | None:
    """The server that a file tells of; `None` where it is gone, or another process has its number."""
    try:
        with path.open("rb") as file:
            record = _Record.model_validate_json(file.read(_MAX_BYTES))
        process = psutil.Process(record.pid)
        is_same = abs(process.create_time() - record.began_s) <= _SAME_S
        if is_same and tuple(process.cmdline()) == record.command and _is_product(record.command):
            return Server(process, record.port, path)
    except (OSError, ValueError, ValidationError, psutil.Error):
        return None
    return None


def _still_there(processes: list[psutil.Process], patience_s: float) -> list[psutil.Process]:
    """Those that have not ended in that time; one that only its parent has yet to take note of has ended."""
    deadline_s = time.monotonic() + patience_s
    while True:
        processes = [process for process in processes if not _has_ended(process)]
        if not processes or time.monotonic() >= deadline_s:
            return processes
        time.sleep(_LOOK_S)


def _has_ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _is_product(command: tuple[str, ...]) -> bool:
    """Whoever can write into the data folder must not be able to name any process of ours."""
    return any(name in argument for argument in command for name in _PRODUCT)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
