"""The decoding benchmark does what it says; how fast it is, is no test."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="transformers needs Python 3.11"
)


@pytest.fixture(autouse=True)
def same_threads() -> Iterator[None]:
    """The benchmark sets them for the whole process."""
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("part", "device", "rows"),
    [
        ("candidates", None, ("3 candidates, 4 slots",)),
        ("requests", None, ("in turn", "at once")),
        ("generate", None, ("our loop", "generate", "generate, static cache")),
        ("head", None, ("sliced", "full")),
        ("prefix", None, ("8 s of speech",)),
        ("card", "cpu", ("bfloat16", "float32", "Codec: 10 s of sound")),
    ],
)
def test_each_part_prints_its_table(
    part: str, device: str | None, rows: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    from voice_sculptor.bench.decoding.command import main

    asked = ["--part", part, "--size", "small", "--tokens", "2", "--rounds", "1"]
    main([*asked, *(["--device", device] if device else [])])
    out = capsys.readouterr().out
    assert f"## {part}" in out
    for row in rows:
        assert row in out


def test_impossible_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from voice_sculptor.bench.decoding.command import main

    with pytest.raises(SystemExit):
        main(["--tokens", "1"])
    assert "--tokens" in capsys.readouterr().err


def test_goals_are_judged_on_the_right_side() -> None:
    from voice_sculptor.bench.decoding.timing import goal, in_turn, ratio

    assert "not met" in goal(1.3, 1.25)
    assert "not met" not in goal(1.2, 1.25)
    assert "not met" in goal(2.9, 3, at_least=True)
    assert ratio({"a": [2.0, 4.0, 9.0], "b": [1.0, 2.0, 3.0]}, "a", "b") == 2.0
    done: list[str] = []
    times = in_turn({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, 2)
    assert done == ["a", "b"] * 3
    assert [len(each) for each in times.values()] == [2, 2]
