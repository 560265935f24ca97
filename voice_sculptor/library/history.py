"""Rows of the record of what was made. Every function runs inside a transaction of the library's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import peewee

from voice_sculptor.library.records import DAY_US, Limits, Recording, as_json, as_time
from voice_sculptor.library.schema import RecordingRow


def add(
    database: peewee.Database,
    now_us: int,
    documents: Mapping[str, Mapping[str, Any]],
    duration_s: float,
    digest: str,
    num_audio_bytes: int,
) -> Recording:
    """Enter a recording.

    Args:
        database: In a transaction.
        now_us: When it was made.
        documents: `recipe`, `measured` and `obedience`.
        duration_s: Of its clip.
        digest: Of its clip, which has its row.
        num_audio_bytes: Of its clip's file.
    """
    words = {name: as_json(document) for name, document in documents.items()}
    num_bytes = num_audio_bytes + sum(len(each.encode()) for each in words.values())
    values = {"created_us": now_us, "duration_s": duration_s, "audio": digest, "num_bytes": num_bytes}
    number = RecordingRow.insert({**words, **values}).execute(database)
    return Recording(
        id=number, created_at=as_time(now_us), duration_s=duration_s, audio=digest, **dict(documents)
    )


def latest(database: peewee.Database, limit: int) -> tuple[Recording, ...]:
    """The last recordings, newest first."""
    rows = RecordingRow.select().order_by(RecordingRow.id.desc()).limit(limit)
    return tuple(
        Recording(
            id=row.id,
            created_at=as_time(row.created_us),
            recipe=json.loads(row.recipe),
            measured=json.loads(row.measured),
            obedience=json.loads(row.obedience),
            duration_s=row.duration_s,
            audio=row.audio,
        )
        for row in rows.execute(database)
    )


def evict(database: peewee.Database, limits: Limits, now_us: int) -> set[str]:
    """Delete the rows that are too old, and the oldest that are too many bytes.

    Returns:
        Digests of their clips.
    """
    gone = RecordingRow.created_us < now_us - round(limits.history_days * DAY_US)
    total = RecordingRow.select(peewee.fn.SUM(RecordingRow.num_bytes)).scalar(database) or 0
    if total > limits.history_bytes:
        gone |= RecordingRow.id <= _last_of_oldest(database, total - limits.history_bytes)
    digests = {row.audio for row in RecordingRow.select(RecordingRow.audio).where(gone).execute(database)}
    if digests:
        RecordingRow.delete().where(gone).execute(database)
    return digests


def _last_of_oldest(database: peewee.Database, excess_bytes: int) -> int:
    """The newest of those recordings, from the oldest on, that have to go to make so much room."""
    oldest_first = RecordingRow.select(RecordingRow.id, RecordingRow.num_bytes).order_by(RecordingRow.id)
    newest = 0
    # Read row by row: as a rule it is the first alone, whatever the number of those behind it.
    with closing(database.execute(oldest_first.tuples())) as cursor:
        for number, num_bytes in cursor:
            newest = number
            excess_bytes -= num_bytes
            if excess_bytes <= 0:
                break
    return newest
