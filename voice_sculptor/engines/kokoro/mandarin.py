"""Chinese characters to pinyin and on to symbols: words by jieba, readings by pypinyin, tone sandhi here."""

from __future__ import annotations

import logging
import re
import threading
import warnings
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from voice_sculptor.engines.kokoro.syllables import syllable

if TYPE_CHECKING:
    import jieba

# Words in which 儿 is a syllable of its own; elsewhere it colours the one before.
_FULL_ER = re.compile(
    "(?:[女男婴幼孤健宠少胎小患弃孙侄妻花鸟马鱼风云月虫羊猫狗鸡鹅雁燕骄产宁哪吒]|混血|新生|幸运|流浪|红孩|早产)儿"
)
_DIGITS = frozenset("零〇一二三四五六七八九十百千万亿")
_COUNT = _DIGITS | frozenset("几数半每这那哪多两")
_ORDINAL_AFTER_ONE = frozenset("月号楼班级等队组期师营团")
_PRONOUN_LIKE = frozenset("我你您他她它谁们就还都可也总又必不定非仍")

_lock = threading.Lock()


class _Dictionary(NamedTuple):
    """The word segmenter and what `mandarin.yaml` adds to it."""

    segmenter: jieba.Tokenizer
    neutral: frozenset[str]


@lru_cache(maxsize=1)
def _dictionary() -> _Dictionary:
    import yaml
    from platformdirs import user_cache_path
    from pypinyin import load_phrases_dict

    with warnings.catch_warnings():
        # jieba imports pkg_resources where there is one.
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.CRITICAL)
    own = yaml.safe_load(files(__package__).joinpath("mandarin.yaml").read_text(encoding="utf-8"))
    phrases = {word: [[syllable] for syllable in said.split()] for word, said in own["phrases"].items()}
    load_phrases_dict(phrases, style="tone2")
    segmenter = jieba.Tokenizer()
    # jieba's default is one file in the shared temporary folder, which anybody could have put there.
    cache = user_cache_path("voice-sculptor")
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    segmenter.tmp_dir = str(cache)
    segmenter.initialize()
    for word in phrases:
        segmenter.add_word(word)
    return _Dictionary(segmenter, frozenset(own["neutral"].split()))


def preload() -> None:
    """Read the dictionaries now, so that the first Chinese text doesn't wait for them."""
    with _lock:
        _dictionary()


def pinyin(text: str) -> list[tuple[str, list[str]]]:
    """Words of a stretch of Chinese characters with the pinyin of each, tone sandhi applied.

    Args:
        text: Chinese characters only.

    Returns:
        Pairs of word and syllables (`"hao3"`, 5 for no tone).
    """
    with _lock:
        dictionary = _dictionary()
    words = dictionary.segmenter.lcut(text)
    readings = _readings(words)
    _choose(words, readings, dictionary.neutral)
    _sandhi(words, readings)
    return list(zip(words, readings, strict=True))


@lru_cache(maxsize=16384)
def _looked_up(chunk: str) -> tuple[str, ...]:
    """One syllable a character; empty where it has none."""
    from pypinyin import Style, lazy_pinyin

    found = lazy_pinyin(chunk, style=Style.TONE3, neutral_tone_with_five=True, errors="ignore")
    if len(found) == len(chunk):
        return tuple(found)
    return tuple(
        "".join(lazy_pinyin(char, style=Style.TONE3, neutral_tone_with_five=True, errors="ignore"))
        for char in chunk
    )


def _readings(words: list[str]) -> list[list[str]]:
    readings: list[list[str]] = []
    for single, group in groupby(words, key=lambda word: len(word) == 1):
        members = list(group)
        if single:
            # Read together: 还 and 钱 are two words to jieba, but one phrase to pypinyin.
            readings += [[found] for found in _looked_up("".join(members))]
        else:
            readings += [list(_looked_up(word)) for word in members]
    return readings


