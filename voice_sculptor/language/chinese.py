"""How a Chinese passage is read: numbers, dates, times, money, units and signs as characters."""

from __future__ import annotations

import re
from collections.abc import Callable

from voice_sculptor.language import units
from voice_sculptor.language.numerals import chinese as number
from voice_sculptor.language.numerals import spell_chinese as spell

_UNITS = {symbol: unit.chinese for symbol, unit in units.UNITS.items() if unit.chinese} | {
    "x": "倍",
    "X": "倍",
}
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_CURRENCIES = {
    "US$": "美元", "HK$": "港元", "￥": "元", "$": "美元", "€": "欧元", "£": "英镑", "₩": "韩元", "₹": "卢比",
    "₽": "卢布", "฿": "泰铢",
}  # fmt: skip
_CURRENCY = "|".join(map(re.escape, _CURRENCIES))
_NUMBER = r"\d+(?:\.\d+)?"
_DASH = " ?[-—~–] ?"
_MINUS = r"(?P<sign>(?<![A-Za-z\d)])-)?"
_VERSIONED = (
    r"(?P<product>版本号?|(?<![A-Za-z])[Vv]ersion|(?<![A-Za-z])[Vv]|Python|Java|Node|iOS|macOS|Android|Ubuntu|Debian|Linux|CUDA|PyTorch|"
    r"TensorFlow|USB|HDMI|GPT|Qwen|Llama|鸿蒙|蓝牙)"
)
_VERSION = r"(?P<num>\d{1,4}(?:\.\d{1,4})+)"
_MEASURE_WORDS = "个位名只条张次件本年天周岁倍杯碗间层块份项种台辆部家座所场门口句段篇页组对"
_MEASURE_WORDS += "双套瓶包盒袋支枝颗粒棵朵头匹步圈声遍趟回"
_SHORT_PHONE = r"1(?:10|14|19|20|22)|1\d{4}|911"
_SIGNS = {
    "+": "加", "=": "等于", "<": "小于", ">": "大于", "≤": "小于等于", "≥": "大于等于", "≈": "约等于", "≠": "不等于",
    "±": "正负",
    "×": "乘", "÷": "除以", "√": "根号", "∞": "无穷大", "%": "百分号", "‰": "千分号", "&": "和",
    "#": "井号", "°": "度", "￥": "元", "$": "美元", "€": "欧元", "£": "英镑", "~": "到", "²": "的平方", "³": "的立方",
}  # fmt: skip
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
_SILENT = re.compile(r"[\\^|_*/{}\[\]@]")
_PLAIN = re.compile(r"[\s\u3000-\u303f\u4e00-\u9fffA-Za-z，。！？；：、“”（）…—.,!?;:'\"()-]*")

Rule = tuple[re.Pattern[str], "str | Callable[[re.Match[str]], str]"]


def _signed(match: re.Match[str], words: str) -> str:
    return f"负{words}" if match.group("sign") else words


def _say_one(text: str) -> str:
    # Over the phone and in model names one is 幺, not to be heard as seven.
    return spell(text).replace("一", "幺")


def _phone(match: re.Match[str]) -> str:
    return "，".join(map(_say_one, re.findall(r"\d+", match.group())))


