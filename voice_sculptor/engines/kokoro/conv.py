"""Convolutions over frames, `[num_frames, num_channels]` with channels contiguous.

`ToomCookConv` needs half of the multiplications of a direct sum (Winograd 1980; Lavin and Gray,
arXiv 1509.09308) and serves float32 on a CPU; `DirectConv` is the library's, in any type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import torch
import torch.nn.functional as F
from torch import Tensor


def make_conv(weight: Tensor, *, dilation: int, dtype: torch.dtype) -> DirectConv | ToomCookConv:
    """The faster method for a convolution at a high frame rate.

    Args:
        weight: `[out, in, kernel]` float32.
        dilation: Frames between taps.
        dtype: Type to multiply in.
    """
    if dtype == torch.float32 and weight.device.type == "cpu":
        return ToomCookConv(weight, dilation)
    return DirectConv(weight, dilation, dtype)


class WindowConv:
    """A convolution as one matrix product over overlapping windows; for low frame rates.

    Args:
        weight: `[out, in, kernel]` float32.
        bias: `[out]` float32, or none.
        stride: Frames between outputs.
        padding: Zero frames at both ends; by default half the kernel.
        dtype: Type to multiply in.
    """

    def __init__(
        self,
        weight: Tensor,
        bias: Tensor | None,
        *,
        stride: int = 1,
        padding: int | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.kernel = weight.shape[2]
        self.stride = stride
        self.padding = self.kernel // 2 if padding is None else padding
        self.weight = weight.transpose(1, 2).flatten(1).to(dtype)
        self.bias = None if bias is None else bias.to(dtype)

    def __call__(self, x: Tensor) -> Tensor:
        """Convolves `[T, in]` to `[T', out]`, float32."""
        padded = F.pad(x.to(self.weight.dtype), (0, 0, self.padding, self.padding))
        frames, channels = padded.shape
        num = (frames - self.kernel) // self.stride + 1
        windows = padded.as_strided((num, self.kernel * channels), (self.stride * channels, 1))
        return F.linear(windows, self.weight, self.bias).float()


class DirectConv:
    """A convolution without bias and padding, as channels-last conv2d.

    Args:
        weight: `[out, in, kernel]` float32.
        dilation: Frames between taps.
        dtype: Type to multiply in; input and output are float32.
    """

    def __init__(self, weight: Tensor, dilation: int, dtype: torch.dtype) -> None:
        self.weight = weight.to(dtype)[:, :, None, :].contiguous(memory_format=torch.channels_last)
        self.dilation = dilation
        self.reach = (weight.shape[2] - 1) * dilation
        self.multiple = 1

    def num_inputs(self, num_outputs: int) -> int:
        """Input frames needed for so many output frames."""
        return num_outputs + self.reach

    def __call__(self, x: Tensor, out: Tensor, *, add: bool = False) -> None:
        """Convolves `[num_inputs(T), in]` into `out` `[T, out]`, or adds to what is there."""
        y = _rows(F.conv2d(_image(x.to(self.weight.dtype)), self.weight, dilation=(1, self.dilation)))
        if add:
            out += y
        else:
            out.copy_(y)


class ToomCookConv:
    """A float32 convolution without bias and padding that makes tiles of four outputs.

    The taps are cut into pieces of a tile's length. Because pieces lie as far apart as tiles do, all pieces
    share one input transform, and what is left is, for each point of evaluation, a convolution over tiles
    with as many taps as there are pieces. Dilated taps work on every `dilation`-th frame.

    Args:
        weight: `[out, in, kernel]` float32.
        dilation: Frames between taps.

    Attributes:
        tile: Outputs of a tile. With six, larger transforms cost what the products save.
        multiple: The number of outputs must be a multiple of it.
    """

    tile = 4

    def __init__(self, weight: Tensor, dilation: int) -> None:
        outputs, inputs, kernel = weight.shape
        num_taps = min(kernel, self.tile)
        num_pieces = -(-kernel // self.tile)
        from_products, of_taps, of_inputs = toom_cook(self.tile, num_taps)
        self.num_pieces, self.num_points, self.outputs = num_pieces, len(of_taps), outputs
        padded = F.pad(weight.double(), (0, num_pieces * num_taps - kernel))
        pieces = padded.view(outputs, inputs, num_pieces, num_taps)
        by_point = torch.einsum("at,oipt->aoip", of_taps, pieces).float()
        self._multiply = _grouped_conv(by_point.flatten(0, 1), groups=self.num_points)
        self.from_products, self.of_inputs = from_products.float(), of_inputs.float()
        self.dilation = dilation
        self.reach = (kernel - 1) * dilation
        self.multiple = self.tile * dilation

    def num_inputs(self, num_outputs: int) -> int:
        """Input frames needed for so many output frames."""
        rest = self.num_points + (self.num_pieces - 2) * self.tile
        return num_outputs + rest * self.dilation

    def __call__(self, x: Tensor, out: Tensor, *, add: bool = False) -> None:
        """Convolves `[num_inputs(T), in]` into `out` `[T, out]`, or adds to what is there."""
        num_tiles = len(out) // (self.tile * self.dilation)
        num_inputs = num_tiles + self.num_pieces - 1
        # Rows of `points` are input tiles, one phase of the dilation after the other; rows of `products` are
        # output tiles, with unused ones between the phases.
        num_rows = self.dilation * num_inputs
        points = x.new_empty(max(num_rows, _MIN_ROWS), self.num_points, x.shape[1])
        points[num_rows:] = 0
        for phase in range(self.dilation):
            tiles = self._input_tiles(x, phase, num_inputs)
            target = points[phase * num_inputs : (phase + 1) * num_inputs]
            torch.bmm(self.of_inputs.expand(num_inputs, -1, -1), tiles, out=target)
        products = self._multiply(points.flatten(1))[: num_rows - self.num_pieces + 1]
        products = products.view(len(products), self.num_points, self.outputs)
        matrix = self.from_products.expand(len(products), -1, -1)
        if self.dilation == 1:
            target = out.view(num_tiles, self.tile, -1)
            if add:
                target.baddbmm_(matrix, products)
            else:
                torch.bmm(matrix, products, out=target)
            return
        # Into a tensor of its own first: torch runs a batch as one only if its result is contiguous.
        tiles = torch.bmm(matrix, products)
        target = out.view(num_tiles, self.tile, self.dilation, -1)
        for phase in range(self.dilation):
            part = tiles[phase * num_inputs : phase * num_inputs + num_tiles]
            if add:
                target[:, :, phase] += part
            else:
                target[:, :, phase] = part

    def _input_tiles(self, x: Tensor, phase: int, num_tiles: int) -> Tensor:
        """A view `[num_tiles, points, C]` of every `dilation`-th row; tiles start `tile` of these apart."""
        row = x.stride(0) * self.dilation
        offset = x.storage_offset() + phase * x.stride(0)
        return x.as_strided((num_tiles, self.num_points, x.shape[1]), (row * self.tile, row, 1), offset)


# Below this the library's convolution takes other layouts, and reorders the weights, slowly, in every call.
_MIN_ROWS = 72


def _grouped_conv(weight: Tensor, groups: int) -> Callable[[Tensor], Tensor]:
    """A convolution of rows `[T, groups * in]` with weights `[groups * out, in, kernel]`, laid out once."""
    image_weight = weight[:, :, None].contiguous(memory_format=torch.channels_last)
    library = torch.ops.mkldnn
    if not (torch.backends.mkldnn.is_available() and hasattr(library, "_convolution_pointwise")):
        return lambda x: _rows(F.conv2d(_image(x), image_weight, groups=groups))
    # The operators that compiled graphs call. Through `conv2d` weights would be laid out anew in every call.
    size = [1, groups * weight.shape[1], 1, 1024]
    packed = library._reorder_convolution_weight(image_weight, [0, 0], [1, 1], [1, 1], groups, size)
    return lambda x: _rows(
        library._convolution_pointwise(
            _image(x), packed, None, [0, 0], [1, 1], [1, 1], groups, "none", [], ""
        )
    )


def _image(x: Tensor) -> Tensor:
    """Rows `[T, C]` seen as a channels-last image `[1, C, 1, T]`."""
    frames, channels = x.shape
    return x.as_strided((1, channels, 1, frames), (frames * channels, 1, frames * channels, channels))


def _rows(image: Tensor) -> Tensor:
    return image[0, :, 0].t()


# Points of evaluation, besides infinity, with the least float32 error: relative to the output 4e-7 for three
# taps, 6e-7 for four; the direct sum has 1.5e-7.
_POINTS = {
    3: [Fraction(p) for p in ("0", "1", "-1", "1/2", "-2")],
    4: [Fraction(p) for p in ("0", "1", "-1", "2", "-2", "1/2")],
}


def toom_cook(num_outputs: int, num_taps: int) -> tuple[Tensor, Tensor, Tensor]:
    """Matrices `A`, `G`, `B` such that `correlate(x, w) = A @ ((G @ w) * (B @ x))`.

    Args:
        num_outputs: Outputs of a tile.
        num_taps: Taps, 3 or 4, with `num_outputs + num_taps - 1` points of evaluation.

    Returns:
        `[num_outputs, points]`, `[points, num_taps]`, `[points, points]`, float64.
    """
    points = _POINTS[num_taps]
    from_products = [[p**j for p in points] + [Fraction(j == num_outputs - 1)] for j in range(num_outputs)]
    of_taps, of_inputs = [], []
    for p in points:
        others = [q for q in points if q != p]
        row = _from_roots(others)
        value = sum((c * p**i for i, c in enumerate(row)), Fraction(0))
        # A power of two moved between the matrices keeps the transformed input near its own size.
        power = Fraction(2) ** round(math.log2(sum(abs(c) for c in row)))
        of_taps.append([p**k / value * power for k in range(num_taps)])
        of_inputs.append([c / power for c in row] + [Fraction(0)])
    of_taps.append([Fraction(k == num_taps - 1) for k in range(num_taps)])
    of_inputs.append(_from_roots(points))
    a, g, b = (
        torch.tensor([[float(value) for value in row] for row in rows], dtype=torch.float64)
        for rows in (from_products, of_taps, of_inputs)
    )
    return a, g, b


def _from_roots(roots: list[Fraction]) -> list[Fraction]:
    """Coefficients of the monic polynomial with these roots, lowest power first."""
    coefficients = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *coefficients]
        scaled = [root * c for c in coefficients] + [Fraction(0)]
        coefficients = [a - b for a, b in zip(shifted, scaled, strict=True)]
    return coefficients
