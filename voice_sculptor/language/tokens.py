"""The words of a description that mean something, one token after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from voice_sculptor.language.exact import find_exact
from voice_sculptor.language.lexicon import (
    Level,
    Lexicon,
    Meaning,
    Value,
    is_chinese,
    load_lexicon,
    split_units,
)


class Token(NamedTuple):
    """A word of the lexicon, a number with its meaning, or a word that is not known.

    Attributes:
        kind: As `Meaning.kind`; `exact` for a number such as an age, `other` for a word that is not known.
        meaning: From the lexicon; `None` for an exact value and a word that is not known.
        start: First character in the normalised text.
        end: One past the last.
        text: The characters.
        control: What an exact value is for.
        value: An exact value.
    """

    kind: str
    meaning: Meaning | None
    start: int
    end: int
    text: str
    control: str = ""
    value: Any = None


def tokenise(text: str) -> Iterator[Token]:
    """The tokens of normalised text; punctuation that ends a clause is of kind `break`."""
    lexicon, units = load_lexicon(), split_units(text)
    words = [unit.text for unit in units]
    exact = {found.start: found for found in find_exact(text)}
    index = 0
    while index < len(units):
        start = units[index].start
        found = exact.get(start)
        if found is not None:
            while index < len(units) and units[index].start < found.end:
                index += 1
            kind = "unsupported" if found.value is None else "exact"
            yield Token(kind, None, start, found.end, text[start : found.end], found.control, found.value)
            continue
        meaning, num_units = _match(lexicon, words, index)
        index += num_units
        end = units[index - 1].end
        yield Token("other" if meaning is None else meaning.kind, meaning, start, end, text[start:end])


def _match(lexicon: Lexicon, words: list[str], index: int) -> tuple[Meaning | None, int]:
    """As `Lexicon.match`, and of doubled characters, 尖尖细细, the word 尖细 or else the words 尖 and 细."""
    meaning, num_units = lexicon.match(words, index)
    if num_units > 2 or not _is_pair(words, index):
        return meaning, num_units
    if _is_pair(words, index + 2):
        undoubled, num_matched = lexicon.match([words[index], words[index + 2]], 0)
        if num_matched == 2:
            return undoubled, 4
    elif not _is_pair(words, index - 2):
        return meaning, num_units
    single, _ = lexicon.match(words[index : index + 1], 0)
    if isinstance(single, Value | Level):
        return single.model_copy(update={"bare": True}), 2
    return meaning, num_units


def _is_pair(words: list[str], index: int) -> bool:
    """Whether one Chinese character stands twice in a row."""
    pair = words[index : index + 2] if index >= 0 else []
    return len(pair) == 2 and pair[0] == pair[1] and is_chinese(pair[0])
