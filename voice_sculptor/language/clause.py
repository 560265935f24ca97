"""One clause of a description, read from left to right into findings.

A word of the lexicon that says something about a voice is a *finding*; what stands before it may change it:
a degree ("very"), a negation ("not too"), and whoever else is meant ("to a child").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from voice_sculptor.controls import Emotion
from voice_sculptor.language.asides import find_asides
from voice_sculptor.language.lexicon import LEVEL_NAMES, Attribute, Degree, Level, Value
from voice_sculptor.language.tokens import Token

MAX_GAP = 3
"""Unknown words that may stand between a negation or a degree and what it belongs to."""

_REACH = 5
"""Words from a level to the attribute it may belong to: "语调也不用太丰富"."""

_NONE_LEVEL = -1.5
"""Pitch variation where there is said to be none."""

_ABSENT_LEVEL = -1.0
"""A quality, such as nasality, that is said not to be there."""

_IMPLIED_RANK = 1
EXACT_RANK = 3


class Finding(NamedTuple):
    """Something said about a control or a dimension of timbre.

    Attributes:
        control: Its name.
        value: Level, years, gender or emotion; speed is a level here, or, of rank 3, a factor.
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
    limited: bool = False
    gap: int = 0


def read_clause(clause: list[Token]) -> list[Finding]:
    """What a clause says, in order.

    Args:
        clause: Tokens, none of kind `break`.
    """
    findings: list[Finding] = []
    attributes, asides = _bind(clause), find_asides(clause)
    bound_starts = {attribute.start for attribute in attributes.values()}
    pending, chained, num_last, last_factor = _Pending(), False, 0, 1.0
    for index, token in enumerate(clause):
        kind, meaning, aside = token.kind, token.meaning, asides[index]
        is_graded = pending.degree or pending.negated or token.start in bound_starts
        if is_graded and isinstance(meaning, Value) and meaning.of is not None:
            kind, meaning = "attribute", Attribute(meaning.of, presence=True)
            token = token._replace(kind=kind, meaning=meaning)
        num_before, num_last = num_last, 0
        if kind == "after" and isinstance(meaning, Degree):
            if meaning.factor < 1 and last_factor < 1:
                continue  # "稍微低一点" is no less than "稍微低"
            for at in range(len(findings) - num_before, len(findings)):
                findings[at] = _graded(findings[at], meaning.factor)._replace(end=token.end)
        elif kind in ("before", "negation", "again", "limit"):
            pending.gap = 0
            if isinstance(meaning, Degree):
                pending.factor, pending.degree = pending.factor * meaning.factor, True
            else:
                pending.negated = chained = chained or kind == "negation"
                pending.limited = kind == "limit"
            if pending.start is None:
                pending.start = token.start
        elif kind in ("value", "level", "exact") or (
            isinstance(meaning, Attribute) and meaning.presence and token.start not in bound_starts
        ):
            attribute = attributes.get(index)
            marked = pending.degree or pending.negated or attribute is not None or len(clause) == 1
            marked = marked or (index + 1 < len(clause) and clause[index + 1].kind == "after")
            if isinstance(meaning, Value | Level) and not (meaning.bare or marked):
                continue
            if isinstance(meaning, Value) and meaning.rank == 0:
                # A pronoun neither takes nor ends what is said before it.
                if aside is None or not aside.hides("gender", 0):
                    findings += [Finding(*said, False, token.start, token.end) for said in _said(token, None)]
                continue
            start, end = token.start if pending.start is None else pending.start, token.end
            if kind == "level" and attribute is not None:
                start, end = min(start, attribute.start), max(end, attribute.end)
            said = [
                _graded(Finding(control, value, rank, pending.negated, start, end), pending.factor)
                for control, value, rank in _said(token, attribute)
                if aside is None or not aside.hides(control, rank)
            ]
            if (
                isinstance(meaning, Attribute)
                and pending.negated
                and not (pending.limited or pending.factor > 1)
            ):
                said = [finding._replace(value=_ABSENT_LEVEL, negated=False) for finding in said]
            findings += said
            num_last, last_factor, pending = len(said), pending.factor, _Pending()
        elif isinstance(meaning, Attribute) and pending.negated and token.start not in bound_starts:
            if meaning.control in ("pitch_variation", "intonation") and not pending.limited:
                start = token.start if pending.start is None else pending.start
                findings.append(Finding("pitch_variation", _NONE_LEVEL, 2, False, start, token.end))
                pending = _Pending()
        elif kind == "quality":
            pending = _Pending()
        elif kind == "other":
            pending.gap += 1
            if pending.gap > MAX_GAP:
                pending, chained = _Pending(), False
    return findings


def _bind(clause: list[Token]) -> dict[int, Token]:
    """By index of each level, and each word that needs one, the nearest attribute, if possible a free one."""
    where = {index for index, token in enumerate(clause) if _attribute_named(token) is not None}
    free, bound = set(where), {}
    for index, token in enumerate(clause if where else ()):
        is_level = token.kind == "level"
        if not is_level and not (isinstance(token.meaning, Value) and not token.meaning.bare):
            continue
        near = [at for at in range(index - _REACH, index + _REACH + 1) if at in where]
        if near:
            best = min(near, key=lambda at: (is_level and at not in free, abs(at - index), at > index))
            bound[index] = clause[best]
            if is_level:
                free.discard(best)
    return bound


def _attribute_named(token: Token) -> str | None:
    """What a token is a word for, or may be one for beside a level."""
    if isinstance(token.meaning, Attribute):
        return token.meaning.control
    return token.meaning.of if isinstance(token.meaning, Value) else None


def _said(token: Token, attribute: Token | None) -> list[tuple[str, Any, int]]:
    """What a value, level, presence or number says: control, value and rank."""
    meaning = token.meaning
    if isinstance(meaning, Value):
        said = [(control, value, meaning.rank) for control, value in meaning.set.items()]
        return said + [(control, value, _IMPLIED_RANK) for control, value in meaning.implies.items()]
    if isinstance(meaning, Attribute):
        return [(meaning.control, 1.0, 2)]
    if isinstance(meaning, Level):
        named = None if attribute is None else _attribute_named(attribute)
        by_name = {None: meaning.alone, "voice": meaning.voice, "intonation": meaning.intonation}
        control = by_name.get(named, named)
        return [] if control is None else [(control, meaning.level, 2)]
    return [(token.control, token.value, EXACT_RANK)]


def _graded(finding: Finding, factor: float) -> Finding:
    """The finding, stronger or weaker by a degree's factor."""
    if factor == 1.0 or finding.rank == EXACT_RANK:
        return finding
    if finding.control in LEVEL_NAMES:
        return finding._replace(value=max(-2.0, min(2.0, finding.value * factor)))
    if isinstance(finding.value, Emotion):
        gain = factor if factor <= 1 else (1 + factor) / 2
        intensity = round(min(1.0, finding.value.intensity * gain), 2)
        return finding._replace(value=Emotion(name=finding.value.name, intensity=intensity))
    return finding
