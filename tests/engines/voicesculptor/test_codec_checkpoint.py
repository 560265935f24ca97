"""Codec checkpoints that are whole, in part, damaged, or something else."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from voice_sculptor.engines.voicesculptor.codec import Codec
from voice_sculptor.engines.voicesculptor.folders import lack_of_codec
from voice_sculptor.engines.voicesculptor.tiny_codec import write_tiny_codec
from voice_sculptor.errors import CheckpointMismatch, WeightsNotFound

CODES = [3, 65_535, 0, 4711]
State = dict[str, Tensor]


def load(folder: Path) -> Codec:
    return Codec.load(folder, "cpu", torch.float32, lambda _fraction: None)


@pytest.fixture(params=[False, True], ids=["native", "original"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write_tiny_codec(tmp_path, original=request.param)
    return tmp_path


def edit(folder: Path, change: Callable[[State], object]) -> None:
    state = load_file(folder / "model.safetensors")
    change(state)
    save_file(state, folder / "model.safetensors")


def own(state: State) -> list[str]:
    return [
        key
        for key in state
        if key.startswith(("acoustic_decoder.", "quantizer.", "generator.", "fc_post_a."))
    ]


def a_norm(state: State) -> str:
    return min(key for key in state if key.endswith(("input_layernorm.weight", "att_norm.weight")))


def test_it_is_found(folder: Path) -> None:
    assert lack_of_codec(folder) is None
    assert lack_of_codec(folder / "none")
    (folder / "config.json").write_text(
        '{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}', "utf-8"
    )
    assert lack_of_codec(folder)
    (folder / "config.json").write_text("{", "utf-8")
    assert lack_of_codec(folder)
    (folder / "config.json").unlink()
    assert lack_of_codec(folder)


def test_the_encoder_is_not_read(folder: Path) -> None:
    wanted = load(folder).decode([CODES])[0]

    def spoil(state: State) -> None:
        encoder = state.keys() - set(own(state))
        assert len(encoder) >= 4
        for key in encoder:
            state[key] = torch.full((2, 3), float("nan"))

    edit(folder, spoil)
    np.testing.assert_array_equal(load(folder).decode([CODES])[0], wanted)
    edit(folder, lambda state: [state.pop(key) for key in state.keys() - set(own(state))])
    np.testing.assert_array_equal(load(folder).decode([CODES])[0], wanted)


def test_of_a_large_file_only_the_decoder_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, read = safetensors.safe_open, []

    class Watched:
        def __init__(self, path: Path, framework: str) -> None:
            self._file = real(path, framework=framework)
            self.keys, self.get_slice = self._file.keys, self._file.get_slice

        def get_tensor(self, key: str) -> Tensor:
            read.append(key)
            return self._file.get_tensor(key)

    everything = load_file(folder / "model.safetensors")
    monkeypatch.setattr(safetensors, "safe_open", Watched)
    load(folder)
    assert set(read) == set(own(everything)) - {"generator.head.istft.window"}


def test_progress_rises_to_one(folder: Path) -> None:
    said: list[float] = []
    Codec.load(folder, "cpu", torch.float32, said.append)
    assert said == sorted(said)
    assert 0 < said[0] < 0.1
    assert said[-1] == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda state: state.pop(a_norm(state)), "1 tensors missing, first"),
        (lambda state: [state.pop(key) for key in own(state)[:7]], "7 tensors missing"),
        (lambda state: [state.pop(key) for key in list(state)], "tensors missing"),
        (lambda state: state.update({a_norm(state) + "x": torch.ones(1)}), "1 tensors unexpected, first"),
        (lambda state: state.update({a_norm(state): torch.ones(65)}), "1 tensors of another shape, first"),
        (
            lambda state: state.update({a_norm(state): torch.ones(64, dtype=torch.int8)}),
            "no floating-point numbers",
        ),
    ],
)
def test_other_tensors_are_refused_by_name(
    folder: Path, change: Callable[[State], object], said: str
) -> None:
    edit(folder, change)
    with pytest.raises(CheckpointMismatch, match=said) as caught:
        load(folder)
    for language in ("en", "zh"):
        assert "voice-sculptor download voicesculptor" in caught.value.message(language)
        assert "--codec-dir" in caught.value.message(language)
        assert str(folder) in caught.value.message(language)
    if "first" in said:
        assert "norm.weight" in caught.value.en
        assert "norm.weight" in caught.value.zh


@pytest.mark.parametrize("num_bytes", [0, 4, 1000, 100_000, -1])
def test_a_truncated_file_is_refused(folder: Path, num_bytes: int) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:num_bytes])
    with pytest.raises(CheckpointMismatch, match="damaged or incomplete"):
        load(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_what_is_not_there_is_said(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(WeightsNotFound) as caught:
        load(folder)
    assert name in caught.value.en
    assert "voice-sculptor download voicesculptor" in caught.value.message("zh")


@pytest.mark.parametrize(
    "sizes",
    [
        "{",
        "[]",
        '{"hidden_size": "many", "codec_decoder_hidden_size": "many"}',
        '{"hidden_size": -64, "codec_decoder_hidden_size": -64}',
        '{"num_attention_heads": 0, "codec_decoder_hidden_size": 0}',
    ],
)
def test_a_config_that_makes_no_sense_is_refused(folder: Path, sizes: str) -> None:
    (folder / "config.json").write_text(sizes, "utf-8")
    with pytest.raises(CheckpointMismatch, match=r"config\.json"):
        load(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"sampling_rate": 24_000},
        {"downsampling_ratios": [2, 2, 4, 4, 4]},
        {"quantization_levels": [8, 8, 8]},
    ],
)
def test_a_codec_of_other_rates_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    write_tiny_codec(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change), "utf-8")
    with pytest.raises(CheckpointMismatch, match="another codec"):
        load(tmp_path)


def as_pickle(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    torch.save(content, path)
    (folder / "model.safetensors").unlink(missing_ok=True)
    return path


@pytest.mark.parametrize("name", ["ckpt/epoch=4-step=1400000.ckpt", "pytorch_model.bin"])
@pytest.mark.parametrize("is_nested", [True, False])
def test_pickled_tensors_are_read(folder: Path, name: str, is_nested: bool) -> None:
    wanted = load(folder).decode([CODES])[0]
    state = load_file(folder / "model.safetensors")
    as_pickle(folder, name, {"epoch": 4, "state_dict": state} if is_nested else state)
    assert lack_of_codec(folder) is None
    np.testing.assert_array_equal(load(folder).decode([CODES])[0], wanted)


def test_a_ckpt_needs_no_config_but_is_then_of_the_published_sizes(folder: Path) -> None:
    as_pickle(folder, "ckpt/epoch=4.ckpt", load_file(folder / "model.safetensors"))
    (folder / "config.json").unlink()
    assert lack_of_codec(folder) is None
    with pytest.raises(CheckpointMismatch, match="of another shape"):
        load(folder)


class Evil:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (os.environ["EVIL"],)


@pytest.mark.parametrize("is_zip", [True, False])
def test_code_in_a_pickle_is_never_run(folder: Path, is_zip: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIL", str(folder / "evil"))
    path = as_pickle(folder, "ckpt/x.ckpt", {"state_dict": Evil()})
    if not is_zip:
        path.write_bytes(pickle.dumps({"state_dict": Evil()}))
    with pytest.raises(CheckpointMismatch, match="holds more than tensors"):
        load(folder)
    assert not (folder / "evil").exists()


def test_a_truncated_pickle_is_refused(folder: Path) -> None:
    path = as_pickle(folder, "ckpt/x.ckpt", load_file(folder / "model.safetensors"))
    path.write_bytes(path.read_bytes()[:200_000])
    with pytest.raises(CheckpointMismatch, match="damaged"):
        load(folder)
    torch.save([1, 2], path)
    with pytest.raises(CheckpointMismatch, match="missing"):
        load(folder)


def test_the_file_may_go_once_it_is_loaded(folder: Path) -> None:
    codec = load(folder)
    wanted = codec.decode([CODES])[0]
    path = folder / "model.safetensors"
    path.write_bytes(bytes(path.stat().st_size))
    np.testing.assert_array_equal(codec.decode([CODES])[0], wanted)
