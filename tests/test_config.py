"""Settings: flags over environment over defaults, and refusals that name the setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice_sculptor.config import ENGINE_SETTINGS, Settings, load_settings
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
        ("history_days", -0.1),
        ("history_days", 3651),
        ("history_days", float("nan")),
        ("history_bytes", -1),
        ("max_queue", "many"),
        ("nonsense", 1),
        ("gpu_id", -1),
        ("max_new_tokens", 63),
        ("max_new_tokens", 4097),
        ("temperature", 0.0),
        ("temperature", 2.1),
        ("temperature", float("nan")),
        ("top_p", 0.0),
        ("top_p", 1.01),
        ("top_k", -1),
        ("top_k", 1001),
        ("repetition_penalty", 0.99),
        ("repetition_penalty", float("inf")),
        ("slots", 0),
        ("slots", 65),
        ("model_revision", ""),
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


def test_engine_settings_are_the_engines_own_default_unless_given() -> None:
    settings = load_settings()
    assert set(ENGINE_SETTINGS) < set(Settings.model_fields)
    assert [getattr(settings, name) for name in ENGINE_SETTINGS] == [None] * len(ENGINE_SETTINGS)
    assert (settings.preload, settings.half, settings.gpu_id) == (None, False, None)


def test_engine_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = {
        "MODEL_DIR": tmp_path / "m",
        "CODEC_DIR": tmp_path / "c",
        "MODEL_REVISION": "v1",
        "CODEC_REVISION": "0123abc",
        "MAX_NEW_TOKENS": 4096,
        "TEMPERATURE": 0.9,
        "TOP_P": 1.0,
        "TOP_K": 0,
        "REPETITION_PENALTY": 1.0,
        "SLOTS": 64,
        "PRELOAD": True,
    }
    for name, value in given.items():
        monkeypatch.setenv(f"VOICE_SCULPTOR_{name}", str(value))
    settings = load_settings()
    assert {name: getattr(settings, name.lower()) for name in given} == given
    assert load_settings(top_k=5, preload=False).top_k == 5
    assert load_settings(preload=False).preload is False


@pytest.mark.parametrize("device", [None, "auto", "cuda", "cuda:1"])
def test_a_gpu_by_number(monkeypatch: pytest.MonkeyPatch, device: str | None) -> None:
    assert load_settings(device=device, gpu_id=1).device == "cuda:1"
    monkeypatch.setenv("VOICE_SCULPTOR_GPU_ID", "1")
    settings = load_settings(device=device)
    assert settings.device == "cuda:1"
    assert settings.model_copy(update={"engine": "fake"}).device == "cuda:1"


@pytest.mark.parametrize("dtype", [None, "auto", "fp16"])
def test_half_is_fp16(monkeypatch: pytest.MonkeyPatch, dtype: str | None) -> None:
    assert load_settings(dtype=dtype, half=True).dtype == "fp16"
    monkeypatch.setenv("VOICE_SCULPTOR_HALF", "1")
    assert load_settings(dtype=dtype).dtype == "fp16"
    assert load_settings(dtype="bf16", half=False).dtype == "bf16"


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        ({"gpu_id": 1, "device": "cpu"}, ("gpu_id=1", "device=cpu")),
        ({"gpu_id": 1, "device": "cuda:0"}, ("gpu_id=1", "device=cuda:0")),
        ({"gpu_id": 0, "device": "mps"}, ("gpu_id=0", "device=mps")),
        ({"half": True, "dtype": "fp32"}, ("half", "dtype=fp32")),
        ({"half": True, "dtype": "bf16"}, ("half", "dtype=bf16")),
        ({"half": True, "device": "cpu"}, ("half", "CPU")),
    ],
)
def test_settings_that_contradict_each_other(flags: dict[str, object], parts: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as refused:
        load_settings(**flags)
    for part in parts:
        for language in ("en", "zh"):
            assert part in refused.value.message(language)


def test_what_was_given_and_is_not_read() -> None:
    settings = load_settings(slots=4, top_k=0, temperature=0.5, device="cpu")
    assert settings.unused(frozenset()) == ("temperature", "top_k", "slots")
    assert settings.unused(frozenset({"slots", "top_p"})) == ("temperature", "top_k")
    assert settings.unused(frozenset(ENGINE_SETTINGS)) == ()
