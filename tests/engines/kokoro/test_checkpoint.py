"""Reading weights: the converted file, the official layout, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from tests.engines.kokoro.reference import random_weights
from voice_sculptor.engines.kokoro.checkpoint import load_state
from voice_sculptor.engines.kokoro.convert import FORMAT
from voice_sculptor.engines.kokoro.layout import KokoroConfig, weight_shapes
from voice_sculptor.errors import CheckpointMismatch

CONFIG = KokoroConfig.tiny()
WEIGHTS = random_weights(CONFIG)


def _official(wrapper: str = "module.") -> dict[str, dict[str, Tensor]]:
    """The same weights as the official file has them: by module, wrapped, convolutions weight-normed."""
    modules: dict[str, dict[str, Tensor]] = {}
    for name, weight in WEIGHTS.items():
        module, rest = name.split(".", 1)
        state = modules.setdefault(module, {})
        if weight.ndim == 3 and rest.endswith(".weight"):
            norm = weight.flatten(1).norm(dim=1)[:, None, None]
            state[f"{wrapper}{rest}_g"], state[f"{wrapper}{rest}_v"] = norm, 3 * weight
        else:
            state[f"{wrapper}{rest}"] = weight
    modules["bert"][f"{wrapper}pooler.weight"] = torch.zeros(2, 2)
    modules["decoder"][f"{wrapper}encode.norm1.norm.weight"] = torch.ones(2)
    return modules


def _assert_same(state: dict[str, Tensor]) -> None:
    assert state.keys() == WEIGHTS.keys()
    for name, weight in WEIGHTS.items():
        torch.testing.assert_close(state[name], weight, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("wrapper", ["", "module."])
def test_official_pickle(tmp_path: Path, wrapper: str) -> None:
    path = tmp_path / "kokoro-v1_0.pth"
    torch.save(_official(wrapper), path)
    _assert_same(load_state(path, CONFIG))


def test_official_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "kokoro-v1_0.safetensors"
    flat = {f"{module}.{name}": w for module, state in _official().items() for name, w in state.items()}
    save_file({name: w.contiguous() for name, w in flat.items()}, path)
    _assert_same(load_state(path, CONFIG))


def test_newer_weight_norm(tmp_path: Path) -> None:
    path = tmp_path / "kokoro.pth"
    renamed = {
        module: {
            name.replace("weight_g", "parametrizations.weight.original0").replace(
                "weight_v", "parametrizations.weight.original1"
            ): weight
            for name, weight in state.items()
        }
        for module, state in _official("").items()
    }
    torch.save(renamed, path)
    _assert_same(load_state(path, CONFIG))


def test_integers_are_scaled_back(tmp_path: Path) -> None:
    path = tmp_path / "int8.safetensors"
    stored: dict[str, Tensor] = {}
    expected = {}
    for name, weight in WEIGHTS.items():
        if weight.ndim < 2:
            stored[name] = expected[name] = weight
            continue
        stored[name] = (weight * 20).round().clamp(-100, 100).to(torch.int16).add(100).to(torch.uint8)
        stored[f"{name}.scale"], stored[f"{name}.zero_point"] = (
            torch.tensor([0.05]),
            torch.tensor([100], dtype=torch.uint8),
        )
        expected[name] = (stored[name].float() - 100) * 0.05
    save_file(stored, path, {"format": FORMAT, "format_version": "1"})
    state = load_state(path, CONFIG)
    for name, weight in expected.items():
        torch.testing.assert_close(state[name], weight)


def test_the_prepared_file_has_every_weight(kokoro_checkpoint: Path) -> None:
    state = load_state(kokoro_checkpoint)
    assert {name: tuple(weight.shape) for name, weight in state.items()} == weight_shapes(KokoroConfig())
    assert all(weight.dtype == torch.float32 and weight.isfinite().all() for weight in state.values())
    assert sum(weight.numel() for weight in state.values()) == 81_140_664


@pytest.mark.parametrize("suffix", [".safetensors", ".pth"])
@pytest.mark.parametrize("damage", ["cut", "empty", "garbage"])
def test_damaged_files(tmp_path: Path, suffix: str, damage: str) -> None:
    path = tmp_path / f"model{suffix}"
    if suffix == ".pth":
        torch.save(_official(), path)
    else:
        save_file(WEIGHTS, path)
    content = path.read_bytes()
    path.write_bytes(
        {"cut": content[: len(content) // 2], "empty": b"", "garbage": b"\x80\x02}q." * 99}[damage]
    )
    with pytest.raises(CheckpointMismatch) as caught:
        load_state(path, CONFIG)
    assert str(path) in caught.value.message()
    assert "损坏" in caught.value.message("zh")


def test_other_weights(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    wrong = dict(WEIGHTS)
    del wrong["bert_encoder.bias"]
    wrong["decoder.extra.weight"] = torch.zeros(1)
    wrong["predictor.F0_proj.bias"] = torch.zeros(7)
    save_file(wrong, path)
    with pytest.raises(CheckpointMismatch) as caught:
        load_state(path, CONFIG)
    for name in ("bert_encoder.bias", "decoder.extra.weight", "predictor.F0_proj.bias"):
        assert name in caught.value.message()
        assert name in caught.value.message("zh")


@pytest.mark.parametrize("content", [{"a": torch.zeros(1)}, [1, 2], torch.zeros(3)])
def test_a_pickle_of_something_else(tmp_path: Path, content: object) -> None:
    path = tmp_path / "model.pth"
    torch.save(content, path)
    with pytest.raises(CheckpointMismatch):
        load_state(path, CONFIG)


def test_an_unknown_format_version(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file(WEIGHTS, path, {"format": FORMAT, "format_version": "99"})
    with pytest.raises(CheckpointMismatch, match="99"):
        load_state(path, CONFIG)


def test_a_missing_file(tmp_path: Path) -> None:
    for suffix in (".safetensors", ".pth"):
        with pytest.raises(FileNotFoundError):
            load_state(tmp_path / f"none{suffix}", CONFIG)
