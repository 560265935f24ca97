"""Short-time Fourier transform and its inverse as matrix products (20 samples every 5 are too few for an FFT)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


class Spectrum:
    """Transforms between samples and `[num_frames, num_bins]`, Hann window, frames centred.

    Args:
        fft_size: Samples of a frame, four times `hop_size`.
        hop_size: Samples between frames.
        device: Where to compute.
    """

    def __init__(self, fft_size: int, hop_size: int, device: torch.device) -> None:
        self.fft_size, self.hop_size = fft_size, hop_size
        num_bins = fft_size // 2 + 1
        n = torch.arange(fft_size, dtype=torch.float64)
        window = 0.5 - 0.5 * torch.cos(2 * math.pi * n / fft_size)
        # Angles are reduced to one turn in integers, so that DC and Nyquist have no imaginary part at all.
        turn = torch.outer(torch.arange(num_bins), torch.arange(fft_size)) % fft_size
        angle = turn.double() * (2 * math.pi / fft_size)
        cos, sin = torch.cos(angle), torch.sin(angle)
        sin[turn * 2 % fft_size == 0] = 0
        share = torch.full((num_bins, 1), 2.0 / fft_size, dtype=torch.float64)
        share[0] = share[-1] = 1.0 / fft_size
        self.forward_basis = (torch.cat([cos, -sin]) * window).float().to(device)
        self.inverse_basis = (torch.cat([cos, -sin]) * share.repeat(2, 1) * window).float().to(device)
        self.window_power = window.square().float().to(device)

    def analyse(self, samples: Tensor) -> Tensor:
        """Magnitudes and phases `[num_samples / hop + 1, 2 * num_bins]` of `[num_samples]`."""
        half = self.fft_size // 2
        padded = F.pad(samples[None], (half, half), mode="reflect")[0]
        real, imag = (padded.unfold(0, self.fft_size, self.hop_size) @ self.forward_basis.t()).chunk(2, dim=1)
        # + 0.0 turns a negative zero positive: the phase of a negative DC or Nyquist is +pi.
        return torch.cat([torch.hypot(real, imag), torch.atan2(imag + 0.0, real)], dim=1)

    def synthesise(self, magnitude: Tensor, phase: Tensor) -> Tensor:
        """Samples `[(num_frames - 1) * hop]` of magnitudes and phases, `[num_frames, num_bins]` each."""
        frames = torch.cat([magnitude * phase.cos(), magnitude * phase.sin()], dim=1) @ self.inverse_basis
        weight = self.window_power.expand(len(frames), -1)
        half = self.fft_size // 2
        return (self._overlap(frames) / self._overlap(weight).clamp_(min=1e-8))[half:-half]

    def _overlap(self, frames: Tensor) -> Tensor:
        """Adds `[T, fft]` frames up at their places: `[(T + 3) * hop]`."""
        num_parts = self.fft_size // self.hop_size
        parts = frames.view(len(frames), num_parts, self.hop_size)
        total = frames.new_zeros(len(frames) + num_parts - 1, self.hop_size)
        for i in range(num_parts):
            total[i : i + len(frames)] += parts[:, i]
        return total.view(-1)
