"""`serve --print-config`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import Cli, refused
from voice_sculptor import device
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


def test_the_profile_for_the_card_is_recommended(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cards = tuple(device.Gpu(f"Card {gb}", str(gb), gb * 10**9, gb * 10**9) for gb in (8, 16, 4))
    monkeypatch.setattr(device, "gpus", lambda: cards)
    assert "(Card 16, 16 GB): --profile 16gb" in cli("serve", "--print-config").err
    assert "推荐" in cli("--ui-lang", "zh", "serve", "--print-config").err
    assert cli("serve", "--print-config", "--profile", "8gb").err == ""
    monkeypatch.setattr(device, "gpus", lambda: cards[2:])
    assert cli("serve", "--print-config").err == ""
