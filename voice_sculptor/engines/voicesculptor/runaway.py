"""What a speech model of this kind sometimes makes in place of speech, and what is therefore never delivered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from voice_sculptor.language.syllables import count_syllables

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TOKENS_PER_S = 50.0
_FASTEST_SYLLABLES_PER_S = 14.0
_SLOWEST_SYLLABLES_PER_S = 0.9
_ALLOWANCE_S = 4.0
_STUCK_S = 2.0
_SILENT_RMS = 10 ** (-60 / 20)

Fault = tuple[str, str]
"""What is wrong, in English and Chinese."""


def fault_of_tokens(tokens: Sequence[int], text: str, has_ended: bool) -> Fault | None:
    """What is wrong with the speech tokens of a text, or nothing.

    The bounds are wide: 14 syllables a second is beyond the fastest speech, 0.9 with four seconds more beyond the
    slowest with its pauses.
    """
    if not has_ended:
        return "it did not come to an end", "没有结束"
    num_syllables, duration_s = count_syllables(text), len(tokens) / _TOKENS_PER_S
    if duration_s < num_syllables / _FASTEST_SYLLABLES_PER_S:
        return f"it is over after {duration_s:.1f} s", f"只持续了 {duration_s:.1f} 秒"
    if duration_s > num_syllables / _SLOWEST_SYLLABLES_PER_S + _ALLOWANCE_S:
        return f"it takes {duration_s:.1f} s", f"长达 {duration_s:.1f} 秒"
    if max(sum(1 for _ in run) for _, run in groupby(tokens)) > _STUCK_S * _TOKENS_PER_S:
        return "it repeats one sound", "一直重复同一个音"
    return None


def fault_of_audio(samples: NDArray[np.float32]) -> Fault | None:
    """What is wrong with decoded audio, float32 `[num_samples]`, or nothing."""
    import numpy as np

    is_silent = float(np.sqrt(np.mean(np.square(samples)))) < _SILENT_RMS
    return ("it is silent", "没有声音") if is_silent else None
