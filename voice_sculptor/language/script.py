"""Which script a stretch of text is in, and so which language reads it."""

from __future__ import annotations

import re
from typing import NamedTuple

from voice_sculptor.domain import Language

HAN = "々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Body of a regular-expression class: the characters read as Chinese."""

_STRETCH = re.compile(f"[{HAN}]+|[^{HAN}]+")
_HAN = re.compile(f"[{HAN}]")


class Run(NamedTuple):
    """A stretch of text read in one language.

    Attributes:
        lang: `"zh"` or `"en"`.
        text: The stretch; concatenating all runs of a text gives the text back.
    """

    lang: Language
    text: str


def has_han(text: str) -> bool:
    """Whether any character of `text` is read as Chinese."""
    return _HAN.search(text) is not None


def has_letters(text: str) -> bool:
    """Whether `text` holds a letter of any script but Chinese."""
    return any(char.isalpha() for char in _HAN.sub("", text))


def runs_of(text: str, default: Language = "en") -> tuple[Run, ...]:
    """Cut `text` where its script changes.

    Chinese characters make `"zh"` runs, letters of any other script `"en"` runs. What has no script of its own
    (punctuation, spaces, digits) stays with the run before it.

    Args:
        text: Any text.
        default: Language of a text without any letter.
    """
    runs: list[Run] = []
    lead = ""
    for match in _STRETCH.finditer(text):
        part = match.group()
        if _HAN.match(part):
            lang: Language = "zh"
        elif any(char.isalpha() for char in part):
            lang = "en"
        elif runs:
            runs[-1] = Run(runs[-1].lang, runs[-1].text + part)
            continue
        else:
            lead = part
            continue
        if lang == "en" and runs:
            # The punctuation after a Chinese passage is the passage's.
            first = next(i for i, char in enumerate(part) if char.isalpha())
            runs[-1] = Run("zh", runs[-1].text + part[:first])
            part = part[first:]
        runs.append(Run(lang, lead + part))
        lead = ""
    if lead:
        runs.append(Run(default, lead))
    return tuple(runs)
