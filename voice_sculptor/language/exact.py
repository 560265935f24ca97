"""Values given as numbers: ages, "at 1.3 times the usual speed", "语速为平常的 1.3 倍", "70% happy", "开心程度 70%"."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from voice_sculptor.controls import AGE_RANGE_YEARS, EMOTION_WORDS, SPEED_RANGE, Emotion
from voice_sculptor.language.ages import find_ages

_NAMES = {word: name for name, words in EMOTION_WORDS.items() for word in words if word != "其他"}
_EN = "|".join(word for word in _NAMES if word.isascii())
_ZH = "|".join(word for word in _NAMES if not word.isascii())
_FACTOR = r"\d(?:\.\d{1,3})?"
_FACTOR_WORDS = {"half": 0.5, "twice": 2.0, "double": 2.0, "半": 0.5, "两倍": 2.0}
_USUAL_EN = r"(?:(?:the|its|his|her|their|my|your) )?(?:(?:usual|normal|natural|regular|original) )?"
_USUAL_ZH = r"(?:平常|正常|平时|通常|原来|原本|自然|常规|默认)?(?:语速|速度)?的?"
_EXACT = re.compile(
    rf"(?<![a-z0-9.])(?:(?P<f1>{_FACTOR})[ ]?(?:x|×|times)[ ]?{_USUAL_EN}(?:speed|pace|tempo|rate)(?![a-z])"
    rf"|(?P<w1>half|twice|double)[ ]{_USUAL_EN}(?:speed|pace|tempo|rate)(?![a-z])"
    rf"|(?P<f2>{_FACTOR})[ ]?倍(?:的?语)?速|(?P<p1>\d{{1,3}})[ ]?%[ ]?(?P<e1>{_EN})(?![a-z]))"
    rf"|(?P<w2>半|两倍)速"
    rf"|(?:语速|速度)(?:是|为|:)?[ ]?{_USUAL_ZH}[ ]?(?P<f3>{_FACTOR})[ ]?倍"
    rf"|(?P<e2>{_ZH})的?(?:程度|强度)(?:是|为|:)?[ ]?(?P<p2>\d{{1,3}})[ ]?%"
)


class Exact(NamedTuple):
    """A number found in a text.

    Attributes:
        start: First character.
        end: One past the last.
        control: `age`, `speed` or `emotion`.
        value: As in `Controls`; `None` where it makes no sense or is out of range.
    """

    start: int
    end: int
    control: str
    value: Any


def find_exact(text: str) -> list[Exact]:
    """The ages, factors of speed and intensities in normalised text.

    Args:
        text: Lower case, compatibility form.
    """
    youngest, oldest = AGE_RANGE_YEARS
    found = [
        Exact(
            age.start,
            age.end,
            "age",
            age.years if age.years is not None and youngest <= age.years <= oldest else None,
        )
        for age in find_ages(text)
    ]
    for match in _EXACT.finditer(text):
        word = match["w1"] or match["w2"]
        number = match["f1"] or match["f2"] or match["f3"]
        if word or number:
            factor = _FACTOR_WORDS[word] if word else float(number)
            slowest, fastest = SPEED_RANGE
            speed = factor if slowest <= factor <= fastest else None
            found.append(Exact(match.start(), match.end(), "speed", speed))
        else:
            percent = int(match["p1"] or match["p2"])
            name = _NAMES[match["e1"] or match["e2"]]
            emotion = Emotion(name=name, intensity=percent / 100) if percent <= 100 else None
            found.append(Exact(match.start(), match.end(), "emotion", emotion))
    return found
