"""How an English passage is read: numbers, dates, money, units, signs and abbreviations as words."""

from __future__ import annotations

import re
from collections.abc import Callable

from voice_sculptor.language import numerals, units
from voice_sculptor.language.numerals import cardinal, digits, number, ordinal, year

_MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
_MONTH = rf"\b(?:{'|'.join(rf'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)}|Sept)\b"
_CURRENCIES = {
    "US$": ("US dollar", "US dollars", "cent", "cents"),
    "HK$": ("Hong Kong dollar", "Hong Kong dollars", "cent", "cents"),
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "￥": ("yuan", "yuan", "", ""),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "", ""),
    "₽": ("ruble", "rubles", "", ""),
    "฿": ("baht", "baht", "", ""),
}
_CURRENCY = "|".join(map(re.escape, _CURRENCIES))
_SCALES = {"k": "thousand", "K": "thousand", "m": "million", "M": "million", "B": "billion", "bn": "billion"}
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_DASH = r" ?[-–—~] ?"
_MINUS = r"(?P<sign>(?<![\w)])-)?"
_VERSIONED = (
    r"\b(?P<product>version|versions|ver|release|v|Python|Java|Node|iOS|macOS|Android|Ubuntu|Debian|Linux|kernel|CUDA|"
    r"PyTorch|TensorFlow|Bluetooth|HTTP|TLS|USB|HDMI|GPT|Llama|Qwen|Windows|Chrome|Go|Ruby|PHP|Swift|Kotlin)"
)
_ABBREVIATIONS = {
    "Mr.": "Mister", "Mrs.": "Missus", "Ms.": "Miz", "Dr.": "Doctor", "Prof.": "Professor", "Jr.": "Junior",
    "Sr.": "Senior", "vs.": "versus", "etc.": "et cetera", "e.g.": "for example", "i.e.": "that is",
    "approx.": "approximately", "Mt.": "Mount", "Ft.": "Fort", "Gen.": "General", "Capt.": "Captain",
    "Lt.": "Lieutenant", "Col.": "Colonel", "Sgt.": "Sergeant", "Gov.": "Governor", "Sen.": "Senator",
    "Rep.": "Representative", "Ave.": "Avenue", "Blvd.": "Boulevard", "Rd.": "Road", "Inc.": "Incorporated",
    "Ltd.": "Limited", "Corp.": "Corporation", "Dept.": "Department", "Fig.": "Figure", "Vol.": "Volume",
    "Ch.": "Chapter", "w/o": "without", "w/": "with",
}  # fmt: skip
_ABBREVIATION = "|".join(map(re.escape, _ABBREVIATIONS))
_SIGNS = {
    "+": "plus", "=": "equals", "<": "less than", ">": "greater than", "≤": "less than or equal to",
    "≥": "greater than or equal to", "≈": "approximately", "≠": "not equal to", "±": "plus or minus",
    "÷": "divided by", "×": "times", "√": "square root of", "∞": "infinity", "%": "percent", "‰": "per mille",
    "@": "at", "&": "and", "#": "hash", "°": "degrees", "$": "dollar", "€": "euro", "£": "pound", "￥": "yuan",
    "~": "about", "²": "squared", "³": "cubed",
}  # fmt: skip
_SIGN = re.compile("|".join(f" ?{re.escape(sign)} ?" for sign in _SIGNS))
_SILENT = re.compile(r"[\\^|_*/{}\[\]<>]")

Rule = tuple[re.Pattern[str], "str | Callable[[re.Match[str]], str]"]


def _counted(amount: str, one: str, many: str) -> str:
    return f"{number(amount)} {one if amount == '1' else many}"


def _signed(match: re.Match[str], words: str) -> str:
    return f"minus {words}" if match.group("sign") else words


def _measure(match: re.Match[str]) -> str:
    unit = units.UNITS[match.group("unit")]
    low = f"{number(match.group('low'))} to " if match.group("low") else ""
    return _signed(match, low + _counted(match.group("num"), unit.one, unit.many))


def _percent(match: re.Match[str]) -> str:
    low = f"{number(match.group('low'))} to " if match.group("low") else ""
    return _signed(match, f"{low}{number(match.group('num'))} percent")


