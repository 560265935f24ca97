"""Audio files named by their content: written whole, checked by name, deleted late.

`FOLDER/ab/abcdef….flac`, where `abcdef…` is the SHA-256 of the file. Equal clips share a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from voice_sculptor.audio.files import write_bytes
from voice_sculptor.audio.io import encode
from voice_sculptor.domain import AudioClip

SUFFIX = ".flac"
ORPHAN_AGE_S = 3600.0
"""A file that nobody knows may be one that another process has just written and is about to enter."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


def is_digest(text: str) -> bool:
    """Whether a text can be the name of a clip."""
    return _DIGEST.fullmatch(text) is not None


class AudioStore:
    """A folder of clips.

    Args:
        folder: Made when the first clip is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def encoded(self, clip: AudioClip) -> tuple[str, bytes]:
        """A clip as a file: its digest and its bytes, 16-bit FLAC.

        Raises:
            OutputError: It is empty or holds NaN.
        """
        data = encode(clip, "flac")
        return hashlib.sha256(data).hexdigest(), data

    def path(self, digest: str) -> Path:
        """Where a clip is, or would be.

        Args:
            digest: One for which `is_digest` holds; anything else never becomes a path.
        """
        if not is_digest(digest):
            raise ValueError(f"not a digest: {digest!r}")
        return self.folder / digest[:2] / (digest + SUFFIX)

    def put(self, digest: str, data: bytes) -> None:
        """Make sure that a clip's file is there, on the disk and young.

        Raises:
            OutputError: It cannot be written.
        """
        path = self.path(digest)
        with contextlib.suppress(OSError):
            if path.stat().st_size == len(data):
                os.utime(path)
                return
        write_bytes(data, path)
        for folder in (path.parent, self.folder):
            _settle(folder)

    def delete(self, digest: str) -> None:
        """Delete a clip's file; one that cannot be deleted now is swept later."""
        with contextlib.suppress(OSError):
            self.path(digest).unlink()

    def sweep(self, is_known: Callable[[str], bool], age_s: float = ORPHAN_AGE_S) -> int:
        """Delete what nobody knows: files of clips never entered, and of writes that broke off.

        Args:
            is_known: Told a digest.
            age_s: How old a file must be, seconds.

        Returns:
            How many files went.
        """
        oldest_s = time.time() - age_s
        num_deleted = 0
        for path in self.folder.glob("*/*"):
            digest = path.name.removesuffix(SUFFIX)
            if path.name.endswith(SUFFIX) and is_digest(digest) and is_known(digest):
                continue
            with contextlib.suppress(OSError):
                if path.is_file() and path.stat().st_mtime < oldest_s:
                    path.unlink()
                    num_deleted += 1
        return num_deleted


def _settle(folder: Path) -> None:
    """The entries of a folder are on the disk after this, where the system lets a program ask for it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
