"""Every preset with its own text: is all that it asks for met?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from voice_sculptor.bench.obedience.renderings import TEXTS, cues, make
from voice_sculptor.domain import Candidate, VoiceSpec
from voice_sculptor.obedience import Check, by_obedience
from voice_sculptor.presets import load_presets
from voice_sculptor.studio import Studio

_SEED = 1
_NUM_CANDIDATES = 3
"""Of one click, unless told otherwise."""


@dataclass(frozen=True)
class Outcome:
    """What came of a preset in one language.

    Attributes:
        preset: Its id.
        language: Of description and text.
        score: Of the first candidate, 0–1.
        met: Share of its checks that are met, 0–1.
        missed: The controls that it misses.
        best_missed: Those that the best of three candidates misses, the one that is shown first.
    """

    preset: str
    language: str
    score: float
    met: float
    missed: tuple[str, ...]
    best_missed: tuple[str, ...]


def all_presets(studio: Studio) -> Iterator[Outcome]:
    """Each preset in each language; where the first candidate misses anything, the others of its click are made."""
    for preset, language in product(load_presets(), TEXTS):
        spec = VoiceSpec(description=preset.description.get(language), controls=preset.controls)
        text = preset.text.get(language)
        first = make(studio, spec, text, _SEED)[0]
        missed = _missed(first)
        others = make(studio, spec, text, _SEED + 1, _NUM_CANDIDATES - 1) if missed else []
        # A candidate is the same whether it is made alone or beside others.
        best = by_obedience([first, *others])[0]
        judged = [check for check in first.obedience.checks if check.is_met is not None]
        score = first.obedience.overall
        outcome = Outcome(
            preset.id,
            language,
            1.0 if score is None else score,
            1.0 - len(missed) / max(1, len(judged)),
            tuple(check.control for check in missed),
            tuple(check.control for check in _missed(best)),
        )
        told = "; ".join(f"missed {check.control} {check.asked}: {cues(check)}" for check in missed)
        sys.stderr.write(f"{preset.id} {language}: {outcome.score:.3f} {told}\n")
        yield outcome


def report(outcomes: Sequence[Outcome]) -> str:
    """The figures in words."""
    whole = sum(not each.missed for each in outcomes)
    best_whole = sum(not each.best_missed for each in outcomes)
    lines = [
        f"Presets: {fmean(each.met for each in outcomes):.1%} of what they ask is met, "
        f"mean score {fmean(each.score for each in outcomes):.3f}, lowest {min(each.score for each in outcomes):.2f}.",
        f"Nothing is missed in {whole} of {len(outcomes)}, "
        f"by the best of {_NUM_CANDIDATES} candidates in {best_whole}.",
    ]
    for each in outcomes:
        if each.missed:
            best = ", ".join(each.best_missed) or "nothing"
            lines.append(
                f"{each.preset} {each.language} misses {', '.join(each.missed)}; the best of {_NUM_CANDIDATES} {best}"
            )
    return "\n".join(lines)


def _missed(candidate: Candidate) -> list[Check]:
    return [check for check in candidate.obedience.checks if check.is_met is False]
