"""Rows of the kept voices. Every function runs inside a transaction of the library's."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable

import peewee

from voice_sculptor.domain import Voice
from voice_sculptor.errors import InvalidVoiceFile, UnknownVoice
from voice_sculptor.library.names import folded, free_name, near
from voice_sculptor.library.records import DAY_US, KeptVoice, Limits, as_json, as_time, is_id
from voice_sculptor.library.schema import VoiceRow
from voice_sculptor.library.voice_files import parse_voice

_SHOWN_CHARS = 120
_log = logging.getLogger(__name__)


def add(
    database: peewee.Database, now_us: int, voice: Voice, name: str, taken: frozenset[str], sample: str | None
) -> KeptVoice:
    """Enter a voice under a name, with a number behind it where that is taken."""
    name = _free(database, name, taken)
    voice = voice.model_copy(update={"name": name})
    id = uuid.uuid4().hex
    row = {
        "id": id,
        "name": name,
        "folded": folded(name),
        "voice": as_json(voice.model_dump(mode="json")),
        "created_us": now_us,
        "sample": sample,
    }
    VoiceRow.insert(row).execute(database)
    return KeptVoice(id, voice, as_time(now_us), sample)


def listed(database: peewee.Database, is_deleted: bool = False) -> tuple[KeptVoice, ...]:
    """All that can be read, newest first; of one that cannot, the log tells."""
    column = VoiceRow.deleted_us if is_deleted else VoiceRow.created_us
    query = VoiceRow.select().where(VoiceRow.deleted_us.is_null(not is_deleted))
    voices = []
    # Two of one microsecond come in the order in which they were entered.
    for row in query.order_by(column.desc(), peewee.SQL("rowid").desc()).execute(database):
        try:
            voices.append(_kept(row))
        except InvalidVoiceFile as error:
            _log.warning("%s", error.message())
    return tuple(voices)


def found(database: peewee.Database, id_or_name: str) -> KeptVoice:
    """A voice by its id or its name.

    Raises:
        UnknownVoice: There is none; the sentence names near ones.
        InvalidVoiceFile: It is damaged.
    """
    query = VoiceRow.select().where(VoiceRow.deleted_us.is_null())
    if is_id(id_or_name):
        by_id = query.where(VoiceRow.id == id_or_name).first(database)
        if by_id is not None:
            return _kept(by_id)
    by_name = query.where(VoiceRow.folded == folded(id_or_name)).first(database)
    if by_name is None:
        raise unknown_voice(id_or_name, [row.name for row in query.execute(database)])
    return _kept(by_name)


def rename(database: peewee.Database, id: str, name: str, taken: frozenset[str]) -> KeptVoice:
    """Give a voice another name, with a number behind it where that is taken.

    Raises:
        UnknownVoice: There is none of that id.
        InvalidVoiceFile: It is damaged.
    """
    row = _row(database, id, is_deleted=False)
    name = _free(database, name, taken, besides=id)
    voice = _kept(row).voice.model_copy(update={"name": name})
    values = {"name": name, "folded": folded(name), "voice": as_json(voice.model_dump(mode="json"))}
    VoiceRow.update(values).where(VoiceRow.id == id).execute(database)
    return KeptVoice(id, voice, as_time(row.created_us), row.sample)


def delete(database: peewee.Database, id: str, now_us: int) -> None:
    """Put a voice among the deleted; one that is damaged, too.

    Raises:
        UnknownVoice: There is none of that id.
    """
    _row(database, id, is_deleted=False)
    VoiceRow.update({"deleted_us": now_us}).where(VoiceRow.id == id).execute(database)


def restore(database: peewee.Database, id: str, taken: frozenset[str]) -> KeptVoice:
    """Bring a deleted voice back, under its name or with a number behind it.

    Raises:
        UnknownVoice: No deleted one has that id.
        InvalidVoiceFile: It is damaged.
    """
    row = _row(database, id, is_deleted=True)
    # Under a name that nobody has: its own may be another's by now.
    name = _free(database, row.name, taken, besides=id)
    values = {"deleted_us": None, "name": name, "folded": folded(name)}
    VoiceRow.update(values).where(VoiceRow.id == id).execute(database)
    return _kept(_row(database, id, is_deleted=False))


def purge(database: peewee.Database, limits: Limits, now_us: int) -> set[str]:
    """Delete for good what was deleted long ago.

    Returns:
        Digests of the samples.
    """
    gone = VoiceRow.deleted_us < now_us - round(limits.deleted_days * DAY_US)
    samples = {row.sample for row in VoiceRow.select(VoiceRow.sample).where(gone).execute(database)}
    if samples:
        VoiceRow.delete().where(gone).execute(database)
    return {sample for sample in samples if sample is not None}


def unknown_voice(name: str, names: Iterable[str]) -> UnknownVoice:
    """What to say where there is no voice of a name.

    Args:
        name: What was asked for.
        names: Those there are.
    """
    shown = name if len(name) <= _SHOWN_CHARS else name[:_SHOWN_CHARS] + "…"
    close = near(name[:_SHOWN_CHARS], names)
    return UnknownVoice(
        f"There is no voice named {shown!r}.",
        f"没有名为 {shown!r} 的声音。",
        fix_en=(f"Did you mean {', '.join(close)}? " if close else "")
        + "`voice-sculptor voices` lists the stock voices, `voice-sculptor kept` those you keep; over HTTP, "
        "GET /v1/audio/voices lists both.",
        fix_zh=(f"您是不是想用 {'、'.join(close)}？" if close else "")
        + "用 `voice-sculptor voices` 查看自带的声音，用 `voice-sculptor kept` 查看保存的声音；"
        "通过 HTTP 可用 GET /v1/audio/voices 一并查看。",
    )


def _row(database: peewee.Database, id: str, is_deleted: bool) -> VoiceRow:
    row: VoiceRow | None = None
    if is_id(id):
        state = VoiceRow.deleted_us.is_null(not is_deleted)
        row = VoiceRow.select().where((VoiceRow.id == id) & state).first(database)
    if row is None:
        raise unknown_voice(id, ())
    return row


def _kept(row: VoiceRow) -> KeptVoice:
    voice = parse_voice(row.voice.encode(), f"kept voice {row.name!r}")
    return KeptVoice(row.id, voice.model_copy(update={"name": row.name}), as_time(row.created_us), row.sample)


def _free(database: peewee.Database, name: str, taken: frozenset[str], besides: str = "") -> str:
    """`taken` are names that are not the library's to give, folded."""

    def is_taken(key: str) -> bool:
        others = VoiceRow.select().where(
            (VoiceRow.folded == key) & VoiceRow.deleted_us.is_null() & (VoiceRow.id != besides)
        )
        return key in taken or others.exists(database)

    return free_name(name, is_taken)
