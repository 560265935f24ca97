"""Where results go: a folder checked beforehand, names that replace nothing, files that are whole."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from itertools import chain, count
from pathlib import Path

from voice_sculptor.audio.io import write_bytes
from voice_sculptor.errors import OutputError

_PROBE_BYTES = 65_536


def check_folder(folder: Path) -> None:
    """Make sure, before any work, that files can be written into a folder that may not exist yet.

    Leaves nothing behind.

    Raises:
        OutputError: It cannot be written, or the disk is full.
    """
    try:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        with tempfile.TemporaryFile(dir=existing) as probe:
            probe.write(bytes(_PROBE_BYTES))
    except OSError as error:
        raise _unwritable(folder, error) from error


def is_folder(path: Path) -> bool:
    """Whether there is a folder of that name.

    Raises:
        OutputError: Nothing can have that name.
    """
    try:
        return path.is_dir()
    except OSError as error:
        raise _unwritable(path, error) from error


def write_new(folder: Path, stem: str, content: Callable[[str], Mapping[str, bytes]]) -> str:
    """Write files that belong together, all or none, and never over other content.

    Args:
        folder: Made where it is missing.
        stem: What their names begin with. Where files of that name hold something else, `stem-2`, `stem-3` …
            is tried; where they hold the same already, they are left as they are.
        content: The files for a stem: bytes by suffix.

    Returns:
        The stem that was used.

    Raises:
        OutputError: A file cannot be written; those written before it are gone again.
    """
    for name in chain([stem], (f"{stem}-{number}" for number in count(2))):
        files = {folder / f"{name}{suffix}": data for suffix, data in content(name).items()}
        missing = {path: data for path, data in files.items() if not path.exists()}
        if all(_holds(path, data) for path, data in files.items() if path not in missing):
            break
    written: list[Path] = []
    try:
        for path, data in missing.items():
            write_bytes(data, path)
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink()
        raise
    return name


def _unwritable(path: Path, error: OSError) -> OutputError:
    why = error.strerror or str(error)
    return OutputError(
        f"Nothing can be written to {path}: {why}.",
        f"无法写入 {path}：{why}。",
        fix_en="Choose a folder you can write to, with free space.",
        fix_zh="请选择可写且有剩余空间的文件夹。",
    )


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False
