"""Description and explicit settings put together: the explicit one wins, and a conflict is always said."""

from __future__ import annotations

from typing import Any, NamedTuple

from voice_sculptor.controls import Controls, level_of
from voice_sculptor.domain import Notice, Understood, VoiceSpec
from voice_sculptor.language.describe import shown
from voice_sculptor.timbre import Timbre

_LEVEL_STEP = 1.0
_SPEED_STEP = 0.15
_AGE_RATIO = 1.25

_TITLES_ZH = {
    "age": "年龄",
    "gender": "性别",
    "pitch": "音高",
    "pitch_variation": "语调起伏",
    "volume": "音量",
    "speed": "语速",
    "emotion": "情绪",
    "breathiness": "气息感",
    "roughness": "沙哑程度",
    "brightness": "明暗",
    "body": "厚薄",
    "nasality": "鼻音",
    "whisper": "耳语",
}


class Merged(NamedTuple):
    """What is asked of a voice, description and explicit settings together.

    Attributes:
        controls: In effect.
        timbre: In effect.
        notices: One for each conflict (kind `conflict`) and one for all words that were not understood
            (kind `unknown`).
    """

    controls: Controls
    timbre: Timbre
    notices: tuple[Notice, ...]


def merge(spec: VoiceSpec, understood: Understood) -> Merged:
    """The controls and timbre in effect, and what the user should know about them.

    Args:
        spec: Its explicit controls and timbre win over the description.
        understood: What was read from its description.
    """
    asked = spec.controls.asked() | spec.timbre.asked()
    read = understood.controls.asked() | understood.timbre.asked()
    notices = [
        _conflict(name, value, read[name], understood.words.get(name, ()))
        for name, value in asked.items()
        if name in read and differ(name, value, read[name])
    ]
    if understood.unknown:
        notices.append(
            Notice(
                "unknown",
                "Not understood in the description, so not used: "
                + ", ".join(f"“{word}”" for word in understood.unknown)
                + ".",
                f"描述中未能理解、因此没有采用：{'、'.join(f'“{word}”' for word in understood.unknown)}。",
            )
        )
    return Merged(
        Controls(**(understood.controls.asked() | spec.controls.asked())),
        Timbre(**(understood.timbre.asked() | spec.timbre.asked())),
        tuple(notices),
    )


def differ(name: str, one: Any, other: Any) -> bool:
    """Whether two values of a control or dimension contradict each other: another side of medium, group or name.

    Values near a boundary, such as 35 and 37 years, do not.

    Args:
        name: One of `CONTROL_NAMES` or `TIMBRE_NAMES`.
        one: As in `Controls` or `Timbre`.
        other: Alike.
    """
    if name == "gender":
        return bool(one != other)
    if name == "emotion":
        return bool(one.name != other.name)
    if name == "age":
        return level_of(name, one) != level_of(name, other) and max(one, other) > _AGE_RATIO * min(one, other)
    step = _SPEED_STEP if name == "speed" else _LEVEL_STEP
    return _side(name, one) != _side(name, other) and abs(one - other) >= step


def _side(name: str, value: float) -> int:
    """−1 below medium, 0 medium, +1 above."""
    if name == "speed":
        return {"very slow": -1, "slow": -1, "medium": 0, "fast": 1, "very fast": 1}[level_of(name, value)]
    return (value > 0) - (value < 0)


def _conflict(name: str, value: Any, read: Any, words: tuple[str, ...]) -> Notice:
    quoted = ", ".join(f"“{word}”" for word in words)
    quoted_zh = "、".join(f"“{word}”" for word in words)
    title = name.replace("_", " ")
    return Notice(
        "conflict",
        f"The description says {title} {shown(name, read, 'en')} ({quoted}), "
        f"the control says {shown(name, value, 'en')}: the control wins.",
        f"描述中的{quoted_zh}表示{_TITLES_ZH[name]}为{shown(name, read, 'zh')}，"
        f"控制项设为{shown(name, value, 'zh')}，以控制项为准。",
    )