def _date(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return "，".join(map(number, match.groups()))
    return f"{spell(year)}年{number(str(int(month)))}月{number(str(int(day)))}日"


def _clock(match: re.Match[str]) -> str:
    hour, minute, second = match.groups()
    words = ("两" if int(hour) == 2 else number(str(int(hour)))) + "点"
    if second:
        return f"{words}{number(minute)}分{number(second)}秒"
    if minute == "00":
        return words
    return words + number(minute) + ("" if minute[0] == "0" else "分")


def _money(match: re.Match[str]) -> str:
    low = f"{number(match.group('low'))}到" if match.group("low") else ""
    return f"{low}{number(match.group('num'))}{match.group('scale')}{_CURRENCIES[match.group('currency')]}"


def _percent(match: re.Match[str]) -> str:
    part = "百分之" if match.group("unit") == "%" else "千分之"
    low = f"{part}{number(match.group('low'))}到" if match.group("low") else ""
    return _signed(match, f"{low}{part}{number(match.group('num'))}")


def _measure(match: re.Match[str]) -> str:
    amount = "两" if match.group("num") == "2" else number(match.group("num"))
    low = f"{number(match.group('low'))}到" if match.group("low") else ""
    return _signed(match, f"{low}{amount}{_UNITS[match.group('unit')]}")


def _version(match: re.Match[str]) -> str:
    return "点".join(map(number, match.group("num").split(".")))


def _fraction(match: re.Match[str]) -> str:
    whole, top, bottom = match.groups()
    return (f"{number(whole)}又" if whole else "") + f"{number(bottom)}分之{number(top)}"


def _pair(word: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{number(match.group(1))}{word}{number(match.group(2))}"


def _bare(match: re.Match[str]) -> str:
    sign, text = match.group("sign"), match.group("num")
    few = text == "2" and match.string[match.end() : match.end() + 1] in ("万", "亿")
    return {"-": "负", "+": "正"}.get(sign, "") + ("两" if few else number(text))


def _address(match: re.Match[str]) -> str:
    text = re.sub(r"^[a-z]+://(?:www\.)?|^www\.", "", match.group(), flags=re.IGNORECASE)
    text = re.split(r"[?#]", text)[0].rstrip("/.,;:!")
    for sign, word in (
        (".", "点"),
        ("/", "斜杠"),
        ("@", " at "),
        ("_", "下划线"),
        ("-", "杠"),
        (":", "冒号"),
    ):
        text = text.replace(sign, word)
    return re.sub(r"\d+", lambda found: spell(found.group()), re.sub(r"[^\w ]", " ", text))


_RULES: tuple[Rule, ...] = (
    (re.compile(r"(?:\b(?:https?|ftp)://|\bwww\.)[!-~]{3,}", re.IGNORECASE | re.ASCII), _address),
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", re.ASCII), _address),
    (
        re.compile(
            r"\b(?:[A-Za-z0-9-]{1,63}\.){1,4}(?:com|org|net|edu|gov|cn|io|ai|dev)\b(?:/[\w./-]*\w)?", re.ASCII
        ),
        _address,
    ),
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), ""),
    (re.compile(r"(?<![\d.-])(?:0\d{2,3}-\d{7,8}|[48]00-\d{3,4}-\d{3,4})(?![\d-])"), _phone),
    (re.compile(r"(?<![\d.-])(?:\+?86[ -]?1\d{10}|1[3-9]\d-?\d{4}-?\d{4})(?![\d-])"), _phone),
    (
        re.compile(
            rf"(?<!\d)(?:{_SHORT_PHONE})(?=报警|急救|热线|电话|客服)|(?<=[打拨])(?:{_SHORT_PHONE})(?!\d)"
        ),
        _phone,
    ),
    (re.compile(r"(?<![\d.-])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\d.-])日?"), _date),
    (
        re.compile(r"(\d{4}) ?[-—~至到] ?(\d{4})(?=年)"),
        lambda match: f"{spell(match.group(1))}到{spell(match.group(2))}",
    ),
    (re.compile(r"(?<!\d)(?:\d{4}(?=年(?!来|以上|左右|间))|\d0(?=后))"), lambda match: spell(match.group())),
    (re.compile(r"(?<=:[0-5]\d) ?[-—~] ?(?=\d{1,2}:[0-5]\d)"), "到"),
    (re.compile(r"(?<![\d:])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])"), _clock),
    (
        re.compile(rf"{_VERSIONED}(?P<gap> ?){_VERSION}(?![\d%])"),
        lambda match: match.group("product") + match.group("gap") + _version(match),
    ),
    (re.compile(rf"(?<![\d.]){_VERSION}(?= ?(?:版|正式版|测试版))"), _version),
    (re.compile(r"(?<![\d.])(?P<num>\d+(?:\.\d+){2,})(?![\d.]*\d)"), _version),
    (
        re.compile(
            rf"(?P<currency>{_CURRENCY}) ?(?:(?P<low>{_NUMBER}){_DASH}[￥$€£]?)?"
            rf"(?P<num>{_NUMBER})(?P<scale>[万亿千百]*)元?"
        ),
        _money,
    ),
    (re.compile(rf"{_MINUS}(?:(?P<low>{_NUMBER})[%‰]?{_DASH})?(?P<num>{_NUMBER})(?P<unit>[%‰])"), _percent),
    (
        re.compile(
            rf"{_MINUS}(?<![A-Za-z\d.])(?:(?P<low>{_NUMBER}) ?(?:{_UNIT})?{_DASH})?(?P<num>{_NUMBER}) ?"
            rf"(?P<unit>{_UNIT})(?![A-Za-z0-9²³/])"
        ),
        _measure,
    ),
    (re.compile(rf"({_NUMBER}) ?[x×*] ?(?={_NUMBER})"), r"\1乘"),
    (re.compile(rf"({_NUMBER}) ?\+ ?(?={_NUMBER})|(?<=[A-Za-z])\+(?=\d)"), r"\1加"),
    (re.compile(r"(?<![\d.])(\d{1,4}) ?- ?(\d{1,4}) ?(?==)"), _pair("减")),
    (re.compile(rf"(?<![\d.-])({_NUMBER}){_DASH}({_NUMBER})(?![\d.-])"), _pair("到")),
    (re.compile(r"(?<!\d)~(?=\d)"), "约"),
    (re.compile(r"(?<![\d.])(?:(\d{1,3}) )?(\d{1,4})/(\d{1,4})(?![\d/])"), _fraction),
    (re.compile(r"(?<=[元块角分斤克吨升米里天时次个人])/(?=[\u4e00-\u9fffA-Za-z])"), "每"),
    (re.compile(rf"(?<=每)(?:{_UNIT})(?![A-Za-z])"), lambda match: _UNITS[match.group()]),
    (re.compile(r"(?<!\d)(\d{1,3}):(\d{1,3})(?!\d)"), _pair("比")),
    (re.compile(rf"(?<![\d.第周号初])2(?=(?:[{_MEASURE_WORDS}]|分[钟\d])(?!级))"), "两"),
    (re.compile(r"(?<=[A-Za-z])-?(\d{3,})"), lambda match: _say_one(match.group(1))),
    (re.compile(r"(?<![A-Za-z\d.])\d{3,4}(?=[pPiI](?![A-Za-z]))"), lambda match: spell(match.group())),
    (re.compile(r"#(?=\d)|(?<![A-Za-z])No\. ?(?=\d)"), "第"),
    (re.compile(rf"(?P<sign>(?<![A-Za-z\d)])[-+])?(?P<num>{_NUMBER})"), _bare),
)


def read_chinese(text: str) -> str:
    """A Chinese passage with everything that is not a word written as characters.

    Args:
        text: A cleaned passage; Latin words in it stay as they are.

    Returns:
        The passage without digits or mathematical signs; punctuation stays.
    """
    if _PLAIN.fullmatch(text):
        return text
    for pattern, reading in _RULES:
        text = pattern.sub(reading, text)
    text = _SIGN.sub(lambda match: _SIGNS[match.group()], text)
    return re.sub(r" +", " ", _SILENT.sub(" ", text))
