"""Controls: read from text in both languages, ordered levels, and clear refusals."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from voice_sculptor.controls import (
    CONTROL_NAMES,
    EMOTION_WORDS,
    EMOTIONS,
    GENDER_WORDS,
    LEVEL_WORDS,
    Controls,
    Emotion,
    canonical_name,
    label,
    level_of,
    parse_control,
    parse_controls,
)
from voice_sculptor.errors import UnsupportedControl


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("pitch", "low", -1.0),
        ("pitch", "VERY_LOW", -2.0),
        ("pitch", "  very   high ", 2.0),
        ("pitch", "较高", 1.0),
        ("pitch", "-1.5", -1.5),
        ("pitch", "+2", 2.0),
        ("pitch-variation", "lively", 1.0),
        ("Pitch Variation", "很平", -2.0),
        ("volume", "quiet", -1.0),
        ("volume", "大", 1.0),
        ("speed", "1.25x", 1.25),
        ("speed", "0.5", 0.5),
        ("speed", "2×", 2.0),
        ("speed", "慢", 0.8),
        ("age", "70", 70),
        ("age", "8岁", 8),
        ("age", "elderly", 70),
        ("age", "69.6", 70),
        ("gender", "Female", "female"),
        ("gender", "男", "male"),
        ("emotion", "happy:0.6", Emotion(name="happy", intensity=0.6)),
        ("emotion", "sad", Emotion(name="sad")),
        ("emotion", "生气:1", Emotion(name="angry", intensity=1.0)),
        ("emotion", "afraid: 0", Emotion(name="afraid", intensity=0.0)),
        ("pitch", "unspecified", None),
        ("age", "", None),
        ("emotion", "不指定", None),
    ],
)
def test_reading_a_value(name: str, text: str, value: object) -> None:
    assert parse_control(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "must_name"),
    [
        ("pitch", "lowish", ["'lowish'", "very low", "medium", "from -2 to 2"]),
        ("pitch", "3", ["pitch=3", "-2 to 2"]),
        ("speed", "0.4", ["0.5 to 2"]),
        ("speed", "9", ["0.5 to 2"]),
        ("age", "2", ["3 to 100"]),
        ("age", "101", ["3 to 100"]),
        ("age", "-7", ["3 to 100"]),
        ("gender", "robot", ["male, female"]),
        ("emotion", "joyful", ["happy", "neutral"]),
        ("emotion", "happy:2", ["'2'", "0 to 1"]),
        ("emotion", "happy:much", ["'much'", "0 to 1"]),
        ("emotion", "happy:", ["0 to 1"]),
        ("speed", "nan", ["'nan'"]),
        ("speed", "inf", ["'inf'"]),
        ("speed", "1e0", ["'1e0'"]),
        ("pitsch", "low", ["'pitsch'", *CONTROL_NAMES]),
    ],
)
def test_refusing_a_value_names_the_valid_ones(name: str, text: str, must_name: list[str]) -> None:
    with pytest.raises(UnsupportedControl) as refused:
        parse_control(name, text)
    for part in must_name:
        assert part in refused.value.message()
    assert refused.value.message("zh") != refused.value.message()


def test_reading_pairs() -> None:
    controls = parse_controls(["pitch=low", "age=70", "emotion=happy:0.4", "pitch=high"])
    assert controls == Controls(pitch=1.0, age=70, emotion=Emotion(name="happy", intensity=0.4))
    assert list(controls.asked()) == ["age", "pitch", "emotion"]
    assert parse_controls([]) == Controls()


@pytest.mark.parametrize("pair", ["pitch", "", "低"])
def test_a_pair_needs_an_equals_sign(pair: str) -> None:
    with pytest.raises(UnsupportedControl, match="NAME=VALUE"):
        parse_controls([pair])


def test_changes_replace_and_clear() -> None:
    base = Controls(pitch=1.0, age=70, speed=0.8)
    changed = base.changed_by(parse_controls(["pitch=low", "age=unspecified"]))
    assert changed == Controls(pitch=-1.0, speed=0.8)
    assert base.changed_by(Controls()) == base


@pytest.mark.parametrize("name", [name for name in CONTROL_NAMES if name in LEVEL_WORDS])
def test_levels_are_ordered_and_named_alike(name: str) -> None:
    values = list(LEVEL_WORDS[name])
    assert values == sorted(values)
    for value, words in LEVEL_WORDS[name].items():
        assert level_of(name, value) == words[0]
        for word in words:
            assert parse_control(name, word) == value
        assert parse_control(name, label(name, value)) == value
        assert parse_control(name, label(name, value, "zh")) == value


@pytest.mark.parametrize(
    ("name", "value", "level"),
    [
        ("age", 12, "child"),
        ("age", 13, "young"),
        ("age", 35, "young"),
        ("age", 36, "middle-aged"),
        ("age", 59, "middle-aged"),
        ("age", 60, "elderly"),
        ("speed", 0.69, "very slow"),
        ("speed", 0.7, "slow"),
        ("speed", 0.9, "medium"),
        ("speed", 1.1, "medium"),
        ("speed", 1.11, "fast"),
        ("speed", 1.4, "fast"),
        ("speed", 1.41, "very fast"),
        ("pitch", 1.6, "very high"),
    ],
)
def test_the_published_bounds(name: str, value: float, level: str) -> None:
    assert level_of(name, value) == level


@pytest.mark.parametrize("words", [*GENDER_WORDS.values(), *EMOTION_WORDS.values()], ids=lambda w: w[0])
def test_words_of_choices(words: tuple[str, ...]) -> None:
    name = "gender" if words in GENDER_WORDS.values() else "emotion"
    values = [parse_control(name, word) for word in words]
    assert all(value == values[0] for value in values)
    assert label(name, values[0]).startswith(words[0])
    assert label(name, values[0], "zh").startswith(words[1])


def test_every_emotion_has_words() -> None:
    assert tuple(EMOTION_WORDS) == EMOTIONS


def test_nothing_else_is_a_control() -> None:
    with pytest.raises(ValidationError):
        Controls(breathiness=1.0)  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        Controls(pitch=2.5)
    with pytest.raises(UnsupportedControl):
        canonical_name("breathiness")


@given(st.sampled_from(CONTROL_NAMES), st.text(max_size=30))
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    value = None
    with contextlib.suppress(UnsupportedControl):
        value = parse_control(name, text)
    assert getattr(Controls(**{name: value}), name) == value
