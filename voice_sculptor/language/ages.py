"""Ages given as numbers: "70 years old", "in her thirties", "around forty", "六十岁", "三十多岁", "年过七旬"."""

from __future__ import annotations

import re
from typing import NamedTuple

_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen"),
    *("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DECADES = tuple(f"{ten[:-1]}ies" for ten in _TENS)
_PAST_ROUND = {"出头": 2, "开外": 3, "好几": 7}
_PART_OF_DECADE = {"early": 2, "mid": 5, "late": 8}
_DIGITS = {digit: value for value, digit in enumerate("一二三四五六七八九", start=1)} | {"两": 2}

_EN = (
    rf"(?:\d{{1,3}}|(?:{'|'.join(_TENS)})(?:[ -]?(?:{'|'.join(_UNITS)}))?"
    rf"|{'|'.join(_TEENS)}|{'|'.join(_UNITS)}|(?:a|one) hundred)"
)
_ZH = r"(?:\d{1,3}|[一二两三四五六七八九十百零]{1,6})"
_TWO_DIGITS = rf"\d\d|(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_UNITS)}))?"
_END = r"(?= ?[,.;!?)/\n]| with| who| and| or so| but| in an? |$)"
_ABOUT = (
    r"(?:about|around|roughly|approximately|nearly|almost|maybe|perhaps|probably|circa|over|past|pushing|turning"
    r"|(?:just )?turned|just (?:over|under)) "
)
_RANGE = r"[ ]?(?:-|~|–|to|到|至)[ ]?"
_PATTERNS = (
    rf"(?:(?P<low1>\d{{1,3}}){_RANGE})?(?P<n1>{_EN})[ -]{{0,2}}"
    r"(?:(?:years?|yrs?)[ -]{1,2}(?:old|of age)|y/?o)(?![a-z])",
    rf"age[d]?(?: is| of)?[ :]{{1,2}}(?:about |around )?(?P<n2>{_EN})(?![a-z0-9])",
    rf"(?P<whose>in (?:his|her|their|my|your) )?(?:(?P<part>early|mid|late)[ -])?"
    rf"(?P<decade>[2-9]0'?s|{'|'.join(_DECADES)})(?![a-z])",
    rf"(?<![大小一二两三四五六七八九十百零])(?:(?P<low4>{_ZH})岁?{_RANGE})?(?P<n4>{_ZH})"
    "[ ]?(?P<more4>几|多|来|余)?[ ]?周?岁(?P<over4>出头|开外)?",
    rf"年(?:近|过|逾|约|龄|纪)[ :]?(?:是|为|在|大概|大约|约)?[ ]?(?P<n5>{_ZH})(?P<xun>旬)?",
    r"(?P<n6>[三四五六七八九])旬",
    r"(?P<n7>[二三四五六七八九]十)(?P<about7>出头|开外|好几|上下|左右)",
    r"(?:将近|接近|快|近|约|大约|大概|差不多)(?P<n13>[二三四五六七八九]十)(?=[了的,。;!]|$)",
    r"(?<![量速度调高为到:])(?P<n14>[1-9]\d)(?P<about14>出头|开外|好几|上下|左右)(?=的?[男女人大阿老青中]|[,。;!]|$)",
    rf"(?P<n8>{'|'.join(_TENS)}|[2-9]0)[ -]?(?:something|(?P<ish>ish))(?![a-z])",
    rf"(?:(?<=man of )|(?<=boy of )|(?<=girl of )|(?<=lady of ))(?P<n9>{_EN}){_END}",
    rf"(?:(?<= is )|(?<=e's ))(?P<n10>{_TWO_DIGITS}){_END}",
    rf"{_ABOUT}(?P<n15>{_EN}){_END}",
    r"(?:(?<=[,/;] )|(?<=man )|(?<=male )|(?<=guy )|(?<=lady )|(?<=girl )|(?<=boy ))"
    rf"(?P<n11>{_TWO_DIGITS})(?= ?(?:[,/;]|$))",
    rf"aged? between (?P<low12>\d{{1,3}}|{'|'.join(_TENS)}) and (?P<n12>{_EN})",
)
# The characters before and at the start of an age rule out nearly every place cheaply.
_AGE = re.compile(
    rf"(?<![a-z0-9])(?=[a-z0-9年将接快近约大差一二两三四五六七八九十百零])(?:{'|'.join(_PATTERNS)})"
)


class Age(NamedTuple):
    """An age found in a text.

    Attributes:
        start: First character.
        end: One past the last.
        years: The age; `None` where the numeral makes no sense.
    """

    start: int
    end: int
    years: int | None


def find_ages(text: str) -> list[Age]:
    """The ages in normalised text, in order.

    Args:
        text: Lower case, compatibility form.
    """
    found = []
    for match in _AGE.finditer(text):
        parts = match.groupdict()
        if parts["decade"]:
            if match[0] == parts["decade"]:
                continue  # "the music of the sixties" is no age; "in her sixties" and "late sixties" are
            years = _decade(parts["decade"]) + _PART_OF_DECADE.get(parts["part"] or "mid", 5)
            start = match.end("whose") if parts["whose"] else match.start()  # "her" says more than an age
            found.append(Age(start, match.end(), years))
            continue
        number = next(text for key, text in parts.items() if text and re.fullmatch(r"n\d+", key))
        high = _number(number)
        low = parts["low1"] or parts["low4"] or parts["low12"]
        if high is not None and low:
            smaller = _number(low)
            high = None if smaller is None else (smaller + high) / 2
        if high is not None:
            high *= 10 if parts["xun"] or parts["n6"] else 1
            high += 5 if parts["more4"] in ("多", "几", "余") or (parts["n8"] and not parts["ish"]) else 0
            high += _PAST_ROUND.get(parts["over4"] or parts["about7"] or parts["about14"], 0)
        found.append(Age(match.start(), match.end(), None if high is None else int(high)))
    return found


def _decade(word: str) -> int:
    return 20 + 10 * _DECADES.index(word) if word in _DECADES else int(word[:2])


def _number(word: str) -> float | None:
    if word.isdigit():
        return int(word)
    if word.endswith("hundred"):
        return 100
    if word[0].isascii():
        tens = next((ten for ten in _TENS if word.startswith(ten)), "")
        rest = word.removeprefix(tens).strip(" -")
        names = _UNITS + _TEENS
        return (20 + 10 * _TENS.index(tens) if tens else 0) + (names.index(rest) + 1 if rest else 0)
    return _chinese_number(word)


def _chinese_number(word: str) -> float | None:
    """A Chinese numeral up to 199; two digits side by side are a range: 三四十 is 35, 七八 is 7.5."""
    if "百" in word:
        head, _, rest = word.partition("百")
        below = _chinese_number(rest.lstrip("零")) if rest else 0
        return None if head not in ("", "一") or below is None else 100 + below
    if "十" in word:
        head, _, rest = word.partition("十")
        tens, ones = _digits(head, 1), _digits(rest, 0)
        return None if tens is None or ones is None else 10 * tens + ones
    return _digits(word, None)


def _digits(word: str, empty: float | None) -> float | None:
    values = [_DIGITS.get(digit, 0) for digit in word]
    if not values:
        return empty
    if 0 in values or len(values) > 2 or (len(values) == 2 and values[1] - values[0] != 1):
        return None
    return sum(values) / len(values)
