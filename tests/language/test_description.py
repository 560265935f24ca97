from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.timing import growth
from voice_sculptor.controls import Controls, label
from voice_sculptor.errors import UnsupportedControl
from voice_sculptor.language.ages import find_ages
from voice_sculptor.language.description import understand
from voice_sculptor.language.lexicon import Lexicon, load_lexicon, normalise
from voice_sculptor.timbre import Timbre

PIECES = [
    *(
        "不",
        "别",
        "太",
        "很",
        "一点",
        "高",
        "低",
        "大",
        "小",
        "快",
        "慢",
        "尖",
        "老",
        "声音",
        "音调",
        "语速",
        "的",
    ),
    *(
        "岁",
        "六十",
        "旬",
        "多",
        "，",
        "。",
        "not",
        "too",
        "very",
        "a bit",
        "low",
        "high",
        "fast",
        "voice",
        "pitch",
    ),
    *("years", "old", "70", "in her", "30s", "thirties", "to", "child", ",", ".", " ", "-", "'", "’", "\n"),
    *("\u200b", "🎙", "ﬀ", "İ"),
]


def read(description: str) -> dict[str, object]:
    """Controls as plain values; an emotion as its name and intensity."""
    asked = understand(description).controls.asked()
    if "emotion" in asked:
        asked["emotion"] = (asked["emotion"].name, asked["emotion"].intensity)
    return asked


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        # whole sentences
        (
            "A 70 years old grandfather with a very low, slow, soft voice",
            {"age": 70, "gender": "male", "pitch": -2, "speed": 0.8, "volume": -1},
        ),
        (
            "六十岁的老爷爷，声音低沉沙哑，语速较慢，音量较小",
            {"age": 60, "gender": "male", "pitch": -1, "speed": 0.8, "volume": -1},
        ),
        (
            "a mischievous little boy, high-pitched and fast, very happy",
            {
                "age": 9,
                "gender": "male",
                "pitch": 1,
                "pitch_variation": 1,
                "speed": 1.25,
                "emotion": ("happy", 0.9),
            },
        ),
        (
            "三十多岁的御姐，声音有点低，语速适中",
            {"age": 35, "gender": "female", "pitch": -0.5, "speed": 1.0},
        ),
        (
            "极其愤怒的中年男人，大声说话",
            {"age": 48, "gender": "male", "volume": 1, "emotion": ("angry", 1.0)},
        ),
        ("gender: male\npitch: very high\nage: 50", {"age": 50, "gender": "male", "pitch": 2}),
        ("性别：女，年龄：50岁，音调：很高", {"age": 50, "gender": "female", "pitch": 2}),
        # people and gender
        ("小萝莉", {"age": 9, "gender": "female", "pitch": 1}),
        ("老奶奶", {"age": 70, "gender": "female"}),
        ("my uncle", {"age": 48, "gender": "male"}),
        ("a human woman", {"gender": "female"}),
        ("她的声音", {"gender": "female"}),
        ("an old lady", {"age": 70, "gender": "female"}),
        ("a 25-year-old grandmother", {"age": 25, "gender": "female"}),
        ("给孩子讲故事的爷爷", {"age": 70, "gender": "male"}),
        ("a grandmother who reads to a little boy", {"age": 70, "gender": "female"}),
        # a level goes to the attribute beside it
        ("low pitch and high volume", {"pitch": -1, "volume": 1}),
        ("pitch low volume high", {"pitch": -1, "volume": 1}),
        ("音调低音量大语速快", {"pitch": -1, "volume": 1, "speed": 1.25}),
        ("语调起伏很大", {"pitch_variation": 2}),
        ("声音大", {"volume": 1}),
        ("声音高", {"pitch": 1}),
        ("speaks at a moderate pace", {"speed": 1.0}),
        ("音量中等偏大", {"volume": 0.7}),
        # degrees
        ("slightly high", {"pitch": 0.5}),
        ("extremely slow", {"speed": 0.6}),
        ("慢一点，声音再大一些", {"speed": 0.9, "volume": 0.5}),
        ("声音低得很", {"pitch": -2}),
        ("a bit sad", {"emotion": ("sad", 0.3)}),
        ("very warm, low", {"pitch": -1}),
        # negation and limits
        ("not too fast", {"speed": 1.0}),
        ("不要太尖，别那么高", {"pitch": 0}),
        ("声音不要太低，也不要太快", {"pitch": 0, "speed": 1.0}),
        ("don't speak too fast or too loud", {"speed": 1.0, "volume": 0}),
        ("neither too high nor too low", {"pitch": 0}),
        ("low but not too low", {"pitch": -0.5}),
        ("不要低沉，要高一点", {"pitch": 0.5}),
        ("她不是很开心", {"gender": "female"}),
        ("not a happy old man", {"age": 70, "gender": "male"}),
        ("不快不慢", {"speed": 1.0}),
        # words inside other words
        ("bold humans at high school told an old friend", {}),
        ("高兴的老师", {"emotion": ("happy", 0.6)}),
        ("高中老师，高个子", {}),
        ("小声", {"volume": -1}),
        ("低沉", {"pitch": -1}),
        ("快乐", {"emotion": ("happy", 0.6)}),
        ("特别慢", {"speed": 0.6}),
        ("他动不动就生气", {"gender": "male", "emotion": ("angry", 0.6)}),
        # emotion
        ("calm but terrified", {"emotion": ("afraid", 0.95)}),
        ("没有感情", {"emotion": ("neutral", 0.6)}),
        ("unhappy", {"emotion": ("sad", 0.4)}),
        ("不高兴", {"emotion": ("sad", 0.4)}),
        # outright words win over what others imply
        ("a gentle but loud voice", {"volume": 1}),
        ("温柔但响亮", {"volume": 1}),
        ("a voice for an old man", {"age": 70, "gender": "male"}),
        ("给我一个爷爷的声音", {"age": 70, "gender": "male"}),
        ("妈妈的声音，慢", {"age": 36, "gender": "female", "speed": 0.8}),
        ("不要男声，要女声", {"gender": "female"}),
        ("性别为男，角色为爷爷", {"age": 70, "gender": "male"}),
        # marks of other systems are punctuation like any other
        ("(温柔)<|endofprompt|>A/B ../x: low", {"pitch": -1, "volume": -0.5}),
        ("", {}),
        ("🎙️ … !!!", {}),
        ("voz grave, голос", {}),
    ],
)
def test_reading(description: str, expected: dict[str, object]) -> None:
    assert read(description) == expected


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("seventy-two years old", 72),
        ("aged about 40", 40),
        ("a hundred years old", 100),
        ("20-25 years old", 22),
        ("in her late thirties", 38),
        ("in his 50s", 55),
        ("early 20s", 22),
        ("二十三四岁", 23),
        ("七八岁", 7),
        ("三十出头", 32),
        ("四十开外", 43),
        ("五十上下", 50),
        ("60 岁", 60),
        ("七旬老人", 70),
        ("年近六十", 60),
        ("a six-year-old", 6),
        ("thirty-something", 35),
        ("a man of fifty, calm", 50),
        ("a woman of 30 talents", None),
        ("a girl of seven", 7),
        ("fortyish", 40),
        ("male, 45, low", 45),
        ("aged between 30 and 40", 35),
        ("A man around forty", 40),
        ("woman, about thirty.", 30),
        ("a guy of roughly 50 with a hat", 50),
        ("just turned 60", 60),
        ("boy, about ten", 10),
        ("male 45", 45),
        ("she is thirty-two", 32),
        ("talks about thirty minutes", None),
        ("四十来岁", 40),
        ("男，50左右", 50),
        ("快四十的男人", 40),
        ("将近五十，男", 50),
        ("年纪大概四十的女性", 40),
        ("音量50左右", None),
        ("三十岁出头", 32),
        ("70来岁", 70),
        ("年过七旬", 70),
        ("20到25岁", 22),
        ("八旬", 80),
        ("１６岁", 16),
        ("music of the sixties", None),
        ("in the 1990s", None),
        ("20 years of experience", None),
        ("二十年经验", None),
    ],
)
def test_ages(text: str, years: int | None) -> None:
    assert [age.years for age in find_ages(normalise(text))] == ([] if years is None else [years])


