"""The decoder of the original layout in plain torch operations, to hold the name map and the modules to."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

HOP, NUM_FFT, HEAD_DIM = 320, 1280, 64


def decode(w: Mapping[str, Tensor], codes: Tensor) -> Tensor:
    """One clip's codes `[num_frames]` to samples `[320 * num_frames]`."""
    digits = codes[:, None] // 4 ** torch.arange(8) % 4
    x = F.linear((digits - 2) / 2, *_pair(w, "generator.quantizer.project_out"))
    x = F.linear(x, *_pair(w, "fc_post_a")).T[None]
    back = "generator.backbone"
    x = F.conv1d(x, *_pair(w, f"{back}.embed"), padding=3)
    for number in range(2):
        x = _residual(w, f"{back}.prior_net.{number}", x)
    frames = x[0].T
    number = 0
    while f"{back}.transformers.{number}.att_norm.weight" in w:
        frames = _layer(w, f"{back}.transformers.{number}", frames)
        number += 1
    x = frames.T[None]
    for number in range(2):
        x = _residual(w, f"{back}.post_net.{number}", x)
    frames = F.layer_norm(x[0].T, x.shape[1:2], *_pair(w, f"{back}.final_layer_norm"), eps=1e-6)
    magnitude, phase = F.linear(frames, *_pair(w, "generator.head.out")).chunk(2, dim=-1)
    spectrum = magnitude.exp().clamp(max=100) * torch.exp(1j * phase)
    return _overlap(torch.fft.irfft(spectrum, NUM_FFT))


def _pair(w: Mapping[str, Tensor], name: str) -> tuple[Tensor, Tensor]:
    return w[f"{name}.weight"], w[f"{name}.bias"]


def _residual(w: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    y = x
    for number in (1, 2):
        y = F.silu(F.group_norm(y, 32, *_pair(w, f"{name}.norm{number}"), eps=1e-6))
        y = F.conv1d(y, *_pair(w, f"{name}.conv{number}"), padding=1)
    return x + y


def _layer(w: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    normed = F.rms_norm(x, x.shape[1:], w[f"{name}.att_norm.weight"], 1e-6)
    q, k, v = (normed @ w[f"{name}.att.c_attn.weight"].T).unflatten(1, (3, -1, HEAD_DIM)).unbind(1)
    heads = []
    for head in range(q.shape[1]):
        scores = _turn(q[:, head], head) @ _turn(k[:, head], head).T / HEAD_DIM**0.5
        heads.append(scores.softmax(-1) @ v[:, head])
    x = x + torch.cat(heads, 1) @ w[f"{name}.att.c_proj.weight"].T
    normed = F.rms_norm(x, x.shape[1:], w[f"{name}.ffn_norm.weight"], 1e-6)
    return x + F.silu(normed @ w[f"{name}.mlp.fc1.weight"].T) @ w[f"{name}.mlp.fc2.weight"].T


def _turn(x: Tensor, position: int) -> Tensor:
    """Rotation of neighbouring pairs; the position is the head's number, as published."""
    angle = position * 10_000 ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    return torch.view_as_real(torch.view_as_complex(x.unflatten(1, (-1, 2))) * torch.exp(1j * angle)).flatten(
        1
    )


def _overlap(frames: Tensor) -> Tensor:
    window = torch.hann_window(NUM_FFT)
    total = torch.zeros((len(frames) - 1) * HOP + NUM_FFT)
    weight = torch.zeros_like(total)
    for number, frame in enumerate(frames):
        place = slice(number * HOP, number * HOP + NUM_FFT)
        total[place] += frame * window
        weight[place] += window**2
    edge = (NUM_FFT - HOP) // 2
    return total[edge:-edge] / weight[edge:-edge]
