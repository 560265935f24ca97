"""Convolutions over rows against torch's own."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from voice_sculptor.engines.kokoro.conv import DirectConv, ToomCookConv, WindowConv, make_conv, toom_cook

NUM_FRAMES = 120


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("dilation", [1, 3, 5])
@pytest.mark.parametrize("kernel", [3, 7, 11])
@pytest.mark.parametrize("method", ["direct", "toom-cook"])
def test_conv(method: str, kernel: int, dilation: int, add: bool) -> None:
    torch.manual_seed(kernel * dilation)
    weight = torch.randn(24, 40, kernel) / (40 * kernel) ** 0.5
    conv = (
        DirectConv(weight, dilation, torch.float32) if method == "direct" else ToomCookConv(weight, dilation)
    )
    x = torch.randn(conv.num_inputs(NUM_FRAMES), 40)
    before = torch.randn(NUM_FRAMES, 24)
    out = before.clone()
    conv(x, out, add=add)
    whole = F.conv1d(x.double().t()[None], weight.double(), dilation=dilation)[0].t()[:NUM_FRAMES]
    expected = whole + before if add else whole
    assert float((out - expected).norm() / expected.norm()) < 2e-6


def test_toom_cook_leaves_rows_beyond_its_outputs_alone() -> None:
    conv = ToomCookConv(torch.randn(8, 8, 7), dilation=3)
    room = torch.zeros(2 * NUM_FRAMES, 8)
    conv(torch.randn(conv.num_inputs(NUM_FRAMES), 8), room[:NUM_FRAMES])
    assert room[:NUM_FRAMES].ne(0).all()
    assert room[NUM_FRAMES:].eq(0).all()


@pytest.mark.parametrize("num_taps", [3, 4])
def test_transforms_are_exact(num_taps: int) -> None:
    a, g, b = toom_cook(4, num_taps)
    taps = torch.randn(num_taps, dtype=torch.float64)
    x = torch.randn(3 + num_taps, dtype=torch.float64)
    expected = x.unfold(0, num_taps, 1) @ taps
    torch.testing.assert_close(a @ ((g @ taps) * (b @ x)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "stride", "padding"), [(3, 1, None), (5, 1, None), (12, 6, 3), (2, 1, 1), (1, 1, 0), (3, 2, 1)]
)
def test_window_conv(kernel: int, stride: int, padding: int | None) -> None:
    weight, bias, x = torch.randn(6, 10, kernel), torch.randn(6), torch.randn(61, 10)
    ours = WindowConv(weight, bias, stride=stride, padding=padding)(x)
    zeros = kernel // 2 if padding is None else padding
    expected = F.conv1d(x.t()[None], weight, bias, stride, zeros)[0].t()
    torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)


def test_the_method_follows_the_type() -> None:
    weight = torch.randn(4, 4, 3)
    assert isinstance(make_conv(weight, dilation=1, dtype=torch.float32), ToomCookConv)
    assert isinstance(make_conv(weight, dilation=1, dtype=torch.bfloat16), DirectConv)
