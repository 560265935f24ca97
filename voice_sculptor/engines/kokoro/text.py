"""From phonemes to durations, F0 and energy. Always float32, so that durations are exact."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from voice_sculptor.engines.kokoro.blocks import StyleBlock
from voice_sculptor.engines.kokoro.conv import WindowConv
from voice_sculptor.engines.kokoro.layout import KokoroConfig
from voice_sculptor.engines.kokoro.norms import StyleProjections, Weights


@dataclass(frozen=True)
class Features:
    """What the text part of the model knows about `L` phonemes whoever speaks them.

    Attributes:
        text: `[L, hidden]`, what to say, for the decoder.
        context: `[L, hidden]`, from ALBERT, for the prosody.
    """

    text: Tensor
    context: Tensor


@dataclass(frozen=True)
class Encoded:
    """What the text part of the model knows about `L` phonemes.

    Attributes:
        text: `[L, hidden]`, what to say, for the decoder.
        prosody: `[L, hidden + style]`, how to say it, for F0 and energy.
        durations: `[L]` frames of 25 ms at speed 1, not rounded.
    """

    text: Tensor
    prosody: Tensor
    durations: Tensor


class TextModel:
    """ALBERT, text encoder and prosody predictor.

    Args:
        weights: The model's weights, on the device to compute on.
        config: Sizes.
    """

    def __init__(self, weights: Weights, config: KokoroConfig) -> None:
        self.bert = _Albert(weights, config)
        self.embedding = weights["text_encoder.embedding.weight"]
        self.convs = []
        for i in range(3):
            name = f"text_encoder.cnn.{i}"
            conv = WindowConv(weights[f"{name}.0.weight"], weights[f"{name}.0.bias"])
            self.convs.append((conv, weights[f"{name}.1.gamma"], weights[f"{name}.1.beta"]))
        self.text_lstm = _lstm(weights, "text_encoder.lstm")
        layers = [f"predictor.text_encoder.lstms.{i}" for i in range(2 * config.num_duration_layers)]
        self.duration_layers = [(_lstm(weights, layers[i]), layers[i + 1]) for i in range(0, len(layers), 2)]
        self.duration_lstm = _lstm(weights, "predictor.lstm")
        self.duration_weight = weights["predictor.duration_proj.linear_layer.weight"]
        self.duration_bias = weights["predictor.duration_proj.linear_layer.bias"]
        self.shared = _lstm(weights, "predictor.shared")
        self.contours = []
        norms: list[str] = []
        for contour in ("F0", "N"):
            names = [f"predictor.{contour}.{i}" for i in range(len(config.contour_blocks()))]
            norms += [f"{name}.{norm}" for name in names for norm in ("norm1", "norm2")]
            blocks = [StyleBlock(weights, name) for name in names]
            weight = weights[f"predictor.{contour}_proj.weight"][:, :, 0]
            self.contours.append((blocks, weight, weights[f"predictor.{contour}_proj.bias"]))
        self.duration_styles = StyleProjections(weights, layers[1::2])
        self.contour_styles = StyleProjections(weights, norms)

    def read(self, token_ids: Tensor) -> Features:
        """Reads phonemes `[L]` int64."""
        return Features(self._read(token_ids), self.bert(token_ids))

    def encode(self, features: Features, style: Tensor) -> Encoded:
        """Adds the prosody half of a style `[style_size]`."""
        x = features.context
        styles = self.duration_styles(style)
        tail = style.expand(len(x), -1)
        prosody = torch.cat([x, tail], dim=1)
        for lstm, norm in self.duration_layers:
            gain, offset = styles[norm]
            x = F.layer_norm(lstm(prosody)[0], gain.shape, gain, offset)
            prosody = torch.cat([x, tail], dim=1)
        bins = F.linear(self.duration_lstm(prosody)[0], self.duration_weight, self.duration_bias)
        return Encoded(features.text, prosody, bins.sigmoid_().sum(dim=1))

    def predict_contours(self, encoded: Encoded, durations: Tensor, style: Tensor) -> tuple[Tensor, Tensor]:
        """F0 in Hz and energy, both `[2 T]`, for durations `[L]` int64 that sum to `T` frames."""
        x = self.shared(encoded.prosody.repeat_interleave(durations, dim=0))[0]
        styles = self.contour_styles(style)
        contours = []
        for blocks, weight, bias in self.contours:
            y = x
            for block in blocks:
                y = block(y, styles)
            contours.append(F.linear(y, weight, bias)[:, 0])
        return contours[0], contours[1]

    def _read(self, token_ids: Tensor) -> Tensor:
        x = F.embedding(token_ids, self.embedding)
        for conv, gain, offset in self.convs:
            x = F.leaky_relu_(F.layer_norm(conv(x), gain.shape, gain, offset), 0.2)
        text: Tensor = self.text_lstm(x)[0]
        return text


def _lstm(weights: Weights, name: str) -> nn.LSTM:
    """A bidirectional LSTM that takes over the given tensors without copying."""
    inputs = weights[f"{name}.weight_ih_l0"].shape[1]
    hidden = weights[f"{name}.weight_hh_l0"].shape[1]
    lstm = nn.LSTM(inputs, hidden, bidirectional=True, device="meta").requires_grad_(False)
    own = {part: weights[f"{name}.{part}"] for part in lstm.state_dict()}
    lstm.load_state_dict(own, assign=True)
    lstm.flatten_parameters()
    return lstm


class _Albert:
    """ALBERT: one transformer layer applied `num_bert_layers` times (arXiv 1909.11942).

    Written out because importing a transformer library takes longer than speaking a sentence.
    """

    def __init__(self, weights: Weights, config: KokoroConfig) -> None:
        def affine(name: str) -> tuple[Tensor, Tensor]:
            return weights[f"{name}.weight"], weights[f"{name}.bias"]

        embeddings = "bert.embeddings"
        self.words = weights[f"{embeddings}.word_embeddings.weight"]
        self.positions = (
            weights[f"{embeddings}.position_embeddings.weight"]
            + weights[f"{embeddings}.token_type_embeddings.weight"][0]
        )
        self.embedding_norm = affine(f"{embeddings}.LayerNorm")
        self.widen = affine("bert.encoder.embedding_hidden_mapping_in")
        layer = "bert.encoder.albert_layer_groups.0.albert_layers.0"
        heads = [affine(f"{layer}.attention.{part}") for part in ("query", "key", "value")]
        self.qkv = torch.cat([weight for weight, _ in heads]), torch.cat([bias for _, bias in heads])
        self.dense = affine(f"{layer}.attention.dense")
        self.attention_norm = affine(f"{layer}.attention.LayerNorm")
        self.ffn = affine(f"{layer}.ffn")
        self.ffn_output = affine(f"{layer}.ffn_output")
        self.output_norm = affine(f"{layer}.full_layer_layer_norm")
        self.project = affine("bert_encoder")
        self.num_heads = config.num_bert_heads
        self.num_layers = config.num_bert_layers

    def __call__(self, token_ids: Tensor) -> Tensor:
        """Maps phonemes `[L]` to features `[L, hidden]`."""
        x = F.embedding(token_ids, self.words) + self.positions[: len(token_ids)]
        x = F.linear(_layer_norm(x, self.embedding_norm), *self.widen)
        for _ in range(self.num_layers):
            q, k, v = F.linear(x, *self.qkv).view(len(x), 3, self.num_heads, -1).permute(1, 2, 0, 3)
            y = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
            y = F.linear(y.transpose(0, 1).reshape(len(x), -1), *self.dense)
            x = _layer_norm(x + y, self.attention_norm)
            y = F.gelu(F.linear(x, *self.ffn), approximate="tanh")
            x = _layer_norm(x + F.linear(y, *self.ffn_output), self.output_norm)
        return F.linear(x, *self.project)


def _layer_norm(x: Tensor, affine: tuple[Tensor, Tensor]) -> Tensor:
    return F.layer_norm(x, affine[0].shape, *affine, eps=1e-12)
