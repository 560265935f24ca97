"""The library through the studio: names, history, and disks that fail."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.library.making import faults, files, voice
from voice_sculptor.audio.io import encode
from voice_sculptor.config import Settings, load_settings
from voice_sculptor.domain import Candidate, VoiceSpec
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import InvalidVoiceFile, LibraryError, ShuttingDown, UnknownVoice
from voice_sculptor.events import Ready, StudioEvent
from voice_sculptor.library import keeping
from voice_sculptor.library.schema import DATABASE
from voice_sculptor.library.voice_files import save_voice
from voice_sculptor.studio import Studio


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path / "data")


@pytest.fixture
def studio(settings: Settings) -> Iterator[Studio]:
    with Studio(settings, FakeEngine()) as opened:
        yield opened


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Studio]:
    """A studio whose library cannot be made."""
    (tmp_path / "file").write_bytes(b"")
    with Studio(load_settings(data_dir=tmp_path / "file"), FakeEngine()) as opened:
        yield opened


def ready(events: Iterator[StudioEvent]) -> list[Ready]:
    return [event for event in events if isinstance(event, Ready)]


def design(studio: Studio, n: int = 1, seed: int = 5) -> list[Ready]:
    return ready(studio.design("hello", VoiceSpec(description="a low man"), num_candidates=n, seed=seed))


def speak(studio: Studio, name: str) -> Candidate:
    return ready(studio.speak(studio.voice_named(name), "another text"))[0].candidate


def test_a_kept_candidate_speaks_after_a_restart_as_it_did(settings: Settings) -> None:
    with Studio(settings, FakeEngine()) as studio:
        candidate = design(studio)[0].candidate
        kept = studio.keep(candidate, "Grandfather")
        before = speak(studio, "Grandfather")
    with Studio(settings, FakeEngine()) as studio:
        for name in ("Grandfather", "GRANDFATHER", kept.id):
            assert encode(speak(studio, name).audio, "wav") == encode(before.audio, "wav")
        assert kept.sample is not None
        assert studio.library.audio(kept.sample).is_file()
        assert studio.keep(voice("plain")).sample is None


def test_a_stock_voice_keeps_its_name(studio: Studio) -> None:
    kept = studio.keep(voice(), "FAKE_LOW")
    assert kept.name == "FAKE_LOW (2)"
    assert studio.rename_voice(kept.id, "fake_high").name == "fake_high (2)"
    studio.library.delete(kept.id)
    assert studio.restore_voice(kept.id).name == "fake_high (2)"
    assert studio.voice_named("fake_low").state == {"f0_hz": 110.0}


def test_a_name_never_touches_the_file_system(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.voice.json"
    save_voice(voice("of a file"), path)
    studio.keep(voice(), "one")
    touched: list[str] = []
    for owner, name in ((Path, "open"), (Path, "stat"), (Path, "is_file"), (builtins, "open")):
        real = getattr(owner, name)

        def noted(*args: Any, _real: Any = real, **rest: Any) -> Any:
            touched.append(str(args[0]))
            return _real(*args, **rest)

        monkeypatch.setattr(owner, name, noted)
    for asked in (str(path), f"../{path.name}", "../../etc/passwd", "C:\\x", "one/../one"):
        with pytest.raises(UnknownVoice):
            studio.voice_named(asked)
    assert not [each for each in touched if "voice.json" in each or "passwd" in each or "one" in each]
    monkeypatch.undo()
    assert studio.find_voice(str(path)).name == "of a file"


def test_asking_for_a_name_makes_no_library(studio: Studio, settings: Settings) -> None:
    with pytest.raises(UnknownVoice, match="nobody"):
        studio.voice_named("nobody")
    assert studio.find_voice("fake_low").name == "fake_low"
    assert not settings.data_dir.exists()


def test_unknown_names_are_told_near_ones_of_both_kinds(studio: Studio) -> None:
    studio.keep(voice(), "fake_lou")
    with pytest.raises(UnknownVoice) as refused:
        studio.voice_named("fake_lo")
    assert "fake_low" in refused.value.message()
    assert "fake_lou" in refused.value.message("zh")


def test_a_file_is_found_by_the_command_line_alone(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(InvalidVoiceFile):
        studio.find_voice(str(tmp_path / "bad.json"))
    with pytest.raises(UnknownVoice, match=r"none\.voice\.json"):
        studio.find_voice(str(tmp_path / "none.voice.json"))


def test_everything_made_is_in_the_history(studio: Studio, settings: Settings) -> None:
    made = design(studio, n=3, seed=7)
    speak(studio, "fake_low")
    recordings = studio.library.recordings()
    assert [each.recipe["kind"] for each in recordings] == ["speak", "design", "design", "design"]
    assert [each.recipe["seed"] for each in recordings[1:]] == [9, 8, 7]
    assert recordings[0].recipe["text"] == "another text"
    assert recordings[1].recipe["description"] == "a low man"
    assert recordings[1].measured == made[2].candidate.measured.as_json()
    assert all(ready.notices == () for ready in made)
    studio.close()
    assert faults(settings.data_dir) == []
    assert len(files(settings.data_dir)) == 4


def test_what_failed_is_not(settings: Settings) -> None:
    with Studio(settings, FakeEngine()) as studio:
        bad = voice().model_copy(update={"state": {}})
        assert ready(studio.speak(bad, "hello")) == []
        assert studio.library.recordings() == ()


def test_a_history_that_is_off_makes_no_library(tmp_path: Path) -> None:
    with Studio(load_settings(data_dir=tmp_path / "data", history_days=0), FakeEngine()) as studio:
        assert len(design(studio)) == 1
    assert not (tmp_path / "data").exists()


def test_a_broken_disk_stops_nothing_and_is_said_once(
    broken: Studio, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "PAUSE_S", 0.0)
    with caplog.at_level(logging.WARNING):
        made = [*design(broken, n=3), *design(broken)]
    kinds = [[notice.kind for notice in ready.notices] for ready in made]
    assert kinds == [["not_recorded"], [], [], []]
    assert "历史" in made[0].notices[0].message("zh")
    assert str(broken.settings.data_dir) not in made[0].notices[0].message()
    assert len(caplog.records) == 4
    assert str(broken.settings.data_dir) in caplog.text
    with pytest.raises(LibraryError):
        broken.keep(made[0].candidate)
    assert broken.voice_named("fake_low").name == "fake_low"


def test_after_a_failure_nothing_is_tried_for_a_while(
    broken: Studio, caplog: pytest.LogCaptureFixture
) -> None:
    design(broken, n=3)
    assert len(caplog.records) == 1


def test_once_it_works_again_a_new_failure_is_said_again(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeping, "PAUSE_S", 0.0)
    said = []
    for fails in (True, True, False, True):
        with monkeypatch.context() as patched:
            if fails:
                # Not one of the errors that are expected.
                patched.setattr(studio.library, "record", lambda *_: 1 // 0)
            said.append(len(design(studio)[0].notices))
    assert said == [1, 0, 0, 1]
    assert "ZeroDivisionError" in caplog.text


def test_a_library_that_was_damaged_meanwhile_stops_nothing(studio: Studio, settings: Settings) -> None:
    design(studio)
    studio.library._database.close()
    (settings.data_dir / DATABASE).write_bytes(b"not a database" * 1000)
    for suffix in ("-wal", "-shm"):
        (settings.data_dir / (DATABASE + suffix)).unlink(missing_ok=True)
    assert len(design(studio, n=2)) == 2


def test_a_closed_studio_has_no_library(settings: Settings) -> None:
    studio = Studio(settings, FakeEngine())
    assert studio.library is studio.library
    studio.close()
    with pytest.raises(ShuttingDown):
        _ = studio.library
