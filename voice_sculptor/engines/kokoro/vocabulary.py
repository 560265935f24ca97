"""The 114 symbols that Kokoro v1.0 was trained on, and their numbers."""

from __future__ import annotations

from collections.abc import Iterable

# Symbol table of the model card (hexgrad/Kokoro-82M, config.json, Apache-2.0): runs of consecutive numbers.
_RUNS = {
    1: ";:,.!?",
    9: '—…"()“” \u0303ʣʥʦʨᵝꭧAI',
    31: "O",
    33: "Q",
    35: "ST",
    39: "W",
    41: "Yᵊabcdef",
    50: "hijklmnopqrstuvwxyzɑɐɒæ",
    75: "βɔɕç",
    80: "ɖðʤə",
    85: "ɚɛɜ",
    90: "ɟ",
    92: "ɡ",
    99: "ɥ",
    101: "ɨɪʝ",
    110: "ɯɰŋɳɲɴø",
    118: "ɸθœ",
    123: "ɹ",
    125: "ɾɻ",
    128: "ʁɽʂʃʈʧ",
    135: "ʊʋ",
    138: "ʌɣɤ",
    142: "χʎ",
    147: "ʒʔ",
    156: "ˈˌː",
    162: "ʰ",
    164: "ʲ",
    169: "↓",
    171: "→↗↘",
    177: "ᵻ",
}

PADDING_ID = 0
"""Stands at both ends of every input."""

SYMBOL_IDS = {symbol: start + i for start, symbols in _RUNS.items() for i, symbol in enumerate(symbols)}
"""Number of each symbol, 1 … 177."""

PUNCTUATION = frozenset(';:,.!?—…"()“”')
"""Symbols that make no sound of their own but shape pauses and intonation."""

VOWELS = frozenset("AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻɐ")
"""Symbols of English vowels."""

MARKS = (
    dict(zip("，、。．！？：；（）·", ",,..!?:;() ", strict=True))
    | dict.fromkeys("《〈「『【", "“")
    | dict.fromkeys("》〉」』】", "”")
)
"""Chinese punctuation as the symbols nearest to it."""

MAX_PHONEMES = 510
"""Most symbols the model takes at a time, without the padding."""


def to_ids(phonemes: Iterable[str]) -> tuple[int, ...]:
    """Token ids, `PADDING_ID` at both ends; symbols outside the vocabulary are left out."""
    return (PADDING_ID, *(SYMBOL_IDS[symbol] for symbol in phonemes if symbol in SYMBOL_IDS), PADDING_ID)
