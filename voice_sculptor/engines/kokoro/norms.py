"""Instance norm with a styled affine, as one gain and one offset for each channel."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

Weights = Mapping[str, Tensor]
Affine = tuple[Tensor, Tensor]
"""A gain and an offset for each channel, `[num_channels]` float32."""

_EPS = 1e-5


class Moments:
    """Mean and variance of every channel over frames that arrive in parts.

    Each part is centred on its own mean before squares are summed, and parts are combined in float64
    (Chan et al. 1979), so that a large mean costs no accuracy.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[int, Tensor, Tensor]] = []

    def add(self, x: Tensor) -> None:
        """Takes frames `[T, C]` in."""
        # The library's statistics of batch norm: both passes in one call, and no temporary.
        mean, variance = torch.batch_norm_update_stats(x, None, None, 0.0)
        self._parts.append((len(x), mean, variance))

    def normalising(self, style: Affine) -> Affine:
        """The gain and offset that norm the frames so far and then apply `style`."""
        counts = torch.tensor([count for count, _, _ in self._parts], dtype=torch.float64)
        counts = counts.to(self._parts[0][1].device)[:, None]
        means = torch.stack([mean for _, mean, _ in self._parts]).double()
        mean = (counts * means).sum(dim=0) / counts.sum()
        variances = torch.stack([variance for _, _, variance in self._parts]).double()
        squares = (counts * (variances + (means - mean).square())).sum(dim=0)
        gain = (style[0] * torch.rsqrt(squares / counts.sum() + _EPS)).float()
        return gain, (style[1] - mean * gain).float()


class StyleProjections:
    """All style projections of a part of the model as one matrix product.

    Args:
        weights: The model's weights.
        names: Modules with a projection `fc`: style -> gain minus one, and offset.
    """

    def __init__(self, weights: Weights, names: list[str]) -> None:
        self.names = names
        self.sizes = [weights[f"{name}.fc.bias"].shape[0] // 2 for name in names]
        self.weight = torch.cat([weights[f"{name}.fc.weight"] for name in names])
        biases = []
        for name, size in zip(names, self.sizes, strict=True):
            gain, offset = weights[f"{name}.fc.bias"].split(size)
            biases += [gain + 1, offset]
        self.bias = torch.cat(biases)

    def __call__(self, style: Tensor) -> dict[str, Affine]:
        """Maps a style `[style_size]` to the gain and offset of every module."""
        out = F.linear(style, self.weight, self.bias)
        parts = out.split([size for size in self.sizes for _ in (0, 1)])
        return dict(zip(self.names, zip(parts[::2], parts[1::2], strict=True), strict=True))
