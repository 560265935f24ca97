"""The seven controls: names, levels, words in both languages, and reading them from text.

| control | value | levels, lowest first |
|---|---|---|
| age | years, 3–100 | child < 13, young 13–35, middle-aged 36–59, elderly ≥ 60 |
| gender | `male`, `female` | |
| pitch, pitch_variation, volume | −2 … +2 | very low … very high, and alike |
| speed | factor, 0.5–2.0 | very slow < 0.7, slow, medium 0.9–1.1, fast, very fast > 1.4 |
| emotion | name and intensity 0–1 | |

Each may be unspecified (`None`): the engine then does what is natural for the voice.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from voice_sculptor.errors import UnsupportedControl

Gender = Literal["male", "female"]
EmotionName = Literal["happy", "angry", "sad", "surprised", "disgusted", "afraid", "neutral"]

EMOTIONS: tuple[EmotionName, ...] = (
    "happy",
    "angry",
    "sad",
    "surprised",
    "disgusted",
    "afraid",
    "neutral",
)
DEFAULT_INTENSITY = 0.6

AGE_RANGE_YEARS = (3, 100)
SPEED_RANGE = (0.5, 2.0)
LEVEL_RANGE = (-2.0, 2.0)


class Emotion(BaseModel):
    """An emotion and how strong it is, 0 (none) to 1 (as strong as the engine can)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: EmotionName
    intensity: Annotated[float, Field(ge=0.0, le=1.0)] = DEFAULT_INTENSITY


LevelValue = Annotated[float, Field(ge=LEVEL_RANGE[0], le=LEVEL_RANGE[1])]


