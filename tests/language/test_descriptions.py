"""Whole descriptions and what they state; the tables come with the benchmark that renders them."""

import pytest

from voice_sculptor.bench.obedience.statements import (
    AGES,
    SIDES,
    TABLES,
    Described,
    excluded,
    is_read,
    load_table,
)
from voice_sculptor.controls import CONTROL_NAMES
from voice_sculptor.language.description import understand
from voice_sculptor.timbre import TIMBRE_NAMES

LEAST_SHARE = 0.95


def misses(described: Described) -> tuple[int, list[str]]:
    """How many statements a description has, and those that were not read right."""
    understood = understand(described.text)
    read = understood.controls.asked() | understood.timbre.asked()
    wrong = [
        f"{name}: {stated!r} read as {read.get(name)!r}"
        for name, stated in described.says.items()
        if not is_read(name, stated, read.get(name))
    ]
    wrong += [f"{name} is not said, read as {read[name]!r}" for name in described.leaves_open if name in read]
    return len(described.says) + len(described.leaves_open), wrong


@pytest.mark.parametrize("table", TABLES)
def test_what_descriptions_state_is_read(table: str) -> None:
    num_stated, wrong = 0, []
    for described in load_table(table):
        num, found = misses(described)
        num_stated += num
        wrong += [f"{described.text!r}: {miss}" for miss in found]
    report = f"{len(wrong)} of {num_stated} statements misread:\n" + "\n".join(wrong)
    assert len(wrong) <= (1 - LEAST_SHARE) * num_stated, report


@pytest.mark.parametrize("table", TABLES)
def test_the_tables_are_well_formed(table: str) -> None:
    cases = load_table(table)
    texts = [case.text for case in cases]
    assert len(set(texts)) == len(texts) == 60
    for case in cases:
        assert case.says
        assert {*case.says, *case.leaves_open} <= {*CONTROL_NAMES, *TIMBRE_NAMES}
        assert not set(case.says) & set(case.leaves_open)
        for name, stated in case.says.items():
            bare = excluded(stated) or stated
            assert bare in SIDES.get(name, (bare,)), (case.text, name, stated)
            assert name != "age" or bare in AGES or isinstance(bare, int)
            assert excluded(stated) is None or name in SIDES, (case.text, name, stated)
