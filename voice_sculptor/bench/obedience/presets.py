"""Every preset with its own text: is all that it asks for met?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product

from voice_sculptor.bench.obedience.renderings import TEXTS, cues, make
from voice_sculptor.domain import VoiceSpec
from voice_sculptor.presets import load_presets
from voice_sculptor.studio import Studio


def all_presets(studio: Studio) -> Iterator[tuple[str, float, list[str]]]:
    """For each preset and language its share of met checks, and what was missed."""
    for preset, language in product(load_presets(), TEXTS):
        spec = VoiceSpec(description=preset.description.get(language), controls=preset.controls)
        candidate = make(studio, spec, preset.text.get(language), seed=1)[0]
        judged = [check for check in candidate.obedience.checks if check.is_met is not None]
        missed = [check for check in judged if not check.is_met]
        told = "; ".join(f"missed {check.control} {check.asked}: {cues(check)}" for check in missed)
        sys.stderr.write(f"{preset.id} {language}: {candidate.obedience.overall:.3f} {told}\n")
        yield (
            f"{preset.id} {language}",
            1.0 - len(missed) / max(1, len(judged)),
            [check.control for check in missed],
        )
