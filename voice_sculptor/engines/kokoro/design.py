"""From asked controls and a seed to a voice: which stock voices to blend, and how far to shift their pitch.

This is the plain beginning: nearest stock voices by measured attributes, blended by the seed, and an exact shift to
the asked pitch. Edits in the style space itself build on the same `VoiceState`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voice_sculptor.controls import Controls, level_of
from voice_sculptor.domain import Language
from voice_sculptor.engines.kokoro.atlas import Atlas, VoiceInfo
from voice_sculptor.errors import InvalidVoiceFile


class VoiceState(BaseModel):
    """What a kept voice of this engine is.

    Attributes:
        format: Version of this layout.
        blend: Stock voices and their weights.
        pitch_st: The voice's own shift from its blend, semitones.
        speed: The voice's own rate factor.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["kokoro/voice@1"] = "kokoro/voice@1"
    blend: Annotated[dict[str, Annotated[float, Field(gt=0.0, le=1.0)]], Field(min_length=1, max_length=54)]
    pitch_st: Annotated[float, Field(ge=-12.0, le=12.0)] = 0.0
    speed: Annotated[float, Field(ge=0.5, le=2.0)] = 1.0


def read_state(state: Mapping[str, Any], atlas: Atlas) -> VoiceState:
    """Check a state that came from outside.

    Raises:
        InvalidVoiceFile: Another layout, a number out of range, or a voice that the atlas does not have.
    """
    try:
        checked = VoiceState.model_validate(dict(state))
    except ValidationError as error:
        first = error.errors()[0]
        raise _invalid(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    for name in checked.blend:
        if name not in atlas.names:
            raise _invalid(f"no stock voice {name!r}")
    return checked


def _invalid(why: str) -> InvalidVoiceFile:
    return InvalidVoiceFile(
        f"The voice's state is not one of the Kokoro engine ({why}).",
        f"该声音的数据不属于 Kokoro 引擎（{why}）。",
        fix_en="Make the voice again with `voice-sculptor design`.",
        fix_zh="请用 `voice-sculptor design` 重新生成该声音。",
    )


# Median F0 and vocal-tract length by gender and age group, within what the stock voices can reach. F0: Stathopoulos,
# Huber & Sussman (2011, JSLHR 54), Hillenbrand et al. (1995, JASA 97) for children; tract length: Fitch & Giedd (1999,
# JASA 106), on the scale of the atlas's own formant estimate.
_TARGETS: dict[tuple[str, str], tuple[float, float]] = {
    ("female", "child"): (275.0, 13.4),
    ("female", "young"): (210.0, 14.1),
    ("female", "middle-aged"): (190.0, 14.5),
    ("female", "elderly"): (175.0, 14.9),
    ("male", "child"): (255.0, 13.6),
    ("male", "young"): (125.0, 15.3),
    ("male", "middle-aged"): (112.0, 15.9),
    ("male", "elderly"): (128.0, 16.2),
}
_ELDERLY_SPEED = 0.92
_NUM_CHOICES = 8
_MAX_SHIFT_ST = 7.0
_TRACT_SCALE_CM = 0.8
_F0_SCALE_ST = 3.0


def design(controls: Controls, language: Language, seed: int, atlas: Atlas) -> VoiceState:
    """A voice that fits the controls, another one for every seed.

    Consecutive seeds take different main voices, so that the candidates of one click differ.

    Args:
        controls: Gender, age and pitch decide; what is unspecified is left to the seed.
        language: Of the text; native voices are preferred.
        seed: 0 … 2³²−1.
        atlas: The stock voices.
    """
    group = level_of("age", controls.age) if controls.age is not None else None
    # No child was recorded: the highest and shortest-tracted voices, nearly all women's, come nearest.
    gender = "female" if group == "child" else controls.gender
    infos = [atlas.info(name) for name in atlas.names]
    near = sorted(
        (info for info in infos if gender is None or info.gender == gender),
        key=lambda info: (_distance(info, controls.gender, group), info.name),
    )
    # A native voice leads, so that the accent is right; any near one may take part in the blend.
    num_choices = None if group is None else _NUM_CHOICES
    natives = [info for info in near if info.language == language][:num_choices]
    block, place = divmod(seed, len(natives))
    rng = np.random.default_rng([seed, 1])
    main = natives[np.random.default_rng([block, 0]).permutation(len(natives))[place]]
    rest = [info for info in near if info is not main and info.gender == main.gender][:num_choices]
    partners = [rest[i] for i in rng.permutation(len(rest))[: rng.integers(1, 3)]]
    shares = rng.dirichlet([1.5] * len(partners)) * rng.uniform(0.2, 0.45)
    blend = {main.name: 1.0 - float(shares.sum())}
    blend.update({info.name: float(share) for info, share in zip(partners, shares, strict=True)})
    blend = {name: round(weight, 4) for name, weight in blend.items() if weight >= 0.01}
    f0_hz = math.exp(sum(weight * math.log(atlas.info(name).f0_hz) for name, weight in blend.items()))
    return VoiceState(
        blend=blend,
        pitch_st=round(_shift_st(f0_hz, controls, group, rng), 2),
        speed=_ELDERLY_SPEED if group == "elderly" else 1.0,
    )


def _distance(info: VoiceInfo, gender: str | None, group: str | None) -> float:
    """How far a stock voice is from its gender and age, in steps that are about equally audible."""
    if group is None:
        return 0.0
    f0_hz, tract_cm = _TARGETS[gender or info.gender, group]
    shift_st = abs(12.0 * math.log2(info.f0_hz / f0_hz))
    return shift_st / _F0_SCALE_ST + abs(info.vtl_cm - tract_cm) / _TRACT_SCALE_CM


def _shift_st(f0_hz: float, controls: Controls, group: str | None, rng: np.random.Generator) -> float:
    """Semitones from the blend's own F0 to where its gender and age lie; none where neither age nor pitch is asked."""
    if group is None and controls.pitch is None:
        return 0.0
    gender = controls.gender or ("male" if f0_hz < 150.0 else "female")
    target_hz = _TARGETS[gender, group or "young"][0]
    wanted_st = 12.0 * math.log2(target_hz / f0_hz) + rng.uniform(-0.8, 0.8)
    return float(np.clip(wanted_st, -_MAX_SHIFT_ST, _MAX_SHIFT_ST))
