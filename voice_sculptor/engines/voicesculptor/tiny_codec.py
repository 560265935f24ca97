"""A codec checkpoint of random weights in the real layouts, to run everything around it without the real one."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from voice_sculptor.engines.voicesculptor.codec_layout import (
    HEAD_DIM,
    Decoder,
    config_of,
    original_source,
    rows_to_pairs,
)

_LEVEL = math.log(4.4)
"""Mean log magnitude of a bin: it makes noise of an RMS about 0.1."""
_ENCODER_NATIVE = (
    "semantic_encoder.feature_projection.projection.weight",
    "semantic_adapter.conv1.weight",
    "acoustic_encoder.conv1.weight",
    "fc_encoder.weight",
)
_ENCODER_ORIGINAL = (
    "semantic_model.feature_projection.projection.weight",
    "SemanticEncoder_module.initial_conv.weight",
    "CodecEnc.conv_blocks.0.weight_v",
    "fc_prior.weight",
)


def write_tiny_codec(
    folder: Path, seed: int = 0, original: bool = False, hidden_size: int = 64, num_layers: int = 2
) -> None:
    """Writes `config.json` and `model.safetensors`; the codec makes steady noise that differs with the codes.

    The decoder is whole. Of the encoder, which is not loaded, there are a few tensors of one number.

    Args:
        folder: Made if need be.
        seed: Of the weights; the same in both layouts.
        original: In the layout of `HKUSTAudio/xcodec2` instead of transformers' own.
        hidden_size: A multiple of 64; the published codec has 1024.
        num_layers: Of the transformer; the published codec has 12.
    """
    sizes = _sizes(hidden_size, num_layers, original)
    state = _random_state(sizes, original, seed)
    config = config_of(sizes, original)
    if original:
        state = _to_original(state)
        state["generator.head.istft.window"] = torch.hann_window(config.n_fft)
    state |= {name: torch.zeros(1) for name in (_ENCODER_ORIGINAL if original else _ENCODER_NATIVE)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(sizes, indent=2) + "\n", "utf-8")
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})


def _sizes(hidden_size: int, num_layers: int, original: bool) -> dict[str, Any]:
    if original:
        return {
            "model_type": "xcodec",
            "architectures": ["XCodec2Model"],
            "semantic_hidden_size": hidden_size,
            "codec_encoder_hidden_size": hidden_size,
            "codec_decoder_hidden_size": hidden_size,
            "num_hidden_layers": num_layers,
        }
    num_heads = hidden_size // HEAD_DIM
    return {
        "model_type": "xcodec2",
        "architectures": ["Xcodec2Model"],
        "hidden_size": hidden_size,
        "intermediate_size": 4 * hidden_size,
        "num_hidden_layers": num_layers,
        "num_attention_heads": num_heads,
        "num_key_value_heads": num_heads,
        "head_dim": HEAD_DIM,
        "encoder_hidden_size": 4,
        "quantization_dim": 2 * hidden_size,
        "semantic_model_config": {
            "model_type": "wav2vec2-bert",
            "hidden_size": hidden_size,
            "intermediate_size": hidden_size,
            "num_hidden_layers": 1,
            "num_attention_heads": num_heads,
        },
    }


def _random_state(sizes: dict[str, Any], original: bool, seed: int) -> dict[str, Tensor]:
    """Native names; matrices keep the size of what goes through them, norms and biases are near one and zero."""
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, empty in Decoder(config_of(sizes, original)).state_dict().items():
        value = torch.randn(empty.shape, generator=generator)
        if empty.ndim > 1:
            value /= math.sqrt(empty[0].numel())
        else:
            value = 0.1 * value + (1.0 if "norm" in name and name.endswith("weight") else 0.0)
        state[name] = value
    # The first half of the head's rows are log magnitudes, the second phases.
    weight, bias = (state[f"acoustic_decoder.head.linear.{kind}"] for kind in ("weight", "bias"))
    magnitude, phase = weight.chunk(2)
    magnitude *= 0.5
    phase *= math.pi
    bias.chunk(2)[0].add_(_LEVEL)
    return state


def _to_original(state: dict[str, Tensor]) -> dict[str, Tensor]:
    parts = defaultdict[str, list[Tensor]](list)
    sources = {name: original_source(name) for name in state}
    for name in sorted(state, key=lambda name: sources[name].part or 0):
        is_turned = sources[name].part in (0, 1)
        parts[sources[name].key].append(rows_to_pairs(state[name]) if is_turned else state[name])
    return {key: torch.cat(tensors) for key, tensors in parts.items()}
