from __future__ import annotations

import pytest

from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.domain import Preset
from voice_sculptor.errors import InvalidRequest
from voice_sculptor.presets import load_presets, shipped_presets_dir
from voice_sculptor.ui.form import AUTO, LEVELS, VoiceFields, read_seed
from voice_sculptor.ui.widgets import level_words_of


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


PRESETS = list(load_presets(shipped_presets_dir()))


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_every_preset_survives_the_page_and_its_levels_can_be_chosen(preset: Preset) -> None:
    fields = VoiceFields.of("", preset.controls)
    assert fields.spec().controls == preset.controls
    for name in LEVELS:
        words = level_words_of(name, [each.controls for each in PRESETS])
        assert getattr(fields, name) in {AUTO, *words}


def test_a_level_between_stands_in_order_with_words_of_its_own() -> None:
    plain = level_words_of("pitch", [Controls(), Controls(pitch=-1)])
    assert [words[0] for words in plain.values()] == ["very low", "low", "medium", "high", "very high"]
    between = level_words_of("pitch", [Controls(pitch=value) for value in (-0.6, -0.8, 1.2)])
    assert list(between) == [-2, -1, -0.8, -0.6, 0, 1, 1.2, 2]
    assert between[-0.6] == ("slightly low", "略低")
    assert between[-0.8] == ("−0.8", "−0.8")
    assert between[1.2] == ("+1.2", "+1.2")


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
