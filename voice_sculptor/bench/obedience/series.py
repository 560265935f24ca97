"""Series: each level of each control, in several texts, languages and presets.

Are the levels in order, is each on its target, does what was not asked stay? A speed is compared with a rendering at
speed 1.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from statistics import fmean
from typing import Any

from voice_sculptor.bench.obedience.renderings import PRESETS, SPEED_BAND, TEXTS, cues, make
from voice_sculptor.controls import EMOTIONS, LEVEL_WORDS, Controls, Emotion
from voice_sculptor.domain import Candidate, Language, Preset, VoiceSpec
from voice_sculptor.presets import load_presets
from voice_sculptor.studio import Studio

MEASURE = {
    "pitch": "f0_hz",
    "pitch_variation": "f0_sd_st",
    "volume": "loudness_lufs",
    "speed": "syllables_per_s",
}
_LEVELS: dict[str, list[Any]] = {
    **{name: list(LEVEL_WORDS[name]) for name in MEASURE},
    "age": [8, 25, 48, 70],
    "gender": ["female", "male"],
    "emotion": [Emotion(name=name, intensity=0.8) for name in EMOTIONS],
}
CONTROLS = tuple(_LEVELS)
# What one control may do to what another stands for: one perceptual step.
_STEPS: dict[str, Callable[[float, float], float]] = {
    "f0_hz": lambda a, b: abs(12.0 * math.log2(a / b)) / 1.0,
    "f0_sd_st": lambda a, b: abs(math.log(a / b)) / math.log(1.25),
    "syllables_per_s": lambda a, b: abs(math.log(a / b)) / math.log(1.08),
    "loudness_lufs": lambda a, b: abs(a - b) / 1.0,
    "tract_cm": lambda a, b: abs(math.log(a / b)) / math.log(1.06),
    "tilt_db": lambda a, b: abs(a - b) / 2.0,
}


@dataclass(frozen=True)
class Row:
    """Shares of one control, 0–1; `None` where the question does not arise."""

    control: str
    num_renderings: int
    ordered: float | None
    on_target: float | None
    untouched: float | None


def series(
    studio: Studio, num_texts: int, num_presets: int, controls: Sequence[str] = CONTROLS
) -> Iterator[Row]:
    """One row per control.

    Args:
        studio: Whose engine.
        num_texts: How many texts in each language, 1–8.
        num_presets: How many starting presets, 1–4.
        controls: Which; by default all.
    """
    presets = {preset.id: preset for preset in load_presets()}
    starts = [presets[name] for name in PRESETS[:num_presets]]
    settings: list[tuple[Language, Any, int]] = [
        (language, preset, number) for language, preset, number in product(TEXTS, starts, range(num_texts))
    ]
    for control in controls:
        values = _LEVELS[control]
        ordered: list[bool] = []
        met: list[bool] = []
        kept: list[bool] = []
        for language, preset, number in settings:
            made = []
            for value in values:
                spec = _changed(preset, language, control, value)
                made.append(make(studio, spec, TEXTS[language][number], seed=number)[0])
            if control in MEASURE:
                figures = [getattr(candidate.measured, MEASURE[control]) for candidate in made]
                ordered.append(all(low < high for low, high in pairwise(figures)))
                kept += _untouched(control, made, middle=made[2])
            hits = _met(control, values, made)
            met += [hit for hit in hits if hit is not None]
            for value, hit, candidate in zip(values, hits, made, strict=True):
                if hit is False:
                    check = next(each for each in candidate.obedience.checks if each.control == control)
                    where = f"{preset.id}, {language}, text {number}"
                    sys.stderr.write(f"  missed {control} {value} ({where}): {cues(check)}\n")
        row = Row(control, len(met), _share(ordered), _share(met), _share(kept))
        sys.stderr.write(f"{row}\n")
        yield row


def _changed(preset: Preset, language: Language, control: str, value: Any) -> VoiceSpec:
    """A preset with one control changed; an emotion alone, because it leaves alone what other controls set."""
    if control == "emotion":
        kept = preset.controls
        return VoiceSpec(controls=Controls(gender=kept.gender, age=kept.age, emotion=value))
    controls = preset.controls.changed_by(Controls(**{control: value}))
    return VoiceSpec(description=preset.description.get(language), controls=controls)


def _met(control: str, values: Sequence[Any], made: Sequence[Candidate]) -> list[bool | None]:
    """For each rendering whether the control is met; `None` where it cannot be judged."""
    if control == "speed":
        usual = made[list(values).index(1.0)].measured.syllables_per_s or math.nan
        rates = [candidate.measured.syllables_per_s or math.nan for candidate in made]
        return [
            abs(math.log(rate / usual / value)) <= math.log(1.0 + SPEED_BAND)
            for rate, value in zip(rates, values, strict=True)
        ]
    checks = [
        next(check for check in candidate.obedience.checks if check.control == control) for candidate in made
    ]
    return [check.is_met for check in checks]


def _untouched(control: str, made: Sequence[Candidate], middle: Candidate) -> list[bool]:
    found = []
    for candidate in made:
        for measure, step in _STEPS.items():
            one, other = getattr(candidate.measured, measure), getattr(middle.measured, measure)
            if candidate is middle or measure == MEASURE[control] or one is None or other is None:
                continue
            found.append(step(one, other) <= 1.0)
    return found


def _share(values: Sequence[bool]) -> float | None:
    return fmean(map(float, values)) if values else None


def report(rows: Sequence[Row]) -> str:
    """The series as a Markdown table."""
    lines = ["| control | renderings | in order | on target | untouched |", "|---|---|---|---|---|"]
    for row in rows:
        shares = (
            "" if share is None else f"{share:.1%}" for share in (row.ordered, row.on_target, row.untouched)
        )
        lines.append(f"| {row.control} | {row.num_renderings} | " + " | ".join(shares) + " |")
    return "\n".join(lines)
