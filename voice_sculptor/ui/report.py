"""How far a candidate did what was asked, as HTML for people who know no phonetics."""

from __future__ import annotations

import math

from voice_sculptor.language.describe import level_words
from voice_sculptor.obedience import UNITS, Check, Cue, Obedience
from voice_sculptor.ui.render import both, said
from voice_sculptor.ui.strings import say

_NEARLY = 0.5


def report(obedience: Obedience) -> str:
    """A line with the overall figure that opens to a table; empty where nothing was asked.

    Args:
        obedience: What was checked.
    """
    if not obedience.checks:
        return ""
    overall = obedience.overall
    if overall is None:
        head = f'<b class="vs-grade">{said("obeys_unknown")}</b>'
    else:
        judged = [check for check in obedience.checks if check.is_met is not None]
        met = sum(bool(check.is_met) for check in judged)
        head = (
            f'<b class="vs-grade vs-{_grade(overall)}">{said("obeys", percent=round(100 * overall))}</b>'
            f"<span>{said('obeys_count', met=met, count=len(judged))}</span>"
        )
    titles = (said("asked_for"), said("heard"), said("did_it"))
    heads = "".join(f'<th scope="col">{title}</th>' for title in titles)
    rows = "".join(map(_row, obedience.checks))
    return (
        f'<details class="vs-report"><summary>{head}</summary>'
        f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


def _row(check: Check) -> str:
    asked = both(*(level_words(check.control, check.asked, language) for language in ("en", "zh")))
    heard = "".join(f"<div>{_cue(cue)}</div>" for cue in check.cues) or "–"
    if check.is_met is None:
        mark, word = "none", said("not_measured")
    elif check.is_met:
        mark, word = "met", said("mark_met")
    elif (check.score or 0.0) >= _NEARLY:
        mark, word = "near", said("mark_near")
    else:
        mark, word = "missed", said("mark_missed")
    name = said(check.control)
    return (
        f'<tr><th scope="row">{name}</th><td>{asked}</td><td>{heard}</td>'
        f'<td class="vs-mark-{mark}">{word}</td></tr>'
    )


def _cue(cue: Cue) -> str:
    """What was measured in plain words, and what it should have been."""
    if cue.measure == "gender":
        return said("cue_gender", percent=round(100 * cue.measured))
    heard = f" {_number(cue.measured)} {UNITS[cue.measure]}".rstrip()
    names = (say(f"cue_{cue.measure}", language) for language in ("en", "zh"))
    aims = (say("cue_aim", language, range=_range(cue)) for language in ("en", "zh"))
    return both(*(name + heard for name in names)) + f" <small>{both(*aims)}</small>"


def _range(cue: Cue) -> str:
    if math.isinf(cue.high):
        return f"≥ {_number(cue.low)}"
    if math.isinf(cue.low) or cue.measure == "voiced_share":
        return f"≤ {_number(cue.high)}"
    return f"{_number(cue.low)} – {_number(cue.high)}"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 50 else f"{value:.1f}" if abs(value) >= 2 else f"{value:.2f}"


def _grade(overall: float) -> str:
    return "good" if overall >= 0.9 else "fair" if overall >= 0.6 else "poor"
