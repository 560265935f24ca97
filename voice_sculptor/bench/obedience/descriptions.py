"""Descriptions: is what each states heard, read by the parser and spoken by the engine?"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from voice_sculptor.bench.obedience.renderings import TEXTS, make, say
from voice_sculptor.bench.obedience.statements import TABLES, Described, load_table
from voice_sculptor.bench.obedience.verdicts import Verdict, asked_speed, verdicts
from voice_sculptor.controls import CONTROL_NAMES, Controls
from voice_sculptor.domain import Candidate, Language, VoiceSpec
from voice_sculptor.errors import RunawayOutput, SynthesisFailed
from voice_sculptor.language.script import has_han
from voice_sculptor.studio import Studio
from voice_sculptor.timbre import TIMBRE_NAMES

LEAST_SHARE = 0.9
"""Goal: of the statements that can be judged, those that are met."""
_SEED = 1
_LANGUAGES: dict[Language, str] = {"en": "English", "zh": "Chinese"}


@dataclass(frozen=True)
class Outcome:
    """One description, rendered once.

    Attributes:
        table: One of `TABLES`.
        language: Of the description and of what was spoken.
        text: The description.
        verdicts: One for each of its statements.
    """

    table: str
    language: Language
    text: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class Tally:
    """How many statements there are of some kind."""

    name: str
    num_met: int
    num_missed: int
    num_not_judged: int

    @property
    def share(self) -> float | None:
        """Met ones among those that can be judged; `None` where there are none."""
        num_judged = self.num_met + self.num_missed
        return self.num_met / num_judged if num_judged else None


def descriptions(studio: Studio, num_each: int | None = None) -> Iterator[Outcome]:
    """Render and judge.

    Args:
        studio: With an engine that designs voices in both languages.
        num_each: Take so many of each table only, the first ones.
    """
    numbers = {language: count() for language in TEXTS}
    for table in TABLES:
        for described in load_table(table)[:num_each]:
            language: Language = "zh" if has_han(described.text) else "en"
            text = TEXTS[language][next(numbers[language]) % len(TEXTS[language])]
            outcome = Outcome(table, language, described.text, _judged(studio, described, text))
            missed = [f"{v.control} {v.stated}: {v.why}" for v in outcome.verdicts if v.is_met is False]
            sys.stderr.write(f"{table} {language}: {described.text}: missed {missed}\n")
            yield outcome


def _judged(studio: Studio, described: Described, text: str) -> tuple[Verdict, ...]:
    try:
        (candidate,) = make(studio, VoiceSpec(description=described.text), text, _SEED)
        usual_rate = _usual_rate(studio, candidate, text) if "speed" in described.says else None
    except (SynthesisFailed, RunawayOutput) as error:
        why = error.message("en")
        return tuple(Verdict(name, stated, False, why) for name, stated in described.says.items())
    return tuple(verdicts(described.says, candidate, usual_rate))


def _usual_rate(studio: Studio, candidate: Candidate, text: str) -> float | None:
    """Syllables per second of the same voice and text at speed 1."""
    if asked_speed(candidate) not in (None, 1.0):
        candidate = say(studio, candidate.voice, text, Controls(speed=1.0))
    return candidate.measured.syllables_per_s


def tallies(outcomes: Sequence[Outcome]) -> list[Tally]:
    """All, by language, by table, by control; only those that occur."""
    found = [
        (outcome, verdict, ("all", _LANGUAGES[outcome.language], outcome.table, verdict.control))
        for outcome in outcomes
        for verdict in outcome.verdicts
    ]
    rows = []
    for name in ("all", *_LANGUAGES.values(), *TABLES, *CONTROL_NAMES, *TIMBRE_NAMES):
        of = Counter(verdict.is_met for _, verdict, names in found if name in names)
        if of:
            rows.append(Tally(name, of[True], of[False], of[None]))
    return rows


def report(outcomes: Sequence[Outcome]) -> str:
    """A Markdown table, whether the goal is met, and what was missed."""
    rows = tallies(outcomes)
    lines = ["| statements | met | missed | not judged | share met |", "|---|---|---|---|---|"]
    for row in rows:
        shown = "" if row.share is None else f"{row.share:.1%}"
        lines.append(f"| {row.name} | {row.num_met} | {row.num_missed} | {row.num_not_judged} | {shown} |")
    if rows and rows[0].share is not None:
        num_met, num_judged = rows[0].num_met, rows[0].num_met + rows[0].num_missed
        word = "met" if rows[0].share >= LEAST_SHARE else "not met"
        of = f"{num_met} of {num_judged}, {rows[0].share:.1%}"
        lines += ["", f"Stated and met: {of}, goal ≥ {LEAST_SHARE:.0%}: {word}"]
    not_judged = Counter(
        f"{verdict.control} ({verdict.why})"
        for outcome in outcomes
        for verdict in outcome.verdicts
        if verdict.is_met is None
    )
    if not_judged:
        lines += ["", "Not judged: " + "; ".join(f"{num} × {what}" for what, num in not_judged.items())]
    missed = [
        f"- {outcome.text} ({outcome.table}): **{verdict.control} {verdict.stated}**: {verdict.why}"
        for outcome in outcomes
        for verdict in outcome.verdicts
        if verdict.is_met is False
    ]
    if missed:
        lines += ["", "Missed, target > measured:", "", *missed]
    return "\n".join(lines)