def _money(match: re.Match[str]) -> str:
    one, many, minor_one, minor_many = _CURRENCIES[match.group("currency")]
    amount, scale = match.group("num").replace(",", ""), match.group("scale")
    if scale:
        return f"{number(amount)} {_SCALES.get(scale, scale)} {many}"
    whole, _, cents = amount.partition(".")
    if not cents or not minor_one or len(cents) > 2:
        return _counted(amount, one, many)
    minor = int(cents.ljust(2, "0"))
    major = _counted(whole or "0", one, many)
    parts = [major] if int(whole or "0") or not minor else []
    parts += [_counted(str(minor), minor_one, minor_many)] if minor else []
    return " and ".join(parts)


def _half_day(text: str | None) -> str:
    return f" {text[0].upper()}M" if text else ""


def _clock(match: re.Match[str]) -> str:
    hour, minute, second = int(match.group("hour")), match.group("minute"), match.group("second")
    half = _half_day(match.group("half"))
    words = cardinal(hour)
    if minute != "00":
        words += f" {'oh ' if minute[0] == '0' else ''}{cardinal(int(minute))}"
    elif not half and not second:
        words += " o'clock" if hour <= 12 else " hundred"
    if second:
        words += f" and {_counted(str(int(second)), 'second', 'seconds')}"
    return words + half


def _date(match: re.Match[str]) -> str:
    month, day = int(match.group("month")), int(match.group("day"))
    if month > 12 >= day:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match.group()
    return f"{_MONTHS[month - 1]} {ordinal(day)}, {year(int(match.group('year')))}"


def _month_day(match: re.Match[str]) -> str:
    month = next(name for name in _MONTHS if name.startswith(match.group(1)[:3]))
    return f"{month} {ordinal(int(match.group(2)))}"


def _fraction(match: re.Match[str]) -> str:
    whole, top, bottom = match.group(1), int(match.group(2)), int(match.group(3))
    if (top, bottom) == (24, 7):
        return "twenty-four seven"
    if bottom < 2 or top >= 100 or bottom > 100:
        return f"{cardinal(top)} over {cardinal(bottom)}"
    part = {2: "half", 4: "quarter"}.get(bottom) or ordinal(bottom)
    if top != 1:
        part = "halves" if bottom == 2 else part + "s"
    if whole:
        return f"{cardinal(int(whole))} and {'a' if top == 1 else cardinal(top)} {part}"
    return f"{cardinal(top)} {part}"


def _parts(text: str) -> str:
    return " point ".join(map(number, text.split(".")))


def _phone(match: re.Match[str]) -> str:
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(map(digits, re.findall(r"\d+", match.group())))


def _address(match: re.Match[str]) -> str:
    text = re.sub(r"^[a-z]+://", "", match.group(), flags=re.IGNORECASE)
    body = text.rstrip(".,;:!?)'\"")
    tail = text[len(body) :]
    body = re.sub(r"^www\.", "W W W dot ", re.split(r"[?#]", body)[0].rstrip("/"), flags=re.IGNORECASE)
    for sign, word in (
        (".", "dot"),
        ("/", "slash"),
        ("@", "at"),
        ("_", "underscore"),
        ("-", "dash"),
        (":", "colon"),
    ):
        body = body.replace(sign, f" {word} ")
    body = re.sub(r"\d+", lambda found: f" {digits(found.group())} ", re.sub(r"[^\w ]", " ", body))
    return " ".join(body.split()) + tail


def _range(match: re.Match[str]) -> str:
    low, high = match.groups()
    say = year if all(re.fullmatch(r"1\d{3}|20\d{2}", part) for part in (low, high)) else None
    return f"{year(int(low))} to {year(int(high))}" if say else f"{number(low)} to {number(high)}"


def _decade(match: re.Match[str]) -> str:
    century, tens = match.group(1), int(match.group(2))
    name = numerals.TENS[tens][:-1] + "ies" if tens > 1 else "tens" if tens else "hundreds"
    return f"{cardinal(int(century))} {name}" if century else name


