"""Descriptions with what they state, and whether a reading of one has it.

The tables are `bench/data/descriptions_*.yaml`; their layout is at the head of `descriptions_known.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from voice_sculptor.controls import level_of

TABLES = ("known", "fresh")
"""Names of the tables: by people who know the parser, and by one who does not."""
YEARS_NEAR = 3
"""How far the age that is read may be from one stated in years."""
AGES = ("child", "young", "middle-aged", "elderly")
SIDES: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
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
)
"""What is below, at and above the middle of each control that has a middle."""

_DATA_DIR = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class Described:
    """A description and what it says.

    Attributes:
        text: The description.
        says: For each control or dimension of timbre that it states, what, as the tables write it.
        leaves_open: Those that a reader must not think stated.
    """

    text: str
    says: Mapping[str, Any]
    leaves_open: tuple[str, ...]


def load_table(name: str) -> list[Described]:
    """The descriptions of one table, in its order.

    Args:
        name: One of `TABLES`.
    """
    entries = yaml.safe_load((_DATA_DIR / f"descriptions_{name}.yaml").read_text("utf-8"))
    return [
        Described(
            text=entry.pop("text"),
            says=entry.pop("says"),
            leaves_open=tuple(entry.pop("not", ())),
            **entry,  # Empty, or it is refused.
        )
        for entry in entries
    ]


def side(name: str, value: Any) -> Any:
    """A value as the tables write it.

    Args:
        name: Of a control or dimension of timbre.
        value: As in `Controls` or `Timbre`.
    """
    if name == "emotion":
        return value.name
    if name == "age":
        return level_of("age", value)
    if name not in SIDES:
        return value
    away = value - 1.0 if name == "speed" else value
    return SIDES[name][1 + (away > 0) - (away < 0)]


def excluded(stated: Any) -> str | None:
    """The side that a limit excludes, e.g. `high` of `not high`; `None` where it is no limit."""
    if isinstance(stated, str) and stated.startswith("not "):
        return stated.removeprefix("not ")
    return None


def is_read(name: str, stated: Any, value: Any) -> bool:
    """Whether a value is on the stated side.

    Args:
        name: Of a control or dimension of timbre.
        stated: As the tables write it.
        value: What was read, `None` for nothing.
    """
    if value is None:
        return False
    if (not_this := excluded(stated)) is not None:
        return bool(side(name, value) != not_this)
    if name == "age" and isinstance(stated, int):
        return bool(abs(value - stated) <= YEARS_NEAR)
    return bool(side(name, value) == stated)
