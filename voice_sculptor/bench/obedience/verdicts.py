"""Whether a rendering has what its description states, by what it measures.

A statement is met where it was read on its side and the check of its control is met. A limit ("not too high") is met
where the measure is not on the excluded side, which begins half a level from the middle. A speed is held against the
same voice at speed 1, not against its own plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from voice_sculptor.bench.obedience.renderings import SPEED_BAND
from voice_sculptor.bench.obedience.statements import SIDES, excluded, is_read
from voice_sculptor.controls import CONTROL_NAMES, Controls
from voice_sculptor.domain import Candidate
from voice_sculptor.obedience import Check, Cue
from voice_sculptor.targets import CHILD_UNTIL_YEARS, Target, targets
from voice_sculptor.timbre import Timbre

_HALF_A_LEVEL = 0.5
_MEDIUM_SPEEDS = (0.9, 1.1)
"""Where slow and fast begin, as in `controls.level_of`."""


@dataclass(frozen=True)
class Verdict:
    """One statement of a description.

    Attributes:
        control: Of which control or dimension of timbre.
        stated: As the tables write it.
        is_met: `None` where it cannot be judged.
        why: What was missed, as `measure target > measured`, or why it cannot be judged; empty where it is met.
    """

    control: str
    stated: Any
    is_met: bool | None
    why: str = ""


def verdicts(says: Mapping[str, Any], candidate: Candidate, usual_rate: float | None) -> list[Verdict]:
    """One for each statement.

    Args:
        says: As in `Described`.
        candidate: Made from that description and nothing else.
        usual_rate: Syllables per second of the same voice and text at speed 1; needed where a speed is stated.
    """
    checks = {check.control: check for check in candidate.obedience.checks}
    return [_verdict(name, stated, checks, candidate, usual_rate) for name, stated in says.items()]


def asked_speed(candidate: Candidate) -> float | None:
    """The speed that was read."""
    return next((check.asked for check in candidate.obedience.checks if check.control == "speed"), None)


def _verdict(
    name: str, stated: Any, checks: Mapping[str, Check], candidate: Candidate, usual_rate: float | None
) -> Verdict:
    check = checks.get(name)
    if name == "nasality":
        return Verdict(name, stated, None, "nothing measures it")
    if check is None or not is_read(name, stated, check.asked):
        read = "not at all" if check is None else repr(check.asked)
        return Verdict(name, stated, False, f"not understood: read {read}")
    cues = tuple(_rate_cues(check, candidate, usual_rate)) if name == "speed" else check.cues
    if not cues:
        why = _why_not_judged(name, checks, candidate)
        return Verdict(name, stated, None if why else False, why or "nothing was measured")
    not_this = excluded(stated)
    if not_this is not None and name in SIDES and not_this != SIDES[name][1]:
        bound, is_met = _is_outside(name, not_this, check.asked, cues[0])
        why = "" if is_met else f"{cues[0].measure} limit {bound:.4g} > {cues[0].measured:.4g}"
        return Verdict(name, stated, is_met, why)
    missed = [cue for cue in cues if not cue.is_met]
    why = ", ".join(f"{cue.measure} {cue.target:.4g} > {cue.measured:.4g}" for cue in missed)
    return Verdict(name, stated, not missed, why)


def _rate_cues(check: Check, candidate: Candidate, usual_rate: float | None) -> Iterator[Cue]:
    """The rate, held against that of the same voice at speed 1."""
    rate = candidate.measured.syllables_per_s
    if rate is None or usual_rate is None:
        return
    target = Target("speed", "syllables_per_s", usual_rate * check.asked, SPEED_BAND, "ratio")
    low, high = target.band
    yield Cue("syllables_per_s", target.value, low, high, rate, float(low <= rate <= high))


def _is_outside(name: str, not_this: str, asked: float, cue: Cue) -> tuple[float, bool]:
    """Where the excluded side begins, in the cue's measure, and whether the measured value is short of it."""
    is_upper = not_this == SIDES[name][2]
    if name == "speed":
        edge, middle = _MEDIUM_SPEEDS[is_upper], 1.0
    else:
        edge, middle = (_HALF_A_LEVEL if is_upper else -_HALF_A_LEVEL), 0.0
    here, there, at_middle = (_aim(name, value) for value in (asked, edge, middle))
    if here.scale == "difference":
        bound = cue.target + there.value - here.value
    else:
        bound = cue.target * there.value / here.value
    # More of a control may be less of its measure: a breathy voice has less harmonicity.
    return bound, cue.measured <= bound if there.value > at_middle.value else cue.measured >= bound


def _aim(name: str, value: float) -> Target:
    """What a control alone aims at; only its distance from another value of it counts here."""
    is_control = name in CONTROL_NAMES
    controls = Controls(**{name: value}) if is_control else Controls()
    timbre = Timbre() if is_control else Timbre(**{name: value})
    (target,) = targets(controls, timbre, "en", "female")
    return target


def _why_not_judged(name: str, checks: Mapping[str, Check], candidate: Candidate) -> str:
    """Why a control without cues has none; empty where it should have some."""
    if "whisper" in checks:
        return "a whisper has no periods to measure it on"
    if name == "gender" and "age" in checks and checks["age"].asked < CHILD_UNTIL_YEARS:
        return "a child's voice does not tell it"
    if name == "emotion" and candidate.measured.f0_hz is not None:
        return "what it moves is set by other words, or moves too little"
    return ""
