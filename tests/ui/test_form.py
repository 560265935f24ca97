from __future__ import annotations

import pytest

from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.domain import Preset
from voice_sculptor.errors import InvalidRequest
from voice_sculptor.presets import load_presets, shipped_presets_dir
from voice_sculptor.ui.form import AUTO, LEVELS, VoiceFields, read_seed
from voice_sculptor.ui.widgets import level_choices


def test_untouched_fields_ask_for_nothing() -> None:
    spec = VoiceFields().spec()
    assert spec.description == ""
    assert spec.controls.asked() == {}


def test_controls_survive_the_way_through_the_widgets() -> None:
    controls = Controls(
        age=7,
        gender="male",
        pitch=2,
        pitch_variation=-2,
        volume=0,
        speed=1.35,
        emotion=Emotion(name="sad", intensity=0.25),
    )
    spec = VoiceFields.of("words", controls).spec()
    assert spec.description == "words"
    assert spec.controls == controls


def test_levels_between_are_not_rounded() -> None:
    controls = Controls(pitch=-0.6, pitch_variation=-0.5, volume=1.7)
    assert VoiceFields.of("", controls).spec().controls == controls


@pytest.mark.parametrize("preset", load_presets(shipped_presets_dir()), ids=lambda preset: preset.id)
def test_every_preset_survives_the_page_and_its_levels_can_be_chosen(preset: Preset) -> None:
    fields = VoiceFields.of("", preset.controls)
    assert fields.spec().controls == preset.controls
    for name in LEVELS:
        value = getattr(fields, name)
        for language in ("en", "zh"):
            choices = level_choices(name, value, language)
            assert value in [each for _, each in choices]
            assert len({words for words, _ in choices}) == len(choices)


def test_a_level_between_gets_a_place_in_order_and_words_of_its_own() -> None:
    plain = level_choices("pitch", AUTO, "en")
    assert [words for words, _ in plain] == ["Auto", "Very low", "Low", "Medium", "High", "Very high"]
    assert level_choices("pitch", -1.0, "en") == plain
    assert level_choices("pitch", -0.6, "en")[3:5] == [("Slightly low", -0.6), ("Medium", 0)]
    assert ("略低", -0.6) in level_choices("pitch", -0.6, "zh")
    assert ("−0.8", -0.8) in level_choices("pitch", -0.8, "en")
    assert ("+1.2", 1.2) in level_choices("volume", 1.2, "zh")


def test_a_resting_dial_asks_for_nothing() -> None:
    fields = VoiceFields(age=70, speed=1.5)
    assert fields.spec().controls.asked() == {}
    assert fields._replace(is_age_auto=False).spec().controls.asked() == {"age": 70}


def test_a_long_description_is_refused_in_words() -> None:
    with pytest.raises(InvalidRequest) as caught:
        VoiceFields(description="x" * 2001).spec()
    assert "2,001" in caught.value.message("en")
    assert "2,001" in caught.value.message("zh")


@pytest.mark.parametrize(
    ("written", "seed"),
    [
        ("", None),
        (None, None),
        ("  ", None),
        ("-1", None),
        ("−1", None),
        ("0", 0),
        (" 42 ", 42),
        ("４２", 42),
        ("-7", -7),
    ],
)
def test_seed(written: str | None, seed: int | None) -> None:
    assert read_seed(written) == seed


@pytest.mark.parametrize("written", ["abc", "1.5", "1e3", "0x10", "--1", "9" * 5000, "<b>"])
def test_seed_that_is_no_number_is_refused_in_words(written: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_seed(written)
    assert "whole number" in caught.value.message("en")
    assert "整数" in caught.value.message("zh")
    assert len(caught.value.message("en")) < 300