@pytest.mark.parametrize(
    ("description", "unknown"),
    [
        ("a gibbery voice", ("gibbery",)),
        ("her tone is wobblish", ("wobblish",)),
        ("声音很咕叽", ("咕叽",)),
        ("咕叽的声音", ("咕叽",)),
        ("a British accent", ("british accent",)),
        ("带口音的男声", ("口音",)),
        ("without an accent", ()),
        ("a 300-year-old vampire", ("300-year-old",)),
        ("一百零五岁", ("一百零五岁",)),
        ("a warm, husky voice", ()),
        ("温暖的声音", ()),
        ("an airline pilot in the rain", ()),
    ],
)
def test_unknown_qualities_are_reported(description: str, unknown: tuple[str, ...]) -> None:
    assert understand(description).unknown == unknown


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("a breathy, slightly hoarse voice", {"breathiness": 1, "roughness": 0.5}),
        ("声音沙哑，带点鼻音", {"roughness": 1, "nasality": 0.5}),
        ("鼻音很重", {"nasality": 2}),
        ("strong nasality", {"nasality": 1}),
        ("气息感强，声音很厚", {"breathiness": 1, "body": 2}),
        ("deep and resonant, very dark", {"body": 1, "brightness": -2}),
        ("a rich voice with rich intonation", {"body": 1}),
        ("whispering", {"whisper": True}),
        ("不要耳语", {}),
        ("not too nasal, never harsh", {"nasality": 0, "roughness": 0}),
        ("bright but not too bright", {"brightness": 0.5}),
        ("没有鼻音，毫不沙哑", {"nasality": -1, "roughness": 0}),
        ("not nasal at all", {"nasality": -2}),
        ("neither dark nor bright", {"brightness": 0}),
        ("月亮下漂亮的黑暗森林，仔细听", {}),
        ("an open-minded man in the dark", {}),
        ("声音又尖又细", {"body": -1}),
        ("a friendly, mysterious voice", {}),
    ],
)
def test_timbre(description: str, expected: dict[str, object]) -> None:
    assert understand(description).timbre.asked() == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("at 1.3 times the usual speed", {"speed": 1.3}),
        ("slow, no, 1.5x speed", {"speed": 1.5}),
        ("语速为平常的 0.75 倍", {"speed": 0.75}),
        ("1.2倍速", {"speed": 1.2}),
        ("at half the normal pace", {"speed": 0.5}),
        ("very sad, 70% happy", {"emotion": ("happy", 0.7)}),
        ("开心程度 0%", {"emotion": ("happy", 0.0)}),
        ("平静程度为 100%", {"emotion": ("neutral", 1.0)}),
    ],
)
def test_exact_values(description: str, expected: dict[str, object]) -> None:
    assert read(description) == expected


