"""Cleaning and writing out: what is read aloud of what was typed."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.timing import growth
from voice_sculptor.language.text import clean, normalize, runs_of, speakable, split

CHINESE = {
    "今天是2025-09-28": "今天是二零二五年九月二十八日",
    "-4000、4000和4000": "负四千、四千和四千",
    "10ml、120mmHg、＜5": "十毫升、一百二十毫米汞柱、小于五",
    "200度烤15分钟，撒蒜蓉。": "两百度烤十五分钟，撒蒜蓉。",
    "1次": "一次",
    "2次": "两次",
    "如花儿般绽放": "如花儿般绽放",
    "下午12:30开会": "下午十二点三十分开会",
    "08:05出发，20:00-22:00休息": "八点零五出发，二十点到二十二点休息",
    "￥12.5，花了$3.50": "十二点五元，花了三点五零美元",
    "预算￥100-200元": "预算一百到两百元",
    "增长12.5%，约50-60%": "增长百分之十二点五，约百分之五十到百分之六十",
    "四分之三是3/4": "四分之三是四分之三",
    "打13812345678或010-12345678": "打幺三八幺二三四五六七八或零幺零，幺二三四五六七八",
    "打110报警": "打幺幺零报警",
    "要3-5天": "要三到五天",
    "1949-1950年": "一九四九到一九五零年",
    "今天-5℃": "今天负五摄氏度",
    "从-5到5": "从负五到五",
    "速度28.28x": "速度二十八点二八倍",
    "时速60km/h，重5kg，50Hz": "时速六十公里每小时，重五公斤，五十赫兹",
    "Python 3.11版本": "Python 三点十一版本",
    "版本1.2.3": "版本一点二点三",
    "我有1,084元和12,345.67元": "我有一千零八十四元和一万两千三百四十五点六七元",
    "有2万人、2个苹果、第2名、22个": "有两万人、两个苹果、第二名、二十二个",
    "C919和1080P、A4纸": "C九幺九和一零八零P、A四纸",
    "比分3:2，时间2分30秒": "比分三比二，时间两分三十秒",
    "007号": "零零七号",
    "单价5元/kg": "单价五元每公斤",
    "等式3+2=5，3-2=1，2x3=6": "等式三加二等于五，三减二等于一，二乘三等于六",
    "网址www.example.com/a-1": "网址example点com斜杠a杠一",
    "信箱me@example.com": "信箱me at example点com",
    "时间１２：３０，ＡＢＣ": "时间十二点三十分，ABC",
    "100平米是100㎡": "一百平米是一百平方米",
    "GPU有24GB显存": "GPU有二十四GB显存",
}
ENGLISH = {
    "Say 1, 2, 3. 101. 1,084.": "Say one, two, three. one hundred one. one thousand eighty-four.",
    "There are 1,200 seats.": "There are one thousand two hundred seats.",
    "28.28x faster": "twenty-eight point two eight x faster",
    "Today is 2025-09-28.": "Today is September twenty-eighth, twenty twenty-five.",
    "On March 3rd, 1999 and 12/25/2024": (
        "On March third, nineteen ninety-nine and December twenty-fifth, twenty twenty-four"
    ),
    "In 1999, in the 1990s, 1999 apples": (
        "In nineteen ninety-nine, in the nineteen nineties, one thousand nine hundred ninety-nine apples"
    ),
    "At 12:30 PM.": "At twelve thirty PM.",
    "It is 10:05 and 7 a.m. now": "It is ten oh five and seven AM now",
    "It cost $3.50, £20 and $1.5 million": (
        "It cost three dollars and fifty cents, twenty pounds and one point five million dollars"
    ),
    "Python 3.11 and v1.2.3": "Python three point eleven and v one point two point three",
    "3/4 cup, 1/2 and 3 1/2": "three quarters cup, one half and three and a half",
    "3-5 days": "three to five days",
    "1949-1950": "nineteen forty-nine to nineteen fifty",
    "-5°C, -4000": "minus five degrees Celsius, minus four thousand",
    "120 mmHg at 60 km/h": "one hundred twenty millimeters of mercury at sixty kilometers per hour",
    "1 kg, 5 kg, 16GB, 50 Hz": "one kilogram, five kilograms, sixteen gigabytes, fifty hertz",
    "75% of 1st, 2nd and 21st": "seventy-five percent of first, second and twenty-first",
    "Dr. Smith vs. Mr. Jones": "Doctor Smith versus Mister Jones",
    "Call 555-123-4567": "Call five five five, one two three, four five six seven",
    "Visit https://www.example.com/a?b=1.": "Visit W W W dot example dot com slash a.",
    "me@example.com": "me at example dot com",
    "COVID-19, F-16, A4, 3D": "COVID nineteen, F sixteen, A-four, three D",
    "No. 5, #1, C# and C++": "number five, number one, C sharp and C plus plus",
    "x² + y² ≤ 3": "x squared plus y squared less than or equal to three",
    "Henry VIII, World War II, Malcolm X, Part I. George I think": (
        "Henry the eighth, World War two, Malcolm X, Part one. George I think"
    ),
    "“Number.” “PM.”": "“Number.” “PM.”",
    "R&D and/or Q&A": "R and D and or Q and A",
}
MIXED = {
    "今天有3个会。I have 3 meetings.": "今天有三个会。I have three meetings.",
    "他说 I have 3 cats and 2 dogs，然后走了5米。": "他说 I have three cats and two dogs，然后走了五米。",
    "买了iPhone 15 Pro，花了8999元": "买了iPhone fifteen Pro，花了八千九百九十九元",
    "We met. 101. 我有101个。": "We met. one hundred one. 我有一百零一个。",
}


@pytest.mark.parametrize(("text", "spoken"), [*CHINESE.items(), *ENGLISH.items(), *MIXED.items()])
def test_is_written_out_as_it_is_read(text: str, spoken: str) -> None:
    assert normalize(text).spoken == spoken


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Hel\u200blo\ufeff w\u202eorld\x00", "Hello world"),
        ("<b>你好</b>，<script>x=1</script>world &amp; all", "你好， world & all"),
        ("Hi<|endofprompt|> there", "Hi there"),
        ("&lt;|endofprompt|&gt;嗨", "嗨"),
        ("# Title\n- **one**\n- `two` [link](http://x.y/z)", "Title\none\ntwo link"),
        ("好😀的👍🏽吗🇨🇳", "好 的 吗"),
        ("It’s ‘fine’", "It's 'fine'"),
        ("第５章　ＡＢＣ！？", "第5章 ABC！？"),
        ("½ cup, m², ①, Ⅲ, 𝐇𝐢", "1/2 cup, m², 1, 3, Hi"),
        ("a\r\n\r\n\r\nb\rc\td", "a\n\nb\nc d"),
        (
            "A long line of a letter that was wrapped by its\nwriter goes on here.\n\nNext.",
            "A long line of a letter that was wrapped by its writer goes on here.\n\nNext.",
        ),
        ("e\u0301t\u00e9", "été"),
    ],
)
def test_clean_keeps_what_is_spoken(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    "text", ["", " \n", "。", "……！？", "😀", "\u200b\u200d", "<br>", "<|x|>", '"()"', "→"]
)
def test_nothing_to_speak(text: str) -> None:
    assert not speakable(text)


@pytest.mark.parametrize("text", ["a", "好", "5", "①", "😀1", "...x"])
def test_something_to_speak(text: str) -> None:
    assert speakable(text)


def test_runs_follow_the_script_and_lose_nothing() -> None:
    assert runs_of("我用GPU，很快。Yes!") == (
        ("zh", "我用"),
        ("en", "GPU，"),
        ("zh", "很快。"),
        ("en", "Yes!"),
    )
    assert runs_of("“Hi”你好") == (("en", "“Hi”"), ("zh", "你好"))
    assert runs_of("……", default="zh") == (("zh", "……"),)


@pytest.mark.parametrize(("lang", "spoken"), [("zh", "五"), ("en", "five"), ("auto", "five")])
def test_language_decides_what_has_no_words(lang: str, spoken: str) -> None:
    assert normalize("5", lang).spoken == spoken  # type: ignore[arg-type]


TEXT = st.text(max_size=80) | st.text(
    alphabet="0123456789.,:/-–~%$￥°xkgmsGBh年月日点个第万一二 aIpPmM。，、\n#&@+=<>|*_[]()'\"", max_size=60
)


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_any_text_becomes_words(text: str) -> None:
    normalized = normalize(text)
    assert not any(char.isdecimal() for char in normalized.spoken)
    assert not any(
        unicodedata.category(char) in ("Cc", "Cf", "So", "Cs")
        for char in normalized.spoken
        if char != "\n" and char != "°"
    )
    assert "".join(run.text for run in normalized.runs) == normalized.spoken
    assert clean(clean(text)) == clean(text) or any(char in text for char in "<>&[]*_`#=-~+>•·▪‣")
    assert bool(normalized.spoken) or not speakable(text)


@pytest.mark.parametrize(
    "piece",
    [
        "There are 1,084 apples for $2.50. ",
        "今天是2025年9月28日，25℃，走了3.5公里。",
        "1",
        "3-",
        "a1 ",
        "<b",
        "http://",
        "a.",
        "12:",
        "好a1",
        "*",
        "(",
        "\n",
        "x\n",
    ],
)
def test_long_text_takes_linear_time(piece: str) -> None:
    text = piece * 16_000
    assert growth(lambda num_chars: normalize(text[:num_chars]), 4_000) < 9


@pytest.mark.parametrize("before", ["不要", "a "])
@pytest.mark.parametrize(
    "piece", ["9", "00", "٣", "①", ".", ",", "!", "1,", "1,000,", "9 ", "-1", "$1,", "a-1"]
)
def test_what_nobody_writes_takes_linear_time_too(before: str, piece: str) -> None:
    def read(num_chars: int) -> None:
        split(normalize(f"{before}{(piece * num_chars)[:num_chars]}a").spoken)

    assert growth(read, 1_500, times=2) < 9


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_number_without_end_is_read_digit_by_digit(language: Literal["zh", "en"]) -> None:
    for num_digits in range(36, 130):
        spoken = normalize("7" * num_digits, language).spoken
        assert spoken.count("七" if language == "zh" else "seven") == num_digits
        assert set(spoken) <= set("七，, " if language == "zh" else "seven, ")


def test_a_sentence_without_end_loses_nothing() -> None:
    words = [f"word{chr(97 + number % 26)}" for number in range(2_000)]
    assert normalize(" ".join(words) + " 12%").spoken.split() == [*words, "twelve", "percent"]
    assert normalize("中文" * 2_000 + "12%").spoken == "中文" * 2_000 + "百分之十二"
