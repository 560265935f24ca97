"""The first layout: audio files, the voices that are kept, the record of what was made."""

from __future__ import annotations

import peewee

STATEMENTS = (
    """
    CREATE TABLE audio (
        digest TEXT NOT NULL PRIMARY KEY,
        num_bytes INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE voices (
        id TEXT NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        folded TEXT NOT NULL,
        voice TEXT NOT NULL,
        created_us INTEGER NOT NULL,
        deleted_us INTEGER,
        sample TEXT REFERENCES audio (digest)
    )
    """,
    "CREATE UNIQUE INDEX voices_by_name ON voices (folded) WHERE deleted_us IS NULL",
    "CREATE INDEX voices_by_sample ON voices (sample)",
    """
    CREATE TABLE recordings (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        created_us INTEGER NOT NULL,
        recipe TEXT NOT NULL,
        measured TEXT NOT NULL,
        obedience TEXT NOT NULL,
        duration_s REAL NOT NULL,
        audio TEXT NOT NULL REFERENCES audio (digest),
        num_bytes INTEGER NOT NULL
    )
    """,
    "CREATE INDEX recordings_by_age ON recordings (created_us)",
    # Their sum is asked for at each recording, and is read from the index alone.
    "CREATE INDEX recordings_by_size ON recordings (num_bytes)",
    "CREATE INDEX recordings_by_audio ON recordings (audio)",
)


def up(migrator: object, db: peewee.Database) -> None:
    """Make the tables."""
    for statement in STATEMENTS:
        db.execute_sql(statement)
