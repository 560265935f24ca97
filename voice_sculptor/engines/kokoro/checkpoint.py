"""Model weights from a file, checked name by name."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING

from voice_sculptor.engines.kokoro.convert import FORMAT, FORMAT_VERSION
from voice_sculptor.engines.kokoro.layout import KokoroConfig, weight_shapes
from voice_sculptor.errors import CheckpointMismatch

if TYPE_CHECKING:
    from torch import Tensor

# Weights of the official file that speech does not need: ALBERT's sentence pooler, its position
# buffer, and affine parameters of instance norms that are replaced by the style projections.
_UNUSED = (".pooler.weight", ".pooler.bias", ".position_ids", ".norm.weight", ".norm.bias")


def load_state(path: Path, config: KokoroConfig | None = None) -> dict[str, Tensor]:
    """Reads the weights of Kokoro-82M.

    Args:
        path: A file written by `convert_onnx`, or the official float32 weights as `.pth` (a dict of
            module name to state dict) or safetensors; weight normalisation is resolved.
        config: Sizes to expect; Kokoro-82M if not given.

    Returns:
        Name to float32 tensor, exactly the names and shapes of `weight_shapes`.

    Raises:
        CheckpointMismatch: The file is damaged, or holds other weights.
        FileNotFoundError: There is no such file.
    """
    from safetensors import SafetensorError

    try:
        state = _read_safetensors(path) if path.suffix == ".safetensors" else _read_pickle(path)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise _mismatch(path, "it is damaged or incomplete", "文件损坏或不完整") from error
    _check(path, state, weight_shapes(config or KokoroConfig()))
    return state


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        metadata = file.metadata() or {}
        if metadata.get("format") != FORMAT:
            return _plain({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
        version = metadata.get("format_version")
        if version != FORMAT_VERSION:
            raise _mismatch(
                path, f"it has format version {version}, not {FORMAT_VERSION}", f"格式版本是 {version}"
            )
        names = set(file.keys())
        state = {}
        for name in sorted(names):
            if name.endswith((".scale", ".zero_point")):
                continue
            weight = file.get_tensor(name).float()
            if f"{name}.zero_point" in names:
                weight -= file.get_tensor(f"{name}.zero_point").float()
            if f"{name}.scale" in names:
                weight *= file.get_tensor(f"{name}.scale")
            state[name] = weight
        return state


def _read_pickle(path: Path) -> dict[str, Tensor]:
    import torch

    modules = torch.load(path, map_location="cpu", weights_only=True)
    flat = {}
    if isinstance(modules, dict):
        for module, value in modules.items():
            for name, tensor in value.items() if isinstance(value, dict) else [("", value)]:
                flat[f"{module}.{name}".strip(".")] = tensor
    return _plain(flat)


def _plain(flat: dict[str, Tensor]) -> dict[str, Tensor]:
    """Drops wrappers and unused weights, and multiplies out weight normalisation."""
    flat = {name.replace(".module.", ".").removeprefix("module."): value for name, value in flat.items()}
    state = {}
    for name, tensor in flat.items():
        if name.endswith(_UNUSED):
            continue
        for gain, direction in (
            ("weight_g", "weight_v"),
            ("parametrizations.weight.original0", "parametrizations.weight.original1"),
        ):
            if name.endswith(gain) and (stem := name.removesuffix(gain)) + direction in flat:
                v = flat[stem + direction].double()
                norm = v.flatten(1).norm(dim=1).view(-1, *[1] * (v.ndim - 1))
                state[f"{stem}weight"] = (v * (tensor.double() / norm)).float()
                break
            if name.endswith(direction) and name.removesuffix(direction) + gain in flat:
                break
        else:
            state[name] = tensor.float()
    return state


def _check(path: Path, state: dict[str, Tensor], shapes: dict[str, tuple[int, ...]]) -> None:
    missing = sorted(shapes.keys() - state.keys())
    unexpected = sorted(state.keys() - shapes.keys())
    wrong = sorted(name for name in shapes.keys() & state.keys() if tuple(state[name].shape) != shapes[name])
    if not (missing or unexpected or wrong):
        return
    kinds = (("missing", missing), ("unexpected", unexpected), ("of another shape", wrong))
    text = "; ".join(f"{len(names)} weights {kind}, first {names[0]}" for kind, names in kinds if names)
    raise _mismatch(path, f"these are other weights ({text})", f"权重与模型不符（{text}）")


def _mismatch(path: Path, reason_en: str, reason_zh: str) -> CheckpointMismatch:
    return CheckpointMismatch(
        f"The model file {path} cannot be used: {reason_en}.",
        f"无法使用模型文件 {path}：{reason_zh}。",
        fix_en="Delete it and prepare the weights again: bash run.sh setup.",
        fix_zh="请删除它并重新准备权重：bash run.sh setup。",
    )
