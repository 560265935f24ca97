"""From asked controls and a seed to a voice: where it starts among the stock voices, and how it is moved from there.

A start is the stock voice, or a blend of two or three, whose measured attributes are near what is asked. The timbre
is then moved in the style space towards the asked attributes, and a little aside of them, so that two seeds differ.
F0, tract length, tilt, breath and roughness take up exactly what the move leaves; `fitting` corrects them by
measurement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

import numpy as np

from voice_sculptor.controls import Controls, Gender
from voice_sculptor.domain import Language
from voice_sculptor.engines.kokoro.atlas import TIMBRE_SIZE, Atlas, VoiceInfo
from voice_sculptor.engines.kokoro.edits import (
    CLEAR_DB_PER_BREATH,
    CLEAREST_DB,
    SHELF_DB_PER_TILT_DB,
    edit_for,
)
from voice_sculptor.engines.kokoro.space import LOGARITHMIC, NUM_ASIDE, StyleSpace
from voice_sculptor.engines.kokoro.state import VoiceState
from voice_sculptor.targets import CHILD_UNTIL_YEARS, GENDERS, Target, targets, usual_f0_hz
from voice_sculptor.timbre import Timbre

_NUM_CHOICES = 8
_LEAST_CHOICES = 3
_FAR = {"f0_hz": 8.0 / 12.0, "tract_cm": math.log2(1.18)}
"""How far from what is asked a main voice may be, octaves: a boy's voice makes no good old man."""
_ELDERLY_YEARS = 60
_ELDERLY_SPEED = 0.92
_ELDERLY_ROUGHNESS = 0.15
_ASIDE = 3.2
"""How far a voice is moved in directions that nobody asked about, standard deviations of the stock voices."""
_FARTHEST = 5.0
"""How far it is moved in all."""
_PARTNERS_SHARE = (0.05, 0.25)
_LIMITS = {
    "pitch_st": (-15.0, 15.0),
    "pitch_range": (0.15, 3.0),
    "tract_scale": (0.78, 1.28),
    "tilt_db": (-12.0, 12.0),
    "breath": (-CLEAREST_DB / CLEAR_DB_PER_BREATH, 0.18),
    "roughness": (-1.0, 1.0),
}
# Where a gender is asked and no age: kept on its own side, so that it is heard as asked.
_SURE_TRACT_CM = {"female": (13.0, 15.3), "male": (16.8, 19.0)}
_SURE_F0_HZ = {"female": (165.0, 300.0), "male": (80.0, 150.0)}
_AGE_STEPS = {"f0_hz": (5.0**0.5 - 1.0) / 2.0, "tract_cm": 2.0**0.5 - 1.0}
_AGE_SHARE = 0.5
"""Of the band of an age, how far from its middle a voice may be aimed."""
# How far from its target each attribute counts as one step away when a start is chosen.
_START_STEPS = {"f0_hz": 4.0 / 12.0, "tract_cm": 0.11, "hnr_db": 2.0, "tilt_db": 4.0, "jitter": 0.4}


_HEARD_SHARES = {"tract_cm": (0.2, 0.85), "jitter": (0.45, 0.45)}
"""Of what a move is predicted to change, how much is heard in 500 voices, downwards and upwards; elsewhere all of it.
Voices tell apart by more than a move can make: a timbre moved towards a child's hardly sounds smaller."""
_BREATH_PER_DB = 0.022
_ROUGHNESS_PER_LOG_JITTER = 1.2
_SMOOTHNESS_PER_LOG_JITTER = 5.0
"""A smooth contour takes only a fifth off the irregularity, uneven periods double it."""
_SMOOTHNESS_PER_BREATH = 20.0
"""Only so much noise can be taken out of a voice; beyond it a smoother contour makes it clearer a little."""
_CLEAREST_SMOOTH = -0.022
"""And where the contour is as smooth as can be, taking out half of the noise that can be makes it smoother a little."""


