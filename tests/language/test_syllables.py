"""Syllables of texts: as many as are spoken."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_sculptor.language.syllables import _in_word, count_syllables


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("你好，世界。", 4),
        ("现在是12点30分", 9),  # 现在是十二点三十分
        ("我用iPhone拍照", 6),
        ("小桥流水人家", 6),
        ("The little table, the circled circles, the rolled bottles.", 14),
        ("Twenty-one going on 22", 3 + 2 + 1 + 3),
        ("She walked, wanted, changed and changes.", 1 + 1 + 2 + 1 + 1 + 2),
        ("Nations believed in radio.", 2 + 2 + 1 + 3),
        ("Basically, safely, homeless", 3 + 2 + 2),
        ("", 0),
        ("…?!", 0),
    ],
)
def test_known_texts(text: str, count: int) -> None:
    assert count_syllables(text) == count


@given(st.text(max_size=200))
def test_any_text_has_a_number_of_syllables(text: str) -> None:
    assert 0 <= count_syllables(text) <= 60 * len(text)


def test_nine_english_words_in_ten_are_counted_right(root: Path) -> None:
    """The pronouncing dictionary of the embedded engine is the second opinion."""
    path = root / "voice_sculptor/engines/kokoro/lexicon_us.tsv.xz"
    vowel = re.compile("[AIOQWYaiuæɑɒɔəɚɛɜɝɪʊʌᵊᵻ]")
    off = []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            word, spoken = line.rstrip("\n").split("\t")[:2]
            if len(word) > 1 and word.isascii() and word.isalpha() and word.islower():
                off.append(_in_word(word) - len(vowel.findall(spoken.split(" ")[0].removeprefix("DEFAULT="))))
    assert len(off) > 100_000
    assert sum(each == 0 for each in off) / len(off) > 0.89
    assert abs(sum(off)) / len(off) < 0.08
