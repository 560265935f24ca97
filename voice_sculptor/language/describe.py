"""Writing a spec back as a description; `understand` reads the same values out of it.

What has words is said in words; any other speed or intensity is said exactly. The grid on which nothing is lost:

| | values | so written |
|---|---|---|
| age | whole years | a 70-year-old voice · 70 岁的声音 |
| levels, timbre | −2 … +2 in steps of 0.5 | slightly low, low, distinctly low, very low · 略低、较低、相当低、很低 |
| speed | 0.50 … 2.00 in steps of 0.01 | at a slow pace, at 1.3 times the usual speed · 语速较慢、语速为平常的 1.3 倍 |
| emotion | intensity 0 … 1 in steps of 0.01 | very happy, 70% happy · 非常开心、开心程度 70% |

Any other value is rounded to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from voice_sculptor.controls import (
    EMOTION_WORDS,
    GENDER_WORDS,
    LEVEL_WORDS,
    Controls,
    Emotion,
    label,
    level_of,
)
from voice_sculptor.domain import Language, VoiceSpec
from voice_sculptor.timbre import TIMBRE_NAMES, TIMBRE_WORDS, Timbre, timbre_label

_STEP = 0.5
_SIDES: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "pitch": (("low", "低"), ("high", "高")),
    "pitch_variation": (("flat", "弱"), ("lively", "强")),
    "volume": (("soft", "小"), ("loud", "大")),
    "breathiness": (("clear", "清澈"), ("breathy", "有气息感")),
    "roughness": (("smooth", "圆润"), ("hoarse", "沙哑")),
    "brightness": (("dark", "暗淡"), ("bright", "明亮")),
    "body": (("thin", "单薄"), ("full", "饱满")),
    "nasality": (("open-sounding", "鼻音少"), ("nasal", "有鼻音")),
}
"""The plain word below and above medium, English and Chinese; all read as one whole step, and as nothing else."""

_DEGREES_EN = {0.5: "slightly ", 1.0: "", 1.5: "distinctly ", 2.0: "very "}
_DEGREES_ZH = {0.5: "略", 1.0: "", 1.5: "相当", 2.0: "很"}
_EMOTION_DEGREES = {
    0.3: ("slightly ", "略微"),
    0.6: ("", ""),
    0.9: ("very ", "非常"),
    1.0: ("extremely ", "极其"),
}
_EMOTIONS_ZH = {"neutral": "平静"}


def describe(spec: VoiceSpec, language: Language) -> str:
    """A description that says what a spec sets explicitly; its free words are left out.

    Args:
        spec: Its controls and timbre are described, each whether medium or not; what is `None` is not.
        language: Of the description.

    Returns:
        A sentence or two, empty where nothing is set.
    """
    if not spec.controls.asked() and not spec.timbre.asked():
        return ""
    write = _chinese if language == "zh" else _english
    return write(spec.controls, spec.timbre)


def level_words(name: str, value: Any, language: str) -> str:
    """A value in words for people, to the nearest half step, e.g. `slightly low`.

    Args:
        name: A control or a dimension of timbre.
        value: As in `Controls` or `Timbre`.
        language: `"zh"` or `"en"`.

    Returns:
        The level's own word at whole steps and for age and speed; the name of a gender or emotion.
    """
    column = 1 if language == "zh" else 0
    if name == "gender":
        return str(GENDER_WORDS[value][column])
    if name == "emotion":
        return EMOTION_WORDS[value.name][column]
    if name == "whisper":
        return timbre_label(name, value, language)
    if name in ("age", "speed"):
        word = level_of(name, value)
        return next(words[column] for words in LEVEL_WORDS[name].values() if words[0] == word)
    level = _rounded(value)
    if level == int(level):
        words: dict[float, tuple[str, ...]] = (
            LEVEL_WORDS[name] if name in LEVEL_WORDS else dict(TIMBRE_WORDS[name])
        )
        return words[level][column]
    return _level(name, level, column)


def shown(name: str, value: Any, language: str) -> str:
    """A value for people, as `controls.label`, but levels to the nearest half step.

    Args:
        name: A control or a dimension of timbre.
        value: As in `Controls` or `Timbre`.
        language: `"zh"` or `"en"`.
    """
    exact = name in ("age", "gender", "speed", "emotion")
    return label(name, value, language) if exact else level_words(name, value, language)


def _english(controls: Controls, timbre: Timbre) -> str:
    age = f"{controls.age}-year-old" if controls.age is not None else ""
    head = " ".join(word for word in (age, controls.gender, "voice") if word)
    article = "An" if head.startswith(("8", "11-", "18-")) else "A"
    prosody = []
    if controls.pitch is not None:
        prosody.append(f"a {_level('pitch', controls.pitch, 0)} pitch")
    if controls.pitch_variation is not None:
        prosody.append(f"{_level('pitch_variation', controls.pitch_variation, 0)} intonation")
    if controls.volume is not None:
        prosody.append(f"a {_level('volume', controls.volume, 0)} volume")
    sentences = [f"{article} {head}" + (f" with {_list(prosody)}" if prosody else "")]
    qualities = [_level(name, value, 0) for name, value in timbre.asked().items() if name != "whisper"]
    if controls.emotion is not None:
        qualities.append(_emotion(controls.emotion, 0))
    if qualities:
        sentences.append(f"It sounds {_list(qualities)}")
    speech = []
    if timbre.whisper:
        speech.append("in a whisper" if controls.volume is not None else "in a breath-only tone")
    if controls.speed is not None:
        named = _named_speed(controls.speed)
        speech.append(
            f"at a {named[0]} pace" if named else f"at {_factor(controls.speed)} times the usual speed"
        )
    if speech:
        sentences.append(f"It speaks {' and '.join(speech)}")
    return ". ".join(sentences) + "."


def _chinese(controls: Controls, timbre: Timbre) -> str:
    return "，".join(_chinese_phrases(controls, timbre)) + "。"


def _chinese_phrases(controls: Controls, timbre: Timbre) -> Iterator[str]:
    gender = GENDER_WORDS[controls.gender][1] if controls.gender else ""
    if controls.age is not None:
        yield f"{controls.age} 岁的{gender}声音"
    elif gender:
        yield f"{gender}声音"
    for name, title in (("pitch", "音调"), ("pitch_variation", "语调起伏"), ("volume", "音量")):
        value = getattr(controls, name)
        if value is not None:
            yield title + _level(name, value, 1)
    if controls.speed is not None:
        named = _named_speed(controls.speed)
        yield f"语速{named[1]}" if named else f"语速为平常的 {_factor(controls.speed)} 倍"
    qualities = [_level(name, value, 1) for name, value in timbre.asked().items() if name != "whisper"]
    if qualities:
        yield "声音" + "、".join(qualities)
    if timbre.whisper:
        yield "用耳语说话" if controls.volume is not None else "只用气声说话"
    if controls.emotion is not None:
        yield _emotion(controls.emotion, 1)


def _rounded(level: float) -> float:
    return math.copysign(math.floor(abs(level) / _STEP + 0.5) * _STEP, level)


def _level(name: str, value: float, column: int) -> str:
    level = _rounded(value)
    if level == 0:
        if name in TIMBRE_NAMES:
            return TIMBRE_WORDS[name][0][column]
        return ("medium", "一般" if name == "pitch_variation" else "中等")[column]
    word = _SIDES[name][level > 0][column]
    if column == 0:
        return "not nasal at all" if (name, level) == ("nasality", -2) else _DEGREES_EN[abs(level)] + word
    if (name, level) == ("nasality", -2):
        return "毫无鼻音"
    before, word = ("鼻音", "少") if word == "鼻音少" else ("", word)
    degree = _DEGREES_ZH[abs(level)] or ("较" if len(word) == 1 else "")
    return before + degree + word


def _named_speed(speed: float) -> tuple[str, ...] | None:
    return LEVEL_WORDS["speed"].get(round(speed, 2))


def _factor(speed: float) -> str:
    return f"{round(speed, 2):g}"


def _emotion(emotion: Emotion, column: int) -> str:
    word = (emotion.name, _EMOTIONS_ZH.get(emotion.name, EMOTION_WORDS[emotion.name][1]))[column]
    intensity = round(emotion.intensity, 2)
    degree = _EMOTION_DEGREES.get(intensity)
    if degree is None or (emotion.name == "neutral" and degree[0]):
        return f"{intensity:.0%} {word}" if column == 0 else f"{word}程度 {intensity:.0%}"
    return degree[column] + word if column == 0 else f"情绪{degree[column]}{word}"


def _list(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