def design(
    controls: Controls, timbre: Timbre, language: Language, seed: int, atlas: Atlas, space: StyleSpace
) -> tuple[VoiceState, dict[str, Target]]:
    """A voice that fits what is asked as far as can be said before it has spoken, another one for every seed.

    Consecutive seeds take different main voices, so that the candidates of one click differ.

    Args:
        controls: What is unspecified is left to the seed.
        timbre: As `controls`.
        language: Of the text; native voices are preferred.
        seed: 0 … 2³²−1.
        atlas: The stock voices.
        space: Their timbres.

    Returns:
        The voice, and what it should measure, by measure.
    """
    wanted: dict[str, dict[str, Target]] = {
        gender: {target.measure: target for target in targets(controls, timbre, language, gender)}
        for gender in GENDERS
        if controls.gender in (None, gender)
    }
    # Children do not tell a gender, and few voices are near: any may lead.
    is_child = controls.age is not None and controls.age < CHILD_UNTIL_YEARS
    leads = None if is_child else controls.gender

    def goal(info: VoiceInfo) -> dict[str, Target]:
        return wanted[controls.gender or info.gender]

    near = sorted(
        (info for info in map(atlas.info, atlas.names) if leads in (None, info.gender)),
        key=lambda info: (_distance(info, goal(info), controls), info.name),
    )
    # A native voice leads, so that the accent is right; any near one may take part in the blend.
    num_choices = _NUM_CHOICES if any(set(each) & set(_START_STEPS) for each in wanted.values()) else None
    natives = [info for info in near if info.language == language][:num_choices]
    strains = {info.name: _strain(info, goal(info), controls.gender) for info in natives}
    bearable = sorted([1.0, *strains.values()])[: _LEAST_CHOICES + 1][-1]
    natives = [info for info in natives if strains[info.name] <= max(1.0, bearable)]
    leads_in_turn = _far_apart(natives, atlas)
    main = leads_in_turn[seed % len(natives)]
    rng = np.random.default_rng([seed, 1])
    rest = [info for info in near if info is not main and info.gender == main.gender][:num_choices]
    partners = [rest[i] for i in rng.permutation(len(rest))[: rng.integers(1, 3)]]
    shares = rng.dirichlet([1.5] * len(partners)) * rng.uniform(*_PARTNERS_SHARE)
    blend = {main.name: 1.0 - float(shares.sum())}
    blend.update({info.name: float(share) for info, share in zip(partners, shares, strict=True)})
    blend = {name: round(weight, 4) for name, weight in blend.items() if weight >= 0.01}
    wanted_now = {measure: _somewhere(target, seed) for measure, target in goal(main).items()}
    return _moved(blend, wanted_now, controls, timbre, atlas, space, seed), wanted_now


def _somewhere(target: Target, seed: int) -> Target:
    """The target of an age moved within its band, elsewhere for every seed: people of one age differ.

    Consecutive seeds lie far apart (additive recurrences with the golden and the silver ratio).
    """
    if target.control != "age":
        return target
    step = _AGE_STEPS[target.measure]
    place = 2.0 * math.fmod(seed * step + 0.5, 1.0) - 1.0
    octaves = math.log2(target.band[1] / target.value) * _AGE_SHARE * place
    return replace(target, value=target.value * 2.0**octaves, tolerance=target.tolerance * (1.0 - _AGE_SHARE))


def _far_apart(voices: list[VoiceInfo], atlas: Atlas) -> list[VoiceInfo]:
    """The same voices, the nearest first, and each as unlike as can be to the two before it."""
    timbres = {info.name: atlas.mean(info.name)[:TIMBRE_SIZE] for info in voices}

    def gap(info: VoiceInfo) -> float:
        return min(float(np.linalg.norm(timbres[info.name] - timbres[other.name])) for other in found[-2:])

    found, left = voices[:1], voices[1:]
    while left:
        found.append(max(left, key=gap))
        left.remove(found[-1])
    return found


def _distance(info: VoiceInfo, wanted: Mapping[str, Target], controls: Controls) -> float:
    """How far a stock voice is from the targets, in steps that are about equally hard to make.

    A level of pitch does not count: whoever moves it wants to hear the same person higher or lower.
    """
    total = 0.0
    for measure in set(_START_STEPS) & set(wanted):
        own = fmean(each[measure] for each in info.measurements.values())
        value = wanted[measure].value
        if measure == "f0_hz":
            gender = controls.gender or ("male" if info.gender == "male" else "female")
            value = usual_f0_hz(gender, controls.age)
        gap = value - own if wanted[measure].scale == "difference" else math.log2(value / own)
        total += (gap / _START_STEPS[measure]) ** 2
    return total


def _strain(info: VoiceInfo, wanted: Mapping[str, Target], gender: Gender | None) -> float:
    """How far a stock voice has to be moved in F0 and tract length; up to 1 is not too far."""
    sure: Mapping[str, tuple[float, float]] = {}
    if gender is not None:
        sure = {"f0_hz": _SURE_F0_HZ[gender], "tract_cm": _SURE_TRACT_CM[gender]}
    worst = 0.0
    for measure, limit in _FAR.items():
        own = fmean(each[measure] for each in info.measurements.values())
        if measure in wanted:
            value = wanted[measure].value
        elif measure in sure:
            value = float(np.clip(own, *sure[measure]))
        else:
            continue
        worst = max(worst, abs(math.log2(value / own)) / limit)
    return worst


