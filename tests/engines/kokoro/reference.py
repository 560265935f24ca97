"""The decoder as published, in plain torch operations on `[1, C, T]`, to compare the reworked one with."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from voice_sculptor.engines.kokoro.layout import KokoroConfig, weight_shapes


def random_weights(config: KokoroConfig, seed: int = 0) -> dict[str, Tensor]:
    """Weights of a plausible size for every name of the layout."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name, shape in weight_shapes(config).items():
        value = torch.randn(shape, generator=generator)
        if ".alpha" in name:
            weights[name] = 0.3 + value.abs()
        elif len(shape) > 1:
            weights[name] = value / value[0].numel() ** 0.5
        elif name.endswith(("gamma", "orm.weight")):
            weights[name] = 1 + 0.1 * value
        else:
            weights[name] = 0.1 * value
    return weights


def style_norm(w: Mapping[str, Tensor], name: str, x: Tensor, style: Tensor) -> Tensor:
    gain, offset = F.linear(style, w[f"{name}.fc.weight"], w[f"{name}.fc.bias"]).chunk(2)
    return (1 + gain[:, None]) * F.instance_norm(x, eps=1e-5) + offset[:, None]


def style_block(w: Mapping[str, Tensor], name: str, x: Tensor, style: Tensor) -> Tensor:
    y = F.leaky_relu(style_norm(w, f"{name}.norm1", x, style), 0.2)
    short = x
    if f"{name}.pool.weight" in w:
        pool = w[f"{name}.pool.weight"], w[f"{name}.pool.bias"]
        y = F.conv_transpose1d(y, *pool, stride=2, padding=1, output_padding=1, groups=y.shape[1])
        short = F.interpolate(short, scale_factor=2, mode="nearest")
    y = F.conv1d(y, w[f"{name}.conv1.weight"], w[f"{name}.conv1.bias"], padding=1)
    y = F.leaky_relu(style_norm(w, f"{name}.norm2", y, style), 0.2)
    y = F.conv1d(y, w[f"{name}.conv2.weight"], w[f"{name}.conv2.bias"], padding=1)
    if f"{name}.conv1x1.weight" in w:
        short = F.conv1d(short, w[f"{name}.conv1x1.weight"])
    return (y + short) / 2**0.5


def snake_block(
    w: Mapping[str, Tensor], name: str, x: Tensor, style: Tensor, dilations: tuple[int, ...]
) -> Tensor:
    for i, dilation in enumerate(dilations):
        y = x
        for half, spread in ((1, dilation), (2, 1)):
            y = style_norm(w, f"{name}.adain{half}.{i}", y, style)
            alpha = w[f"{name}.alpha{half}.{i}"]
            y = y + torch.sin(alpha * y) ** 2 / alpha
            weight, bias = (w[f"{name}.convs{half}.{i}.{part}"] for part in ("weight", "bias"))
            y = F.conv1d(y, weight, bias, dilation=spread, padding=(weight.shape[2] - 1) * spread // 2)
        x = x + y
    return x


def decode(
    w: Mapping[str, Tensor],
    c: KokoroConfig,
    text: Tensor,
    f0_hz: Tensor,
    energy: Tensor,
    style: Tensor,
    excitation: Tensor,
) -> Tensor:
    """Samples from text features `[T, hidden]`, contours `[2 T]` and the source's spectrum `[120 T + 1, 22]`."""

    def conv(name: str, x: Tensor, **arguments: int) -> Tensor:
        return F.conv1d(x, w[f"decoder.{name}.weight"], w[f"decoder.{name}.bias"], **arguments)

    f0 = conv("F0_conv", f0_hz[None, None], stride=2, padding=1)
    n = conv("N_conv", energy[None, None], stride=2, padding=1)
    asr = text.t()[None]
    x = style_block(w, "decoder.encode", torch.cat([asr, f0, n], dim=1), style)
    for i in range(4):
        x = torch.cat([x, conv("asr_res.0", asr), f0, n], dim=1)
        x = style_block(w, f"decoder.decode.{i}", x, style)
    for i, rate in enumerate(c.up_rates):
        last = i == len(c.up_rates) - 1
        stride = 1 if last else c.up_rates[i + 1]
        noise = conv(f"generator.noise_convs.{i}", excitation.t()[None], stride=stride, padding=stride // 2)
        noise = snake_block(w, f"decoder.generator.noise_res.{i}", noise, style, c.dilations)
        up = w[f"decoder.generator.ups.{i}.weight"], w[f"decoder.generator.ups.{i}.bias"]
        x = F.conv_transpose1d(F.leaky_relu(x, 0.1), *up, stride=rate, padding=rate // 2)
        x = (F.pad(x, (1, 0), mode="reflect") if last else x) + noise
        names = [f"decoder.generator.resblocks.{i * 3 + j}" for j in range(3)]
        x = torch.stack([snake_block(w, name, x, style, c.dilations) for name in names]).mean(dim=0)
    bins = conv("generator.conv_post", F.leaky_relu(x, 0.01), padding=3)
    magnitude, phase = bins[:, : c.num_bins].exp(), bins[:, c.num_bins :].sin()
    window = torch.hann_window(c.fft_size, dtype=x.dtype)
    return torch.istft(torch.polar(magnitude, phase), c.fft_size, c.hop_size, window=window)[0]
