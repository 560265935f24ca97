"""Numbers as words, in English and Chinese."""

from __future__ import annotations

import re

_ONES = [
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
"""English names of 20 … 90 by their first digit."""

_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_MOST_DIGITS = 15
_CHINESE = "零一二三四五六七八九"


def cardinal(number: int) -> str:
    """A whole number in English: `1084` → `"one thousand eighty-four"`.

    Args:
        number: 0 ≤ number < 10¹⁵.
    """
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    scale, name = next((scale, name) for scale, name in _SCALES if number >= scale)
    head, rest = divmod(number, scale)
    return f"{cardinal(head)} {name}" + (f" {cardinal(rest)}" if rest else "")


def ordinal(number: int) -> str:
    """A rank in English: `21` → `"twenty-first"`."""
    words = cardinal(number)
    last = re.split("[ -]", words)[-1]
    rank = _ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return words.removesuffix(last) + rank


def year(number: int) -> str:
    """A year from 1000 to 2999 in English: `1999` → `"nineteen ninety-nine"`."""
    century, rest = divmod(number, 100)
    if century % 10 == 0 and rest < 10:
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {f'oh {_ONES[rest]}' if rest < 10 else cardinal(rest)}"


def digits(text: str) -> str:
    """The English name of every digit in `text`; anything else is skipped."""
    return " ".join(_ONES[int(char)] for char in text if char.isdecimal())


def number(text: str) -> str:
    """A written number in English, digit by digit where it has a leading zero or over 15 digits.

    Args:
        text: Digits with thousands commas and a decimal point, such as `"1,084.50"`.
    """
    whole, _, fraction = text.replace(",", "").partition(".")
    by_digit = len(whole) > _MOST_DIGITS or (len(whole) > 1 and int(whole[0]) == 0)
    words = digits(whole) if by_digit else cardinal(int(whole or "0"))
    return f"{words} point {digits(fraction)}" if fraction else words


def roman(text: str) -> int:
    """Value of a Roman numeral such as `"XIV"`."""
    values = [{"I": 1, "V": 5, "X": 10, "L": 50}[char] for char in text]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def spell_chinese(text: str) -> str:
    """The Chinese name of every digit in `text`; anything else is skipped."""
    return "".join(_CHINESE[int(char)] for char in text if char.isdecimal())


def chinese(text: str) -> str:
    """A written number in Chinese: `"28.28"` → `"二十八点二八"`; digit by digit with a leading zero or over 15 digits.

    Args:
        text: Digits with at most one decimal point.
    """
    whole, _, fraction = text.partition(".")
    if len(whole) > _MOST_DIGITS or (len(whole) > 1 and int(whole[0]) == 0):
        words = spell_chinese(whole)
    else:
        words = _chinese_cardinal(int(whole or "0"))
    return f"{words}点{spell_chinese(fraction)}" if fraction else words


def _chinese_cardinal(value: int) -> str:
    if value == 0:
        return "零"
    words = ""
    for scale, name in ((10**12, "万亿"), (10**8, "亿"), (10**4, "万"), (1, "")):
        group, value = divmod(value, scale)
        if group:
            # A group below a thousand after a higher one is announced by 零: 一万零一.
            zero = "零" if words and group < 1000 else ""
            words += zero + ("两" if group == 2 and name and not words else _below_10000(group)) + name
    return words.removeprefix("一") if words.startswith("一十") else words


def _below_10000(value: int) -> str:
    words = ""
    gap = False
    for power, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, value = divmod(value, power)
        if digit:
            words += ("零" if gap and words else "") + _CHINESE[digit] + unit
        gap = not digit
    # 两 rather than 二 where a number begins with two hundreds or thousands.
    return re.sub("^二(?=[千百])", "两", words)
