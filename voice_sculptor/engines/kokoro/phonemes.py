"""Text to what the model takes: symbols and token ids."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from voice_sculptor.engines.kokoro import mandarin
from voice_sculptor.engines.kokoro.english import read_latin
from voice_sculptor.engines.kokoro.lexicon import lexicon
from voice_sculptor.engines.kokoro.vocabulary import MARKS, MAX_PHONEMES, PUNCTUATION, SYMBOL_IDS, to_ids
from voice_sculptor.language.script import HAN, Run

__all__ = ["MAX_PHONEMES", "PUNCTUATION", "Phonemes", "phonemize", "preload", "to_ids"]

_CHINESE_PIECE = re.compile(f"[{HAN}]+|[^{HAN}]")
_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[^\W\d_](?:\w|[\u0300-\u036f])*")
_ROMANIZED = re.compile("LATIN|GREEK|CYRILLIC|MODIFIER|COMBINING")


@dataclass(frozen=True)
class Phonemes:
    """How a text is said.

    Attributes:
        text: Symbols of the vocabulary only.
        ids: Their numbers, 0 at both ends.
        dropped: What has no reading, each character or word once, in order.
    """

    text: str
    ids: tuple[int, ...]
    dropped: tuple[str, ...]


def phonemize(runs: Iterable[Run], *, british: bool = False) -> Phonemes:
    """How a normalised text is said. Linear time; may be called from several threads.

    Args:
        runs: The text cut by language, without digits or signs.
        british: British instead of American English.
    """
    dropped: dict[str, None] = {}
    said = [
        _chinese(run.text, dropped)
        if run.lang == "zh"
        else read_latin(_WORD.sub(lambda match: _latin(match.group(), dropped), run.text), british=british)
        for run in runs
    ]
    text = _tidy(" ".join(said))
    return Phonemes(text=text, ids=to_ids(text), dropped=tuple(dropped))


def preload(*, chinese: bool = True, english: bool = True, british: bool = False) -> None:
    """Read the dictionaries now; otherwise the first text waits for them.

    Args:
        chinese: The Chinese ones, 1–3 s.
        english: The English one, about 0.3 s.
        british: The British instead of the American one.
    """
    if chinese:
        mandarin.preload()
    if english:
        lexicon(british=british)


def _chinese(text: str, dropped: dict[str, None]) -> str:
    said: list[str] = []
    for piece in _CHINESE_PIECE.findall(text):
        mark = MARKS.get(piece, piece)
        if _HAN.match(piece):
            said.append(mandarin.read_han(piece, dropped))
        elif mark in PUNCTUATION:
            # Opening marks lean on the word after them, the others on the word before.
            said.append(f" {mark}" if mark in "“(" else f"{mark} ")
        elif mark.isspace():
            said.append(" ")
        elif mark.isalnum():
            dropped[piece] = None
    return "".join(said)


def _latin(word: str, dropped: dict[str, None]) -> str:
    """A word in plain Latin letters: accents off, Greek and Cyrillic transcribed, anything else dropped."""
    if word.isascii():
        return word
    names = [unicodedata.name(char, "") for char in word]
    if len(word) == 1 and names[0].startswith("GREEK"):
        # GREEK SMALL LETTER ALPHA WITH TONOS → alpha
        return f" {names[0].split(' LETTER ')[-1].removeprefix('FINAL ').split(' ')[0].lower()} "
    if all(map(_ROMANIZED.match, names)):
        from anyascii import anyascii

        return re.sub("[^A-Za-z]", "", anyascii(word))
    dropped[word] = None
    return " "


def _tidy(symbols: str) -> str:
    symbols = "".join(symbol for symbol in symbols if symbol in SYMBOL_IDS)
    symbols = re.sub(r" +", " ", symbols)
    symbols = re.sub(r"([;:,.!?—…])(?: ?\1)+", r"\1", symbols)
    return re.sub(r" (?=[;:,.!?…”)])|(?<=[“(]) ", "", symbols).strip()
