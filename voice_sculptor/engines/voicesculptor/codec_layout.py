"""How the decoder of XCodec2 is built, and what its tensors are called in both published layouts.

The native layout is that of transformers (`HKUSTAudio/xcodec2-hf`). The original one (`HKUSTAudio/xcodec2`, loaded by
PyPI `xcodec2`) holds the same numbers under other names, with query, key and value of a layer in one matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from transformers.models.xcodec2 import Xcodec2Config

NATIVE_PREFIXES = ("quantizer.", "acoustic_decoder.")
ORIGINAL_PREFIXES = ("generator.", "fc_post_a.")
FLOAT32_PREFIXES = ("acoustic_decoder.norm.", "acoustic_decoder.head.")
"""What stays in float32: the spectrum is an exponential of the last layer."""

HEAD_DIM = 64
_ORIGINAL_NUM_LAYERS = 12

_NATIVE_TO_ORIGINAL = (
    ("acoustic_decoder.fc.", "fc_post_a."),
    ("acoustic_decoder.norm.", "acoustic_decoder.final_layer_norm."),
    ("acoustic_decoder.head.linear.", "generator.head.out."),
    ("acoustic_decoder.layers.", "acoustic_decoder.transformers."),
    ("acoustic_decoder.", "generator.backbone."),
    ("quantizer.", "generator.quantizer."),
    (".input_layernorm.", ".att_norm."),
    (".post_attention_layernorm.", ".ffn_norm."),
    (".self_attn.o_proj.", ".att.c_proj."),
    (".self_attn.q_proj.", ".att.c_attn."),
    (".self_attn.k_proj.", ".att.c_attn."),
    (".self_attn.v_proj.", ".att.c_attn."),
)
_PARTS = ("q_proj", "k_proj", "v_proj")


class Source(NamedTuple):
    """Where the original layout keeps a tensor.

    Attributes:
        key: Name in the file.
        part: Which third of its rows, 0–2; `None` for all of it.
    """

    key: str
    part: int | None = None

    def cut(self, tensor: Tensor) -> Tensor:
        """The native tensor, from the one of that key."""
        if self.part is None:
            return tensor
        third = tensor.chunk(3)[self.part]
        return third if self.part == 2 else rows_to_halves(third)


def original_source(name: str) -> Source:
    """Where the original layout keeps the tensor of this native name."""
    part = next((number for number, kind in enumerate(_PARTS) if f".{kind}." in name), None)
    for native, original in _NATIVE_TO_ORIGINAL:
        name = name.replace(native, original)
    return Source(name, part)


def is_unused_original(key: str) -> bool:
    """Whether a tensor of the original decoder is a table that is computed here: the window, rotations, levels."""
    return (
        key == "generator.head.istft.window"
        or key.startswith("generator.quantizer.layers.")
        or ".rotary_embed." in key
    )


def rows_to_halves(rows: Tensor) -> Tensor:
    """Rows of queries or keys, from pairs `(2i, 2i + 1)` that turn together to pairs `(i, i + HEAD_DIM / 2)`."""
    return _turned(rows, HEAD_DIM // 2, 2)


def rows_to_pairs(rows: Tensor) -> Tensor:
    """The inverse of `rows_to_halves`."""
    return _turned(rows, 2, HEAD_DIM // 2)


def _turned(rows: Tensor, num_a: int, num_b: int) -> Tensor:
    return rows.reshape(-1, num_a, num_b, *rows.shape[1:]).transpose(1, 2).reshape(rows.shape)


def config_of(sizes: Mapping[str, Any], is_original: bool) -> Xcodec2Config:
    """The sizes of a codec, from its `config.json`; the published ones where it says nothing.

    Raises:
        ValueError, TypeError, ArithmeticError, huggingface_hub.errors.StrictDataclassError: It makes no sense.
    """
    from transformers.models.xcodec2 import Xcodec2Config

    if is_original:
        hidden_size = int(sizes.get("codec_decoder_hidden_size", 1024))
        semantic_size = int(sizes.get("semantic_hidden_size", 1024))
        config = Xcodec2Config(
            hidden_size=hidden_size,
            intermediate_size=4 * hidden_size,
            num_hidden_layers=int(sizes.get("num_hidden_layers", _ORIGINAL_NUM_LAYERS)),
            num_attention_heads=hidden_size // HEAD_DIM,
            num_key_value_heads=hidden_size // HEAD_DIM,
            head_dim=HEAD_DIM,
            quantization_dim=hidden_size + semantic_size,
            semantic_model_config={"model_type": "wav2vec2-bert", "hidden_size": semantic_size},
        )
    else:
        config = Xcodec2Config(**sizes)
    config._attn_implementation = "sdpa"
    return config


class Decoder(nn.Module):
    """The half of `Xcodec2Model` that turns codes to sound, in the names of the whole, in evaluation mode.

    Parameters are on the meta device until a state is assigned. The tables, which no checkpoint holds, are computed.

    Args:
        config: Sizes.
    """

    quantizer: Any
    acoustic_decoder: Any

    def __init__(self, config: Xcodec2Config) -> None:
        from transformers.models.xcodec2 import modeling_xcodec2 as xcodec2

        super().__init__()
        with torch.device("meta"):
            self.quantizer = xcodec2.Xcodec2Quantizer(config)
            self.acoustic_decoder = xcodec2.Xcodec2Decoder(config)
        self.quantizer.quantizer = xcodec2.Xcodec2FiniteScalarQuantization(config)
        self.acoustic_decoder.rotary_emb = xcodec2.Xcodec2RotaryEmbedding(config)
        self.acoustic_decoder.head.window = torch.hann_window(config.n_fft)
        self.acoustic_decoder.norm.register_forward_pre_hook(_to_float32)
        self.eval()

    def assign(self, state: Mapping[str, Tensor]) -> None:
        """Takes these tensors for parameters, as they are, and moves the tables to where they are."""
        self.load_state_dict(state, assign=True)
        self.requires_grad_(False)
        weight = self.quantizer.project_out.weight
        self.to(weight.device)
        table = self.quantizer.quantizer
        table.codebook = table.codebook.to(weight.dtype)  # exact: of ±1, ±0.5 and 0

    def forward(self, codes: Tensor) -> Tensor:
        """Codes `[num_clips, num_frames]` to float32 samples `[num_clips, hop * num_frames]`."""
        samples: Tensor = self.acoustic_decoder(self.quantizer.from_codes(codes[..., None]))
        return samples[:, 0]


def _to_float32(_module: nn.Module, args: tuple[Tensor]) -> tuple[Tensor]:
    return (args[0].float(),)
