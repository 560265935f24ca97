"""Who speaks: do the candidates of one click differ, does a kept voice stay the same over texts?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from voice_sculptor.audio.io import resample
from voice_sculptor.bench.obedience.renderings import TEXTS, make, say
from voice_sculptor.domain import AudioClip, Language, VoiceSpec
from voice_sculptor.errors import MissingDependency
from voice_sculptor.presets import load_presets
from voice_sculptor.studio import Studio

_RATE = 16_000


def likeness(studio: Studio, num_specs: int) -> dict[str, float]:
    """Similarity of candidates of one click, and of one kept voice over texts."""
    embed = _embedder()
    between, within = [], []
    for preset in load_presets()[:num_specs]:
        language: Language = "en"
        spec = VoiceSpec(description=preset.description.get(language), controls=preset.controls)
        made = make(studio, spec, TEXTS[language][0], seed=3, count=3)
        voices = [embed(candidate.audio) for candidate in made]
        between += [float(a @ b) for a, b in combinations(voices, 2)]
        texts = TEXTS[language][1:] + TEXTS["zh"][:3]
        kept = [embed(say(studio, made[0].voice, text).audio) for text in texts]
        within += [float(a @ b) for a, b in combinations(kept, 2)]
        sys.stderr.write(
            f"{preset.id}: between {between[-3:]}, within {fmean(within):.3f} {min(within):.3f}\n"
        )
    return {
        "candidates, mean": fmean(between),
        "candidates, highest": max(between),
        "candidates, share at most 0.80": fmean(float(value <= 0.8) for value in between),
        "kept voice, mean": fmean(within),
        "kept voice, lowest": min(within),
    }


def _embedder() -> Callable[[AudioClip], Any]:
    try:
        from resemblyzer import VoiceEncoder, preprocess_wav
    except ImportError as error:
        raise MissingDependency(
            f"Comparing voices needs resemblyzer ({error}).",
            f"比较声音需要 resemblyzer（{error}）。",
            fix_en="Install it: pip install webrtcvad-wheels librosa && pip install --no-deps resemblyzer",
            fix_zh="请安装：pip install webrtcvad-wheels librosa && pip install --no-deps resemblyzer",
        ) from error
    encoder = VoiceEncoder("cpu", verbose=False)
    return lambda clip: np.asarray(encoder.embed_utterance(preprocess_wav(resample(clip, _RATE).samples)))
