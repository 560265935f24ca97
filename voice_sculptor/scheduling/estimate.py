"""How much memory a request will take: what its engine states, corrected by what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import EngineInfo
from voice_sculptor.scheduling.length import predicted_s

_LEARNING = 0.2
_LEAST_RATIO, _MOST_RATIO = 0.25, 4.0
"""What was measured holds other things, too: it corrects what is stated, and does not replace it."""


class Estimate:
    """Device memory of requests on one engine.

    Args:
        info: What the engine states.

    Attributes:
        ratio: What was measured over what was stated, a moving average; 1 until something was.
    """

    def __init__(self, info: EngineInfo) -> None:
        self._info = info
        self.ratio = 1.0

    def needed_bytes(self, request: SynthesisRequest) -> int:
        """Memory that the request takes beside the weights, alone and one candidate at a time."""
        return round(self._stated_bytes(request) * self.ratio)

    def learn(self, batch: Sequence[SynthesisRequest], measured_bytes: int) -> None:
        """What these took together beside the weights."""
        stated_bytes = sum(map(self._stated_bytes, batch))
        if stated_bytes > 0.0:
            ratio = min(_MOST_RATIO, max(_LEAST_RATIO, measured_bytes / stated_bytes))
            self.ratio += _LEARNING * (ratio - self.ratio)

    def _stated_bytes(self, request: SynthesisRequest) -> float:
        info = self._info
        if not info.bytes_per_token and not info.bytes_per_audio_s:
            return 0.0
        audio_s = predicted_s(request)
        piece_s = min(audio_s, info.max_piece_s)
        read_chars = len(request.description) + len(request.text) * piece_s / audio_s
        tokens = piece_s * info.codec_frame_rate + read_chars
        return tokens * info.bytes_per_token + piece_s * info.bytes_per_audio_s
