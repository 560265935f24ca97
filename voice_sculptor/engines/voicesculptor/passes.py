"""A text as the pieces that the model speaks in one go."""

from __future__ import annotations

from voice_sculptor.language.splitting import cut, sentence_ends
from voice_sculptor.language.text import normalize

MAX_CHARS = 200
"""The longest text that the model was trained on."""
OPENING_CHARS = 80
"""Of a longer text, the first piece: every later one is spoken as its continuation, and shares the bound with it."""
_LEAST_CHARS = 60


def passes(text: str, num_chars_before: int = 0) -> list[str]:
    """Cut a text at sentences, and only then at clauses, words and anywhere.

    Args:
        text: As the user wrote it; numbers and signs are written out.
        num_chars_before: Length of the text that each piece continues; 0 for a new voice.
    """
    spoken = " ".join(normalize(text).spoken.split())
    limit = max(_LEAST_CHARS, MAX_CHARS - num_chars_before)
    if len(spoken) <= limit:
        return [spoken]
    if num_chars_before:
        return _filled(spoken, limit)
    opening = _filled(spoken, OPENING_CHARS)[0]
    return [opening, *_filled(spoken[len(opening) :].strip(), max(_LEAST_CHARS, MAX_CHARS - len(opening)))]


def _filled(text: str, limit: int) -> list[str]:
    pieces: list[str] = []
    ends = list(sentence_ends(text))
    for start, end in zip([0, *ends], ends, strict=False):
        for piece in cut(text[start:end].strip(), len, limit) if text[start:end].strip() else ():
            if pieces and len(pieces[-1]) + 1 + len(piece) <= limit:
                gap = "" if ord(pieces[-1][-1]) > 0x2E80 else " "
                pieces[-1] += gap + piece
            else:
                pieces.append(piece)
    return pieces
