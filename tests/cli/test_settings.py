"""`serve --print-config`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import Cli, refused
from voice_sculptor.config import Settings


def test_every_setting_is_shown_with_its_source(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("memory_management: {slots: 2, warning_percent: 92.5}\n")
    monkeypatch.setenv("VOICE_SCULPTOR_PROFILE", "8gb")
    monkeypatch.setenv("VOICE_SCULPTOR_TOP_K", "7")
    shown = cli("serve", "--print-config", "--config", file, "--port", "7001", "--no-preload")
    assert (shown.code, shown.err) == (0, "")
    header, *rows = [line.split("\t") for line in shown.out.splitlines()]
    assert header == ["setting", "value", "source"]
    found = {name: (value, source) for name, value, source in rows}
    assert list(found) == list(Settings.model_fields)
    assert found["port"] == ("7001", "--port")
    assert found["preload"] == ("false", "--preload")
    assert found["top_k"] == ("7", "VOICE_SCULPTOR_TOP_K")
    assert found["slots"] == ("2", f"{file}: memory_management.slots")
    assert found["memory_warning_percent"] == ("92.5", f"{file}: memory_management.warning_percent")
    assert found["host"] == ("127.0.0.1", "default")
    assert found["top_p"] == ("auto", "default")


def test_a_wrong_file_starts_nothing(cli: Cli, tmp_path: Path) -> None:
    refused(cli("serve", "--config", tmp_path / "none.yaml"), 2, "none.yaml")
    refused(cli("design", "--out", tmp_path, "--text", "x", "--profile", "9gb"), 2, "9gb", "8gb")
