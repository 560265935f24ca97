"""How far a candidate did what was asked, as HTML for people who know no phonetics."""

from __future__ import annotations

import math

from voice_sculptor.language.describe import level_words
from voice_sculptor.obedience import UNITS, Check, Cue, Obedience
from voice_sculptor.ui.render import both, said
from voice_sculptor.ui.strings import STRINGS, say

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
        f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        f"{_notes(obedience)}</details>"
    )


def _notes(obedience: Obedience) -> str:
    """What the figures in the table mean, each once."""
    measures = dict.fromkeys(cue.measure for check in obedience.checks for cue in check.cues)
    keys = [f"note_{measure}" for measure in measures]
    if any(measure != "gender" for measure in measures):
        keys.insert(0, "note_aim")
    return f"<ul>{''.join(f'<li>{said(key)}</li>' for key in keys)}</ul>" if keys else ""


def _row(check: Check) -> str:
    asked = both(*(level_words(check.control, check.asked, language) for language in ("en", "zh")))
    nothing = f"<small>{said('emotion_hidden')}</small>" if check.control == "emotion" else "–"
    heard = "".join(f"<div>{_cue(cue)}</div>" for cue in check.cues) or nothing
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
    spoken = (
        f"{say(f'cue_{cue.measure}', lang)} {_number(cue.measured)} {_unit(cue.measure, lang)}".rstrip()
        for lang in ("en", "zh")
    )
    aims = (say("cue_aim", lang, range=_range(cue, lang)) for lang in ("en", "zh"))
    return f"{both(*spoken)} <small>{both(*aims)}</small>"


def _unit(measure: str, language: str) -> str:
    unit = UNITS[measure]
    return say(f"unit_{unit}", language) if f"unit_{unit}" in STRINGS else unit


def _range(cue: Cue, language: str) -> str:
    low, high = _number(cue.low), _number(cue.high)
    if math.isinf(cue.high):
        return say("range_from", language, low=low)
    if math.isinf(cue.low) or cue.measure == "voiced_share":
        return say("range_to", language, high=high)
    return say("range_between", language, low=low, high=high)


def _number(value: float) -> str:
    digits = 0 if abs(value) >= 50 else 1 if abs(value) >= 2 else 2
    return f"{value:.{digits}f}".replace("-", "−")


def _grade(overall: float) -> str:
    return "good" if overall >= 0.9 else "fair" if overall >= 0.6 else "poor"
