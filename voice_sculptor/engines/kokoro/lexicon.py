"""The pronouncing dictionary of English, American and British."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

Entry = str | Mapping[str, str | None]
"""One pronunciation, or several by use: `DEFAULT`, `NOUN`, `VERB`, `ADJ`, `VBD`, `None` (at the end of a phrase) …"""


class Lexicon:
    """Pronunciations by spelling.

    The data is the gold and silver lexicon of misaki (Apache-2.0), packed by `build_lexicon`.

    Args:
        british: British instead of American English.
    """

    def __init__(self, *, british: bool) -> None:
        self.british = british
        packed = files(__package__).joinpath(f"lexicon_{'gb' if british else 'us'}.tsv.xz").read_bytes()
        lines = lzma.decompress(packed).decode().split("\n")
        self._entries: dict[str, str] = dict(line.split("\t", 1) for line in lines)

    def spellings(self) -> tuple[str, ...]:
        """Every spelling listed."""
        return tuple(self._entries)

    def get(self, spelling: str) -> Entry | None:
        """The entry of exactly this spelling."""
        raw = self._entries.get(spelling)
        if raw is None or "=" not in raw:
            return raw
        return {use: symbols or None for use, _, symbols in (part.partition("=") for part in raw.split(" "))}

    def find(self, word: str) -> Entry | None:
        """The entry of a word, whatever case it is listed in."""
        for spelling in (word, word.lower(), word.capitalize()):
            entry = self.get(spelling)
            if entry is not None:
                return entry
        return None


@lru_cache(maxsize=2)
def lexicon(*, british: bool) -> Lexicon:
    """The lexicon of an accent, read once; takes about 0.2 s."""
    return Lexicon(british=british)
