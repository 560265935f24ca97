"""Speech tokens to sound: the decoder of XCodec2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from voice_sculptor.engines.voicesculptor import codec_checkpoint
from voice_sculptor.engines.voicesculptor.codec_layout import Decoder
from voice_sculptor.errors import SynthesisFailed

Codes = Sequence[int] | NDArray[np.integer] | Tensor


class Codec:
    """Makes 16 kHz speech from codes, 50 a second.

    Attention and group norms see a whole clip, and attention knows no order in time. So a clip is decoded in one piece:
    parts of it, or it with padding behind, would sound different. And clips are decoded one by one: a batch of equal
    lengths, which sampled speech rarely has, saved 3 % of the time on a CPU and differed by up to 2e-6, where the same
    codes are to give the same bytes in any company. Memory is bounded by the longest clip.

    With random weights, against float32: float16 47 dB, bfloat16 29 dB. A CPU takes thirty times as long in either.

    Args:
        decoder: From `load_decoder`.
    """

    sample_rate = codec_checkpoint.SAMPLE_RATE
    hop = codec_checkpoint.HOP
    frame_rate = codec_checkpoint.SAMPLE_RATE / codec_checkpoint.HOP
    num_codes = codec_checkpoint.NUM_CODES

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._device = next(decoder.parameters()).device

    @classmethod
    def load(cls, folder: Path, device: str, dtype: torch.dtype, progress: Callable[[float], None]) -> Codec:
        """Loads the decoding half of a checkpoint; arguments and errors are those of `load_decoder`."""
        return cls(codec_checkpoint.load_decoder(folder, device, dtype, progress))

    @property
    def num_bytes(self) -> int:
        """Memory of the parameters, bytes."""
        return sum(parameter.nbytes for parameter in self._decoder.parameters())

    def decode(self, codes: Sequence[Codes]) -> list[NDArray[np.float32]]:
        """Makes the sound of whole clips.

        Args:
            codes: For each clip its codes, `[num_frames]` integers 0–65535.

        Returns:
            For each clip float32 `[320 * num_frames]`, within ±1.

        Raises:
            ValueError: A clip is empty, no row of integers, or has a code outside the range.
            SynthesisFailed: What came out is not numbers: too large for the dtype.
        """
        clips = [_checked(number, clip) for number, clip in enumerate(codes)]
        return [self._decode(clip) for clip in clips]

    @torch.inference_mode()
    def _decode(self, codes: NDArray[np.int64]) -> NDArray[np.float32]:
        samples: Tensor = self._decoder(torch.from_numpy(codes).to(self._device)[None])[0]
        if not samples.isfinite().all():
            raise SynthesisFailed(
                "The codec's output is not a number.",
                "编解码器的输出不是有效数值。",
                fix_en="Load it in another type: --dtype fp32.",
                fix_zh="请改用其他精度加载：--dtype fp32。",
            )
        result: NDArray[np.float32] = samples.clamp(-1, 1).cpu().numpy()
        return result


def _checked(number: int, clip: Codes) -> NDArray[np.int64]:
    codes = clip.cpu().numpy() if isinstance(clip, Tensor) else np.asarray(clip)
    if codes.ndim != 1 or codes.size == 0 or codes.dtype.kind not in "iu":
        raise ValueError(
            f"clip {number} is {codes.dtype} {list(codes.shape)}; one row of at least one integer is needed"
        )
    wrong = np.flatnonzero((codes < 0) | (codes >= Codec.num_codes))
    if wrong.size:
        raise ValueError(
            f"clip {number} has the code {codes[wrong[0]]} at index {wrong[0]}; codes are 0 to {Codec.num_codes - 1}"
        )
    return codes.astype(np.int64)
