"""One clause of a description, read from left to right into findings.

A word of the lexicon that says something about a voice is a *finding*; what stands before it may change it:
a degree ("very"), a negation ("not too"), someone spoken to ("to a child").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from voice_sculptor.controls import AGE_RANGE_YEARS, Emotion
from voice_sculptor.language.ages import find_ages
from voice_sculptor.language.lexicon import (
    LEVEL_CONTROLS,
    Attribute,
    Degree,
    Level,
    Meaning,
    Value,
    load_lexicon,
    split_units,
)

MAX_GAP = 3
"""Unknown words that may stand between a negation, a degree or an attribute and what it belongs to."""

_AGE_RANK = 3


class Token(NamedTuple):
    """A word of the lexicon, an age, or a word that is not known.

    Attributes:
        kind: As `Meaning.kind`; `age` for a number of years, `other` for a word that is not known.
        meaning: From the lexicon; `None` for an age and a word that is not known.
        start: First character in the normalised text.
        end: One past the last.
        years: The age.
    """

    kind: str
    meaning: Meaning | None
    start: int
    end: int
    years: int = 0


class Finding(NamedTuple):
    """Something said about a control.

    Attributes:
        control: Its name.
        value: Level, years, gender or emotion; speed is a level here.
        rank: 3 a number, 2 said outright, 1 implied, 0 a pronoun.
        negated: Whether the words say that it is *not* so.
        start: First character of the words.
        end: One past the last.
    """

    control: str
    value: Any
    rank: int
    negated: bool
    start: int
    end: int


@dataclass
class _Pending:
    """What has been read and waits for the value it belongs to."""

    start: int | None = None
    factor: float = 1.0
    degree: bool = False
    negated: bool = False
    listener: bool = False
    gap: int = 0


def tokenise(text: str) -> Iterator[Token]:
    """The tokens of normalised text; punctuation that ends a clause is of kind `break`."""
    lexicon, units = load_lexicon(), split_units(text)
    words = [unit.text for unit in units]
    ages = {age.start: age for age in find_ages(text)}
    youngest, oldest = AGE_RANGE_YEARS
    index = 0
    while index < len(units):
        start = units[index].start
        age = ages.get(start)
        if age is not None:
            while index < len(units) and units[index].start < age.end:
                index += 1
            if age.years is not None and youngest <= age.years <= oldest:
                yield Token("age", None, start, age.end, age.years)
            else:
                yield Token("unsupported", None, start, age.end)
            continue
        meaning, num_units = lexicon.match(words, index)
        index += num_units
        yield Token("other" if meaning is None else meaning.kind, meaning, start, units[index - 1].end)


def read_clause(clause: list[Token]) -> list[Finding]:
    """What a clause says, in order.

    Args:
        clause: Tokens, none of kind `break`.
    """
    findings: list[Finding] = []
    attributes = _bind(clause)
    pending, chained, num_last = _Pending(), False, 0
    for index, token in enumerate(clause):
        kind, meaning = token.kind, token.meaning
        num_before, num_last = num_last, 0
        if kind == "after" and isinstance(meaning, Degree):
            for at in range(len(findings) - num_before, len(findings)):
                findings[at] = _graded(findings[at], meaning.factor)._replace(end=token.end)
        elif kind in ("before", "negation", "again", "listener"):
            pending.gap = 0
            if isinstance(meaning, Degree):
                pending.factor, pending.degree = pending.factor * meaning.factor, True
            elif kind == "listener":
                pending.listener = True
            else:
                pending.negated = chained = chained or kind == "negation"
            if pending.start is None and kind != "listener":
                pending.start = token.start
        elif kind in ("value", "level", "age"):
            attribute = attributes.get(index)
            marked = pending.degree or pending.negated or attribute is not None or len(clause) == 1
            marked = marked or (index + 1 < len(clause) and clause[index + 1].kind == "after")
            if isinstance(meaning, Value | Level) and not (meaning.bare or marked):
                continue
            start, end = token.start if pending.start is None else pending.start, token.end
            if kind == "level" and attribute is not None:
                start, end = min(start, attribute.start), max(end, attribute.end)
            said = [
                _graded(Finding(control, value, rank, pending.negated, start, end), pending.factor)
                for control, value, rank in _said(token, attribute)
                if not (pending.listener and rank <= 1 and control in ("age", "gender"))
            ]
            findings += said
            num_last, pending = len(said), _Pending()
        elif kind == "quality":
            pending = _Pending()
        elif kind == "other":
            pending.gap += 1
            if pending.gap > MAX_GAP:
                pending, chained = _Pending(), False
    return findings


def _bind(clause: list[Token]) -> dict[int, Token]:
    """By index of each level, and each word that needs one, the nearest attribute, if possible a free one."""
    where = {index for index, token in enumerate(clause) if token.kind == "attribute"}
    free, bound = set(where), {}
    for index, token in enumerate(clause if where else ()):
        is_level = token.kind == "level"
        if not is_level and not (isinstance(token.meaning, Value) and not token.meaning.bare):
            continue
        near = [at for at in range(index - MAX_GAP, index + MAX_GAP + 1) if at in where]
        if near:
            best = min(near, key=lambda at: (is_level and at not in free, abs(at - index), at > index))
            bound[index] = clause[best]
            if is_level:
                free.discard(best)
    return bound


def _said(token: Token, attribute: Token | None) -> list[tuple[str, Any, int]]:
    """What a value, level or age says: control, value and rank."""
    meaning = token.meaning
    if isinstance(meaning, Value):
        return [(control, value, meaning.rank) for control, value in meaning.set.items()]
    if isinstance(meaning, Level):
        named = attribute.meaning if attribute else None
        name = named.control if isinstance(named, Attribute) else None
        control = meaning.alone if name is None else meaning.voice if name == "voice" else name
        return [] if control is None else [(control, meaning.level, 2)]
    return [("age", token.years, _AGE_RANK)]


def _graded(finding: Finding, factor: float) -> Finding:
    """The finding, stronger or weaker by a degree's factor."""
    if factor == 1.0:
        return finding
    if finding.control in LEVEL_CONTROLS:
        return finding._replace(value=max(-2.0, min(2.0, finding.value * factor)))
    if isinstance(finding.value, Emotion):
        gain = factor if factor <= 1 else (1 + factor) / 2
        intensity = round(min(1.0, finding.value.intensity * gain), 2)
        return finding._replace(value=Emotion(name=finding.value.name, intensity=intensity))
    return finding
