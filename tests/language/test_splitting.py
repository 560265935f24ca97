"""Cutting a text into the pieces that are spoken one after the other."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice_sculptor.language.text import cut, split

NOVEL = (
    "清晨的雾还没散，镇上的人已经开始忙碌起来。卖豆腐的老人推着小车走过石桥，桥下的水静静地流着。"
    "“你听，”她说，“是春天的声音。”没有人回答她。\n\n第二天，雨停了。"
)
STORY = (
    "Mr. Smith arrived at 3.5 miles from the U.S. border, tired and hungry. He said, “I am here.” "
    "Nobody answered! Dr. Jones, e.g. the vet, was away (as usual). No. 5 was quite empty.\n\nThe end."
)


def _texts(text: str, **options: object) -> list[str]:
    return [piece.text for piece in split(text, **options)]  # type: ignore[arg-type]


def _dense(text: str) -> str:
    return re.sub(r"\s", "", text)


def test_chinese_is_cut_at_sentences_after_a_quick_start() -> None:
    pieces = split(NOVEL)
    assert pieces[0] == ("清晨的雾还没散，", "clause")
    assert pieces[1] == ("镇上的人已经开始忙碌起来。", "sentence")
    assert "“你听，”她说，“是春天的声音。”" in _texts(NOVEL)
    assert [piece.pause for piece in pieces if piece.text.endswith("没有人回答她。")] == ["paragraph"]


def test_english_is_cut_at_sentences_only() -> None:
    assert _texts(STORY, quick_start=False) == [
        "Mr. Smith arrived at 3.5 miles from the U.S. border, tired and hungry.",
        "He said, “I am here.”",
        "Nobody answered!",
        "Dr. Jones, e.g. the vet, was away (as usual).",
        "No. 5 was quite empty.",
        "The end.",
    ]


@pytest.mark.parametrize("text", ["好。对。是的。行。", "Yes. No. Oh! Ha."])
def test_tiny_sentences_are_spoken_together(text: str) -> None:
    assert len(split(text)) == 1


@pytest.mark.parametrize("text", ["一" * 1000, "word " * 300, "很长，" * 400, "x" * 5000])
@pytest.mark.parametrize("max_chars", [20, 200])
def test_no_piece_is_longer_than_asked(text: str, max_chars: int) -> None:
    pieces = _texts(text, max_chars=max_chars)
    assert max(map(len, pieces)) <= max_chars
    assert _dense("".join(pieces)) == _dense(text)


def test_cut_takes_the_best_border_and_measures_what_it_is_told_to() -> None:
    text = "The first part of it, and then the second part of it."
    assert cut(text, len, 40) == ["The first part of it,", "and then the second part of it."]
    assert cut("一二三四五六", lambda piece: 3 * len(piece), 9) == ["一二三", "四五六"]
    assert cut("ab", lambda _piece: 100, 9) == ["a", "b"]


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=300) | st.text(alphabet="abA. ,;!?'\"“”()…\n。，、！？好的第", max_size=300),
    st.integers(8, 120),
)
def test_nothing_is_lost_and_nothing_is_blank(text: str, max_chars: int) -> None:
    pieces = _texts(text, max_chars=max_chars)
    assert _dense("".join(pieces)) == _dense(text)
    assert all(piece and piece == piece.strip() for piece in pieces)