class Controls(BaseModel):
    """What is asked of a voice; `None` means unspecified.

    Attributes:
        age: Years, 3–100.
        gender: `male` or `female`.
        pitch: −2 (very low) to +2 (very high).
        pitch_variation: −2 (very flat) to +2 (very lively).
        volume: −2 (very soft) to +2 (very loud).
        speed: Speaking rate as a factor of the voice's own, 0.5–2.0.
        emotion: Name and intensity.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    age: Annotated[int, Field(ge=AGE_RANGE_YEARS[0], le=AGE_RANGE_YEARS[1])] | None = None
    gender: Gender | None = None
    pitch: LevelValue | None = None
    pitch_variation: LevelValue | None = None
    volume: LevelValue | None = None
    speed: Annotated[float, Field(ge=SPEED_RANGE[0], le=SPEED_RANGE[1])] | None = None
    emotion: Emotion | None = None

    def asked(self) -> dict[str, Any]:
        """The controls that are specified, by name, in the order of `CONTROL_NAMES`."""
        return {name: value for name in CONTROL_NAMES if (value := getattr(self, name)) is not None}

    def changed_by(self, changes: Controls) -> Controls:
        """These controls with those that `changes` sets in their place; one set to `None` becomes unspecified."""
        return self.model_copy(update={name: getattr(changes, name) for name in changes.model_fields_set})


CONTROL_NAMES: tuple[str, ...] = tuple(Controls.model_fields)

# Level words, weakest first; a number is the value of its level. The first word, English, and the second,
# Chinese, are the ones shown.
_LOW_HIGH: dict[float, tuple[str, ...]] = {
    -2: ("very low", "很低"),
    -1: ("low", "较低", "低"),
    0: ("medium", "中等", "normal", "中"),
    1: ("high", "较高", "高"),
    2: ("very high", "很高"),
}
LEVEL_WORDS: dict[str, dict[float, tuple[str, ...]]] = {
    "pitch": _LOW_HIGH,
    "pitch_variation": {
        -2: ("very flat", "很弱", "very low", "很平"),
        -1: ("flat", "较弱", "low", "弱", "平"),
        0: ("medium", "一般", "normal", "中等"),
        1: ("lively", "较强", "high", "强"),
        2: ("very lively", "很强", "very high"),
    },
    "volume": {
        -2: ("very soft", "很小", "very low", "很轻"),
        -1: ("soft", "较小", "low", "小", "轻", "quiet"),
        0: ("medium", "中等", "normal", "中"),
        1: ("loud", "较大", "high", "大"),
        2: ("very loud", "很大", "very high"),
    },
    "speed": {
        0.6: ("very slow", "很慢"),
        0.8: ("slow", "较慢", "慢"),
        1.0: ("medium", "中等", "normal", "中"),
        1.25: ("fast", "较快", "快"),
        1.6: ("very fast", "很快"),
    },
    "age": {
        8: ("child", "小孩", "儿童"),
        25: ("young", "青年", "young adult", "年轻"),
        48: ("middle-aged", "中年", "middle aged"),
        70: ("elderly", "老年", "old", "senior"),
    },
}
GENDER_WORDS: dict[Gender, tuple[str, ...]] = {
    "male": ("male", "男性", "男", "man", "m"),
    "female": ("female", "女性", "女", "woman", "f"),
}
EMOTION_WORDS: dict[EmotionName, tuple[str, ...]] = {
    "happy": ("happy", "开心", "高兴", "快乐"),
    "angry": ("angry", "生气", "愤怒"),
    "sad": ("sad", "难过", "悲伤", "伤心"),
    "surprised": ("surprised", "惊讶"),
    "disgusted": ("disgusted", "厌恶"),
    "afraid": ("afraid", "害怕", "fearful", "恐惧"),
    "neutral": ("neutral", "中性", "其他", "平静"),
}
UNSPECIFIED_WORDS = ("unspecified", "none", "any", "不指定", "未指定", "")

_LIMITS = {
    "age": AGE_RANGE_YEARS,
    "speed": SPEED_RANGE,
    "pitch": LEVEL_RANGE,
    "pitch_variation": LEVEL_RANGE,
    "volume": LEVEL_RANGE,
}
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def level_of(name: str, value: float) -> str:
    """The English level word of a numeric control's value.

    Args:
        name: `age`, `pitch`, `pitch_variation`, `volume` or `speed`.
        value: In the control's own unit.
    """
    if name == "age":
        bounds = (("child", 13), ("young", 36), ("middle-aged", 60))
        return next((word for word, below in bounds if value < below), "elderly")
    if name == "speed":
        # The bounds are the published levels; 0.9 and 1.1 themselves are medium.
        bounds_speed = (("very slow", 0.7), ("slow", 0.9))
        for word, below in bounds_speed:
            if value < below:
                return word
        return "medium" if value <= 1.1 else "fast" if value <= 1.4 else "very fast"
    return LEVEL_WORDS[name][float(max(-2, min(2, round(value))))][0]


def label(name: str, value: Any, language: str = "en") -> str:
    """A control's value in words, for people, e.g. `low`, `70`, `happy 0.6`.

    Args:
        name: One of `CONTROL_NAMES`.
        value: As in `Controls`.
        language: `"zh"` or `"en"`.
    """
    column = 1 if language == "zh" else 0
    if name == "gender":
        return GENDER_WORDS[value][column]
    if name == "emotion":
        return f"{EMOTION_WORDS[value.name][column]} {value.intensity:g}"
    if name == "age":
        return f"{value:g} 岁" if language == "zh" else f"{value:g}"
    if name == "speed":
        return f"{value:g}×"
    return LEVEL_WORDS[name][float(max(-2, min(2, round(value))))][column]


def parse_control(name: str, text: str) -> Any:
    """Read one control's value from text, as in `--set pitch=low`.

    Args:
        name: A control name; `pitch-variation` and `pitch variation` are taken too.
        text: A level word (either language), a number in the control's unit, for emotion
            `NAME` or `NAME:INTENSITY`, or `unspecified`.

    Returns:
        The value for `Controls`, or `None` for unspecified.

    Raises:
        UnsupportedControl: Unknown name, word or out of range; the sentence lists what is valid.
    """
    name = canonical_name(name)
    word = " ".join(re.sub(r"[_\s]+", " ", text.strip().casefold()).split())
    if word in UNSPECIFIED_WORDS:
        return None
    if name == "gender":
        return _by_word(name, word, GENDER_WORDS)
    if name == "emotion":
        head, colon, tail = word.partition(":")
        emotion = _by_word(name, head.strip(), EMOTION_WORDS)
        intensity = float(tail) if colon and _NUMBER.fullmatch(tail.strip()) else DEFAULT_INTENSITY
        if (colon and not _NUMBER.fullmatch(tail.strip())) or not 0.0 <= intensity <= 1.0:
            raise UnsupportedControl(
                f"Emotion intensity {tail.strip()!r} is not a number from 0 to 1.",
                f"情绪强度 {tail.strip()!r} 不是 0 到 1 之间的数。",
                fix_en="Write for example emotion=happy:0.6.",
                fix_zh="例如写成 emotion=happy:0.6。",
            )
        return Emotion(name=emotion, intensity=intensity)
    number = word.removesuffix("x").removesuffix("×").removesuffix("岁").rstrip()
    if not _NUMBER.fullmatch(number):
        return _by_word(name, word, LEVEL_WORDS[name])
    value = float(number)
    low, high = _LIMITS[name]
    if not low <= value <= high:
        raise UnsupportedControl(
            f"{name}={text.strip()} is out of range.",
            f"{name}={text.strip()} 超出范围。",
            fix_en=f"Give a number from {low:g} to {high:g}.",
            fix_zh=f"请给 {low:g} 到 {high:g} 之间的数。",
        )
    return round(value) if name == "age" else value


def parse_controls(pairs: list[str]) -> Controls:
    """Read `NAME=VALUE` pairs into `Controls`; a later pair replaces an earlier one.

    Raises:
        UnsupportedControl: A pair without `=`, or as `parse_control`.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UnsupportedControl(
                f"{pair!r} is not NAME=VALUE.",
                f"{pair!r} 不是 名称=值 的形式。",
                fix_en="Write for example pitch=low.",
                fix_zh="例如写成 pitch=low。",
            )
        values[canonical_name(name)] = parse_control(name, value)
    return Controls(**values)


def canonical_name(name: str) -> str:
    """The control's name as `Controls` spells it.

    Raises:
        UnsupportedControl: No such control.
    """
    plain = re.sub(r"[-\s]+", "_", name.strip().casefold())
    if plain not in CONTROL_NAMES:
        raise UnsupportedControl(
            f"There is no control named {name.strip()!r}.",
            f"没有名为 {name.strip()!r} 的控制项。",
            fix_en=f"Valid controls: {', '.join(CONTROL_NAMES)}.",
            fix_zh=f"可用的控制项：{'、'.join(CONTROL_NAMES)}。",
        )
    return plain


def _by_word(name: str, word: str, table: Any) -> Any:
    for value, words in table.items():
        if word in words:
            return value
    shown = ", ".join(words[0] for words in table.values())
    shown_zh = "、".join(words[1] for words in table.values())
    numbers = f", or a number from {_LIMITS[name][0]:g} to {_LIMITS[name][1]:g}" if name in _LIMITS else ""
    numbers_zh = f"，或 {_LIMITS[name][0]:g} 到 {_LIMITS[name][1]:g} 之间的数" if name in _LIMITS else ""
    raise UnsupportedControl(
        f"{word!r} is not a value of {name}.",
        f"{word!r} 不是 {name} 的取值。",
        fix_en=f"Valid: {shown}{numbers}.",
        fix_zh=f"可用：{shown_zh}{numbers_zh}。",
    )
