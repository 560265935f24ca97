"""The page's audio files: one folder per generation, oldest deleted first once they take too much room."""

from __future__ import annotations

import shutil
import tempfile
import threading
import uuid
from collections import deque
from pathlib import Path

from voice_sculptor.audio.io import decode, write
from voice_sculptor.domain import AudioFormat, Candidate
from voice_sculptor.errors import OutputError
from voice_sculptor.library.voice_files import SUFFIX, save_voice

MAX_BYTES = 2_000_000_000


class Shelf:
    """A folder that lives as long as the page. File names come from seeds alone, never from what users wrote.

    Args:
        max_bytes: Room for all files; the newest generation is kept whatever it takes.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="voice-sculptor-", ignore_cleanup_errors=True)
        self._max_bytes = max_bytes
        self._runs: deque[Path] = deque()
        self._lock = threading.Lock()

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self._folder.name)

    def close(self) -> None:
        """Delete everything."""
        self._folder.cleanup()

    def new_run(self) -> Path:
        """A folder for the files of one generation.

        Raises:
            OutputError: It cannot be made.
        """
        run = self.path / uuid.uuid4().hex
        try:
            run.mkdir(parents=True)
        except OSError as error:
            raise OutputError(
                f"The audio folder cannot be written: {error.strerror or error}.",
                f"无法写入音频文件夹：{error.strerror or error}。",
                fix_en="Free some disk space, or point TMPDIR to a folder with room.",
                fix_zh="请清理磁盘空间，或用 TMPDIR 指向有空间的文件夹。",
            ) from error
        with self._lock:
            self._runs.append(run)
            self._make_room()
        return run

    def put(self, run: Path, candidate: Candidate, audio_format: AudioFormat) -> tuple[Path, Path, Path]:
        """Write a candidate.

        Returns:
            A WAV to play, the same in `audio_format` to download, and the voice file.

        Raises:
            OutputError: The disk is full or the run was deleted meanwhile.
        """
        stem = f"{candidate.index + 1}-seed-{candidate.seed}"
        played = run / f"{stem}.wav"
        write(candidate.audio, played)
        voice = run / f"{stem}{SUFFIX}"
        save_voice(candidate.voice, voice)
        return played, self.convert(played, audio_format), voice

    def convert(self, played: Path, audio_format: AudioFormat) -> Path:
        """The file of `put` in another format, made at most once."""
        target = played.with_suffix(f".{audio_format}")
        if not target.exists():
            write(decode(played), target)
        return target

    def _make_room(self) -> None:
        sizes = {run: sum(f.stat().st_size for f in run.glob("*")) for run in self._runs}
        used = sum(sizes.values())
        while used > self._max_bytes and len(self._runs) > 1:
            oldest = self._runs.popleft()
            shutil.rmtree(oldest, ignore_errors=True)
            used -= sizes[oldest]
