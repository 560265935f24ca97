"""English words to the symbols that the model was trained on.

Lexicon first, then forms of lexicon words, names in pinyin, and spelling. Weak forms, stress and the sound changes
between words follow the conventions of the model's training text (misaki 0.9, American and British).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from voice_sculptor.engines.kokoro import inflection
from voice_sculptor.engines.kokoro.heteronyms import Context, choose
from voice_sculptor.engines.kokoro.lexicon import Lexicon, lexicon
from voice_sculptor.engines.kokoro.romanized import read_romanized
from voice_sculptor.engines.kokoro.spelling import spell_out
from voice_sculptor.engines.kokoro.vocabulary import MARKS, PUNCTUATION, VOWELS

_LETTERS = r"[^\W\d_]+(?:'[^\W\d_]+)*"
_TOKEN = re.compile(
    rf"(?P<dotted>(?:[A-Za-z]\.){{2,}}(?:[A-Za-z]\b)?)|(?P<word>{_LETTERS}'?(?:-{_LETTERS})*)|"
    r"(?P<mark>\.{3}|--+|[^\w\s])"
)
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z']+|[A-Z]+")
_PLURAL_CAPITALS = re.compile(r"([A-Z]{2,})'?s|(\w+)'s")
_SHORT_WORDS = frozenset(
    {
        "no",
        "so",
        "go",
        "do",
        "we",
        "he",
        "me",
        "my",
        "be",
        "is",
        "if",
        "of",
        "on",
        "in",
        "at",
        "to",
        "up",
        "by",
    }
    | {"oh", "hi", "as", "an"}
)
_REACH = 5


class _Token(NamedTuple):
    text: str
    kind: str
    space: bool


def read_latin(text: str, *, british: bool) -> str:
    """Symbols of an English passage.

    Args:
        text: Words in Latin letters and punctuation, without digits.
        british: British instead of American English.
    """
    words = lexicon(british=british)
    tokens = [
        _Token(match.group(), match.lastgroup or "", text[match.end() : match.end() + 1].isspace())
        for match in _TOKEN.finditer(text)
    ]
    long = [token.text for token in tokens if token.kind == "word" and len(token.text) > 1]
    shouting = sum(map(str.isupper, long)) > max(1, len(long) / 2)
    said: list[str] = []
    # From the last word to the first: how "the" and "to" are said depends on the sound that follows.
    vowel_next: bool | None = None
    for i in range(len(tokens) - 1, -1, -1):
        token = tokens[i]
        if token.kind == "mark":
            symbols = _mark(token)
            if symbols in tuple(";:,.!?—…"):
                vowel_next = None
        else:
            symbols = _token(token, _context(tokens, i, vowel_next, shouting), words)
            first = symbols.lstrip("ˈˌ")[:1]
            vowel_next = first in VOWELS if first else vowel_next
        said.append(symbols + (" " if token.space else ""))
    return "".join(reversed(said)).replace("ɾ", "T").replace("ʔ", "t")


def _context(tokens: Sequence[_Token], i: int, vowel_next: bool | None, shouting: bool) -> Context:
    def neighbour(j: int) -> str:
        return tokens[j].text.lower() if 0 <= j < len(tokens) and tokens[j].kind != "mark" else ""

    before = [token.text for token in tokens[max(0, i - _REACH) : i]]
    after = [token.text for token in tokens[i + 1 : i + 1 + _REACH]]
    around = " ".join((*before, f"<{tokens[i].text}>", *after)).lower()
    return Context(neighbour(i - 1), neighbour(i + 1), around, vowel_next, shouting)


def _mark(token: _Token) -> str:
    if token.text == "...":
        return "…"
    if token.text.startswith("--") or (token.text in "-–" and token.space):
        return "—"
    mark = MARKS.get(token.text, token.text)
    return mark if mark in PUNCTUATION or mark == " " else ""


def _token(token: _Token, context: Context, words: Lexicon) -> str:
    if token.kind == "dotted":
        closing = "." if token.text.endswith(".") and not context.after else ""
        return _letters(token.text, words) + closing
    weak = _weak_form(token.text, context)
    if weak:
        return weak
    if "-" in token.text and words.find(token.text) is None:
        inner = context._replace(before="-", after="-")
        return _joined(
            [_weak_form(part, inner) or _word(part, inner, words) for part in token.text.split("-")]
        )
    return _word(token.text, context, words)


def _weak_form(word: str, context: Context) -> str:
    """Function words whose sound depends on what follows; empty for any other word."""
    lower, ends = word.lower(), context.vowel_next is None
    if len(word) > 1 and word.isupper() and not context.shouting:
        return ""
    if lower == "the":
        return "ði" if context.vowel_next else "ðə"
    if lower == "a":
        letter = ends or context.after in ("", "-") or (word == "A" and context.before)
        return "" if letter else "ɐ"
    if lower == "an":
        return "ɐn"
    if lower == "to":
        return "" if ends else "tʊ" if context.vowel_next else "tə"
    if lower == "in":
        return "ˈɪn" if ends else "ɪn"
    if word == "I":
        return "ˌI"
    if word == "am":
        return "" if ends else "ɐm"
    passive = context.before in ("was", "is", "are", "were", "be", "been")
    return "jˈust" if lower == "used" and context.after == "to" and not passive else ""


def _word(word: str, context: Context, words: Lexicon) -> str:
    if len(word) > 1 and word.isupper():
        return _capitals(word, context, words)
    entry = inflection.find(word, words)
    if entry is not None:
        symbols = choose(word.lower(), entry, context)
        return _stressed(symbols, "ˌ") if word[:1].isupper() else symbols
    possessive = _PLURAL_CAPITALS.fullmatch(word)
    if possessive:
        stem = possessive.group(1) or possessive.group(2)
        return inflection.with_s(_word(stem, context, words), british=words.british)
    camel = _CAMEL.findall(word)
    if len(camel) > 1 and "".join(camel) == word:
        return _joined(
            [_word(part, context, words) if len(part) > 1 else _letters(part, words) for part in camel]
        )
    return read_romanized(word) or spell_out(word, british=words.british)


def _capitals(word: str, context: Context, words: Lexicon) -> str:
    """A word in capitals: a word said loud, or letters."""
    exact, lower = words.get(word), word.lower()
    if isinstance(exact, str):
        return exact
    entry = inflection.find(lower, words)
    is_word = context.shouting or len(word) > 3 or lower in _SHORT_WORDS or (len(word) == 3 and exact is None)
    if entry is not None and is_word:
        symbols = choose(lower, entry, context)
        if context.shouting:
            return symbols
        return _stressed(symbols, "ˈ") if "ˈ" in symbols else _stressed(symbols.replace("ˌ", "ˈ", 1), "ˈ")
    if len(word) > 4 and re.search("[AEIOUY]", word):
        return spell_out(lower, british=words.british)
    return _letters(word, words)


def _letters(text: str, words: Lexicon) -> str:
    """Letter by letter, the last one stressed most."""
    names = [words.get(char.upper()) for char in text]
    head, mark, tail = (
        "".join(name for name in names if isinstance(name, str)).replace("ˈ", "ˌ").rpartition("ˌ")
    )
    return f"{head}ˈ{tail}" if mark else tail


def _stressed(symbols: str, mark: str) -> str:
    """`symbols` with `mark` before the first vowel where they have no stress at all."""
    if "ˈ" in symbols or "ˌ" in symbols:
        return symbols
    place = next((i for i, symbol in enumerate(symbols) if symbol in VOWELS), None)
    return symbols if place is None else symbols[:place] + mark + symbols[place:]


def _joined(parts: Sequence[str]) -> str:
    """Parts of a compound as one word: the first keeps its main stress, the others step back."""
    said = [part for part in parts if part]
    return "".join(part.replace("ˈ", "ˌ") if i else part for i, part in enumerate(said))
