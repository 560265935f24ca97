import pytest

from voice_sculptor.controls import Controls, parse_controls
from voice_sculptor.domain import VoiceSpec
from voice_sculptor.language.conflicts import merge
from voice_sculptor.language.description import understand
from voice_sculptor.timbre import Timbre


@pytest.mark.parametrize(
    ("description", "control", "en", "zh"),
    [
        ("a girl", "gender=male", ["gender female", "“girl”", "male"], ["性别", "女性", "“girl”", "男性"]),
        ("很老的声音", "age=20", ["age 82", "“很老”", "20"], ["82 岁", "20 岁"]),
        ("slightly low", "pitch=0.5", ["pitch slightly low", "slightly high"], ["略低", "略高"]),
        ("声音很低", "pitch=high", ["pitch very low", "“声音很低”", "high"], ["音高", "很低", "较高"]),
        ("monotone", "pitch_variation=lively", ["pitch variation", "“monotone”"], ["语调起伏"]),
        ("whispering", "volume=loud", ["volume very soft", "“whispering”"], ["音量"]),
        ("speaks fast", "speed=0.7", ["speed 1.25×", "“fast”", "0.7×"], ["语速"]),
        ("低沉的声音", "pitch=0", ["pitch low"], ["较低", "中等"]),
        ("furious", "emotion=happy:0.3", ["angry 0.95", "“furious”", "happy 0.3"], ["生气", "开心"]),
        ("calm", "emotion=sad", ["neutral", "sad"], ["难过"]),
    ],
)
def test_a_conflict_is_said_and_the_control_wins(
    description: str, control: str, en: list[str], zh: list[str]
) -> None:
    explicit = parse_controls([control])
    merged, _, (notice,) = merge(VoiceSpec(controls=explicit), understand(description))
    name = control.partition("=")[0]
    assert getattr(merged, name) == getattr(explicit, name)
    assert notice.kind == "conflict"
    assert all(part in notice.message("en") for part in en)
    assert all(part in notice.message("zh") for part in zh)


@pytest.mark.parametrize(
    ("description", "control"),
    [
        ("a girl", "gender=female"),
        ("三十多岁", "age=38"),
        ("very low", "pitch=-0.5"),
        ("slightly low", "pitch=0"),
        ("slow", "speed=0.6"),
        ("slightly slow", "speed=1"),
        ("very happy", "emotion=happy:0.1"),
        ("a girl", "pitch=low"),
        ("", "gender=male"),
    ],
)
def test_agreement_is_silent(description: str, control: str) -> None:
    explicit = parse_controls([control])
    merged, _, notices = merge(VoiceSpec(controls=explicit), understand(description))
    assert notices == ()
    assert merged.asked().items() >= explicit.asked().items()


def test_what_is_not_set_comes_from_the_description() -> None:
    merged, _, notices = merge(VoiceSpec(controls=Controls(pitch=1)), understand("a 70 years old man, sad"))
    assert notices == ()
    assert (merged.age, merged.gender, merged.pitch) == (70, "male", 1)
    assert merged.emotion is not None
    assert merged.emotion.name == "sad"


@pytest.mark.parametrize(
    ("description", "timbre", "en", "zh"),
    [
        (
            "hoarse",
            Timbre(roughness=-1),
            ["roughness hoarse (“hoarse”)", "smooth"],
            ["沙哑程度为沙哑", "圆润"],
        ),
        (
            "声音很亮",
            Timbre(brightness=-2),
            ["brightness very bright", "very dark"],
            ["明暗", "“很亮”", "很暗"],
        ),
        (
            "a hint of rasp",
            Timbre(roughness=-0.5),
            ["roughness slightly hoarse", "slightly smooth"],
            ["略沙哑", "略圆润"],
        ),
    ],
)
def test_a_conflict_of_timbre_is_said_and_the_explicit_one_wins(
    description: str, timbre: Timbre, en: list[str], zh: list[str]
) -> None:
    spec = VoiceSpec(timbre=timbre)
    _, merged, (notice,) = merge(spec, understand(description))
    assert merged == timbre
    assert notice.kind == "conflict"
    assert all(part in notice.message("en") for part in en)
    assert all(part in notice.message("zh") for part in zh)


def test_timbre_that_is_not_set_comes_from_the_description() -> None:
    read = understand("a breathy, hoarse whisper")
    _, timbre, notices = merge(VoiceSpec(timbre=Timbre(roughness=2)), read)
    assert notices == ()
    assert timbre == Timbre(breathiness=1, roughness=2, whisper=True)


def test_unknown_words_give_one_notice() -> None:
    notices = merge(VoiceSpec(), understand("a gibbery voice, a British accent")).notices
    assert [notice.kind for notice in notices] == ["unknown"]
    assert "“gibbery”, “british accent”" in notices[0].message("en")
    assert "“gibbery”、“british accent”" in notices[0].message("zh")
