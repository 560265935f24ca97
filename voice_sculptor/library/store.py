"""The library: kept voices, and the record of what was made.

A folder with an SQLite database and audio files named by their content. What holds at every moment, whatever process is
killed at whatever point: the audio file of a row is there. So a file is on the disk before its row is entered, a row is
gone for good before its file is deleted, and both are decided under SQLite's one write lock. A file without a row does
no harm, and is swept once it is old.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from voice_sculptor.domain import AudioClip, Candidate, SynthesisRequest, Voice
from voice_sculptor.errors import LibraryError, UnknownRecording
from voice_sculptor.library import history, voice_rows
from voice_sculptor.library.audio_store import AudioStore, is_digest
from voice_sculptor.library.names import MAX_NAME_CHARS, checked, cleaned, folded
from voice_sculptor.library.records import KeptVoice, Limits, Recording, recipe_of
from voice_sculptor.library.schema import (
    DATABASE,
    AudioRow,
    RecordingRow,
    VoiceRow,
    explained,
    open_database,
)

TIDY_EVERY_S = 3600.0


class Library:
    """One folder's library; any number of threads and processes may have it open.

    Args:
        data_dir: Its folder; made where it is missing.
        limits: How much of the past is kept.
        clock: Seconds since 1970.

    Raises:
        LibraryError: It cannot be opened.
    """

    def __init__(
        self, data_dir: Path, limits: Limits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = data_dir / DATABASE
        self.limits = limits or Limits()
        self._clock = clock
        self._lock = threading.RLock()
        self._files = AudioStore(data_dir / "audio")
        self._database = open_database(data_dir)
        self._tidied_s = -math.inf
        self._is_closed = False
        try:
            self._tidy_if_due()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    def is_in(data_dir: Path) -> bool:
        """Whether a folder has a library already."""
        return (data_dir / DATABASE).is_file()

    def close(self) -> None:
        """Let go of it; nothing else can be asked of it afterwards."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._database.close()

    def keep(
        self,
        voice: Voice,
        name: str | None = None,
        audio: AudioClip | None = None,
        reserved: Iterable[str] = (),
    ) -> KeptVoice:
        """Keep a voice.

        Args:
            voice: What to keep.
            name: What to call it; `None` takes the voice's own. One that is taken gets a number: `name (2)`.
            audio: A clip of it.
            reserved: Names that it cannot have.

        Raises:
            InvalidRequest: The name is empty or too long.
            OutputError: The clip cannot be written.
            LibraryError: The library cannot be written.
        """
        if name is None:
            name = cleaned(voice.name)[:MAX_NAME_CHARS].rstrip() or "voice"
        name = checked(name)
        taken = frozenset(map(folded, reserved))
        if audio is None:
            with self._transaction():
                return voice_rows.add(self._database, self._now_us(), voice, name, taken, None)
        with self._with_audio(audio) as (digest, _):
            return voice_rows.add(self._database, self._now_us(), voice, name, taken, digest)

    def voices(self) -> tuple[KeptVoice, ...]:
        """The kept voices, newest first; one that is damaged is left out."""
        with self._reading():
            return voice_rows.listed(self._database)

    def deleted(self) -> tuple[KeptVoice, ...]:
        """The deleted voices that can still be restored, last deleted first."""
        with self._reading():
            return voice_rows.listed(self._database, is_deleted=True)

    def find(self, id_or_name: str) -> KeptVoice:
        """A kept voice by its id or its name; case does not count.

        Raises:
            UnknownVoice: There is none; the sentence names near ones.
            InvalidVoiceFile: It is damaged.
        """
        with self._reading():
            return voice_rows.found(self._database, id_or_name)

    def rename(self, id: str, name: str, reserved: Iterable[str] = ()) -> KeptVoice:
        """Give a kept voice another name; as with `keep`, one that is taken gets a number.

        Raises:
            UnknownVoice: There is none of that id.
            InvalidRequest: The name is empty or too long.
        """
        name = checked(name)
        with self._transaction():
            return voice_rows.rename(self._database, id, name, frozenset(map(folded, reserved)))

    def delete(self, id: str) -> None:
        """Take a kept voice off the list; `restore` brings it back, until `limits.deleted_days` are over.

        Raises:
            UnknownVoice: There is none of that id.
        """
        with self._transaction():
            voice_rows.delete(self._database, id, self._now_us())

    def restore(self, id: str, reserved: Iterable[str] = ()) -> KeptVoice:
        """Bring back a deleted voice; where its name is taken by now, it gets a number.

        Raises:
            UnknownVoice: No deleted one has that id.
        """
        with self._transaction():
            return voice_rows.restore(self._database, id, frozenset(map(folded, reserved)))

    def record(self, request: SynthesisRequest, candidate: Candidate) -> Recording | None:
        """Write down what was made: recipe, measurements, audio. The oldest make room.

        Args:
            request: What was asked.
            candidate: What came of it.

        Returns:
            `None` where the limits keep no history.

        Raises:
            OutputError: The clip cannot be written.
            LibraryError: The library cannot be written.
        """
        if not self.limits.keeps_history:
            return None
        documents = {
            "recipe": recipe_of(request, candidate.voice, candidate.seed),
            "measured": candidate.measured.as_json(),
            "obedience": candidate.obedience.as_json(),
        }
        with self._with_audio(candidate.audio) as (digest, num_bytes):
            now_us, duration_s = self._now_us(), candidate.audio.duration_s
            made = history.add(self._database, now_us, documents, duration_s, digest, num_bytes)
            unused = self._forget(history.evict(self._database, self.limits, now_us))
        self._delete_files(unused)
        self._tidy_if_due()
        return made

    def recordings(self, limit: int = 50) -> tuple[Recording, ...]:
        """The last things that were made, newest first."""
        with self._reading():
            return history.latest(self._database, limit)

    def audio(self, digest: str) -> Path:
        """The file of a clip, 16-bit FLAC; it may be evicted later, that of a kept voice is not.

        Raises:
            UnknownRecording: There is none.
        """
        with self._reading():
            if is_digest(digest) and AudioRow.select().where(AudioRow.digest == digest).exists(
                self._database
            ):
                return self._files.path(digest)
        raise UnknownRecording(
            "There is no such clip in the library.",
            "声音库里没有这段音频。",
            fix_en="Old recordings are deleted in time; make it again from its recipe.",
            fix_zh="旧录音会被自动删除，请按记录重新生成。",
        )

    def tidy(self) -> None:
        """Delete what is over the limits, voices deleted long ago, and files that nobody knows."""
        with self._transaction():
            now_us = self._now_us()
            unused = history.evict(self._database, self.limits, now_us)
            unused |= voice_rows.purge(self._database, self.limits, now_us)
            unused = self._forget(unused)
        self._delete_files(unused)
        with self._transaction():
            rows = AudioRow.select(AudioRow.digest).tuples().execute(self._database)
            self._files.sweep({digest for (digest,) in rows}.__contains__)

    @contextmanager
    def _with_audio(self, clip: AudioClip) -> Iterator[tuple[str, int]]:
        """A transaction in which a clip has its file and its row; yields its digest and the size of the file."""
        digest, data = self._files.encoded(clip)
        # Most of the time is spent here, where nobody waits for it.
        self._files.put(digest, data)
        with self._transaction():
            # Meanwhile another process may have deleted it with the last row that had it.
            self._files.put(digest, data)
            row = {"digest": digest, "num_bytes": len(data)}
            AudioRow.insert(row).on_conflict_ignore().execute(self._database)
            yield digest, len(data)

    def _forget(self, digests: set[str]) -> set[str]:
        """Delete the rows of clips that no voice and no recording has any more; returns those."""
        unused = {
            digest
            for digest in digests
            if not RecordingRow.select().where(RecordingRow.audio == digest).exists(self._database)
            and not VoiceRow.select().where(VoiceRow.sample == digest).exists(self._database)
        }
        for digest in unused:
            AudioRow.delete().where(AudioRow.digest == digest).execute(self._database)
        return unused

    def _delete_files(self, digests: set[str]) -> None:
        """Delete files whose rows are gone for good, save those that have been entered again meanwhile."""
        if not digests:
            return
        with self._transaction():
            for digest in digests:
                if not AudioRow.select().where(AudioRow.digest == digest).exists(self._database):
                    self._files.delete(digest)

    def _tidy_if_due(self) -> None:
        if time.monotonic() - self._tidied_s >= TIDY_EVERY_S:
            self._tidied_s = time.monotonic()
            self.tidy()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, and nobody else writes meanwhile."""
        with self._reading(), self._database.atomic():
            yield

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock, explained(self.path):
            if self._is_closed:
                raise LibraryError(
                    f"The library {self.path} is closed.",
                    f"声音库 {self.path} 已关闭。",
                    fix_en="Start the studio again.",
                    fix_zh="请重新启动工作室。",
                )
            yield

    def _now_us(self) -> int:
        return round(self._clock() * 1_000_000)
