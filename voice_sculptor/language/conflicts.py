"""Description and explicit controls put together: the explicit one wins, and a conflict is always said."""

from __future__ import annotations

from typing import Any

from voice_sculptor.controls import Controls, label, level_of
from voice_sculptor.domain import Notice, Understood

_LEVEL_STEP = 1.0
_SPEED_STEP = 0.15
_AGE_RATIO = 1.25

_TITLES_ZH = {
    "age": "年龄",
    "gender": "性别",
    "pitch": "音调",
    "pitch_variation": "音调变化",
    "volume": "音量",
    "speed": "语速",
    "emotion": "情绪",
}


def merge(explicit: Controls, understood: Understood) -> tuple[Controls, tuple[Notice, ...]]:
    """The controls in effect, and what the user should know about them.

    Args:
        explicit: What was set; each one wins over the description.
        understood: What was read from the description.

    Returns:
        The merged controls, and a notice for each conflict (kind `conflict`) and one for all words that
        were not understood (kind `unknown`).
    """
    asked, read = explicit.asked(), understood.controls.asked()
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
    return Controls(**(read | asked)), tuple(notices)


def differ(name: str, one: Any, other: Any) -> bool:
    """Whether two values of a control contradict each other: another side of medium, group or name.

    Values near a boundary, such as 35 and 37 years, do not.

    Args:
        name: One of `CONTROL_NAMES`.
        one: As in `Controls`.
        other: As in `Controls`.
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
        f"The description says {title} {label(name, read)} ({quoted}), "
        f"the control says {label(name, value)}: the control wins.",
        f"描述中的{_TITLES_ZH[name]}是 {label(name, read, 'zh')}（{quoted_zh}），"
        f"控制项设为 {label(name, value, 'zh')}：以控制项为准。",
    )
