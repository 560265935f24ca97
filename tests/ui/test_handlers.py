from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest
import soundfile as sf
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.acting import GRANNY, STEP_S
from voice_sculptor.domain import VoiceSpec
from voice_sculptor.language.conflicts import merge
from voice_sculptor.language.description import understand
from voice_sculptor.library.voice_files import load_voice
from voice_sculptor.ui import render
from voice_sculptor.ui.form import VoiceFields
from voice_sculptor.ui.handlers import Card, Handlers, Shown

TEXT = "A sentence for the voice to say."
EVIL = '<img src=x onerror="alert(1)">${alert(2)}{{value}}'


def run(handlers: Handlers, text: str = TEXT, n: int = 3, seed: str = "5", session: str = "s") -> list[Shown]:
    return list(handlers.generate(VoiceFields(), text, n, seed, "wav", session))


def cards_of(shown: list[Shown]) -> dict[int, Card]:
    return {index: card for each in shown for index, card in each.cards.items()}


def test_cards_come_one_by_one_with_files(handlers: Handlers) -> None:
    shown = run(handlers)
    assert [sorted(each.cards) for each in shown if each.cards] == [[0], [1], [2]]
    assert [each.is_running for each in shown] == [True] * (len(shown) - 1) + [False]
    assert shown[0].clears
    for index, card in cards_of(shown).items():
        assert card.seed == 5 + index
        assert card.played is not None
        assert card.voice is not None
        assert sf.info(card.played).subtype == "PCM_16"
        assert load_voice(card.voice).seed == card.seed
        assert f"Seed {card.seed}" in card.facts
        assert handlers.shelf.path in card.played.parents


def test_the_same_seed_gives_the_same_bytes(handlers: Handlers) -> None:
    first, again = (cards_of(run(handlers, n=1))[0].played for _ in range(2))
    assert first is not None
    assert again is not None
    assert first != again
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("audio_format", ["mp3", "flac", "opus"])
def test_downloads_in_other_formats(handlers: Handlers, audio_format: str) -> None:
    card = cards_of(run(handlers, n=1))[0]
    made, none = handlers.convert([card.played, None], audio_format)  # type: ignore[arg-type]
    assert none is None
    assert made is not None
    assert made.suffix == f".{audio_format}"
    assert card.played is not None
    assert sf.info(made).duration == pytest.approx(sf.info(card.played).duration, abs=0.1)


