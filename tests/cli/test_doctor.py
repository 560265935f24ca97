"""`doctor`: a report that can be pasted, and an exit code that says whether all is well."""

from __future__ import annotations

from pathlib import Path

from tests.cli.commands import Cli


def test_every_level_of_every_control(cli: Cli) -> None:
    result = cli("doctor", "--engine", "fake")
    assert result.code == 0, result.err
    rows = [line for line in result.out.splitlines() if line.startswith("| ")][2:]
    controls = [row.split("|")[1].strip() for row in rows]
    assert controls.count("pitch") == controls.count("speed") == controls.count("volume") == 5
    assert (controls.count("age"), controls.count("gender"), controls.count("emotion")) == (4, 2, 7)
    assert any("f0_hz" in row and "✓" in row for row in rows)
    assert "Controls met" in result.out
    assert str(Path.home()) not in result.out


def test_quick_and_in_chinese(cli: Cli, tmp_path: Path) -> None:
    result = cli("--ui-lang", "zh", "doctor", "--engine", "fake", "--quick", "--data-dir", tmp_path)
    assert result.code == 0
    assert list(tmp_path.iterdir()) == [], "what is tried out is nobody's history"
    assert "## 机器" in result.out
    assert "控制项达标" not in result.out


def test_what_is_missing_is_said_and_fails(cli: Cli, tmp_path: Path) -> None:
    result = cli("doctor", "--engine", "voicesculptor", "--device", "cpu", "--checkpoints-dir", str(tmp_path))
    assert result.code == 5
    assert "voice-sculptor download voicesculptor" in result.out
    assert "✗" in result.out
    assert "report" in result.err