def test_an_exact_value_out_of_range_is_reported() -> None:
    understood = understand("语速为平常的 9 倍，300% happy")
    assert understood.controls == Controls()
    assert understood.unknown == ("语速为平常的 9 倍", "300% happy")


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("sad but hopeful", ("sad", 0.6)),
        ("又惊又喜", ("surprised", 0.6)),
        ("angry and sad", ("angry", 0.6)),
        ("slightly sad, very happy", ("happy", 0.9)),
        ("calm, a bit annoyed", ("angry", 0.15)),
    ],
)
def test_of_mixed_moods_the_strongest_counts(description: str, expected: tuple[str, float]) -> None:
    assert read(description)["emotion"] == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("drill sergeant", {"volume": 1.5, "speed": 1.125, "pitch": -0.5, "emotion": ("angry", 0.4)}),
        ("a quiet, happy drill sergeant", {"volume": -1, "emotion": ("happy", 0.6)}),
        ("幼儿园老师", {"pitch": 0.5, "pitch_variation": 1, "speed": 0.9, "emotion": ("happy", 0.4)}),
        ("不是教官", {}),
        ("中低音", {"pitch": -0.5}),
        ("a mid-low voice", {"pitch": -0.5}),
        ("稍微低一点", {"pitch": -0.5}),
        ("with hardly any inflection", {"pitch_variation": -1.5}),
        ("don't let her sound too old", {"gender": "female"}),
        ("nothing too high", {"pitch": 0}),
        ("音量不大", {"volume": 0}),
        ("语调偏高", {"pitch": 0.7}),
        ("语调强", {"pitch_variation": 1}),
        ("几乎没有语调变化", {"pitch_variation": -1.5}),
        ("with barely a change, no real variation in pitch", {"pitch_variation": -1.5}),
        ("a low growl", {"pitch": -1}),
        ("音调变化低", {"pitch_variation": -1}),
    ],
)
def test_roles_middles_and_limits(description: str, expected: dict[str, object]) -> None:
    assert read(description).items() >= expected.items()
    assert expected or not read(description)


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Reading to a six-year-old, quiet", {"volume": -1}),
        ("a nurse, talking to an elderly man, loud", {"volume": 1}),
        ("shouting at a scared young soldier, male", {"gender": "male", "volume": 2}),
        ("A mother teaching a young girl to read", {"age": 36, "gender": "female"}),
        ("telling an old king about his sad past, male", {"gender": "male"}),
        ("A man comforting a crying child", {"gender": "male"}),
        ("talking to kids happily", {"emotion": ("happy", 0.6)}),
        ("a documentary about angry young whales, deep", {"pitch": -1}),
        ("talking about the war in a sad voice", {"emotion": ("sad", 0.6)}),
        ("a story of a furious old sailor, told by a young woman", {"age": 25, "gender": "female"}),
        ("whispers in an old house", {"volume": -2}),
        ("in an old, loud voice", {"age": 70, "volume": 1}),
        ("as an old man, telling young boys about the war", {"age": 70, "gender": "male"}),
        ("needs to convey the wisdom of a 70-year-old man", {"age": 70, "gender": "male"}),
        ("I want him to sound old", {"age": 70, "gender": "male"}),
        ("the person I'm talking to sounds old", {"age": 70}),
        ("for an old wizard", {"age": 70, "gender": "male"}),
        ("for young kids, loud", {"volume": 1}),
        ("给爷爷、奶奶和外公打电话", {}),
        ("给三岁的孩子讲故事", {}),
        ("给年轻律师讲故事的老奶奶", {"age": 70, "gender": "female"}),
        ("哄孩子的奶奶", {"age": 70, "gender": "female"}),
        ("跟观众互动的年轻女主播", {"age": 25, "gender": "female"}),
        ("对哭泣的孩子轻声说话的妈妈", {"age": 36, "gender": "female", "volume": -1}),
        ("对他很生气", {"emotion": ("angry", 0.9)}),
        ("给老爷爷的角色配音", {"age": 70, "gender": "male"}),
        ("关于一个愤怒的国王的故事，语速慢", {"speed": 0.8}),
        ("讲述老奶奶的故事，男声", {"gender": "male"}),
    ],
)
def test_only_the_speaker_is_described(description: str, expected: dict[str, object]) -> None:
    assert read(description) == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("气声", {"whisper": True}),
        ("用气声说话", {"whisper": True}),
        ("气声偏重", {"breathiness": 0.7}),
        ("气声有点重", {"breathiness": 0.5}),
        ("声音有很重的气声", {"breathiness": 2}),
        ("轻微的气声", {"breathiness": 0.5}),
        ("气声很少", {"breathiness": -2}),
        ("不要气声", {"breathiness": -1}),
        ("no nasality or breathiness", {"nasality": -1, "breathiness": -1}),
        ("without any resonance", {"body": -1}),
        ("not too much nasality", {"nasality": 0}),
        ("不要太有磁性", {"body": 0}),
        ("鼻音不要太重", {"nasality": 0}),
        ("尖尖细细的嗓子", {"body": -1}),
        ("高高亮亮的声音", {"brightness": 1}),
        ("粗粗哑哑", {"roughness": 1}),
        ("明明亮亮", {"brightness": 1}),
        ("老老实实，高高的个子", {}),
        ("He has a stuffy nose", {"nasality": 1}),
        ("sounds like he has a cold", {"nasality": 1}),
        ("鼻子堵住了", {"nasality": 1}),
        ("感冒药广告", {}),
    ],
)
def test_degrees_absence_and_doubled_words(description: str, expected: dict[str, object]) -> None:
    assert understand(description).timbre.asked() == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("低低哑哑", {"pitch": -1}),
        ("开开心心的", {"emotion": ("happy", 0.6)}),
        ("轻轻柔柔", {"volume": -1}),
        ("She never raises her voice", {"gender": "female", "volume": -1}),
        ("without raising his voice", {"gender": "male", "volume": -1}),
        ("He raises his voice", {"gender": "male", "volume": 1}),
        ("lowers her voice", {"gender": "female", "volume": -1}),
        ("他从不提高嗓门", {"gender": "male", "volume": -1}),
        ("压着嗓子说话", {"volume": -1}),
        ("He took his time", {"gender": "male", "speed": 0.9}),
        ("in no hurry at all", {"speed": 0.9}),
        ("说话不着急", {"speed": 0.9}),
        ("her voice goes up and down a lot", {"gender": "female", "pitch_variation": 1.5}),
        ("papers all over the place", {}),
        ("语调忽上忽下", {"pitch_variation": 1.5}),
        ("不要太尖的萝莉", {"age": 9, "gender": "female", "pitch": 0}),
        ("gentle but not too soft", {"volume": 0}),
        ("a villain", {}),
        ("反派大魔王，男", {"gender": "male"}),
    ],
)
def test_manners_of_speaking(description: str, expected: dict[str, object]) -> None:
    assert read(description) == expected


