"""Settings: flags over environment over defaults, and refusals that name the setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice_sculptor.config import load_settings
from voice_sculptor.errors import ConfigError


def test_defaults() -> None:
    settings = load_settings()
    assert (settings.engine, settings.device, settings.dtype) == ("auto", "auto", "auto")
    assert (settings.host, settings.port) == ("127.0.0.1", None)
    assert settings.checkpoints_dir.name == "checkpoints"


def test_flag_over_environment_over_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_SCULPTOR_MAX_QUEUE", "8")
    assert load_settings().max_queue == 8
    assert load_settings(max_queue=None).max_queue == 8
    assert load_settings(max_queue=4).max_queue == 4


@pytest.mark.parametrize("name", ["PORT", "VOICE_SCULPTOR_PORT"])
def test_the_port_has_two_names(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "8080")
    assert load_settings().port == 8080
    assert load_settings(port=9090).port == 9090


def test_the_own_name_of_the_port_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "1")
    monkeypatch.setenv("VOICE_SCULPTOR_PORT", "2")
    assert load_settings().port == 2


@pytest.mark.parametrize("name", ["VOICE_SCULPTOR_CHECKPOINTS", "VOICE_SCULPTOR_CHECKPOINTS_DIR"])
def test_the_weights_folder_has_two_names(monkeypatch: pytest.MonkeyPatch, name: str, tmp_path: Path) -> None:
    monkeypatch.delenv("VOICE_SCULPTOR_CHECKPOINTS", raising=False)
    monkeypatch.setenv("CHECKPOINTS_DIR", "/of/another/program")
    monkeypatch.setenv(name, str(tmp_path))
    assert load_settings().checkpoints_dir == tmp_path
    assert load_settings(checkpoints_dir="flag").checkpoints_dir == Path("flag")
    monkeypatch.delenv(name)
    assert load_settings().checkpoints_dir.name == "checkpoints"


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("device", "gpu"),
        ("device", "cuda:x"),
        ("dtype", "int4"),
        ("port", 0),
        ("port", 65_536),
        ("max_queue", 0),
        ("concurrency", 65),
        ("max_text_chars", 0),
        ("max_queue", "many"),
        ("nonsense", 1),
    ],
)
def test_a_wrong_flag_is_named(flag: str, value: object) -> None:
    with pytest.raises(ConfigError) as refused:
        load_settings(**{flag: value})
    for language in ("en", "zh"):
        assert flag in refused.value.message(language)
        assert repr(value) in refused.value.message(language)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("VOICE_SCULPTOR_DEVICE", "gpu"), ("VOICE_SCULPTOR_MAX_QUEUE", "0"), ("PORT", "http")],
)
def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as refused:
        load_settings()
    assert variable in refused.value.message()
    assert repr(value) in refused.value.message()


@pytest.mark.parametrize("device", ["cpu", "mps", "cuda", "cuda:1"])
def test_devices(device: str) -> None:
    assert load_settings(device=device).device == device
