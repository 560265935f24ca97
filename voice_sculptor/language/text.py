"""The text to speak: cleaned, written out as words, cut into pieces. Engine-neutral.

cleaned = clean(text)             # what can be read aloud
spoken = normalize(cleaned).spoken  # numbers, dates, units and signs as words
pieces = split(spoken)            # clauses and sentences, each with the pause after it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from voice_sculptor.domain import Language, TextLanguage
from voice_sculptor.language.chinese import read_chinese
from voice_sculptor.language.cleaning import clean
from voice_sculptor.language.english import read_english
from voice_sculptor.language.script import Run, has_han, runs_of
from voice_sculptor.language.splitting import Pause, Segment, cut, sentence_ends, split

__all__ = [
    "NormalizedText",
    "Pause",
    "Run",
    "Segment",
    "clean",
    "cut",
    "normalize",
    "runs_of",
    "speakable",
    "split",
]

_LATIN_WORD = re.compile(r"(?<![A-Za-z\d.])[A-Za-z]{2,}|(?<![\w.])[A-Za-z](?![\w])")
_ASCII_STRETCH = re.compile(r"[ ,.;:'\"()A-Za-z\d$%/&-]+")
_WORD = re.compile(r"(?<![A-Za-z\d.'-])[A-Za-z][A-Za-z'-]*(?![A-Za-z'\d-])")
_LONG_DIGITS = re.compile(r"\d{40,}")
_GROUP_DIGITS = 20
# What is read in one go: the rules are quick on a sentence as people write them, but some take its length squared.
_PART_CHARS = 500
_PART_END = re.compile(r"[，；：、—…]|[,;:](?=\s)|\s")
_CHINESE_SIGNS = re.compile(r"[，。！？、；：（）《》【】「」￥]")


@dataclass(frozen=True)
class NormalizedText:
    """A text and how it is read.

    Attributes:
        original: The text as given.
        spoken: The same as words, without digits or mathematical signs; punctuation stays.
        runs: `spoken` cut by language.
    """

    original: str
    spoken: str
    runs: tuple[Run, ...]


def speakable(text: str) -> bool:
    """Whether anything is left to speak: a letter, a Chinese character or a digit."""
    return any(char.isalnum() for char in clean(text))


def normalize(text: str, lang: TextLanguage = "auto") -> NormalizedText:
    """Write out as words what is not a word: numbers, dates, times, money, units, addresses and signs.

    Each sentence is read in the language it is written in, and an English passage inside a Chinese sentence in
    English. A sentence without words of its own follows the one before it, else the one after.

    Args:
        text: Any text; it is cleaned first.
        lang: Language of what has no words at all; `"auto"` takes it from the punctuation.
    """
    cleaned = _LONG_DIGITS.sub(_grouped, clean(text))
    ends = list(sentence_ends(cleaned))
    sentences = [cleaned[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    languages = [_language(sentence) for sentence in sentences]
    fallback: Language = lang if lang != "auto" else "zh" if _CHINESE_SIGNS.search(cleaned) else "en"
    current = next((found for found in languages if found), fallback)
    spoken: list[str] = []
    for sentence, found in zip(sentences, languages, strict=True):
        current = found or current
        spoken += (_read(part, current) for part in _parts(sentence))
    whole = "".join(spoken).strip()
    return NormalizedText(original=text, spoken=whole, runs=runs_of(whole, default=current))


def _grouped(match: re.Match[str]) -> str:
    """A number that nobody can take in, in groups that are still read digit by digit."""
    text = match.group()
    num_groups = len(text) // _GROUP_DIGITS
    borders = [len(text) * number // num_groups for number in range(num_groups + 1)]
    return ", ".join(text[start:end] for start, end in pairwise(borders))


def _parts(sentence: str) -> Iterator[str]:
    start = 0
    while len(sentence) - start > _PART_CHARS:
        ends = [match.end() for match in _PART_END.finditer(sentence, start, start + _PART_CHARS)]
        end = ends[-1] if ends else start + _PART_CHARS
        yield sentence[start:end]
        start = end
    yield sentence[start:]


def _language(sentence: str) -> Language | None:
    if has_han(sentence):
        return "zh"
    return "en" if _LATIN_WORD.search(sentence) else None


def _read(sentence: str, lang: Language) -> str:
    body = sentence.rstrip()
    tail = sentence[len(body) :]
    if lang == "en":
        return read_english(body) + tail
    # Numbers from one Latin word to another inside a Chinese sentence belong to what the words say.
    parts: list[str] = []
    end = 0
    for stretch in _ASCII_STRETCH.finditer(body):
        words = list(_WORD.finditer(body, stretch.start(), stretch.end()))
        if len(words) < 2 or not any(map(str.isdecimal, body[words[0].end() : words[-1].start()])):
            continue
        parts += (
            read_chinese(body[end : words[0].start()]),
            read_english(body[words[0].start() : words[-1].end()]),
        )
        end = words[-1].end()
    parts.append(read_chinese(body[end:]))
    return "".join(parts) + tail
