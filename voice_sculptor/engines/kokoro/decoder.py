"""From text features, F0 and energy to sound."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from voice_sculptor.engines.kokoro.blocks import Check, SnakeBlock, StyleBlock, tile_frames
from voice_sculptor.engines.kokoro.conv import DirectConv, WindowConv
from voice_sculptor.engines.kokoro.layout import KokoroConfig
from voice_sculptor.engines.kokoro.norms import Affine, Moments, StyleProjections, Weights
from voice_sculptor.engines.kokoro.spectrum import Spectrum


class Decoder:
    """Blocks at 40 and 80 Hz, generator stages at 800 and 4800 Hz, and the inverse STFT.

    Args:
        weights: The model's weights, on the device to compute on.
        config: Sizes.
        dtype: Type of the factors of the large products; all else is float32.
    """

    def __init__(self, weights: Weights, config: KokoroConfig, dtype: torch.dtype) -> None:
        self.contour_convs = [
            WindowConv(weights[f"decoder.{name}_conv.weight"], weights[f"decoder.{name}_conv.bias"], stride=2)
            for name in ("F0", "N")
        ]
        self.residual = WindowConv(weights["decoder.asr_res.0.weight"], weights["decoder.asr_res.0.bias"])
        blocks = ["decoder.encode", *(f"decoder.decode.{i}" for i in range(len(config.decode_blocks())))]
        self.blocks = [StyleBlock(weights, name, dtype) for name in blocks]
        norms = [f"{name}.{norm}" for name in blocks for norm in ("norm1", "norm2")]
        self.stages = [_Stage(weights, config, i, dtype) for i in range(len(config.up_rates))]
        self.styles = StyleProjections(weights, norms + [n for stage in self.stages for n in stage.norms])
        # The last stage hands over the sum of its blocks, see there.
        weight = weights["decoder.generator.conv_post.weight"] / len(config.res_kernels)
        self.post = DirectConv(weight, 1, dtype)
        self.post_bias = weights["decoder.generator.conv_post.bias"]
        self.spectrum = Spectrum(config.fft_size, config.hop_size, self.post_bias.device)

    def __call__(
        self, text: Tensor, f0_hz: Tensor, energy: Tensor, style: Tensor, source: Tensor, check: Check
    ) -> Tensor:
        """Samples `[T * 600]` from text features `[T, hidden]`, contours `[2 T]` and source `[T * 600]`."""
        styles = self.styles(style)
        contours = [conv(x[:, None]) for conv, x in zip(self.contour_convs, (f0_hz, energy), strict=True)]
        x = self.blocks[0](torch.cat([text, *contours], dim=1), styles)
        beside = torch.cat([self.residual(text), *contours], dim=1)
        for block in self.blocks[1:]:
            check()
            x = block(torch.cat([x, beside], dim=1), styles)
        excitation = self.spectrum.analyse(source)
        for stage in self.stages:
            x = stage(x, excitation, styles, check)
        half = self.post.reach // 2
        bins = self.post_bias.repeat(len(x), 1)
        self.post(F.pad(F.leaky_relu_(x, 0.01), (0, 0, half, half)), bins, add=True)
        magnitude, phase = bins.chunk(2, dim=1)
        return self.spectrum.synthesise(magnitude.exp(), phase.sin())


class _Stage:
    """One generator stage: upsample, add the excitation, sum of residual blocks.

    The model takes the mean of the blocks; here their sum goes on, and the weights that read it are divided
    by their number (a leaky ReLU commutes with a positive factor).
    """

    def __init__(self, weights: Weights, config: KokoroConfig, index: int, dtype: torch.dtype) -> None:
        self.rate = config.up_rates[index]
        self.last = index == len(config.up_rates) - 1
        prefix, num = "decoder.generator", len(config.res_kernels)
        self.noise_block = SnakeBlock(weights, f"{prefix}.noise_res.{index}", config, dtype)
        self.blocks = [
            SnakeBlock(weights, f"{prefix}.resblocks.{index * num + j}", config, dtype) for j in range(num)
        ]
        self.norms = [norm for block in (self.noise_block, *self.blocks) for norm in block.norms]
        self.bias = torch.stack([block.bias for block in self.blocks]).sum(dim=0)
        up = weights[f"{prefix}.ups.{index}.weight"]
        if index:
            up = up / num
        inputs, outputs, _ = up.shape
        # A transposed convolution with kernel 2 r and stride r makes r rows of each row and its predecessor.
        taps = up.view(inputs, outputs, 2, self.rate).permute(3, 1, 0, 2).flip(-1)
        bias = weights[f"{prefix}.ups.{index}.bias"] + self.noise_block.bias
        self.up = WindowConv(taps.flatten(0, 1), bias.repeat(self.rate), padding=1, dtype=dtype)
        stride = 1 if self.last else config.up_rates[index + 1]
        name = f"{prefix}.noise_convs.{index}"
        self.noise = WindowConv(
            weights[f"{name}.weight"], weights[f"{name}.bias"], stride=stride, padding=stride // 2
        )

    def __call__(self, x: Tensor, excitation: Tensor, styles: Mapping[str, Affine], check: Check) -> Tensor:
        """Maps `[T, in]` and the excitation's spectrum to `[rate T, out]` (one frame more at the last)."""
        noise = self.noise(excitation)
        noise = self.noise_block(noise, _moments(noise), styles, check)
        check()
        half, num = self.rate // 2, self.rate * len(x)
        up = self.up(F.leaky_relu_(x, 0.1)).view((len(x) + 1) * self.rate, -1)[half : half + num]
        noise[-num:] += up
        if self.last:
            # The spectrum's frames are centred, so there is one more; it mirrors the second at the start.
            noise[0] += up[1]
        moments = _moments(noise)
        total = self.blocks[0](noise, moments, styles, check)
        for block in self.blocks[1:]:
            total += block(noise, moments, styles, check)
        return total.add_(self.bias)


def _moments(x: Tensor) -> Moments:
    moments = Moments()
    for part in x.split(tile_frames(x)):
        moments.add(part)
    return moments
