"""The published int8 ONNX export, rewritten once as named weights in a safetensors file.

The integers stay as they are. A quantised weight `name` is stored beside `name.scale` (float32) and, where
not zero, `name.zero_point`, both shaped to broadcast: `weight = (stored - zero_point) * scale`.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = "voice-sculptor/kokoro-82m"
FORMAT_VERSION = "1"

# ONNX orders the gates of an LSTM input, output, forget, cell; torch input, forget, cell, output.
_TORCH_GATES = [0, 2, 3, 1]

_Weights = dict[str, np.ndarray[Any, Any]]


def convert_onnx(
    onnx_model: Path | bytes, out_path: Path, progress: Callable[[float], None] | None = None
) -> None:
    """Writes the weights of the int8 ONNX export of Kokoro-82M as one safetensors file.

    The file appears whole or not at all: it is written beside its place and moved there.

    Args:
        onnx_model: The export (92,361,271 bytes), as a file or its content.
        out_path: The file to write, about 90 MB; its folder must exist.
        progress: Called with the fraction done, 0 to 1.

    Raises:
        google.protobuf.message.DecodeError: The content is no ONNX model.
        KeyError: The graph is not of this export.
        OSError: The file cannot be written.
    """
    import onnx
    from safetensors.numpy import save_file

    report = progress or (lambda _fraction: None)
    content = onnx_model.read_bytes() if isinstance(onnx_model, Path) else onnx_model
    digest = hashlib.sha256(content).hexdigest()
    report(0.1)
    graph = onnx.load_from_string(content).graph
    report(0.4)
    weights = _named_weights(graph)
    report(0.7)
    metadata = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "source_sha256": digest,
        "licence": "Apache-2.0 (hexgrad/Kokoro-82M); ONNX export MIT (thewh1teagle/kokoro-onnx)",
    }
    handle, name = tempfile.mkstemp(dir=out_path.parent, prefix=f".{out_path.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        save_file(weights, part, metadata)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.chmod(0o644)
        part.replace(out_path)
    finally:
        part.unlink(missing_ok=True)
    report(1.0)


def _named_weights(graph: Any) -> _Weights:
    from onnx import numpy_helper

    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights: _Weights = {}
    taken: set[str] = set()
    for node in graph.node:
        # ALBERT repeats one layer, so its weights feed several nodes; the first has the plain name.
        source = node.input[1] if len(node.input) > 1 else ""
        if source not in arrays or source in taken:
            continue
        name = _module_of(node.name)
        if node.op_type == "DynamicQuantizeLSTM":
            weights |= _lstm(name, [arrays.get(i) for i in node.input])
        elif node.op_type == "ConvInteger":
            scale = arrays[source.replace("_quantized", "_scale")]
            weights |= _quantised(f"{name}.weight", arrays[source], scale, arrays[node.input[3]])
        elif node.op_type == "MatMulInteger":
            scale = arrays[source.replace("_quantized", "_scale")][:, None]
            zero_point = arrays[node.input[3]][:, None]
            weights |= _quantised(f"{name}.weight", arrays[source].T, scale, zero_point)
        elif node.op_type == "MatMul" and name.endswith("l_linear"):
            weights[f"{name}.weight"] = arrays[source].T
        elif node.op_type in ("Conv", "ConvTranspose") and ".istft" not in name:
            weights[f"{name}.weight"] = arrays[source]
        else:
            continue
        taken.add(source)
    for source, array in arrays.items():
        if not source.startswith(("encoder.", "decoder.")) or ".istft." in source:
            continue
        name = source.split(".", 1)[1]
        if "embedding" in name and name.endswith("_quantized"):
            stem = source.removesuffix("_quantized")
            weights |= _quantised(name.removesuffix("_quantized"), array, arrays[f"{stem}_scale"], None)
        elif array.dtype == np.float32 and not name.endswith("_scale"):
            weights[name] = array
    return {name: np.ascontiguousarray(array) for name, array in weights.items()}


def _module_of(node_name: str) -> str:
    """`/encoder/text_encoder/cnn.0/cnn.0.0/Conv_quant` -> `text_encoder.cnn.0.0`."""
    root, *parts = node_name.strip("/").split("/")[:-1] or [""]
    path: list[str] = []
    for part in parts:
        if path and part.startswith(f"{path[-1]}."):
            path.pop()
        path.append(part)
    if root == "encoder" and path and path[0] not in ("bert", "bert_encoder", "predictor", "text_encoder"):
        path.insert(0, "predictor")
    return ".".join(path)


def _quantised(name: str, stored: Any, scale: Any, zero_point: Any) -> _Weights:
    weights = {name: stored, f"{name}.scale": np.atleast_1d(scale)}
    if zero_point is not None and zero_point.any():
        weights[f"{name}.zero_point"] = np.atleast_1d(zero_point)
    return weights


def _lstm(name: str, inputs: list[Any]) -> _Weights:
    """Weights of both directions: inputs 1 and 2 `[2, size, 4 * hidden]`, 3 the biases `[2, 8 * hidden]`."""

    def torch_gates(array: Any) -> Any:
        return array.reshape(4, -1, *array.shape[1:])[_TORCH_GATES].reshape(array.shape)

    weights: _Weights = {}
    for direction, end in enumerate(("l0", "l0_reverse")):
        for part, (source, scale, zero_point) in {"ih": (1, 8, 9), "hh": (2, 10, 11)}.items():
            stored = torch_gates(inputs[source][direction].T)
            weights |= _quantised(
                f"{name}.weight_{part}_{end}", stored, inputs[scale][direction], inputs[zero_point][direction]
            )
        for part, bias in zip(("ih", "hh"), np.split(inputs[3][direction], 2), strict=True):
            weights[f"{name}.bias_{part}_{end}"] = torch_gates(bias)
    return weights
