"""The nouns: frozen, bounded, and safe as file names."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.domain import (
    MAX_DESCRIPTION_CHARS,
    MAX_SEED,
    AudioClip,
    Bilingual,
    Notice,
    Voice,
    VoiceSpec,
    safe_stem,
)


@pytest.mark.parametrize(
    ("text", "stem"),
    [
        ("A low old man", "a-low-old-man"),
        ("温柔的老奶奶，语速慢", "温柔的老奶奶-语速慢"),
        ("../../etc/passwd", "etc-passwd"),
        ("A/B\\C:D", "a-b-c-d"),
        ("(温柔)<|endofprompt|>", "温柔-endofprompt"),
        ("...", "voice"),
        ("", "voice"),
        ("🎵\u200b\0", "voice"),
        ("-rf", "rf"),
    ],
)
def test_stems(text: str, stem: str) -> None:
    assert safe_stem(text) == stem


@given(st.text())
def test_any_text_gives_a_safe_stem(text: str) -> None:
    stem = safe_stem(text)
    assert 1 <= len(stem.encode()) <= 60
    assert all(char.isalnum() or char in "-_" for char in stem if not char.isidentifier() and char != "·"), (
        stem
    )
    assert not set(stem) & set('/\\:*?"<>|.\0\n')
    assert not stem.startswith("-")
    assert safe_stem(text) == stem


def test_specs_are_frozen_and_closed() -> None:
    spec = VoiceSpec(description="warm")
    with pytest.raises(ValidationError):
        spec.description = "cold"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        VoiceSpec(prompt="warm")  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        VoiceSpec(description="a" * (MAX_DESCRIPTION_CHARS + 1))


def test_a_voice_is_json_and_back() -> None:
    voice = Voice(
        name="声音",
        engine="fake",
        state={"f0_hz": 110.5, "blend": {"a": 0.5}},
        controls=Controls(pitch=-1.5, emotion=Emotion(name="sad")),
        description="低沉",
        seed=MAX_SEED,
    )
    assert Voice.model_validate(json.loads(json.dumps(voice.model_dump(mode="json")))) == voice


@pytest.mark.parametrize(
    "wrong",
    [{"seed": -1}, {"seed": MAX_SEED + 1}, {"name": ""}, {"engine": ""}, {"format": "other@9"}, {"extra": 1}],
    ids=str,
)
def test_a_voice_is_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Voice.model_validate({"name": "a", "engine": "fake", "state": {}, **wrong})


def test_both_languages() -> None:
    for text in (Bilingual(zh="好", en="good"), Notice("kind", "good", "好")):
        read = text.get if isinstance(text, Bilingual) else text.message
        assert (read("zh"), read("en"), read("fr")) == ("好", "good", "good")
    with pytest.raises(ValidationError):
        Bilingual(zh="好", en="")


def test_a_clip_knows_its_length() -> None:
    assert AudioClip(np.zeros(24_000, np.float32), 16_000).duration_s == 1.5


@pytest.mark.parametrize(
    "state",
    [
        {"x": float("inf")},
        {"x": [float("nan")]},
        {"x": object()},
        {"x": "\ud800"},
        {"x": [[[1, {"y": b""}]]]},
    ],
)
def test_the_state_of_a_voice_is_plain_json(state: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="is not plain JSON"):
        Voice(name="v", engine="fake", state=state)


def test_the_state_of_a_voice_is_not_nested_without_end() -> None:
    for num_levels, is_fine in ((30, True), (33, False), (100_000, False)):
        state: dict[str, object] = {}
        for _ in range(num_levels):
            state = {"x": state}
        if is_fine:
            Voice(name="v", engine="fake", state=state)
        else:
            with pytest.raises(ValidationError, match="nested too deeply"):
                Voice(name="v", engine="fake", state=state)
        while state:  # A chain this long is not taken apart by itself.
            state = state["x"]  # type: ignore[assignment]