def _moved(
    blend: dict[str, float],
    wanted: Mapping[str, Target],
    controls: Controls,
    timbre: Timbre,
    atlas: Atlas,
    space: StyleSpace,
    seed: int,
) -> VoiceState:
    """The blend moved in the style space, and exact edits for what is predicted to be missing then."""
    shares = atlas.shares(blend)
    mean = np.sum([share * atlas.mean(name)[:TIMBRE_SIZE] for name, share in shares.items()], axis=0)
    own_f0_hz = math.exp(sum(share * math.log(atlas.info(name).f0_hz) for name, share in shares.items()))
    asked, aims = edit_for(controls), {measure: target.value for measure, target in wanted.items()}
    if controls.gender is not None:
        aims.setdefault("f0_hz", float(np.clip(own_f0_hz, *_SURE_F0_HZ[controls.gender])))
    f0_hz = aims.get("f0_hz", own_f0_hz * 2.0 ** (asked.pitch_st / 12.0))
    own = space.attributes(mean, f0_hz)
    if controls.gender is not None:
        aims.setdefault("tract_cm", float(np.clip(own["tract_cm"], *_SURE_TRACT_CM[controls.gender])))
    changes = {
        name: math.log(aims[name] / value) if name in LOGARITHMIC else aims[name] - value
        for name, value in own.items()
        if name in aims
    }
    move = space.move(changes)
    done = space.effect(move)
    left = {name: change - _heard(name, done[name]) for name, change in changes.items()}
    block, place = divmod(seed, NUM_ASIDE)
    aside = min(_ASIDE, math.sqrt(max(0.0, _FARTHEST**2 - space.distance(move) ** 2)))
    move = move + space.aside(np.random.default_rng([block, 2]), aside)[place]
    is_elderly = controls.age is not None and controls.age >= _ELDERLY_YEARS
    return VoiceState(
        blend=blend,
        timbre=tuple(np.clip(move, -4.0, 4.0).round(4).tolist()),
        pitch_st=_within("pitch_st", 12.0 * math.log2(f0_hz / own_f0_hz) - asked.pitch_st),
        speed=_ELDERLY_SPEED if is_elderly else 1.0,
        tract_scale=_within("tract_scale", math.exp(left.get("tract_cm", 0.0))),
        tilt_db=_within(
            "tilt_db", SHELF_DB_PER_TILT_DB * left.get("tilt_db", 0.0) - asked.tilt_db * ("tilt_db" in left)
        ),
        breath=_within("breath", -_BREATH_PER_DB * left.get("hnr_db", 0.0)),
        roughness=_within("roughness", _rougher(_ELDERLY_ROUGHNESS * is_elderly, left.get("jitter", 0.0))),
        voicing=0.0 if timbre.whisper else 1.0,
    )


def _heard(attribute: str, done: float) -> float:
    """What is heard of a change that a move is predicted to make."""
    down, up = _HEARD_SHARES.get(attribute, (1.0, 1.0))
    return done * (down if done < 0.0 else up)


def corrected(state: VoiceState, misses: Mapping[str, float]) -> VoiceState:
    """The voice with its exact edits changed by what a measurement missed.

    Args:
        state: As it spoke.
        misses: By measure, target against measured: semitones for `f0_hz`, dB, and the natural logarithm of a factor
            for `f0_sd_st`, `tract_cm` and `jitter`. Zero for what was asked and is met; what is not named nobody asked
            for, and may serve what was.
    """
    changes = {
        "pitch_st": state.pitch_st + misses.get("f0_hz", 0.0),
        "pitch_range": state.pitch_range * math.exp(misses.get("f0_sd_st", 0.0)),
        "tract_scale": state.tract_scale * math.exp(misses.get("tract_cm", 0.0)),
        "tilt_db": state.tilt_db + SHELF_DB_PER_TILT_DB * misses.get("tilt_db", 0.0),
        "breath": state.breath - _BREATH_PER_DB * misses.get("hnr_db", 0.0),
        "roughness": _rougher(state.roughness, misses.get("jitter", 0.0)),
    }
    if "jitter" not in misses:
        changes["roughness"] += _SMOOTHNESS_PER_BREATH * min(0.0, changes["breath"] - _LIMITS["breath"][0])
    elif misses["jitter"] < 0.0 and "hnr_db" not in misses and changes["roughness"] < _LIMITS["roughness"][0]:
        changes["breath"] = min(changes["breath"], _CLEAREST_SMOOTH)
    return state.model_copy(update={name: _within(name, value) for name, value in changes.items()})


def _rougher(roughness: float, log_jitter: float) -> float:
    """Roughness that makes the irregularity larger by a factor, given as its natural logarithm."""
    per_smoothness = _ROUGHNESS_PER_LOG_JITTER / _SMOOTHNESS_PER_LOG_JITTER
    changed = max(roughness, roughness * per_smoothness) + _ROUGHNESS_PER_LOG_JITTER * log_jitter
    return min(changed, changed / per_smoothness)


def _within(name: str, value: float) -> float:
    low, high = _LIMITS[name]
    return round(min(high, max(low, value)), 4)
