from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import voice_sculptor.ui
from voice_sculptor.controls import CONTROL_NAMES
from voice_sculptor.domain import PRESET_GROUPS
from voice_sculptor.obedience import UNITS
from voice_sculptor.scheduling.memory import PARTS
from voice_sculptor.timbre import TIMBRE_NAMES
from voice_sculptor.ui.strings import STRINGS, say

SOURCES = list(Path(voice_sculptor.ui.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("key", STRINGS)
def test_each_string_is_there_in_both_languages_with_the_same_placeholders(key: str) -> None:
    english, chinese = STRINGS[key]
    assert english
    assert chinese
    fields = [{field for _, field, _, _ in Formatter().parse(text) if field} for text in (english, chinese)]
    assert fields[0] == fields[1]


def test_chinese_is_chinese_and_english_is_not() -> None:
    han = re.compile(r"[\u4e00-\u9fff]")
    for key, (english, chinese) in STRINGS.items():
        assert not han.search(english), key
        assert han.search(chinese) or key == "of", key


def test_every_string_is_used_and_every_used_one_exists() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES if path.name != "strings.py")
    used = set(
        re.findall(r'\b(?:say|said|spelled|named|titled|heading|refused|_done)\(\s*["\']([\w]+)["\']', code)
    )
    used |= set(re.findall(r'"(\w+_hint)"', code)) | {f"{key}_fix" for key in used if f"{key}_fix" in STRINGS}
    used |= {"gpu_memory", "memory", *(f"part_{part}" for part in PARTS)}
    used |= {*CONTROL_NAMES, *(f"group_{group}" for group in PRESET_GROUPS)}
    used |= {*TIMBRE_NAMES, *(f"{kind}_{measure}" for kind in ("cue", "note") for measure in UNITS)}
    used |= {"note_aim", "unit_st", "unit_/s"}
    assert used == set(STRINGS)


def test_say_fills_in() -> None:
    assert say("waiting", "en", count=2, seconds=9) == "2 ahead of you · about 9 s"
    assert say("waiting", "zh", count=2, seconds=9) == "前面还有 2 个请求 · 约 9 秒"
