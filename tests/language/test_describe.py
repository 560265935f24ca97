from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice_sculptor.controls import EMOTIONS, LEVEL_WORDS, Controls, Emotion
from voice_sculptor.domain import Language, VoiceSpec
from voice_sculptor.language.describe import describe, level_words
from voice_sculptor.language.description import understand
from voice_sculptor.timbre import LEVEL_TIMBRE_NAMES, TIMBRE_WORDS, Timbre

LANGUAGES = get_args(Language)


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


levels = st.integers(-4, 4).map(lambda step: step / 2)
controls = st.builds(
    Controls,
    age=maybe(st.integers(3, 100)),
    gender=maybe(st.sampled_from(["male", "female"])),
    pitch=maybe(levels),
    pitch_variation=maybe(levels),
    volume=maybe(levels),
    speed=maybe(st.integers(50, 200).map(lambda percent: percent / 100)),
    emotion=maybe(
        st.builds(
            Emotion, name=st.sampled_from(EMOTIONS), intensity=st.integers(0, 100).map(lambda p: p / 100)
        )
    ),
)
timbres = st.builds(Timbre, **dict.fromkeys(LEVEL_TIMBRE_NAMES, maybe(levels)), whisper=maybe(st.just(True)))


@given(st.builds(VoiceSpec, controls=controls, timbre=timbres), st.sampled_from(LANGUAGES))
@settings(max_examples=500, deadline=None)
def test_what_is_described_is_read_back(spec: VoiceSpec, language: Language) -> None:
    read = understand(describe(spec, language))
    assert read.controls == spec.controls
    assert read.timbre == spec.timbre
    assert read.unknown == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_value_alone_is_read_back(language: Language) -> None:
    """What the property test draws by chance, whole."""
    steps = [step / 2 for step in range(-4, 5)]
    alone: list[VoiceSpec] = []
    alone += [VoiceSpec(controls=Controls(age=years)) for years in range(3, 101)]
    alone += [VoiceSpec(controls=Controls(speed=percent / 100)) for percent in range(50, 201)]
    for name in ("pitch", "pitch_variation", "volume"):
        alone += [VoiceSpec(controls=Controls(**{name: step})) for step in steps]
    for name in LEVEL_TIMBRE_NAMES:
        alone += [VoiceSpec(timbre=Timbre(**{name: step})) for step in steps]
    for name in EMOTIONS:
        alone += [
            VoiceSpec(controls=Controls(emotion=Emotion(name=name, intensity=percent / 100)))
            for percent in range(101)
        ]
    alone += [VoiceSpec(timbre=Timbre(whisper=True)), VoiceSpec(controls=Controls(gender="female"))]
    for spec in alone:
        read = understand(describe(spec, language))
        assert (read.controls, read.timbre) == (spec.controls, spec.timbre), describe(spec, language)


@given(st.floats(-2, 2), st.floats(0.5, 2), st.floats(0, 1), st.sampled_from(LANGUAGES))
@settings(max_examples=100, deadline=None)
def test_other_values_are_rounded(level: float, speed: float, intensity: float, language: Language) -> None:
    emotion = Emotion(name="sad", intensity=intensity)
    spec = VoiceSpec(controls=Controls(pitch=level, speed=speed, emotion=emotion), timbre=Timbre(body=level))
    read = understand(describe(spec, language))
    assert read.controls.pitch == pytest.approx(level, abs=0.25)
    assert read.timbre.body == pytest.approx(level, abs=0.25)
    assert read.controls.speed == pytest.approx(speed, abs=0.005)
    assert read.controls.emotion is not None
    assert read.controls.emotion.intensity == pytest.approx(intensity, abs=0.005)


def test_how_it_reads() -> None:
    spec = VoiceSpec(
        description="never repeated",
        controls=Controls(
            age=80, gender="male", pitch=-2, volume=0, speed=1.3, emotion=Emotion(name="happy", intensity=0.7)
        ),
        timbre=Timbre(breathiness=1, roughness=0.5),
    )
    assert describe(spec, "en") == (
        "An 80-year-old male voice with a very low pitch and a medium volume."
        " It sounds breathy, slightly hoarse and 70% happy. It speaks at 1.3 times the usual speed."
    )
    assert describe(spec, "zh") == (
        "80 岁的男性声音，音调很低，音量中等，语速为平常的 1.3 倍，声音有气息感、略沙哑，开心程度 70%。"
    )
    assert describe(VoiceSpec(description="low"), "en") == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_level_words(language: str) -> None:
    column = 1 if language == "zh" else 0
    for name in ("pitch", "pitch_variation", "volume"):
        assert [level_words(name, level, language) for level in range(-2, 3)] == [
            LEVEL_WORDS[name][level][column] for level in range(-2, 3)
        ]
    for name in LEVEL_TIMBRE_NAMES:
        assert level_words(name, 1.2, language) == TIMBRE_WORDS[name][1][column]
    assert level_words("roughness", 0.5, language) == ("slightly hoarse", "略沙哑")[column]
    assert level_words("age", 70, language) == ("elderly", "老年")[column]
    assert level_words("speed", 1.3, language) == ("fast", "较快")[column]
