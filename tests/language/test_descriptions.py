"""Whole descriptions and what they state. The layout of the tables is at the head of `descriptions_known.yaml`."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from voice_sculptor.controls import CONTROL_NAMES, level_of
from voice_sculptor.language.description import understand
from voice_sculptor.timbre import TIMBRE_NAMES

TABLES = sorted(Path(__file__).parent.glob("descriptions_*.yaml"))
LEAST_SHARE = 0.95
YEARS_NEAR = 3
SIDES = {
    "pitch": ("low", "medium", "high"),
    "pitch_variation": ("flat", "medium", "lively"),
    "volume": ("soft", "medium", "loud"),
    "speed": ("slow", "medium", "fast"),
    "breathiness": ("clear", "medium", "breathy"),
    "roughness": ("smooth", "medium", "hoarse"),
    "brightness": ("dark", "medium", "bright"),
    "body": ("thin", "medium", "full"),
    "nasality": ("open", "medium", "nasal"),
}
AGES = ("child", "young", "middle-aged", "elderly")


def side(name: str, value: Any) -> Any:
    """A value as the tables write it."""
    if name == "emotion":
        return value.name
    if name == "age":
        return level_of("age", value)
    if name not in SIDES:
        return value
    away = value - 1.0 if name == "speed" else value
    return SIDES[name][1 + (away > 0) - (away < 0)]


def is_read(name: str, stated: Any, value: Any) -> bool:
    if value is None:
        return False
    if isinstance(stated, str) and stated.startswith("not "):
        return bool(side(name, value) != stated.removeprefix("not "))
    if name == "age" and isinstance(stated, int):
        return bool(abs(value - stated) <= YEARS_NEAR)
    return bool(side(name, value) == stated)


def misses(case: dict[str, Any]) -> tuple[int, list[str]]:
    """How many statements a description has, and those that were not read right."""
    understood = understand(case["text"])
    read = understood.controls.asked() | understood.timbre.asked()
    wrong = [
        f"{name}: {stated!r} read as {read.get(name)!r}"
        for name, stated in case["says"].items()
        if not is_read(name, stated, read.get(name))
    ]
    wrong += [f"{name} is not said, read as {read[name]!r}" for name in case.get("not", ()) if name in read]
    return len(case["says"]) + len(case.get("not", ())), wrong


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_what_descriptions_state_is_read(table: Path) -> None:
    cases = yaml.safe_load(table.read_text("utf-8"))
    num_stated, wrong = 0, []
    for case in cases:
        num, found = misses(case)
        num_stated += num
        wrong += [f"{case['text']!r}: {miss}" for miss in found]
    report = f"{len(wrong)} of {num_stated} statements misread:\n" + "\n".join(wrong)
    assert len(wrong) <= (1 - LEAST_SHARE) * num_stated, report


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_the_tables_are_well_formed(table: Path) -> None:
    cases = yaml.safe_load(table.read_text("utf-8"))
    texts = [case["text"] for case in cases]
    assert len(set(texts)) == len(texts) == 60
    for case in cases:
        assert set(case) <= {"text", "says", "not"}
        assert case["says"]
        assert {*case["says"], *case.get("not", ())} <= {*CONTROL_NAMES, *TIMBRE_NAMES}
        assert not set(case["says"]) & set(case.get("not", ()))
        for name, stated in case["says"].items():
            bare = stated.removeprefix("not ") if isinstance(stated, str) else stated
            assert bare in SIDES.get(name, (bare,)), (case["text"], name, stated)
            assert name != "age" or bare in AGES or isinstance(bare, int)
