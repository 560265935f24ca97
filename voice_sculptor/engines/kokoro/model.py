"""Kokoro-82M with its stages in the open: encode, contours, source, decode."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from voice_sculptor.engines.kokoro.blocks import Check
from voice_sculptor.engines.kokoro.checkpoint import load_state
from voice_sculptor.engines.kokoro.decoder import Decoder
from voice_sculptor.engines.kokoro.layout import KokoroConfig
from voice_sculptor.engines.kokoro.source import Source
from voice_sculptor.engines.kokoro.text import Encoded, Features, TextModel


class KokoroModel:
    """The acoustic model: phonemes and a style to 24 kHz speech.

    Between the stages durations, F0 and energy are plain tensors to edit. A style is `[256]` float32: the
    first half is timbre (decoder), the second prosody (durations, F0, energy).

    Args:
        weights: Names and shapes of `layout.weight_shapes`, float32. The dict is emptied, so that memory does
            not hold the decoder twice.
        device: Where to compute.
        dtype: Type of the decoder's convolutions; by default the fastest that `device` has natively.
        config: Sizes.
    """

    sample_rate = 24000

    def __init__(
        self,
        weights: dict[str, Tensor],
        device: torch.device,
        dtype: torch.dtype | None = None,
        config: KokoroConfig | None = None,
    ) -> None:
        self.config = config or KokoroConfig()
        self.device = device
        self.dtype = dtype or native_dtype(device)
        with torch.inference_mode():
            on_device = {name: weights.pop(name).to(device) for name in list(weights)}
            self._source = Source(on_device, self.config, self.sample_rate)
            self._decoder = Decoder(on_device, self.config, self.dtype)
            for name in [name for name in on_device if name.startswith("decoder.")]:
                del on_device[name]
            self._text = TextModel(on_device, self.config)

    @classmethod
    def load(cls, path: Path, device: torch.device, dtype: torch.dtype | None = None) -> KokoroModel:
        """Reads a checkpoint, see `load_state` for what it may be and what is raised."""
        return cls(load_state(path), device, dtype)

    @torch.inference_mode()
    def read(self, token_ids: Tensor) -> Features:
        """Reads phonemes `[L]` int64, 0 at both ends, `L <= 512`: the part of `encode` without a style."""
        return self._text.read(token_ids.to(self.device))

    @torch.inference_mode()
    def encode(self, text: Tensor | Features, style: Tensor) -> Encoded:
        """Reads phonemes in a style.

        Args:
            text: `[L]` int64, 0 at both ends, `L <= 512`; or what `read` made of it, for one style after another.
            style: `[256]` float32.
        """
        features = text if isinstance(text, Features) else self.read(text)
        return self._text.encode(features, self._prosody(style))

    @torch.inference_mode()
    def contours(self, encoded: Encoded, durations: Tensor, style: Tensor) -> tuple[Tensor, Tensor]:
        """Predicts F0 in Hz and energy, both `[2 T]` at 80 Hz.

        Args:
            encoded: From `encode`.
            durations: `[L]` int64, frames of 25 ms, at least one each; `T` is their sum.
            style: `[256]` float32.
        """
        return self._text.predict_contours(encoded, durations.to(self.device), self._prosody(style))

    @torch.inference_mode()
    def source(
        self,
        f0_hz: Tensor,
        *,
        generator: torch.Generator | None = None,
        noise: bool = True,
        breath: float = 0.0,
        roughness: float = 0.0,
    ) -> Tensor:
        """Makes the excitation, `[300 N]` samples for `[N]` F0 values in Hz; 10 Hz and below is unvoiced.

        Args:
            f0_hz: `[N]` float32.
            generator: Where the noise comes from; torch's default if not given.
            noise: Whether there is any; the ONNX export has none.
            breath: Level of noise added where voiced; the harmonics' own is 0.1.
            roughness: 0 as the model speaks … 1 very hoarse.
        """
        return self._source(f0_hz.to(self.device), generator, noise, breath, roughness)

    @torch.inference_mode()
    def excitation(self, source: Tensor) -> Tensor:
        """What the decoder hears of a source `[600 T]`: magnitudes and phases, `[120 T + 1, 22]`."""
        return self._decoder.spectrum.analyse(source.to(self.device))

    @torch.inference_mode()
    def decode(
        self,
        encoded: Encoded,
        durations: Tensor,
        f0_hz: Tensor,
        energy: Tensor,
        style: Tensor,
        source: Tensor | torch.Generator,
        check: Check | None = None,
    ) -> Tensor:
        """Speaks.

        Args:
            encoded: From `encode`.
            durations: `[L]` int64, as given to `contours`.
            f0_hz: `[2 T]` float32.
            energy: `[2 T]` float32.
            style: `[256]` float32.
            source: From `source`, `[600 T]`; or a generator to make it from `f0_hz`.
            check: Called between blocks; what it raises ends the synthesis.

        Returns:
            `[600 T]` float32 samples on the CPU, not limited to +-1.
        """
        f0_hz, energy = f0_hz.to(self.device), energy.to(self.device)
        if isinstance(source, torch.Generator):
            source = self._source(f0_hz, source, noise=True)
        text = encoded.text.repeat_interleave(durations.to(self.device), dim=0)
        timbre = style[: self.config.style_size].to(self.device)
        samples = self._decoder(text, f0_hz, energy, timbre, source.to(self.device), check or _go_on)
        return samples.cpu()

    def _prosody(self, style: Tensor) -> Tensor:
        return style[self.config.style_size :].to(self.device)


def native_dtype(device: torch.device) -> torch.dtype:
    """The fastest type for convolutions that `device` has in hardware."""
    if device.type == "cuda":
        return torch.float16
    if device.type == "cpu" and (torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()):
        return torch.bfloat16
    return torch.float32


def _go_on() -> None:
    pass