@pytest.mark.parametrize(
    ("text", "seed", "en", "zh"),
    [
        ("", "", "nothing to speak", "没有可以朗读"),
        ("…！？ 🎉", "", "nothing to speak", "没有可以朗读"),
        ("\u200b\u200d", "", "nothing to speak", "没有可以朗读"),
        ("x" * 100_000, "", "100,000", "100,000"),
        (TEXT, "soon", "not a whole number", "不是整数"),
        (TEXT, "4294967296", "out of range", "超出范围"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_the_page_as_it_is(
    handlers: Handlers, text: str, seed: str, en: str, zh: str
) -> None:
    (shown,) = run(handlers, text=text, seed=seed)
    assert shown.message is not None
    assert en in shown.message
    assert zh in shown.message
    assert 'role="alert"' in shown.message
    assert not shown.is_running
    assert not shown.clears
    assert "Traceback" not in shown.message


def test_one_failed_candidate_leaves_the_others(handlers: Handlers) -> None:
    cards = cards_of(run(handlers, text="One of these is broken."))
    assert [cards[index].seed for index in range(3)] == [5, None, 7]
    assert "&lt;i&gt;broke&lt;/i&gt;" in cards[1].facts
    assert "第二个坏了。" in cards[1].facts
    assert cards[1].played is None


def test_a_bug_in_the_engine_is_a_sentence(handlers: Handlers) -> None:
    shown = run(handlers, text="This will explode.")
    assert shown[-1].message is not None
    assert "The engine broke" in shown[-1].message
    assert "<b>boom" not in shown[-1].message
    assert not shown[-1].is_running
    assert len(cards_of(run(handlers))) == 3


def test_what_users_write_never_becomes_markup(handlers: Handlers) -> None:
    html = handlers.understand(VoiceFields(description=f"{EVIL} velvety old woman"))
    assert "<img" not in html
    seen = run(handlers, seed=EVIL)[0].message
    assert seen is not None
    assert "<img" not in seen


def test_understood_and_conflicts(handlers: Handlers) -> None:
    assert handlers.understand(VoiceFields()) == ""
    html = handlers.understand(VoiceFields(description="an old man with a low voice"))
    assert "Male" in html
    assert "男性" in html
    assert "vs-warning" not in html
    html = handlers.understand(VoiceFields(description="an old man", gender="female"))
    assert "vs-warning" in html
    assert "描述中的“old man”表示性别为男性，控制项设为女性，以控制项为准。" in html


def test_chips_show_timbre_in_both_languages_with_the_words_they_came_from(handlers: Handlers) -> None:
    html = handlers.understand(VoiceFields(description="a slightly hoarse voice & whisper"))
    assert '<span class="vs-chip" title="slightly hoarse">' in html
    assert '<span lang="en">Slightly hoarse</span><span lang="zh">略沙哑</span>' in html
    assert '<span lang="en">Whisper</span><span lang="zh">耳语</span>' in html


@given(st.text(max_size=200), st.sampled_from(["{} voice", "声音很{}", "slightly {}hoarse", "a {} old man"]))
@settings(max_examples=100, deadline=None)
def test_no_markup_gets_through_the_chips(text: str, frame: str) -> None:
    seen = understand(frame.format(text + "<b>\"'&<|endofprompt|>"))
    html = render.understood(seen, merge(VoiceSpec(), seen).notices, is_empty=False)
    tags = re.findall(r"<[^>]*>", html)
    assert all(
        re.fullmatch(r'</?(p|span|div)( (class|lang|role)="[\w -]*"| title="[^"<>]*")*>', tag) for tag in tags
    )
    assert "<" not in re.sub(r"<[^>]*>", "", html)


def test_a_description_beyond_the_limit_is_said(handlers: Handlers) -> None:
    assert "2,001" in handlers.understand(VoiceFields(description="x" * 2001))


def test_a_preset_fills_the_fields_in_the_language_of_the_page(handlers: Handlers) -> None:
    fields, text = handlers.pick("granny", "zh")
    assert fields.description == GRANNY.description.zh
    assert text == GRANNY.text.zh
    assert fields.spec().controls == GRANNY.controls


def test_switching_language_translates_only_words_that_are_still_the_presets(handlers: Handlers) -> None:
    description, text = GRANNY.description.en, GRANNY.text.en
    assert handlers.translated("granny", description, text, "zh") == (GRANNY.description.zh, GRANNY.text.zh)
    assert handlers.translated("granny", description, "mine", "zh") == (GRANNY.description.zh, "mine")
    assert handlers.translated("granny", "mine", text, "zh") == ("mine", GRANNY.text.zh)
    assert handlers.translated(None, description, text, "zh") == (description, text)


def test_cancel_ends_within_a_step_and_frees_the_worker(handlers: Handlers) -> None:
    shown: list[Shown] = []
    generation = handlers.generate(VoiceFields(), "slow words " * 200, 6, "1", "wav", "s")
    for each in generation:
        shown.append(each)
        if each.progress and "Making" in each.progress:
            break
    cancelled_s = time.monotonic()
    handlers.cancel("s")
    shown += generation
    assert time.monotonic() - cancelled_s < 1.0 + 4 * STEP_S
    assert shown[-1].message is not None
    assert "Cancelled" in shown[-1].message
    assert not shown[-1].is_running
    assert len(cards_of(run(handlers))) == 3


def test_leaving_a_generation_cancels_it(handlers: Handlers) -> None:
    generation = handlers.generate(VoiceFields(), "slow words " * 200, 6, "1", "wav", "s")
    next(generation)
    generation.close()
    began_s = time.monotonic()
    assert len(cards_of(run(handlers, session="t"))) == 3
    assert time.monotonic() - began_s < 5.0


def test_two_sessions_get_their_own_audio(handlers: Handlers) -> None:
    results: dict[str, dict[int, Card]] = {}
    texts = {"a": "Short slow one.", "b": "A slow one that is a good deal longer than the other."}

    def work(session: str) -> None:
        results[session] = cards_of(run(handlers, text=texts[session], n=2, session=session))

    threads = [threading.Thread(target=work, args=(session,)) for session in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for session, text in texts.items():
        for index in range(2):
            played = results[session][index].played
            assert played is not None
            assert sf.info(played).duration == pytest.approx(len(text) * 0.06, abs=0.01)


def test_waiting_and_a_full_queue_are_said(handlers: Handlers) -> None:
    long = "slow words " * 100
    generations = [handlers.generate(VoiceFields(), long, 1, "1", "wav", name) for name in "abcd"]
    first = generations[0]
    for shown in first:
        if shown.progress and "Making" in shown.progress:
            break
    for waiting in generations[1:3]:
        next(waiting)
        place = next(waiting).progress
        assert place is not None
        assert "ahead of you" in place
        assert "前面还有" in place
    refused = next(generations[3])
    assert refused.message is not None
    assert "busy" in refused.message
    assert "正忙" in refused.message
    assert not refused.clears
    for name in "abcd":
        handlers.cancel(name)
    for each in generations:
        each.close()


def test_file_names_carry_nothing_that_users_wrote(handlers: Handlers) -> None:
    fields = VoiceFields(description="../../etc/passwd (温柔) <|endofprompt|> A/B:")
    shown = list(handlers.generate(fields, "../../x: speak", 1, "7", "mp3", "../s"))
    files = [path for path in handlers.shelf.path.rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == ["1-seed-7.mp3", "1-seed-7.voice.json", "1-seed-7.wav"]
    assert not shown[-1].is_running
    assert all(isinstance(path, Path) for path in files)
