"""Reading a description: the controls and the timbre that its words imply.

Where words disagree, a number wins over words, those that say it outright win over those that imply it, then the
first; of several emotions the strongest, the first of equals, and any before `neutral`: "sad but hopeful" is sad.
A negated level ("not too fast", "不要太尖") is a limit: medium, or, beside a plain "low but not too low",
half a step; beside what is only implied, medium. A quality said not to be there ("no nasality") is on the other side.
Any other negated word, and one that only implies a level, says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from voice_sculptor.controls import CONTROL_NAMES, LEVEL_WORDS, Controls
from voice_sculptor.domain import Understood
from voice_sculptor.language.clause import EXACT_RANK, Finding, read_clause
from voice_sculptor.language.lexicon import LEVEL_NAMES, Attribute, is_chinese, normalise
from voice_sculptor.language.tokens import Token, tokenise
from voice_sculptor.timbre import TIMBRE_NAMES, Timbre

MAX_UNKNOWN_CHARS = 4
"""Longest run of unknown Chinese characters that is taken for one quality."""

_LIMITED_LEVEL = 0.5
_SPEEDS = tuple(LEVEL_WORDS["speed"])


def understand(description: str) -> Understood:
    """Read a description.

    Args:
        description: Free words, Chinese or English or both; any length, in linear time.

    Returns:
        The controls and timbre it implies, the words of each, and those that look like voice attributes but are
        unknown.
    """
    text = normalise(description)
    findings: list[Finding] = []
    unknown: list[str] = []
    for is_break, group in groupby(tokenise(text), lambda token: token.kind == "break"):
        if not is_break:
            clause = list(group)
            findings += read_clause(clause)
            unknown += _unknown_in(clause, text)
    values: dict[str, Any] = {}
    words: dict[str, tuple[str, ...]] = {}
    for name in CONTROL_NAMES + TIMBRE_NAMES:
        has_limits = name in LEVEL_NAMES
        said = [f for f in findings if f.control == name and (not f.negated or (has_limits and f.rank > 1))]
        value = _settle(name, said)
        if value is not None:
            values[name] = value
            words[name] = tuple(dict.fromkeys(text[finding.start : finding.end] for finding in said))
    return Understood(
        Controls(**{name: value for name, value in values.items() if name in CONTROL_NAMES}),
        Timbre(**{name: value for name, value in values.items() if name in TIMBRE_NAMES}),
        words,
        tuple(dict.fromkeys(unknown)),
    )


def _settle(control: str, said: list[Finding]) -> Any:
    """One value out of everything said about a control or dimension; `None` for nothing."""
    exact = [finding.value for finding in said if finding.rank == EXACT_RANK and not finding.negated]
    if control in LEVEL_NAMES and not exact:
        level = _settle_level([finding for finding in said if finding.rank < EXACT_RANK])
        return _speed(level) if control == "speed" and level is not None else level
    values = exact or _outranking(said)
    if control == "emotion" and values:
        return max(values, key=lambda emotion: (emotion.name != "neutral", emotion.intensity))
    return values[0] if values else None


def _settle_level(said: list[Finding]) -> float | None:
    values = _outranking([finding for finding in said if not finding.negated])
    if not values:
        return 0.0 if said else None
    first = next((value for value in values if value), 0.0)
    level: float = max((value for value in values if value * first > 0), key=abs, default=0.0)
    if any(finding.negated and finding.value * level > 0 for finding in said):
        is_outright = any(finding.rank > 1 and not finding.negated for finding in said)
        level = max(-_LIMITED_LEVEL, min(_LIMITED_LEVEL, level)) if is_outright else 0.0
    return level


def _outranking(said: list[Finding]) -> list[Any]:
    """The values of the highest rank, in order."""
    rank = max((finding.rank for finding in said), default=0)
    return [finding.value for finding in said if finding.rank == rank]


def _speed(level: float) -> float:
    """A level from −2 to +2 as a factor, between the published level values."""
    below = min(3, int(level + 2))
    return round(_SPEEDS[below] + (_SPEEDS[below + 1] - _SPEEDS[below]) * (level + 2 - below), 3)


def _unknown_in(clause: list[Token], text: str) -> Iterator[str]:
    """Unsupported words, and unknown ones that stand where a quality of the voice would."""
    kinds = {token.kind for token in clause}
    for index, token in enumerate(clause):
        if token.kind == "unsupported" and "negation" not in kinds:
            yield text[token.start : token.end]
        if isinstance(token.meaning, Attribute) and token.meaning.control == "voice" and "other" in kinds:
            yield from _quality_beside(clause, index, -1, text)
            yield from _quality_beside(clause, index, 1, text)


def _quality_beside(clause: list[Token], index: int, step: int, text: str) -> Iterator[str]:
    """The unknown words before (`step` −1) or after (+1) a voice: "gibbery voice", "声音很咕叽"."""
    at = index + step
    while 0 <= at < len(clause) and clause[at].kind in ("joiner", "before", "after"):
        at += step
    first = at
    while 0 <= at < len(clause) and clause[at].kind == "other":
        at += step
    run = clause[first:at] if step > 0 else clause[at + 1 : first + 1]
    if not run:
        return
    chinese = is_chinese(text[run[0].start : run[0].end])
    joined = first != index + step
    if (joined or (step < 0 and not chinese)) and len(run) <= (MAX_UNKNOWN_CHARS if chinese else 1):
        yield text[run[0].start : run[-1].end]