def _bare(match: re.Match[str]) -> str:
    text, end = match.group("num"), match.end()
    before = match.string[max(0, match.start() - 16) : match.start()]
    words = year(int(text)) if _is_year(text, before, match.string[end : end + 12]) else number(text)
    return _signed(match, words) + (" " if match.string[end : end + 1].isalpha() else "")


def _is_year(text: str, before: str, after: str) -> bool:
    """Whether four digits are a year: named so by the word before, or counting nothing after."""
    if not re.fullmatch(r"1[1-9]\d\d|20\d\d", text):
        return False
    counted = re.match(" ([A-Za-z]+)", after)
    return bool(_BEFORE_YEAR.search(before)) or not counted or counted.group(1).lower() in _AFTER_YEAR


def _within_word(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    text = match.group()
    # Long model numbers digit by digit ("C919"), short ones as numbers ("F16"). "A-four" keeps A a letter.
    words = digits(text) if len(text) > 2 and text.isdecimal() else number(text)
    return ("-" if before in ("A", "a") else " ") + words + (" " if after.isalpha() else "")


# Only where the word before makes it certain: "I" and "MIX" are words, "CD" and "XL" letters.
_ROMAN = r"([IVXL]{2,7})(?![A-Za-z'])"
_ROMAN_PART = r"([IVXL]{2,7}(?![A-Za-z'])|[VX](?![A-Za-z'.])|I(?=[,.:;!?)]|$))"
_PART = (
    r"\b(War|Chapter|Part|Volume|Act|Phase|Section|Book|Type|Class|Level|Stage|Title|Article|Appendix|Mark)"
)
_RULER = (
    r"\b(Henry|Louis|Elizabeth|George|Charles|Edward|William|Richard|James|Philip|Napoleon|Peter|Catherine|Alexander|"
    r"Nicholas|Frederick|Leo|Pius|Benedict|Innocent|Gregory|Clement|Paul|Ramesses|Ptolemy|Xerxes|Darius)"
)
_BEFORE_YEAR = re.compile(
    rf"(?:\b(?:in|since|from|until|till|by|of|year|and|during|before|after|circa)|{_MONTH}\.?) ?$",
    re.IGNORECASE,
)
_AFTER_YEAR = frozenset(
    {
        "and",
        "or",
        "to",
        "was",
        "is",
        "when",
        "saw",
        "in",
        "i",
        "he",
        "she",
        "it",
        "we",
        "they",
        "the",
        "by",
        "with",
    }
    | {"at", "on", "for", "until", "as", "while", "that", "had", "has"}
)
_ADDRESS = r"[^\s<>\"“”，。、！？；：（）]{3,}"
_DOMAIN = r"(?:com|org|net|edu|gov|cn|io|ai|dev)\b(?:/[\w./-]*\w)?"
_RULES: tuple[Rule, ...] = (
    (re.compile(rf"(?:\b(?:https?|ftp)://|\bwww\.){_ADDRESS}", re.IGNORECASE), _address),
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", re.ASCII), _address),
    (re.compile(rf"\b(?:[a-z0-9-]{{1,63}}\.){{1,4}}{_DOMAIN}", re.ASCII), _address),
    (
        re.compile(rf"(?<![A-Za-z])(?:{_ABBREVIATION})(?![A-Za-z])"),
        lambda match: _ABBREVIATIONS[match.group()],
    ),
    (
        re.compile(rf"{_PART} {_ROMAN_PART}"),
        lambda match: f"{match.group(1)} {cardinal(numerals.roman(match.group(2)))}",
    ),
    (
        re.compile(rf"{_RULER} {_ROMAN}"),
        lambda match: f"{match.group(1)} the {ordinal(numerals.roman(match.group(2)))}",
    ),
    (re.compile(r"\bSt\. (?=[A-Z])"), "Saint "),
    (re.compile(r"(?<=[a-z]) St\."), " Street"),
    (re.compile(r"\b(?:Nos?|nos?)\. ?(?=\d)|(?<!\w)#(?=\d)"), "number "),
    (re.compile(r"\b([CF])#"), r"\1 sharp"),
    (re.compile(r"\bC\+\+"), "C plus plus"),
    (re.compile(rf"({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?(?![\d:.%]|,\d)"), _month_day),
    (re.compile(r"(?<![\d-])(?P<year>\d{4})[-/](?P<month>\d\d?)[-/](?P<day>\d\d?)(?![\d-])"), _date),
    (re.compile(r"(?<![\d/])(?P<month>\d\d?)/(?P<day>\d\d?)/(?P<year>\d{4})(?![\d/])"), _date),
    (re.compile(r"(?<!\d)\+\d{1,3}(?:[ -]\d{2,4}){2,4}(?!\d)"), _phone),
    (re.compile(r"(?<![\d-])(?:\(\d{3}\) ?|\d{3}-)\d{3}-\d{4}(?![\d-])"), _phone),
    (
        re.compile(
            r"(?<![\d:])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?"
            r"(?: ?(?P<half>[AaPp]\.[Mm]\.(?= [^A-Z])|[AaPp]\.?[Mm]\b))?(?![\d:])"
        ),
        _clock,
    ),
    (
        re.compile(r"(?<![\d.])(\d{1,2}) ?([AaPp]\.[Mm]\.(?= [^A-Z])|[AaPp]\.?[Mm]\b)"),
        lambda match: cardinal(int(match.group(1))) + _half_day(match.group(2)),
    ),
    (
        re.compile(
            rf"(?P<currency>{_CURRENCY}) ?(?P<num>{_NUMBER})"
            r"(?:(?= thousand| million| billion| trillion| ?(?:k|K|M|B|bn)\b) ?(?P<scale>\w+))?"
        ),
        _money,
    ),
    (re.compile(r"(?<![\d.])(1\d|20)(\d)0['’]?s\b"), _decade),
    (re.compile(r"(?<![\w.])'?()([2-9])0'?s\b"), _decade),
    (re.compile(rf"{_MINUS}(?<![\w.])(?:(?P<low>{_NUMBER})%?{_DASH})?(?P<num>{_NUMBER}) ?%"), _percent),
    (
        re.compile(
            rf"{_MINUS}(?<![\w.])(?:(?P<low>{_NUMBER}){_DASH})?(?P<num>{_NUMBER})[ -]?"
            rf"(?P<unit>{units.PATTERN})(?![A-Za-z0-9²³])"
        ),
        _measure,
    ),
    (re.compile(r"\b(\d{1,14})(?:st|nd|rd|th)\b"), lambda match: ordinal(int(match.group(1)))),
    (re.compile(r"(?<![\d.])(?:(\d{1,3}) )?(\d{1,3})/(\d{1,3})(?![\d/])"), _fraction),
    (
        re.compile(rf"{_VERSIONED}[ -]?(?P<num>\d{{1,4}}(?:\.\d{{1,3}})+)(?![\d.]*\d)", re.IGNORECASE),
        lambda match: f"{match.group('product')} {_parts(match.group('num'))}",
    ),
    (re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}(?!\.?\d)"), lambda match: _parts(match.group())),
    (re.compile(rf"(?<![\w.-])({_NUMBER}){_DASH}({_NUMBER})(?![\w-])"), _range),
    (re.compile(r"(?<=\d) ?[x*] ?(?=\d)"), " times "),
    (re.compile(r"(?<=[A-Za-z])-(?=\d)"), " "),
    (re.compile(rf"{_MINUS}(?<!\w)(?P<num>{_NUMBER})"), _bare),
    (re.compile(_NUMBER), _within_word),
    (re.compile(r"\band/or\b"), "and or"),
)
_PLAIN = re.compile(r"(?:(?![A-Z][a-z]+ [IVXL]+\b)[\sA-Za-z,!?;:'\"()])*[.]?")


def read_english(text: str) -> str:
    """An English passage with everything that is not a word written as words.

    Args:
        text: A cleaned passage.

    Returns:
        The passage without digits or mathematical signs; punctuation stays.
    """
    if _PLAIN.fullmatch(text):
        return text
    for pattern, reading in _RULES:
        text = pattern.sub(reading, text)
    text = _SIGN.sub(lambda match: f" {_SIGNS[match.group().strip()]} ", text)
    return re.sub(r" +", " ", _SILENT.sub(" ", text))
