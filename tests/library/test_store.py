"""The library over a real folder: keeping, naming, deleting, recording, bounds, damage, company."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import peewee
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.library.making import clip, faults, files, made, voice
from voice_sculptor.audio.io import decode
from voice_sculptor.domain import AudioClip
from voice_sculptor.errors import (
    InvalidRequest,
    InvalidVoiceFile,
    LibraryError,
    OutputError,
    UnknownRecording,
    UnknownVoice,
)
from voice_sculptor.library.audio_store import ORPHAN_AGE_S
from voice_sculptor.library.names import MAX_NAME_CHARS, checked, folded
from voice_sculptor.library.records import Limits
from voice_sculptor.library.schema import DATABASE, explained
from voice_sculptor.library.store import Library

DAY_S = 86_400.0


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now_s = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def library(tmp_path: Path, clock: Clock) -> Iterator[Library]:
    with Library(tmp_path, clock=clock) as opened:
        yield opened
    assert faults(tmp_path) == []


def age(folder: Path, by_s: float = 2 * ORPHAN_AGE_S) -> None:
    """Make every audio file look older."""
    for path in (folder / "audio").glob("*/*"):
        then_s = path.stat().st_mtime - by_s
        os.utime(path, (then_s, then_s))


def test_a_voice_comes_back_as_it_was(library: Library, tmp_path: Path, clock: Clock) -> None:
    kept = library.keep(voice(), "Grandfather", clip())
    assert kept.voice == voice("Grandfather")
    assert kept.created_at == datetime.fromtimestamp(clock.now_s, timezone.utc)
    library.close()
    with Library(tmp_path) as again:
        assert again.voices() == (kept,)
        assert (
            again.find(kept.id) == again.find("grandfather") == again.find("ＧＲＡＮＤＦＡＴＨＥＲ") == kept
        )
        assert kept.sample is not None
        heard = decode(again.audio(kept.sample))
    assert heard.sample_rate == clip().sample_rate
    np.testing.assert_allclose(heard.samples, clip().samples, atol=1 / 32768)


def test_the_list_is_newest_first(library: Library) -> None:
    for name in ("one", "two", "three"):
        library.keep(voice(), name)
    assert [each.name for each in library.voices()] == ["three", "two", "one"]
    assert library.voices()[0].sample is None


def test_taken_names_get_a_number(library: Library) -> None:
    names = [library.keep(voice(), name).name for name in ("Ann", "ann", "ANN ", "Ann (2)")]
    assert names == ["Ann", "ann (2)", "ANN (3)", "Ann (2) (2)"]
    assert library.keep(voice(), "fake_low", reserved=["Fake_Low"]).name == "fake_low (2)"
    first = library.find("Ann")
    assert library.rename(first.id, "ANN").name == "ANN"  # Its own name is not taken.
    assert len({each.name.casefold() for each in library.voices()}) == 5


def test_without_a_name_it_is_the_voices_own(library: Library) -> None:
    assert library.keep(voice("v" * 120)).name == "v" * MAX_NAME_CHARS
    assert library.keep(voice("\x07")).name == "voice"


@pytest.mark.parametrize("name", ["", " \t\n", "\u200b\u202e", "\x00", "n" * (MAX_NAME_CHARS + 1)])
def test_names_that_are_none(library: Library, name: str) -> None:
    kept = library.keep(voice(), "fine")
    for attempt in (lambda: library.keep(voice(), name, clip()), lambda: library.rename(kept.id, name)):
        with pytest.raises(InvalidRequest, match=r"needs a name|characters"):
            attempt()
    assert [each.name for each in library.voices()] == ["fine"]


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "a/b:c*", "'; DROP TABLE voices; --", "<b>x</b>", "奶奶 👵🏽", "%_", "\ud800x"],
)
def test_any_words_are_a_name_and_no_path(library: Library, tmp_path: Path, name: str) -> None:
    kept = library.keep(voice(), name, clip())
    assert library.find(kept.name) == library.find(name) == kept
    assert {path.name for path in tmp_path.iterdir()} <= {
        "audio", "library.lock", DATABASE, DATABASE + "-wal", DATABASE + "-shm"
    }  # fmt: skip
    assert not list(tmp_path.parent.glob("etc*"))


@given(st.text(max_size=200))
def test_a_checked_name_is_clean_and_stays_so(text: str) -> None:
    try:
        name = checked(text)
    except InvalidRequest:
        return
    assert 1 <= len(name) <= MAX_NAME_CHARS
    assert name.isprintable() or any(ord(char) > 127 for char in name)
    assert not any(ord(char) < 32 for char in name)
    assert checked(name) == name
    assert folded(name) == folded(text)
    name.encode()


def test_unknown_voices_name_near_ones(library: Library) -> None:
    library.keep(voice(), "Grandmother")
    with pytest.raises(UnknownVoice, match="grandmothe") as refused:
        library.find("grandmothe")
    assert "Grandmother" in refused.value.message()
    assert "Grandmother" in refused.value.message("zh")
    with pytest.raises(UnknownVoice) as refused:
        library.find("x" * 1_000_000)
    assert len(refused.value.message()) < 500


@pytest.mark.parametrize("id", ["", "nobody", "0" * 32, "../" * 10, "A" * 32, "a" * 33, "' OR 1=1 --"])
def test_ids_that_are_none(library: Library, id: str) -> None:
    library.keep(voice(), "fine")
    for attempt in (library.delete, library.restore, library.find, lambda each: library.rename(each, "x")):
        with pytest.raises(UnknownVoice):
            attempt(id)


@pytest.mark.parametrize("digest", ["", "0" * 64, "../../etc/passwd", "a" * 63, "A" * 64, "a" * 64 + "\n"])
def test_digests_that_are_none(library: Library, digest: str) -> None:
    with pytest.raises(UnknownRecording):
        library.audio(digest)


def test_delete_and_restore(library: Library) -> None:
    kept = library.keep(voice(), "Ann", clip())
    library.delete(kept.id)
    assert library.voices() == ()
    assert library.deleted() == (kept,)
    with pytest.raises(UnknownVoice):
        library.find("Ann")
    with pytest.raises(UnknownVoice):
        library.delete(kept.id)
    assert library.restore(kept.id) == kept == library.find("Ann")
    with pytest.raises(UnknownVoice):
        library.restore(kept.id)
    library.delete(kept.id)
    other = library.keep(voice(), "ann")
    assert library.restore(kept.id).name == "Ann (2)"
    assert {each.id for each in library.voices()} == {kept.id, other.id}


def test_the_deleted_are_purged_in_time_with_their_clips(
    library: Library, clock: Clock, tmp_path: Path
) -> None:
    one, two = library.keep(voice(), "one", clip(1)), library.keep(voice(), "two", clip(2))
    silent = library.keep(voice(), "silent")
    shared = library.keep(voice(), "shared", clip(1))
    for each in (one, two, silent):
        library.delete(each.id)
    clock.now_s += 29 * DAY_S
    library.tidy()
    assert len(library.deleted()) == 3
    clock.now_s += 2 * DAY_S
    library.tidy()
    assert library.deleted() == ()
    assert library.voices() == (shared,)
    assert files(tmp_path) == {shared.sample}


def test_a_recording_holds_what_makes_it_again(library: Library, tmp_path: Path) -> None:
    request, candidate = made(5)
    entered = library.record(request, candidate)
    (found,) = library.recordings()
    assert found == entered
    recipe = found.recipe
    assert (recipe["kind"], recipe["text"], recipe["seed"], recipe["engine"]) == (
        "design",
        "Text 5.",
        5,
        "fake",
    )
    assert recipe["controls"] == {"pitch": -1.0}
    assert recipe["voice"] == candidate.voice.model_dump(mode="json")
    assert set(recipe["versions"]) >= {"voice-sculptor", "python", "numpy"}
    assert found.measured == candidate.measured.as_json()
    assert found.obedience["checks"][0]["control"] == "pitch"
    assert found.duration_s == pytest.approx(0.2)
    assert files(tmp_path) == {found.audio}
    spoken = library.record(replace(request, voice=voice()), candidate)
    assert spoken is not None
    assert spoken.recipe["kind"] == "speak"
    assert [each.id for each in library.recordings()] == [spoken.id, found.id]
    assert library.recordings(1) == (spoken,)
    # Equal clips share a file.
    assert spoken.audio == found.audio


def test_the_oldest_make_room_and_kept_voices_stay(tmp_path: Path, clock: Clock) -> None:
    with Library(tmp_path / "a", clock=clock) as measure_one:
        measure_one.record(*made(0))
        path = tmp_path / "a" / "audio"
        num_bytes = sum(each.stat().st_size for each in path.glob("*/*"))
    limit = 6 * num_bytes
    with Library(tmp_path, Limits(history_bytes=limit), clock) as library:
        kept = library.keep(voice(), "kept", made(0)[1].audio)
        for number in range(12):
            library.record(*made(number))
            assert sum(p.stat().st_size for p in (tmp_path / "audio").glob("*/*")) <= limit + num_bytes
        left = library.recordings()
        assert 1 <= len(left) < 7
        assert [each.recipe["seed"] for each in left] == list(range(11, 11 - len(left), -1))
        assert files(tmp_path) == {kept.sample} | {each.audio for each in left}
    assert faults(tmp_path) == []


def test_a_limit_that_was_lowered_lets_the_oldest_go_at_once(tmp_path: Path) -> None:
    with Library(tmp_path) as library:
        for number in range(8):
            library.record(*made(number))
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        sizes = [size for (size,) in database.execute("SELECT num_bytes FROM recordings ORDER BY id DESC")]
    # Exactly the last three fit.
    with Library(tmp_path, Limits(history_bytes=sum(sizes[:3]))) as library:
        assert [each.recipe["seed"] for each in library.recordings()] == [7, 6, 5]
    with Library(tmp_path, Limits(history_bytes=sum(sizes[:3]) - 1)) as library:
        assert [each.recipe["seed"] for each in library.recordings()] == [7, 6]
        assert files(tmp_path) == {each.audio for each in library.recordings()}
    with Library(tmp_path, Limits(history_bytes=1)) as library:
        assert library.recordings() == ()
    assert faults(tmp_path) == []


def test_recording_reads_no_whole_history(tmp_path: Path) -> None:
    Library(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        (plan,) = database.execute("EXPLAIN QUERY PLAN SELECT SUM(num_bytes) FROM recordings")
    assert "COVERING INDEX recordings_by_size" in plan[-1]


def test_old_recordings_go(library: Library, clock: Clock, tmp_path: Path) -> None:
    kept = library.keep(voice(), "kept", clip(9))
    library.record(*made(1))
    clock.now_s += 29 * DAY_S
    library.record(*made(2))
    clock.now_s += 2 * DAY_S
    newest = library.record(*made(3))
    assert [each.recipe["seed"] for each in library.recordings()] == [3, 2]
    clock.now_s += 31 * DAY_S
    library.tidy()
    assert library.recordings() == ()
    assert newest is not None
    with pytest.raises(UnknownRecording):
        library.audio(newest.audio)
    assert files(tmp_path) == {kept.sample}


@pytest.mark.parametrize("limits", [Limits(history_days=0), Limits(history_bytes=0)])
def test_a_history_that_is_off(tmp_path: Path, limits: Limits) -> None:
    with Library(tmp_path, limits) as library:
        assert library.record(*made()) is None
        assert library.recordings() == ()
    assert files(tmp_path) == set()


def test_orphans_are_swept_once_they_are_old(library: Library, tmp_path: Path) -> None:
    kept = library.keep(voice(), "kept", clip())
    folder = tmp_path / "audio" / "ab"
    folder.mkdir(exist_ok=True)
    orphans = [folder / f"ab{'0' * 62}.flac", folder / ".1234.tmp", folder / "notes.txt"]
    for path in orphans:
        path.write_bytes(b"x")
    library.tidy()
    assert all(path.exists() for path in orphans)
    age(tmp_path)
    library.tidy()
    assert not any(path.exists() for path in orphans)
    assert kept.sample is not None
    assert library.audio(kept.sample).is_file()


def test_an_orphan_that_is_wanted_again_is_young_again(library: Library, tmp_path: Path) -> None:
    kept = library.keep(voice(), "kept", clip())
    assert kept.sample is not None
    age(tmp_path)
    library.keep(voice(), "again", clip())
    assert library.audio(kept.sample).stat().st_mtime > datetime.now().timestamp() - ORPHAN_AGE_S


def test_a_file_that_went_while_its_row_was_on_the_way_is_written_again(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    puts: list[str] = []
    put = library._files.put

    def deleted_after_the_first(digest: str, data: bytes) -> None:
        put(digest, data)
        puts.append(digest)
        if len(puts) == 1:
            library._files.delete(digest)

    monkeypatch.setattr(library._files, "put", deleted_after_the_first)
    kept = library.keep(voice(), "kept", clip())
    assert len(puts) == 2
    assert files(tmp_path) == {kept.sample}


def test_a_clip_that_cannot_be_written_leaves_nothing(library: Library, tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        library.keep(voice(), "nan", AudioClip(np.full(100, np.nan, np.float32), 16_000))
    (tmp_path / "audio").write_bytes(b"in the way")
    with pytest.raises(OutputError):
        library.keep(voice(), "blocked", clip())
    assert library.voices() == ()
    (tmp_path / "audio").unlink()


def test_a_damaged_voice_hides_no_other_and_can_be_deleted(library: Library, tmp_path: Path) -> None:
    fine, bad = library.keep(voice(), "fine"), library.keep(voice(), "bad")
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database, database:
        database.execute('UPDATE voices SET voice = \'{"format": "other"}\' WHERE id = ?', (bad.id,))
    assert library.voices() == (fine,)
    with pytest.raises(InvalidVoiceFile, match=r"bad.*format"):
        library.find("bad")
    library.delete(bad.id)


@pytest.mark.parametrize("content", [b"not a database at all, " * 100, b"\x00" * 4096])
def test_a_damaged_database_is_said_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / DATABASE).write_bytes(content)
    with pytest.raises(LibraryError, match=DATABASE) as refused:
        Library(tmp_path)
    assert "--data-dir" in refused.value.message()
    assert "--data-dir" in refused.value.message("zh")
    assert (tmp_path / DATABASE).read_bytes() == content


def test_a_library_of_a_later_version_is_refused(tmp_path: Path) -> None:
    Library(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database, database:
        database.execute("INSERT INTO migrations (name, applied) VALUES ('9999_later', '2030-01-01')")
    with pytest.raises(LibraryError, match="later version"):
        Library(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LibraryError, match="cannot be used"):
        Library(tmp_path / "file" / "below")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(LibraryError):
        Library(tmp_path)
    tmp_path.chmod(stat.S_IRWXU)


def test_a_closed_library_says_so(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.close()
    library.close()
    with pytest.raises(LibraryError, match="closed"):
        library.voices()
    with pytest.raises(LibraryError, match="closed"):
        library.keep(voice())


def test_a_library_that_another_holds_too_long_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voice_sculptor.library.schema.BUSY_TIMEOUT_S", 0.1)
    with Library(tmp_path) as library, closing(sqlite3.connect(tmp_path / DATABASE)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LibraryError, match="in use"):
            library.keep(voice())
        assert library.voices() == ()  # Readers wait for nobody.
        other.rollback()
        library.keep(voice())


def test_many_threads(library: Library) -> None:
    def work(number: int) -> None:
        kept = library.keep(voice(), "same", clip(number % 2))
        library.record(*made(number % 3))
        library.rename(kept.id, f"voice {number % 2}")
        library.delete(kept.id)
        library.restore(kept.id)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(library.voices()) == 8
    assert len({each.name for each in library.voices()}) == 8
    assert len(library.recordings()) == 8


_WORK = """
import sys
from pathlib import Path
from tests.library.making import clip, made, voice
from voice_sculptor.library.records import Limits
from voice_sculptor.library.store import Library
folder, who = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
with Library(folder, Limits(history_bytes=60_000)) as library:
    for number in range(15):
        kept = library.keep(voice(), "same", clip(number % 3))
        library.record(*made(number % 4))
        library.rename(kept.id, who)
        assert library.find(kept.id).name.startswith(who)
        if number % 3 == 0:
            library.delete(kept.id)
        library.tidy()
"""


def test_two_processes_on_one_library(tmp_path: Path, root: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", _WORK, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    workers = [subprocess.Popen([*command, who], cwd=root, text=True, **pipes) for who in ("one", "two")]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        # Both make the library, then, at once.
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
    ends = [(worker.communicate(timeout=120)[1], worker.returncode) for worker in workers]
    assert ends == [("", 0), ("", 0)]
    with Library(tmp_path) as library:
        assert len(library.voices()) == 20
        assert len(library.deleted()) == 10
        assert len({each.name for each in library.voices()}) == 20
        for each in library.voices():
            assert each.sample is not None
            assert library.audio(each.sample).is_file()
        for recording in library.recordings():
            assert library.audio(recording.audio).is_file()
    assert faults(tmp_path) == []


def test_what_went_wrong_is_said_and_not_that_it_could_not_be_undone(tmp_path: Path) -> None:
    error = peewee.OperationalError("cannot rollback - no transaction is active")
    error.__context__ = peewee.OperationalError("database or disk is full")
    with pytest.raises(LibraryError, match="disk is full"), explained(tmp_path):
        raise error
