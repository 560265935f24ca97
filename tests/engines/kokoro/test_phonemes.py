"""How text is said: symbols of the model's vocabulary."""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.timing import growth
from voice_sculptor.engines.kokoro import mandarin
from voice_sculptor.engines.kokoro.phonemes import Phonemes, phonemize
from voice_sculptor.engines.kokoro.syllables import syllable
from voice_sculptor.engines.kokoro.vocabulary import SYMBOL_IDS, to_ids
from voice_sculptor.language.text import normalize


def _say(text: str, *, british: bool = False) -> Phonemes:
    return phonemize(normalize(text).runs, british=british)


def _pinyin(text: str) -> str:
    return " ".join("".join(reading) for _word, reading in mandarin.pinyin(text))


READINGS = {
    "重庆银行行长长大了": "chong2qing4 yin2hang2hang2zhang3 zhang3da4 le5",
    "还是还钱": "hai2shi4 huan2 qian2",
    "了解": "liao2jie3",
    "好学": "hao4xue2",
    "一只猫只看了一眼": "yi4zhi1 mao1 zhi3 kan4 le5 yi4yan3",
    "他跑得很快": "ta1 pao3 de5 hen3kuai4",
    "他慢慢地走": "ta1 man4man4 de5 zou3",
    "地铁": "di4tie3",
    "我得走了": "wo2 dei2 zou3 le5",
    "教室教书": "jiao4shi4 jiao1shu1",
    "为了": "wei4le5",
    "头发": "tou2fa5",
    "内蒙古": "nei4meng2gu3",
    "妈妈": "ma1ma5",
}
SANDHI = {
    "不是": "bu2shi4",
    "不好": "bu4hao3",
    "好不好": "hao3bu5hao3",
    "一个": "yi2ge4",
    "一天": "yi4tian1",
    "第一": "di4yi1",
    "统一": "tong3yi1",
    "看一看": "kan4yi5kan4",
    "二十一": "er4shi2yi1",
    "一九九九年": "yi1jiu3jiu3jiu3nian2",
    "你好": "ni2hao3",
    "展览馆": "zhan3lan2guan3",
    "小老虎": "xiao3lao2hu3",
    "我很好": "wo2 hen2 hao3",
}
ERHUA = {
    "玩儿": "wan2er5",
    "一会儿": "yi2hui4er5",
    "女儿": "nv3er2",
    "儿子": "er2zi5",
    "如花儿般绽放": "ru2 hua1er2 ban1 zhan4fang4",
}


@pytest.mark.parametrize(("text", "expected"), [*READINGS.items(), *SANDHI.items(), *ERHUA.items()])
def test_chinese_is_read_by_its_context(text: str, expected: str) -> None:
    assert _pinyin(text) == expected


@pytest.mark.parametrize(
    ("pinyin", "symbols"),
    [
        ("zhuang1", "ꭧwa→ŋ"),
        ("lv4", "ly↘"),
        ("xue2", "ɕɥe↗"),
        ("zi5", "ʦɨ"),
        ("shi4", "ʂɨ↘"),
        ("er2", "ɚ↗"),
        ("you3", "jou↓"),
        ("jun4", "ʨy↘n"),
        ("wo3", "wo↓"),
        ("", ""),
        ("xyz1", ""),
        ("5", ""),
    ],
)
def test_syllables_are_spelled_as_the_model_learned_them(pinyin: str, symbols: str) -> None:
    assert syllable(pinyin) == symbols


SPOKEN = {
    "1次": "i↗ʦʰɨ↘",
    "你好，世界！": "ni↗xau↓, ʂɨ↘ʨje↘!",
    "他说：“好。”（完）": "tʰa→ ʂwo→: “xau↓.” (wa↗n)",
    "等等……——好": "tə↗ŋtə↓ŋ… — xau↓",
    "我用GPU": "wo↓jʊ↘ŋ ʤˌipˌijˈu",
    "Hello, world!": "həlˈO, wˈɜɹld!",
    "the apple, the dog": "ði ˈæpᵊl, ðə dˈɔɡ",
    "to eat, to sing, sing to": "tʊ ˈit, tə sˈɪŋ, sˈɪŋ tu",
    "a dog, vitamin A": "ɐ dˈɔɡ, vˈITəmən ˈA",
    "AI, USB, NASA and GPUs": "ˈAˌI, jˌuˌɛsbˈi, nˈæsə ænd ʤˌipˌijˈuz",
    "STOP! Do NOT touch it.": "stˈɑp! dˈu nˈɑt tˈʌʧ ɪt.",
    "THIS IS VERY LOUD": "ðɪs ɪz vˈɛɹi lˈWd",
    "the U.S. border": "ðə jˌuˈɛs bˈɔɹdəɹ",
    "iPhone and YouTube": "ˈIfˌOn ænd jˈutˌub",
    "waited, stopped, boxes, cats": "wˈATᵻd, stˈɑpt, bˈɑksᵻz, kˈæts",
    "well-known": "wˈɛlnˌOn",
    "café": "kæfˈA",
}


