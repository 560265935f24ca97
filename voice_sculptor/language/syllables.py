"""How many syllables a text has when it is spoken: what a speaking rate is counted in."""

from __future__ import annotations

import re

from voice_sculptor.domain import TextLanguage
from voice_sculptor.language.script import HAN
from voice_sculptor.language.text import normalize

_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_VOWELS = re.compile(r"[aeiouy]+")
_SILENT = re.compile(
    r"""
    (?<=[^aeiouy]) e (?= (?:ly | ness | less | ful | ments?) $)   # safely, homeless
    | (?<=ic) al (?=ly $)                                         # basically
    | (?<![aeiouyl]) e $ | (?<=[aeiouy]l) e $                     # came, whole; not table
    | (?<![aeiouysxzcgl]) (?<![sc]h) es $ | (?<=[aeiouy]l) es $   # notes, holes; not boxes, tables
    | (?<![aeiouytdl]) ed $ | (?<=[aeiouylr]l) ed $               # asked, rolled; not wanted, circled
    """,
    re.VERBOSE,
)
_HIATUS = re.compile(
    r"""
    (?<![aeiouytscgx]) i (?=[aou])                                # radio; not nation
    | [aeiouy] (?=ing)                                            # going
    | (?<=[^aeiouy]) i (?= e (?:r | rs | st | nt | nce) $)        # easier
    | u (?=[ao]) (?<![gq]u)                                       # usual; not quality
    | (?<=[st]) m $                                               # realism
    """,
    re.VERBOSE,
)
"""Where letters in a row are one syllable more than the group of vowels says."""


def count_syllables(text: str, language: TextLanguage = "auto") -> int:
    """Syllables of a text as it is read out, numbers and signs included.

    A Chinese character is one. English is counted by groups of vowels, silent endings left out, which is right for nine
    words in ten and off by one for the others.

    Args:
        text: As the user wrote it.
        language: As for `text.normalize`.
    """
    total = 0
    for run in normalize(text, language).runs:
        if run.lang == "zh":
            total += len(_HAN.findall(run.text))
        else:
            total += sum(map(_in_word, _WORD.findall(run.text.casefold())))
    return total


def _in_word(word: str) -> int:
    if not _VOWELS.search(word):
        return len(word)  # Letters, spelled out.
    word = _SILENT.sub("", word)
    return max(1, len(_VOWELS.findall(word)) + len(_HIATUS.findall(word)))