def _choose(words: list[str], readings: list[list[str]], neutral: frozenset[str]) -> None:
    """Readings that depend on the neighbours."""
    for i, (word, reading) in enumerate(zip(words, readings, strict=True)):
        before, after = words[i - 1] if i else "", words[i + 1] if i + 1 < len(words) else ""
        if word in neutral:
            reading[-1] = reading[-1][:-1] + "5"
        elif len(word) == 3 and word[1] in "得不":
            reading[1] = "de5" if word[1] == "得" else "bu5"
        elif len(word) > 1 and word[-1] == "儿" and reading[-1] == "er2" and not _FULL_ER.fullmatch(word):
            reading[-1] = "er5"
        elif word == "地" and len(before) > 1 and after:
            reading[0] = "de5"
        elif word == "得":
            obliged = not before or before[-1] in _PRONOUN_LIKE
            reading[0] = "dei3" if obliged and after else "de5"
        elif word == "只" and before and before[-1] in _COUNT:
            reading[0] = "zhi1"
        elif word == "了" and before:
            reading[0] = "le5"
        elif word == "着" and before:
            reading[0] = "zhe5"


def _sandhi(words: list[str], readings: list[list[str]]) -> None:
    chars = "".join(words)
    flat = [found for reading in readings for found in reading]
    starts, ends, place = set(), set(), 0
    for word in words:
        starts.add(place)
        place += len(word)
        ends.add(place - 1)
    for i, char in enumerate(chars):
        following = flat[i + 1][-1:] if i + 1 < len(chars) else ""
        around = (chars[i - 1] if i else "", chars[i + 1] if i + 1 < len(chars) else "")
        if char == "不" and flat[i].startswith("bu") and flat[i] != "bu5":
            flat[i] = "bu2" if following == "4" else "bu5" if around[0] and around[0] == around[1] else "bu4"
        elif char == "一" and flat[i].startswith("yi"):
            flat[i] = _one(around, following, closes_word=i in ends and i not in starts)
    place = 0
    for reading in readings:
        reading[:] = flat[place : place + len(reading)]
        place += len(reading)
        _third_tones(reading)
    for left, right in pairwise(readings):
        if left[-1][-1:] == right[0][-1:] == "3" and min(len(left), len(right)) == 1:
            left[-1] = left[-1][:-1] + "2"


def _one(around: tuple[str, str], following: str, *, closes_word: bool) -> str:
    before, after = around
    if before and before in "统唯单专划":
        return "yi1"
    if before and before == after:
        return "yi5"
    counted_on = after in _DIGITS and after not in "百千万亿"
    if (
        not after
        or closes_word
        or before == "第"
        or before in _DIGITS
        or counted_on
        or after in _ORDINAL_AFTER_ONE
    ):
        return "yi1"
    return "yi2" if following in ("4", "5") else "yi4"


def _third_tones(reading: list[str]) -> None:
    def raise_all_but_last(start: int, end: int) -> None:
        if all(found[-1:] == "3" for found in reading[start:end]):
            for i in range(start, end - 1):
                reading[i] = reading[i][:-1] + "2"

    if len(reading) == 2:
        raise_all_but_last(0, 2)
    elif len(reading) == 3:
        raise_all_but_last(1, 3)
        raise_all_but_last(0, 2)
    elif len(reading) == 4:
        raise_all_but_last(0, 2)
        raise_all_but_last(2, 4)


def read_han(text: str, dropped: dict[str, None]) -> str:
    """Symbols of a stretch of Chinese characters, words set apart by spaces.

    Args:
        text: Chinese characters only.
        dropped: Takes the characters without a reading.
    """
    said: list[str] = []
    for word, reading in pinyin(text):
        symbols = [syllable(found) for found in reading]
        dropped.update((char, None) for char, sound in zip(word, symbols, strict=False) if not sound)
        if len(word) > 1 and word.endswith("儿") and reading[-1] == "er5":
            # Colours the vowel before and takes the place of its n.
            symbols[-2:] = [symbols[-2].removesuffix("n"), "ɚ"]
        said.append("".join(symbols))
    return " ".join(said)
