"""The library's tables, and a connection to them that is up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import peewee
from filelock import FileLock, Timeout

from voice_sculptor.errors import LibraryError

DATABASE = "library.sqlite3"
BUSY_TIMEOUT_S = 10.0
_LOCK = "library.lock"
_MIGRATIONS = Path(__file__).parent / "migrations"
_TABLE = "migrations"


class AudioRow(peewee.Model):
    """A clip's file that is there as long as this row is."""

    digest = peewee.TextField(primary_key=True)
    num_bytes = peewee.IntegerField()

    class Meta:
        """Of the table."""

        table_name = "audio"


class VoiceRow(peewee.Model):
    """A kept voice. Times are microseconds since 1970 UTC; the deleted ones wait to be purged."""

    id = peewee.TextField(primary_key=True)
    name = peewee.TextField()
    folded = peewee.TextField()
    voice = peewee.TextField()
    created_us = peewee.BigIntegerField()
    deleted_us = peewee.BigIntegerField(null=True)
    sample = peewee.TextField(null=True)

    class Meta:
        """Of the table."""

        table_name = "voices"


class RecordingRow(peewee.Model):
    """One clip that was made. `num_bytes` is what it takes: its file and its words."""

    id = peewee.AutoField()
    created_us = peewee.BigIntegerField()
    recipe = peewee.TextField()
    measured = peewee.TextField()
    obedience = peewee.TextField()
    duration_s = peewee.FloatField()
    audio = peewee.TextField()
    num_bytes = peewee.IntegerField()

    class Meta:
        """Of the table."""

        table_name = "recordings"


def open_database(folder: Path) -> peewee.SqliteDatabase:
    """A connection to a folder's library, made and brought up to date where needed.

    Args:
        folder: Made where it is missing.

    Raises:
        LibraryError: It cannot be opened, is damaged, or was written by a later version.
    """
    database = peewee.SqliteDatabase(
        str(folder / DATABASE),
        pragmas={
            "journal_mode": "wal",
            # As files are deleted for good after a commit, the commit has to be on the disk by then.
            "synchronous": "full",
            "foreign_keys": 1,
        },
        # One connection for all threads, behind the library's own lock.
        thread_safe=False,
        check_same_thread=False,
        timeout=BUSY_TIMEOUT_S,
        lock_type="IMMEDIATE",
    )
    path = folder / DATABASE
    try:
        with explained(path):
            folder.mkdir(parents=True, exist_ok=True)
            # Switching to WAL and migrating are for one process at a time.
            with FileLock(folder / _LOCK, timeout=BUSY_TIMEOUT_S):
                database.connect()
                _migrate(database, path)
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """What SQLite and the system say about a library, as sentences.

    Raises:
        LibraryError: In their place.
    """
    try:
        yield
    except (peewee.PeeweeException, OSError, Timeout) as error:
        raise _library_error(path, error) from error


def _migrate(database: peewee.SqliteDatabase, path: Path) -> None:
    from playhouse.migrations import Runner

    runner = Runner(database, str(_MIGRATIONS), table_name=_TABLE)
    status = runner.status()
    if any(step.path is None for step in status):
        raise LibraryError(
            f"The library {path} was written by a later version of Voice Sculptor.",
            f"声音库 {path} 由更新版本的 Voice Sculptor 写入。",
            fix_en="Update this one, or choose another folder with --data-dir.",
            fix_zh="请升级本程序，或用 --data-dir 换一个文件夹。",
        )
    if any(step.applied is None for step in status):
        # All or nothing, the list of what was done included.
        with database.atomic():
            runner.up()


def _library_error(path: Path, error: Exception) -> LibraryError:
    # A full disk ends the transaction by itself; undoing it once more is not what went wrong.
    while "cannot rollback" in str(error) and isinstance(error.__context__, Exception):
        error = error.__context__
    reason = str(error).lower()
    if isinstance(error, Timeout) or "locked" in reason or "busy" in reason:
        return LibraryError(
            f"The library {path} is in use by another program for too long.",
            f"声音库 {path} 长时间被其他程序占用。",
            fix_en="Try again; if it lasts, end the program that holds it.",
            fix_zh="请重试；如一直如此，请结束占用它的程序。",
        )
    if "malformed" in reason or "not a database" in reason or "no such" in reason:
        return LibraryError(
            f"The library {path} is damaged: {error}.",
            f"声音库 {path} 已损坏：{error}。",
            fix_en="Move it elsewhere, or choose another folder with --data-dir; a new one is then made.",
            fix_zh="请将它移到别处，或用 --data-dir 换一个文件夹，程序会新建一个。",
        )
    why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return LibraryError(
        f"The library {path} cannot be used: {why}.",
        f"无法使用声音库 {path}：{why}。",
        fix_en="Free some space there or change the permissions, or choose another folder with --data-dir.",
        fix_zh="请清理空间或修改权限，或用 --data-dir 换一个文件夹。",
    )
