"""The excitation: harmonics of F0 and noise (neural source-filter, arXiv 1904.12088)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from voice_sculptor.engines.kokoro.layout import KokoroConfig
from voice_sculptor.engines.kokoro.norms import Weights

_HARMONIC_LEVEL = 0.1
_VOICED_NOISE_LEVEL = 0.003
_UNVOICED_NOISE_LEVEL = _HARMONIC_LEVEL / 3
_VOICED_ABOVE_HZ = 10.0
_ROUGH_DEPTH = 0.7
_ROUGH_JITTER_ST = 1.0


class Source:
    """Sines at the multiples of F0 where voiced, noise where not, mixed to one signal."""

    def __init__(self, weights: Weights, config: KokoroConfig, sample_rate: int) -> None:
        name = "decoder.generator.m_source.l_linear"
        self.weight = weights[f"{name}.weight"][0]
        self.bias = weights[f"{name}.bias"]
        self.samples_per_f0 = config.samples_per_f0
        self.sample_rate = sample_rate

    def __call__(
        self,
        f0_hz: Tensor,
        generator: torch.Generator | None,
        noise: bool,
        breath: float = 0.0,
        roughness: float = 0.0,
    ) -> Tensor:
        """Excites `[N]` F0 values in Hz to `[N * samples_per_f0]` samples.

        Roughness is what a hoarse larynx does: periods of uneven length (jitter) and every other one weaker
        (Titze 1994, *Principles of Voice Production*, ch. 10).
        """
        hop, num = self.samples_per_f0, self.weight.shape[0]
        if roughness > 0.0:
            jitter_st = torch.randn(f0_hz.shape, generator=generator, device=f0_hz.device)
            f0_hz = f0_hz * torch.exp2(jitter_st * (_ROUGH_JITTER_ST / 12.0 * roughness))
        f0 = f0_hz.double()
        multiples = torch.arange(1, num + 1, device=f0.device, dtype=f0.dtype)
        # Phase in cycles, exact at the middle of each F0 frame and linear between. Every harmonic is
        # wrapped on its own, as in the original: it matters where an unvoiced F0 is below zero.
        phase = (f0[:, None] * multiples / self.sample_rate).remainder(1.0).cumsum(0) * hop
        position = (torch.arange(len(f0) * hop, device=f0.device, dtype=f0.dtype) + 0.5) / hop - 0.5
        position.clamp_(0, len(f0) - 1)
        left = position.long().clamp_(max=max(len(f0) - 2, 0))
        right = (left + 1).clamp_(max=len(f0) - 1)
        cycles = torch.lerp(phase[left], phase[right], (position - left)[:, None])
        sines = torch.sin(cycles.remainder_(1.0).float() * (2 * math.pi))
        voiced = (f0_hz > _VOICED_ABOVE_HZ).float().repeat_interleave(hop)
        mixed = sines.mv(self.weight * _HARMONIC_LEVEL) * voiced
        if roughness > 0.0:
            fundamental = (f0.clamp(min=0.0) / self.sample_rate).repeat_interleave(hop).cumsum(0)
            every_other = 0.5 + 0.5 * torch.cos(math.pi * fundamental.remainder(2.0)).float()
            mixed *= 1.0 - _ROUGH_DEPTH * roughness * every_other
        if noise:
            # The original adds noise to each harmonic; its weighted sum is one noise of this level.
            voiced_level = _VOICED_NOISE_LEVEL + breath
            level = voiced * (voiced_level - _UNVOICED_NOISE_LEVEL) + _UNVOICED_NOISE_LEVEL
            white = torch.randn(mixed.shape, generator=generator, device=mixed.device)
            mixed += white * level * self.weight.norm()
        return torch.tanh(mixed + self.bias)
