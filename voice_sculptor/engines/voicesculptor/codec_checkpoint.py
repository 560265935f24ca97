"""The codec's checkpoint on disk: found, checked name by name, and read as far as decoding needs it."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from voice_sculptor.engines.voicesculptor.codec_layout import (
    FLOAT32_PREFIXES,
    NATIVE_PREFIXES,
    ORIGINAL_PREFIXES,
    Decoder,
    Source,
    config_of,
    is_unused_original,
    original_source,
)
from voice_sculptor.errors import CheckpointMismatch, EngineError, WeightsNotFound

SAMPLE_RATE = 16_000
HOP = 320
NUM_CODES = 65_536

_PATTERNS = ("model.safetensors", "ckpt/*.ckpt", "pytorch_model.bin")
_Error = TypeVar("_Error", bound=EngineError)


def load_decoder(folder: Path, device: str, dtype: torch.dtype, progress: Callable[[float], None]) -> Decoder:
    """Loads what turns codes to sound: `quantizer` and `acoustic_decoder` of transformers' `Xcodec2Model`.

    The encoder and the semantic model, two thirds of the parameters, are neither made nor read. Nothing is unpickled
    but tensors.

    Args:
        folder: Holds `config.json` and, first found wins, `model.safetensors`, `ckpt/*.ckpt` or `pytorch_model.bin`,
            in the native or in the original layout. A `.ckpt` alone is taken to be of the published sizes.
        device: `cpu`, `cuda:0` ….
        dtype: Of the parameters; the last norm and the head stay in float32.
        progress: Called with 0–1.

    Returns:
        The decoder, in evaluation mode.

    Raises:
        WeightsNotFound: There is no config or no weights file.
        CheckpointMismatch: A file is damaged, or the decoder's names or shapes are not exactly those expected.
    """
    path = _weights_file(folder)
    if path is None:
        raise _nothing_in(folder)
    sizes = _read_sizes(folder, path)
    shapes, read = _open(path)
    is_original = any(key.startswith(ORIGINAL_PREFIXES) for key in shapes)
    decoder = _build(folder, sizes, is_original)
    wanted = {name: tuple(tensor.shape) for name, tensor in decoder.state_dict().items()}
    sources = {name: original_source(name) if is_original else Source(name) for name in wanted}
    _check(path, shapes, wanted, sources, is_original)

    state = {}
    for number, (name, source) in enumerate(sources.items(), 1):
        tensor = read(source.key)
        if not tensor.is_floating_point():
            raise _mismatch(path, f"{source.key} holds no floating-point numbers", f"{source.key} 不是浮点数")
        to = torch.float32 if name.startswith(FLOAT32_PREFIXES) else dtype
        # A copy, so that nothing stays tied to the mapped file, which may be replaced while the engine runs.
        state[name] = source.cut(tensor).to(device, to, copy=True, memory_format=torch.contiguous_format)
        progress(number / len(sources))
    decoder.assign(state)
    return decoder


def _weights_file(folder: Path) -> Path | None:
    found = (path for pattern in _PATTERNS for path in sorted(folder.glob(pattern)) if path.is_file())
    return next(found, None)


def _read_sizes(folder: Path, weights: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        if weights.suffix == ".ckpt":
            return {}
        raise _nothing_in(folder)
    try:
        sizes = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise _mismatch(path, "it is not JSON", "它不是 JSON") from error
    if not isinstance(sizes, dict):
        raise _mismatch(path, "it is not a JSON object", "它不是 JSON 对象")
    return sizes


def _open(path: Path) -> tuple[dict[str, tuple[int, ...]], Callable[[str], Tensor]]:
    """Every tensor's shape, and what reads one of them; the file is mapped, not read."""
    from safetensors import SafetensorError, safe_open

    try:
        if path.suffix == ".safetensors":
            file: Any = safe_open(path, framework="pt")
            return {key: tuple(file.get_slice(key).get_shape()) for key in file.keys()}, file.get_tensor  # noqa: SIM118
        state = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError) as error:
        reason_zh = "文件损坏、不完整，或含有张量以外的内容"
        raise _mismatch(path, "it is damaged or incomplete, or holds more than tensors", reason_zh) from error
    state = state.get("state_dict", state) if isinstance(state, dict) else {}
    tensors = {key: value for key, value in state.items() if isinstance(value, Tensor)}
    return {key: tuple(tensor.shape) for key, tensor in tensors.items()}, tensors.__getitem__


def _build(folder: Path, sizes: Mapping[str, Any], is_original: bool) -> Decoder:
    # Imported before the sizes are tried: if this fails, the file is not to blame.
    import transformers.models.xcodec2.modeling_xcodec2  # noqa: F401
    from huggingface_hub.errors import StrictDataclassError

    path = folder / "config.json"
    try:
        config = config_of(sizes, is_original)
        decoder = Decoder(config)
    except (StrictDataclassError, ValueError, TypeError, KeyError, ArithmeticError, RuntimeError) as error:
        raise _mismatch(path, f"its sizes make no sense ({error})", f"其中的尺寸不合理（{error}）") from error
    found = (config.sampling_rate, config.hop_length, len(decoder.quantizer.quantizer.codebook))
    if found != (SAMPLE_RATE, HOP, NUM_CODES):
        text = "{} Hz, {} samples a frame, {} codes".format(*found)
        raise _mismatch(path, f"this is another codec ({text})", f"这是另一种编解码器（{text}）")
    return decoder


def _check(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]],
    wanted: Mapping[str, tuple[int, ...]],
    sources: Mapping[str, Source],
    is_original: bool,
) -> None:
    expected = {
        source.key: shape if source.part is None else (3 * shape[0], *shape[1:])
        for source, shape in zip(sources.values(), wanted.values(), strict=True)
    }
    prefixes = ORIGINAL_PREFIXES if is_original else NATIVE_PREFIXES
    own = {
        key for key in shapes if key.startswith(prefixes) and not (is_original and is_unused_original(key))
    }
    kinds = (
        ("missing", "缺少", expected.keys() - own),
        ("unexpected", "多出", own - expected.keys()),
        (
            "of another shape",
            "形状不符",
            {key for key in expected.keys() & own if shapes[key] != expected[key]},
        ),
    )
    if any(names for _en, _zh, names in kinds):
        en = "; ".join(
            f"{len(names)} tensors {kind}, first {min(names)}" for kind, _zh, names in kinds if names
        )
        zh = "；".join(f"{kind} {len(names)} 个张量，如 {min(names)}" for _en, kind, names in kinds if names)
        raise _mismatch(
            path, f"it is not the decoder of this codec ({en})", f"它不是该编解码器的解码器（{zh}）"
        )


def _mismatch(path: Path, reason_en: str, reason_zh: str) -> CheckpointMismatch:
    return _error(
        CheckpointMismatch,
        f"The codec file {path} cannot be used: {reason_en}.",
        f"无法使用编解码器文件 {path}：{reason_zh}。",
    )


def _nothing_in(folder: Path) -> WeightsNotFound:
    return _error(
        WeightsNotFound,
        f"There is no codec in {folder}: config.json and model.safetensors are expected there.",
        f"{folder} 里没有编解码器：应有 config.json 和 model.safetensors。",
    )


def _error(kind: type[_Error], en: str, zh: str) -> _Error:
    return kind(
        en,
        zh,
        fix_en="Get it with: voice-sculptor download voicesculptor. Or name its folder with --codec-dir.",
        fix_zh="请运行 voice-sculptor download voicesculptor 获取，或用 --codec-dir 指定它所在的文件夹。",
    )
