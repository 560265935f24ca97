"""Sizes of the model, and the name and shape of every weight.

Names follow the official checkpoint (hexgrad/Kokoro-82M) with weight normalisation resolved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class KokoroConfig:
    """Sizes of one Kokoro model; the defaults are Kokoro-82M.

    The iSTFT is written for `fft_size == 4 * hop_size`.
    """

    num_symbols: int = 178
    hidden_size: int = 512
    style_size: int = 128
    num_duration_bins: int = 50
    num_duration_layers: int = 3
    bert_hidden_size: int = 768
    bert_embedding_size: int = 128
    bert_ffn_size: int = 2048
    num_bert_heads: int = 12
    num_bert_layers: int = 12
    num_bert_positions: int = 512
    decoder_size: int = 1024
    residual_size: int = 64
    generator_size: int = 512
    up_rates: tuple[int, int] = (10, 6)
    res_kernels: tuple[int, ...] = (3, 7, 11)
    noise_kernels: tuple[int, int] = (7, 11)
    dilations: tuple[int, ...] = (1, 3, 5)
    num_harmonics: int = 9
    fft_size: int = 20
    hop_size: int = 5

    @classmethod
    def tiny(cls) -> KokoroConfig:
        """A model of the same shape with small sizes, for fast tests."""
        return cls(
            hidden_size=32,
            style_size=8,
            bert_hidden_size=24,
            bert_embedding_size=8,
            bert_ffn_size=32,
            num_bert_heads=2,
            num_bert_layers=2,
            decoder_size=48,
            residual_size=4,
            generator_size=32,
        )

    @property
    def num_bins(self) -> int:
        """Frequency bins of the output spectrum."""
        return self.fft_size // 2 + 1

    @property
    def samples_per_f0(self) -> int:
        """Audio samples for each F0 value (80 Hz at 24 kHz)."""
        return self.up_rates[0] * self.up_rates[1] * self.hop_size

    @property
    def stage_sizes(self) -> tuple[int, int]:
        """Channels of the two generator stages."""
        return self.generator_size // 2, self.generator_size // 4

    def contour_blocks(self) -> list[tuple[int, int, bool]]:
        """`(inputs, outputs, upsample)` of the blocks that predict F0 and energy."""
        size = self.hidden_size
        return [(size, size, False), (size, size // 2, True), (size // 2, size // 2, False)]

    def decode_blocks(self) -> list[tuple[int, int, bool]]:
        """`(inputs, outputs, upsample)` of the decoder blocks before the generator."""
        inputs = self.decoder_size + 2 + self.residual_size
        return [(inputs, self.decoder_size, False)] * 3 + [(inputs, self.generator_size, True)]


def weight_shapes(config: KokoroConfig) -> dict[str, tuple[int, ...]]:
    """Every weight the model needs: name -> shape."""
    return dict([*_bert(config), *_text_encoder(config), *_predictor(config), *_decoder(config)])


_Shapes = Iterator[tuple[str, tuple[int, ...]]]


def _affine(name: str, *weight: int) -> _Shapes:
    yield f"{name}.weight", weight
    yield f"{name}.bias", weight[:1]


def _lstm(name: str, inputs: int, outputs: int) -> _Shapes:
    gates = 4 * outputs
    for end in ("", "_reverse"):
        yield f"{name}.weight_ih_l0{end}", (gates, inputs)
        yield f"{name}.weight_hh_l0{end}", (gates, outputs)
        yield f"{name}.bias_ih_l0{end}", (gates,)
        yield f"{name}.bias_hh_l0{end}", (gates,)


def _bert(c: KokoroConfig) -> _Shapes:
    narrow, wide, ffn = c.bert_embedding_size, c.bert_hidden_size, c.bert_ffn_size
    for table, rows in (("word", c.num_symbols), ("position", c.num_bert_positions), ("token_type", 2)):
        yield f"bert.embeddings.{table}_embeddings.weight", (rows, narrow)
    yield from _affine("bert.embeddings.LayerNorm", narrow)
    yield from _affine("bert.encoder.embedding_hidden_mapping_in", wide, narrow)
    layer = "bert.encoder.albert_layer_groups.0.albert_layers.0"
    for part in ("query", "key", "value", "dense"):
        yield from _affine(f"{layer}.attention.{part}", wide, wide)
    yield from _affine(f"{layer}.attention.LayerNorm", wide)
    yield from _affine(f"{layer}.ffn", ffn, wide)
    yield from _affine(f"{layer}.ffn_output", wide, ffn)
    yield from _affine(f"{layer}.full_layer_layer_norm", wide)
    yield from _affine("bert_encoder", c.hidden_size, wide)


def _text_encoder(c: KokoroConfig) -> _Shapes:
    size = c.hidden_size
    yield "text_encoder.embedding.weight", (c.num_symbols, size)
    for i in range(3):
        yield from _affine(f"text_encoder.cnn.{i}.0", size, size, 5)
        yield f"text_encoder.cnn.{i}.1.gamma", (size,)
        yield f"text_encoder.cnn.{i}.1.beta", (size,)
    yield from _lstm("text_encoder.lstm", size, size // 2)


def _predictor(c: KokoroConfig) -> _Shapes:
    size, styled = c.hidden_size, c.hidden_size + c.style_size
    for i in range(0, 2 * c.num_duration_layers, 2):
        yield from _lstm(f"predictor.text_encoder.lstms.{i}", styled, size // 2)
        yield from _affine(f"predictor.text_encoder.lstms.{i + 1}.fc", 2 * size, c.style_size)
    yield from _lstm("predictor.lstm", styled, size // 2)
    yield from _affine("predictor.duration_proj.linear_layer", c.num_duration_bins, size)
    yield from _lstm("predictor.shared", styled, size // 2)
    for contour in ("F0", "N"):
        for i, (inputs, outputs, upsample) in enumerate(c.contour_blocks()):
            yield from _style_block(f"predictor.{contour}.{i}", c, inputs, outputs, upsample)
        yield from _affine(f"predictor.{contour}_proj", 1, size // 2, 1)


def _style_block(name: str, c: KokoroConfig, inputs: int, outputs: int, upsample: bool) -> _Shapes:
    yield from _affine(f"{name}.norm1.fc", 2 * inputs, c.style_size)
    yield from _affine(f"{name}.norm2.fc", 2 * outputs, c.style_size)
    yield from _affine(f"{name}.conv1", outputs, inputs, 3)
    yield from _affine(f"{name}.conv2", outputs, outputs, 3)
    if inputs != outputs:
        yield f"{name}.conv1x1.weight", (outputs, inputs, 1)
    if upsample:
        yield from _affine(f"{name}.pool", inputs, 1, 3)


def _decoder(c: KokoroConfig) -> _Shapes:
    for contour in ("F0", "N"):
        yield from _affine(f"decoder.{contour}_conv", 1, 1, 3)
    yield from _affine("decoder.asr_res.0", c.residual_size, c.hidden_size, 1)
    yield from _style_block("decoder.encode", c, c.hidden_size + 2, c.decoder_size, False)
    for i, (inputs, outputs, upsample) in enumerate(c.decode_blocks()):
        yield from _style_block(f"decoder.decode.{i}", c, inputs, outputs, upsample)
    name = "decoder.generator"
    yield from _affine(f"{name}.m_source.l_linear", 1, c.num_harmonics)
    size = c.generator_size
    source_kernels = (2 * c.up_rates[1], 1)
    for i, (rate, kernel) in enumerate(zip(c.up_rates, c.noise_kernels, strict=True)):
        yield f"{name}.ups.{i}.weight", (size, size // 2, 2 * rate)
        size //= 2
        yield f"{name}.ups.{i}.bias", (size,)
        yield from _affine(f"{name}.noise_convs.{i}", size, 2 * c.num_bins, source_kernels[i])
        yield from _snake_block(f"{name}.noise_res.{i}", c, size, kernel)
        for j, res_kernel in enumerate(c.res_kernels):
            yield from _snake_block(f"{name}.resblocks.{i * len(c.res_kernels) + j}", c, size, res_kernel)
    yield from _affine(f"{name}.conv_post", 2 * c.num_bins, size, 7)


def _snake_block(name: str, c: KokoroConfig, size: int, kernel: int) -> _Shapes:
    for i in range(len(c.dilations)):
        for half in (1, 2):
            yield f"{name}.alpha{half}.{i}", (1, size, 1)
            yield from _affine(f"{name}.adain{half}.{i}.fc", 2 * size, c.style_size)
            yield from _affine(f"{name}.convs{half}.{i}", size, size, kernel)
