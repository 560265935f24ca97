"""`voice-sculptor bench obedience`: do the controls do what they say?

    series    each level of each control, in several texts, languages and presets: are the levels in order, is each on
    its
              target, does what was not asked stay?
    presets   every preset with its own text: is all that it asks for met?
    voices    are the candidates of one click different, and does a kept voice stay the same over texts? (resemblyzer)

Targets and bands are those of `voice_sculptor.targets`. A speed is compared with a rendering at speed 1.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise, product
from statistics import fmean
from typing import Any

import numpy as np

from voice_sculptor.audio.io import resample
from voice_sculptor.config import load_settings
from voice_sculptor.controls import EMOTIONS, LEVEL_WORDS, Controls, Emotion
from voice_sculptor.domain import AudioClip, Candidate, Language, Preset, VoiceSpec
from voice_sculptor.errors import MissingDependency
from voice_sculptor.events import Ready
from voice_sculptor.presets import load_presets
from voice_sculptor.studio import Studio

TEXTS: dict[Language, tuple[str, ...]] = {
    "en": (
        "The ferry leaves at seven, so please be on the pier by half past six.",
        "Nobody remembered who had planted the old apple tree behind the school.",
        "Turn left at the second light and keep going until you see the river.",
        "Rain had fallen all night, and the road to the village was under water.",
        "She opened the letter slowly and read every line of it twice.",
        "Most of the work is done, but the last part will take us a while.",
        "My brother keeps eleven bees in a glass box on his kitchen table.",
        "We walked along the beach and talked about nothing in particular.",
    ),
    "zh": (
        "渡船七点钟出发，请大家六点半以前到码头集合。",
        "没有人记得学校后面那棵老苹果树是谁种下的。",
        "请在第二个路口左转，然后一直走到河边为止。",
        "雨下了整整一夜，通往村子的路已经被水淹没了。",
        "她慢慢地打开那封信，把每一行字都读了两遍。",
        "大部分工作已经做完，剩下的部分还需要一些时间。",
        "我弟弟在厨房的桌子上养了一小盒蜜蜂。",
        "我们沿着海滩慢慢散步，聊了许多家常话。",
    ),
}
PRESETS = ("wise-grandfather", "kindergarten-teacher", "news-anchor", "lonely-knight")
MEASURE = {
    "pitch": "f0_hz",
    "pitch_variation": "f0_sd_st",
    "volume": "loudness_lufs",
    "speed": "syllables_per_s",
}
# What one control may do to what another stands for: one perceptual step.
_STEPS: dict[str, Callable[[float, float], float]] = {
    "f0_hz": lambda a, b: abs(12.0 * math.log2(a / b)) / 1.0,
    "f0_sd_st": lambda a, b: abs(math.log(a / b)) / math.log(1.25),
    "syllables_per_s": lambda a, b: abs(math.log(a / b)) / math.log(1.08),
    "loudness_lufs": lambda a, b: abs(a - b) / 1.0,
    "tract_cm": lambda a, b: abs(math.log(a / b)) / math.log(1.06),
    "tilt_db": lambda a, b: abs(a - b) / 2.0,
}
_RATE = 16_000
_SPEED_BAND = 0.08


@dataclass(frozen=True)
class Row:
    """Shares of one control, 0–1; `None` where the question does not arise."""

    control: str
    num_renderings: int
    ordered: float | None
    on_target: float
    untouched: float | None


def make(studio: Studio, spec: VoiceSpec, text: str, seed: int, count: int = 1) -> list[Candidate]:
    """Candidates of one request, in order of their seeds."""
    events = studio.design(text, spec, num_candidates=count, seed=seed)
    return [event.candidate for event in events if isinstance(event, Ready)]


def series(studio: Studio, num_texts: int, num_presets: int) -> Iterator[Row]:
    """One row per control."""
    presets = {preset.id: preset for preset in load_presets()}
    starts = [presets[name] for name in PRESETS[:num_presets]]
    settings: list[tuple[Language, Any, int]] = [
        (language, preset, number) for language, preset, number in product(TEXTS, starts, range(num_texts))
    ]
    levels: dict[str, list[Any]] = {name: list(LEVEL_WORDS[name]) for name in MEASURE}
    levels |= {"age": [8, 25, 48, 70], "gender": ["female", "male"]}
    levels["emotion"] = [Emotion(name=name, intensity=0.8) for name in EMOTIONS]
    for control, values in levels.items():
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
                    cues = ", ".join(
                        f"{cue.measure} {cue.target:.4g} > {cue.measured:.4g}" for cue in check.cues
                    )
                    where = f"{preset.id}, {language}, text {number}"
                    sys.stderr.write(f"  missed {control} {value} ({where}): {cues}\n")
        row = Row(control, len(met), _share(ordered), fmean(map(float, met)), _share(kept))
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
            abs(math.log(rate / usual / value)) <= math.log(1.0 + _SPEED_BAND)
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


def all_presets(studio: Studio) -> Iterator[tuple[str, float, list[str]]]:
    """For each preset and language its share of met checks, and what was missed."""
    for preset, language in product(load_presets(), TEXTS):
        spec = VoiceSpec(description=preset.description.get(language), controls=preset.controls)
        candidate = make(studio, spec, preset.text.get(language), seed=1)[0]
        judged = [check for check in candidate.obedience.checks if check.is_met is not None]
        missed = [check.control for check in judged if not check.is_met]
        sys.stderr.write(f"{preset.id} {language}: {candidate.obedience.overall} missed {missed}\n")
        yield f"{preset.id} {language}", 1.0 - len(missed) / max(1, len(judged)), missed


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
        kept = [
            embed(event.candidate.audio)
            for text in texts
            for event in studio.speak(made[0].voice, text)
            if isinstance(event, Ready)
        ]
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="voice-sculptor bench obedience", description=__doc__)
    parser.add_argument("--part", choices=("series", "presets", "voices"), action="append")
    parser.add_argument("--texts", type=int, default=8, help="how many of the 8 texts in each language")
    parser.add_argument("--presets", type=int, default=4, help="how many starting presets, at most 4")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    parts = options.part or ["series", "presets"]
    figures: dict[str, Any] = {}
    with Studio(load_settings(engine="kokoro", history_bytes=0)) as studio:
        if "series" in parts:
            rows = list(series(studio, options.texts, options.presets))
            figures["series"] = [asdict(row) for row in rows]
            if not options.json:
                sys.stdout.write(report(rows) + "\n\n")
        if "presets" in parts:
            found = list(all_presets(studio))
            share = fmean(met for _, met, _ in found)
            figures["presets"] = {name: {"met": met, "missed": missed} for name, met, missed in found}
            if not options.json:
                missed_in = "; ".join(f"{name}: {', '.join(missed)}" for name, _, missed in found if missed)
                sys.stdout.write(f"Presets: {share:.1%} of what they ask is met. {missed_in}\n\n")
        if "voices" in parts:
            figures["voices"] = likeness(studio, options.presets)
            if not options.json:
                for name, value in figures["voices"].items():
                    sys.stdout.write(f"{name}: {value:.3f}\n")
    if options.json:
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
