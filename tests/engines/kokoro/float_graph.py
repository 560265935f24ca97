"""The int8 ONNX export turned into a float32 one, cut open at chosen inner tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DURATIONS = "/encoder/Div_output_0"
F0 = "/encoder/Reshape_output_0"
ENERGY = "/encoder/Reshape_1_output_0"
SOURCE = "/decoder/decoder/generator/Squeeze_output_0"
EXCITATION = "/decoder/decoder/generator/Concat_3_output_0"
AUDIO = "audio"


def float_model(content: bytes, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
    """Replaces every integer operation by its float counterpart with the same weights.

    Args:
        content: The int8 export.
        inputs: Inner float tensors to take instead of computing them.
        outputs: Tensors to return; what they do not need is left out.
    """
    model = onnx.load_from_string(content)
    graph = model.graph
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    wanted = set(outputs)
    kept = []
    for node in reversed(graph.node):
        if wanted & set(node.output) - set(inputs):
            wanted |= set(node.input)
            kept.append(node)
    arrays = {name: array for name, array in arrays.items() if name in wanted}
    arrays["float.one"], arrays["float.zero"] = np.float32(1), np.float32(0)
    nodes = [new for node in reversed(kept) for new in _float_nodes(node, arrays)]
    needed = {name for node in nodes for name in node.input}
    given = [value for value in graph.input if value.name in needed]
    given += [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in inputs]
    taken = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    tensors = [numpy_helper.from_array(np.asarray(a), name) for name, a in arrays.items() if name in needed]
    model.graph.CopyFrom(helper.make_graph(nodes, "float", given, taken, tensors))
    return bytes(model.SerializeToString())


def _float_nodes(node: Any, arrays: dict[str, Any]) -> list[Any]:
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "DynamicQuantizeLinear":
        value, scale, zero_point = node.output
        return [
            helper.make_node("Identity", node.input, [value]),
            helper.make_node("Identity", ["float.one"], [scale]),
            helper.make_node("Identity", ["float.zero"], [zero_point]),
        ]
    if node.op_type in ("ConvInteger", "MatMulInteger"):
        x, weight, _, zero_point = node.input
        name = f"float.{node.name}"
        arrays[name] = arrays[weight].astype(np.float32) - arrays[zero_point].astype(np.float32)
        return [helper.make_node(node.op_type.removesuffix("Integer"), [x, name], node.output, **attributes)]
    if node.op_type == "DynamicQuantizeLSTM":
        names = []
        for weight, scale, zero_point in ((1, 8, 9), (2, 10, 11)):
            stored, factor, zero = (arrays[node.input[i]] for i in (weight, scale, zero_point))
            array = (stored.astype(np.float32) - zero[:, None, None]) * factor[:, None, None]
            names.append(f"float.{node.name}.{weight}")
            arrays[names[-1]] = np.ascontiguousarray(array.transpose(0, 2, 1).astype(np.float32))
        return [
            helper.make_node("LSTM", [node.input[0], *names, *node.input[3:8]], node.output, **attributes)
        ]
    # Around the integer operations biases are rounded to integers and results cast back: no-ops now.
    if (node.op_type == "Floor" and node.name.endswith("bias_quant_rounded")) or (
        node.op_type == "Cast" and node.name.endswith("_quantized_node")
    ):
        return [helper.make_node("Identity", node.input, node.output)]
    return [node]
