"""How far a rendering does what was asked: each control with its target, what was measured, and a score.

A *cue* is one measure with its band. A control has one cue or several: an age shows in F0 and tract length, an
emotion in F0, its spread and the rate. Inside the band a cue scores 1; outside it loses a third with every further
half band, so that what cannot be reached still says how near it came.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from voice_sculptor.controls import CONTROL_NAMES, Controls, Gender
from voice_sculptor.domain import Candidate, Language
from voice_sculptor.emotions import ENOUGH, emotion_moves
from voice_sculptor.targets import (
    BODY_STEP,
    CHILD_UNTIL_YEARS,
    PITCH_STEP_ST,
    Target,
    gender_of,
    male_probability,
    targets,
)
from voice_sculptor.timbre import TIMBRE_NAMES, Timbre

if TYPE_CHECKING:
    from voice_sculptor.audio.measure import Measurements

UNITS: Mapping[str, str] = {
    "f0_hz": "Hz",
    "f0_sd_st": "st",
    "syllables_per_s": "/s",
    "loudness_lufs": "LUFS",
    "tract_cm": "cm",
    "hnr_db": "dB",
    "tilt_db": "dB",
    "jitter": "%",
    "voiced_share": "",
    "gender": "",
}
"""Unit of each measure, as shown."""

_LOSS_PER_BAND = 2.0 / 3.0


@dataclass(frozen=True)
class Cue:
    """One measure of one control.

    Attributes:
        measure: A field of `Measurements`; `gender` is the probability of the asked gender.
        target: Aimed at.
        low: Lower end of the band.
        high: Upper end of the band; either end is infinite where more, or less, is never wrong.
        measured: In the same unit.
        score: 0–1.
    """

    measure: str
    target: float
    low: float
    high: float
    measured: float
    score: float

    @property
    def is_met(self) -> bool:
        """Whether the measured value lies in the band."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True)
class Check:
    """One control or dimension of timbre that was asked for.

    Attributes:
        control: Its name.
        asked: Its value, as in `Controls` or `Timbre`.
        cues: What was measured of it; empty where nothing could be.
    """

    control: str
    asked: Any
    cues: tuple[Cue, ...]

    @property
    def is_met(self) -> bool | None:
        """Whether all cues are met; `None` where there are none."""
        return all(cue.is_met for cue in self.cues) if self.cues else None

    @property
    def score(self) -> float | None:
        """Mean over the cues, 0–1; `None` where there are none."""
        return fmean(cue.score for cue in self.cues) if self.cues else None


@dataclass(frozen=True)
class Obedience:
    """All that was asked, checked.

    Attributes:
        checks: In the order of the controls, then of the dimensions of timbre.
    """

    checks: tuple[Check, ...]

    @property
    def overall(self) -> float | None:
        """Mean score, 0–1; `None` where nothing was asked or could be measured."""
        scores = [score for check in self.checks if (score := check.score) is not None]
        return fmean(scores) if scores else None

    def as_json(self) -> dict[str, Any]:
        """Plain values: `overall` and, for each control, `asked`, `met`, `score` and its cues."""
        return {
            "overall": _rounded(self.overall),
            "checks": [
                {
                    "control": check.control,
                    "asked": check.asked.model_dump() if hasattr(check.asked, "model_dump") else check.asked,
                    "met": check.is_met,
                    "score": _rounded(check.score),
                    "cues": [
                        {
                            "measure": cue.measure,
                            "unit": UNITS[cue.measure],
                            "target": _rounded(cue.target),
                            "low": _rounded(cue.low),
                            "high": _rounded(cue.high),
                            "measured": _rounded(cue.measured),
                            "met": cue.is_met,
                        }
                        for cue in check.cues
                    ],
                }
                for check in self.checks
            ],
        }


def judge(
    controls: Controls,
    timbre: Timbre,
    measured: Measurements,
    language: Language,
    reference: Mapping[str, float] | None = None,
    *,
    is_given: bool = False,
) -> Obedience:
    """Check a rendering against what was asked.

    Args:
        controls: In effect.
        timbre: In effect.
        measured: Of the rendering.
        language: Of the text.
        reference: As for `targets`.
        is_given: As for `targets`.
    """
    gender = controls.gender or _gender_heard(controls, timbre, measured)
    cues: dict[str, list[Cue]] = {}
    for target in targets(controls, timbre, language, gender, reference, is_given=is_given):
        value = getattr(measured, target.measure)
        if value is not None and math.isfinite(value):
            cues.setdefault(target.control, []).append(_cue(target, value))
    if controls.gender is not None and (controls.age is None or controls.age >= CHILD_UNTIL_YEARS):
        cues["gender"] = _gender_cues(controls.gender, measured)
    if controls.emotion is not None:
        cues["emotion"] = _emotion_cues(controls, measured, reference or {})
    asked = {**controls.asked(), **timbre.asked()}
    return Obedience(
        tuple(
            Check(name, asked[name], tuple(cues.get(name, ())))
            for name in (*CONTROL_NAMES, *TIMBRE_NAMES)
            if name in asked
        )
    )


def _gender_heard(controls: Controls, timbre: Timbre, measured: Measurements) -> Gender:
    """The gender of a voice, as it would be without the pitch and the body that were asked for."""
    f0_hz, tract_cm = measured.f0_hz, measured.tract_cm
    if f0_hz is not None:
        f0_hz /= 2.0 ** (PITCH_STEP_ST * (controls.pitch or 0.0) / 12.0)
    if tract_cm is not None:
        tract_cm /= BODY_STEP ** (timbre.body or 0.0)
    return gender_of(f0_hz, tract_cm)


def by_obedience(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates best first; equal ones in their own order, those of which nothing could be judged last."""

    def key(candidate: Candidate) -> tuple[float, int]:
        overall = candidate.obedience.overall
        return (1.0 if overall is None else -round(overall, 3), candidate.index)

    return sorted(candidates, key=key)


def _cue(target: Target, value: float) -> Cue:
    low, high = target.band
    return Cue(target.measure, target.value, low, high, value, _score(target.deviation(value)))


def _gender_cues(gender: Gender, measured: Measurements) -> list[Cue]:
    if measured.f0_hz is None and measured.tract_cm is None:
        return []
    probability = male_probability(measured.f0_hz, measured.tract_cm)
    probability = probability if gender == "male" else 1.0 - probability
    return [Cue("gender", 1.0, 0.5, 1.0, probability, min(1.0, 2.0 * probability))]


def _emotion_cues(controls: Controls, measured: Measurements, reference: Mapping[str, float]) -> list[Cue]:
    """Whether F0, its spread, the rate and the tilt moved as the emotion moves them."""
    found = []
    for move in emotion_moves(controls):
        value, base = getattr(measured, move.measure), reference.get(move.measure)
        if value is None or base is None or (made := move.made(base, value)) is None:
            continue
        if move.expected == 0.0:
            band = 2.0 * move.least
            ends, score = (move.at(base, -band), move.at(base, band)), _score(made / band)
        else:
            enough = move.at(base, move.expected * ENOUGH)
            ends = (enough, math.inf) if move.expected > 0.0 else (-math.inf, enough)
            score = max(0.0, min(1.0, made / move.expected / ENOUGH))
        found.append(Cue(move.measure, move.at(base, move.expected), *ends, value, score))
    return found


def _score(deviation: float) -> float:
    return max(0.0, min(1.0, 1.0 - _LOSS_PER_BAND * (abs(deviation) - 1.0)))


def _rounded(value: float | None) -> float | None:
    return round(value, 3) if value is not None and math.isfinite(value) else None
