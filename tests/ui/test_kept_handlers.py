"""The page's list of kept voices, without the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile as sf

from tests.ui.acting import GRANNY, ActingEngine
from tests.ui.test_handlers import EVIL, TEXT, cards_of, run
from voice_sculptor.config import Settings
from voice_sculptor.studio import Studio
from voice_sculptor.ui.handlers import Card, Handlers, Shown
from voice_sculptor.ui.kept_handlers import KeptHandlers
from voice_sculptor.ui.shelf import Shelf


@pytest.fixture
def handlers(tmp_path: Path) -> Iterator[Handlers]:
    shelf = Shelf()
    with Studio(Settings(engine="fake", max_queue=2, data_dir=tmp_path / "data"), ActingEngine()) as studio:
        yield Handlers(studio, [GRANNY], shelf)
    shelf.close()


@pytest.fixture
def kept(handlers: Handlers) -> KeptHandlers:
    return KeptHandlers(handlers)


@pytest.fixture
def card(handlers: Handlers) -> Card:
    return cards_of(run(handlers, n=1))[0]


def says(kept: KeptHandlers, chosen: str | None, text: str = TEXT) -> list[Shown]:
    return list(kept.speak(chosen, text, "mp3", "s"))


def test_looking_at_the_list_makes_no_library(kept: KeptHandlers, tmp_path: Path) -> None:
    assert kept.listed().choices == ()
    assert not (tmp_path / "data").exists()


def test_keep_rename_delete_and_undo(kept: KeptHandlers, card: Card) -> None:
    made = kept.keep(card, " Ann ", None)
    ((name, id),) = made.choices
    assert (name, made.chosen, made.name) == ("Ann", id, "Ann")
    assert "Kept as Ann." in made.message
    assert "已保存为 Ann。" in made.message
    second = kept.keep(card, "", id)
    assert [each for each, _ in second.choices] == [f"voice-{card.seed}", "Ann"]

    renamed = kept.rename(id, "Bea")
    assert (renamed.chosen, renamed.name, renamed.deleted) == (id, "Bea", None)
    deleted = kept.delete(id)
    assert [each for each, _ in deleted.choices] == [f"voice-{card.seed}"]
    assert (deleted.chosen, deleted.name, deleted.deleted) == (None, "", id)
    restored = kept.restore(deleted.deleted)
    assert (restored.chosen, restored.name, restored.deleted) == (id, "Bea", "")
    assert kept.listed(id).choices == restored.choices


def test_a_kept_voice_speaks_the_text_like_its_candidate(
    kept: KeptHandlers, card: Card, tmp_path: Path
) -> None:
    id = kept.keep(card, "Ann", None).chosen
    shown = says(kept, id)
    assert not shown[-1].is_running
    spoken = cards_of(shown)[0]
    assert spoken.played is not None
    assert card.played is not None
    assert spoken.played.read_bytes() == card.played.read_bytes()
    assert spoken.download is not None
    assert sf.info(spoken.download).format == "MP3"
    longer = cards_of(says(kept, id, TEXT * 3))[0].played
    assert longer is not None
    assert sf.info(longer).duration > 2 * sf.info(spoken.played).duration


def test_what_cannot_be_done_is_a_sentence_and_changes_nothing(kept: KeptHandlers, card: Card) -> None:
    id = kept.keep(card, "Ann", None).chosen
    before = kept.listed(id)
    attempts = {
        "no such candidate": kept.keep(None, "x", id),
        "more than|at most 80": kept.keep(card, "n" * 81, id),
        "needs a name": kept.rename(id, "  "),
        "No voice is chosen": kept.delete(None),
        "no voice named": kept.restore("../../etc/passwd"),
    }
    for part, listing in attempts.items():
        assert any(each in listing.message for each in part.split("|")), listing.message
        assert 'role="alert"' in listing.message
        assert (listing.choices, listing.chosen, listing.deleted) == (before.choices, id, None) or part in (
            "No voice is chosen",
            "no voice named",
        )
        assert not listing.is_done
    assert kept.listed(id) == before
    assert card.played is not None
    shutil.rmtree(card.played.parent)
    assert "Generate it again" in kept.keep(card, "x", id).message


def test_speaking_without_a_voice_or_a_text(kept: KeptHandlers, card: Card) -> None:
    id = kept.keep(card, "Ann", None).chosen
    for chosen, text, part in (
        (None, TEXT, "No voice is chosen"),
        ("../../etc/passwd", TEXT, "no voice named"),
        ("0" * 32, TEXT, "no voice named"),
        (id, "", "nothing to speak"),
    ):
        (shown,) = says(kept, chosen, text)
        assert shown.message is not None
        assert part in shown.message
        assert not shown.is_running


def test_a_voice_that_another_deleted_meanwhile(kept: KeptHandlers, card: Card, handlers: Handlers) -> None:
    id = kept.keep(card, "Ann", None).chosen
    assert id is not None
    handlers.studio.library.delete(id)
    for listing in (kept.rename(id, "x"), kept.delete(id)):
        assert "no voice named" in listing.message
        assert (listing.choices, listing.chosen) == ((), None)
    assert kept.listed(id).chosen is None


def test_names_never_become_markup(kept: KeptHandlers, card: Card) -> None:
    made = kept.keep(card, EVIL, None)
    assert "<img" not in made.message
    assert made.choices[0][0] == EVIL
    assert made.chosen is not None
    assert "<img" not in kept.delete(made.chosen).message


def test_candidates_and_a_kept_voice_do_not_cancel_each_other(
    kept: KeptHandlers, card: Card, handlers: Handlers
) -> None:
    id = kept.keep(card, "Ann", None).chosen
    speaking = kept.speak(id, "slow words " * 50, "wav", "s")
    next(speaking)
    generation = run(handlers, n=1, session="t")
    assert len(cards_of(generation)) == 1
    kept.cancel("s")
    assert "Cancelled" in (list(speaking)[-1].message or "")


def test_a_library_that_cannot_be_read_is_said(handlers: Handlers, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "library.sqlite3").write_bytes(b"no database " * 1000)
    listing = KeptHandlers(handlers).listed()
    assert "damaged" in listing.message
    assert listing.choices == ()
