"""How long a text will be when it is spoken, guessed before anything speaks: what turns and waits are counted in."""

from __future__ import annotations

from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.language.script import has_han
from voice_sculptor.language.syllables import count_syllables
from voice_sculptor.targets import usual_rate

_READ_CHARS = 1000
"""Read closely; the rest of a longer text is taken to be like it. Reading takes 4 µs a character."""
_PAUSES = 1.15
"""Time with pauses over time without."""
_LEAST_S = 0.5


def predicted_s(request: SynthesisRequest) -> float:
    """Seconds of audio that one candidate will have.

    Args:
        request: Its text, language and speed count.
    """
    text = request.text
    read = text[:_READ_CHARS]
    syllables = count_syllables(read, request.language) * len(text) / max(1, len(read))
    rate = usual_rate("zh" if has_han(read) else "en") * (request.controls.speed or 1.0)
    return max(_LEAST_S, _PAUSES * syllables / rate)