@pytest.mark.parametrize(("text", "symbols"), SPOKEN.items())
def test_text_is_said_as_the_model_learned_it(text: str, symbols: str) -> None:
    assert _say(text).text == symbols


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("I like to read.", "ɹˈid"),
        ("He read it yesterday.", "ɹˈɛd"),
        ("I have read it.", "ɹˈɛd"),
        ("They live in a house.", "lˈɪv"),
        ("It was live.", "lˈIv"),
        ("Please close the door.", "klˈOz"),
        ("It is very close.", "klˈOs"),
        ("We record a song.", "ɹəkˈɔɹd"),
        ("This is a record.", "ɹˈɛkəɹd"),
        ("I use it.", "jˈuz"),
        ("It is of no use.", "jˈus"),
        ("a lead pipe", "lˈɛd"),
        ("the lead singer", "lˈid"),
        ("They wound up here.", "wˈWnd"),
        ("I used to sing.", "jˈust"),
        ("It was used to sing.", "jˈuzd"),
    ],
)
def test_words_spelled_alike_are_told_apart(sentence: str, word: str) -> None:
    assert word in _say(sentence).text.replace(".", "").split()


def test_accents_differ() -> None:
    assert _say("car water home").text == "kˈɑɹ wˈɔTəɹ hˈOm"
    assert _say("car water home", british=True).text == "kˈɑː wˈɔːtə hˈQm"


def test_other_scripts_are_transcribed_or_named_as_dropped() -> None:
    assert _say("α and β").text == "ˈælfə ænd bˈATə"
    assert _say("Москва").text == _say("Moskva").text != ""
    said = _say("hello こんにちは مرحبا 𠮷")
    assert said.text == "həlˈO"
    assert said.dropped == ("こんにちは", "مرحبا", "𠮷")
    assert _say("好").dropped == ()


def test_a_word_in_no_lexicon_is_read_from_its_letters() -> None:
    assert _say("blorptastic").text.count("ˈ") == 1
    assert _say("Grok").text == "ɡɹˈɑk"
    assert len(_say("z" * 500).text) >= 100


def test_ids_are_those_of_the_vocabulary() -> None:
    assert len(SYMBOL_IDS) == 114
    assert (SYMBOL_IDS[" "], SYMBOL_IDS["ə"], SYMBOL_IDS["→"], SYMBOL_IDS["ᵻ"]) == (16, 83, 171, 177)
    assert to_ids("a b") == (0, 43, 16, 44, 0)
    said = _say("好, hi")
    assert said.ids == to_ids(said.text)


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=60) | st.text(alphabet="好的一不儿地得只重aAbeI's.-,!？“”（） \n5%", max_size=40),
    st.booleans(),
)
def test_any_text_gives_symbols_of_the_vocabulary(text: str, british: bool) -> None:
    said = _say(text, british=british)
    assert set(said.text) <= set(SYMBOL_IDS)
    assert said.ids == to_ids(said.text)
    assert said.ids[0] == said.ids[-1] == 0
    assert len(said.ids) == len(said.text) + 2


@pytest.mark.parametrize(
    "piece",
    [
        "今天天气不错，我们去公园。",
        "The quick brown fox, and 3 dogs. ",
        "好a",
        "Zblorpt'n ",
        "-",
        "..",
        "a.",
        "'",
    ],
)
def test_long_text_takes_linear_time(piece: str) -> None:
    text = piece * 16_000
    runs = {num_chars: normalize(text[:num_chars]).runs for num_chars in (4_000, 16_000)}
    assert growth(lambda num_chars: phonemize(runs[num_chars]), 4_000) < 9


def test_threads_agree() -> None:
    texts = [f"今天是第{i}天，the {i}th day." for i in range(24)]
    expected = [_say(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(_say, texts)) == expected


def test_english_alone_loads_nothing_chinese() -> None:
    program = (
        "import sys; from voice_sculptor.engines.kokoro.phonemes import phonemize;"
        "from voice_sculptor.language.text import runs_of; phonemize(runs_of('Hello there.'));"
        "print(sorted({'jieba', 'pypinyin', 'torch', 'anyascii'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_the_segmenter_keeps_to_itself() -> None:
    mandarin.preload()
    assert mandarin._dictionary().segmenter.tmp_dir not in (None, tempfile.gettempdir())
    assert not logging.getLogger("jieba").isEnabledFor(logging.ERROR)