def test_words_say_where_a_control_came_from() -> None:
    words = understand("A grandfather, aged 70; his pitch is very low, 不要太快").words
    assert words["age"] == ("grandfather", "aged 70")
    assert words["pitch"] == ("pitch is very low",)
    assert words["speed"] == ("不要太快",)
    assert set(words) == {"age", "gender", "pitch", "speed"}
    assert understand("不要男声，要女声").words == {"gender": ("女声",)}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("control", ["pitch", "pitch_variation", "volume"])
@pytest.mark.parametrize("level", [-2, -1, 0, 1, 2])
def test_the_level_words_of_the_page_are_read(control: str, level: int, language: str) -> None:
    title = {"pitch": "音调", "pitch_variation": "音调变化", "volume": "音量"}[control]
    subject = title if language == "zh" else control.replace("_", " ") + " "
    assert read(subject + label(control, level, language)) == {control: level}


@given(st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_valid_controls(description: str) -> None:
    understood = understand(description)
    assert Controls(**understood.controls.model_dump()) == understood.controls
    assert Timbre(**understood.timbre.model_dump()) == understood.timbre
    assert set(understood.words) == {*understood.controls.asked(), *understood.timbre.asked()}
    text = normalise(description)
    assert all(word and word in text for words in understood.words.values() for word in words)
    assert all(word and word in text for word in understood.unknown)


@pytest.mark.parametrize(
    "base",
    [
        *(
            "六十岁的老爷爷，声音低沉，不要太尖",
            "a very low voice, not too fast; ",
            "不高",
            "age ",
            "一",
            "音",
        ),
        *(
            "鼻音",
            "nasal twang ",
            "语速为平常的1.3倍",
            "语速",
            "70% happy ",
            "1",
            "1.3 times ",
            "开心程度",
            "is ",
            "又",
            "to an ",
            "talking to an old ",
        ),
        *("给", "给老人的", "尖尖细细", "尖", "气声重", "about ", "about forty ", "快四十", "男 50", "、"),
    ],
)
def test_long_descriptions_are_read_in_linear_time(base: str) -> None:
    text = base * 16_000
    assert growth(lambda num_chars: understand(text[:num_chars]), 4_000) < 9


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("values:", "valeus:"), "valeus"),
        (("{gender: male}, words", "{gendre: male}, words"), "gendre"),
        (("set: {pitch: -1}", "set: {pitch: -5}"), "-5"),
        (('"happy:0.6"', '"happpy:0.6"'), "happpy"),
        (("words: [male,", "words: [male, female,"), "female"),
        (("words: [male,", "words: [yes,"), "string"),
        (("words: [male,", "words: ['++',"), "no letters"),
    ],
)
def test_a_wrong_lexicon_is_refused(change: tuple[str, str], named: str) -> None:
    source = (files("voice_sculptor.language") / "lexicon.yaml").read_text("utf-8")
    assert change[0] in source
    with pytest.raises((ValueError, ValidationError, UnsupportedControl), match=named):
        Lexicon(source.replace(*change, 1))


def test_the_lexicon_is_read_once() -> None:
    assert load_lexicon() is load_lexicon()
