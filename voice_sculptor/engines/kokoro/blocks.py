"""Residual blocks: of the predictor and decoder at low frame rates, and of the generator at high ones.

Everything works on one utterance as `[num_frames, num_channels]` float32, channels contiguous, so that
no tensor is ever transposed; only factors of products may be in half precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from voice_sculptor.engines.kokoro.conv import WindowConv, make_conv
from voice_sculptor.engines.kokoro.layout import KokoroConfig
from voice_sculptor.engines.kokoro.norms import Affine, Moments, Weights

Check = Callable[[], None]

# Values of one tensor that stay in the cache of one core, between one operation and the next.
_CACHED_VALUES = 1200 * 128


class StyleBlock:
    """Two convolutions with styled norms and a shortcut; it may double the frame rate.

    Args:
        weights: The model's weights.
        name: The block's name in them.
        dtype: Type of the factors.
    """

    def __init__(self, weights: Weights, name: str, dtype: torch.dtype = torch.float32) -> None:
        self.norm1, self.norm2 = f"{name}.norm1", f"{name}.norm2"
        self.conv1 = WindowConv(weights[f"{name}.conv1.weight"], weights[f"{name}.conv1.bias"], dtype=dtype)
        # The output is (residual + shortcut) / sqrt(2); the factor goes into the weights.
        self.half = 0.5**0.5
        weight, bias = (weights[f"{name}.conv2.{part}"] * self.half for part in ("weight", "bias"))
        self.conv2 = WindowConv(weight, bias, dtype=dtype)
        self.shortcut: WindowConv | None = None
        if f"{name}.conv1x1.weight" in weights:
            self.shortcut = WindowConv(weights[f"{name}.conv1x1.weight"] * self.half, None, dtype=dtype)
        self.pool: Tensor | None = None
        if f"{name}.pool.weight" in weights:
            self.pool = weights[f"{name}.pool.weight"][:, 0].t().contiguous()
            self.pool_bias = weights[f"{name}.pool.bias"]

    def __call__(self, x: Tensor, styles: Mapping[str, Affine]) -> Tensor:
        """Maps `[T, in]` to `[T, out]`, or `[2 T, out]` where the block upsamples."""
        y = self._activate(x, styles[self.norm1])
        if self.pool is not None:
            y = self._upsample(y, self.pool)
        y = self.conv2(self._activate(self.conv1(y), styles[self.norm2]))
        short = x * self.half if self.shortcut is None else self.shortcut(x)
        return y.view(len(x), -1, short.shape[1]).add_(short[:, None]).view(len(y), -1)

    @staticmethod
    def _activate(x: Tensor, style: Affine) -> Tensor:
        moments = Moments()
        moments.add(x)
        gain, offset = moments.normalising(style)
        return F.leaky_relu_(torch.addcmul(offset, x, gain), 0.2)

    def _upsample(self, x: Tensor, taps: Tensor) -> Tensor:
        """Depthwise transposed convolution, kernel 3, stride 2: `[T, C]` to `[2 T, C]`."""
        y = x.new_empty(len(x), 2, x.shape[1])
        torch.addcmul(self.pool_bias, x, taps[1], out=y[:, 0])
        torch.addcmul(self.pool_bias, x, taps[2], out=y[:, 1])
        y[:-1, 1].addcmul_(x[1:], taps[0])
        return y.view(2 * len(x), -1)


class SnakeBlock:
    """Residual convolutions with styled norms and the periodic snake activation (arXiv 2006.08195).

    It runs over a few frames at a time, all operations of a layer at once, so that what is between them
    stays in the cache. Biases are left out: the next norm takes any constant away, and what they add to
    the output is `bias`.

    Args:
        weights: The model's weights.
        name: The block's name in them.
        config: Sizes.
        dtype: Type of the factors.
    """

    def __init__(self, weights: Weights, name: str, config: KokoroConfig, dtype: torch.dtype) -> None:
        self.norms, self.alphas, self.convs = [], [], []
        for i, dilation in enumerate(config.dilations):
            for half in (1, 2):
                alpha = weights[f"{name}.alpha{half}.{i}"].flatten()
                # snake(x) = (z + sin(z)^2) / alpha with z = alpha x: the division goes into the weights.
                weight = weights[f"{name}.convs{half}.{i}.weight"] / alpha[:, None]
                self.norms.append(f"{name}.adain{half}.{i}")
                self.alphas.append(alpha)
                self.convs.append(make_conv(weight, dilation=dilation if half == 1 else 1, dtype=dtype))
        biases = [weights[f"{name}.convs2.{i}.bias"] for i in range(len(config.dilations))]
        self.bias = torch.stack(biases).sum(dim=0)

    def __call__(self, x: Tensor, moments: Moments, styles: Mapping[str, Affine], check: Check) -> Tensor:
        """Maps `[T, C]` with its `moments` to `[T, C]` less `bias`."""
        # Convolutions may make a few frames more than there are.
        spare = max(conv.multiple for conv in self.convs)
        room = x.new_empty(2, len(x) + spare, x.shape[1])
        inner, total = room[0], room[1]
        total[: len(x)] = x
        for i in range(0, len(self.convs), 2):
            check()
            moments = self._layer(i, total[: len(x)], moments, styles, inner, add=False)
            moments = self._layer(i + 1, inner[: len(x)], moments, styles, total, add=True)
        return total[: len(x)]

    def _layer(
        self,
        index: int,
        x: Tensor,
        moments: Moments,
        styles: Mapping[str, Affine],
        out: Tensor,
        *,
        add: bool,
    ) -> Moments:
        """One norm, activation and convolution of `x` `[T, C]` into (or onto) `out`, which has room after `T`."""
        conv, alpha = self.convs[index], self.alphas[index]
        gain, offset = moments.normalising(styles[self.norms[index]])
        gain, offset = gain * alpha, offset * alpha
        frames, channels = x.shape
        step = round_up(tile_frames(x), conv.multiple)
        before = conv.reach // 2
        buffer = x.new_empty(2, conv.num_inputs(step), channels)
        result = Moments()
        for start in range(0, frames, step):
            stop = min(start + step, round_up(frames, conv.multiple))
            first, num = start - before, conv.num_inputs(stop - start)
            lead, end = max(0, -first), min(num, frames - first)
            waves, sines = buffer[0, :num], buffer[1, lead:end]
            waves[:lead] = 0
            waves[end:] = 0
            inside = waves[lead:end]
            torch.addcmul(offset, x[first + lead : first + end], gain, out=inside)
            torch.sin(inside, out=sines)
            inside.addcmul_(sines, sines)
            conv(waves, out[start:stop], add=add)
            result.add(out[start : min(stop, frames)])
        return result


def round_up(value: int, multiple: int) -> int:
    """The next multiple."""
    return -(-value // multiple) * multiple


def tile_frames(x: Tensor) -> int:
    """Frames of `[T, C]` to work on at a time: about what fits the caches, in equal parts; all on a GPU."""
    if x.device.type != "cpu":
        return len(x)
    num_parts = max(1, round(x.numel() / (_CACHED_VALUES * torch.get_num_threads())))
    return -(-len(x) // num_parts)
