"""Names of kept voices: what people write, made fit to be shown and told apart."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Iterable
from itertools import count

from voice_sculptor.errors import InvalidRequest

MAX_NAME_CHARS = 80

# What turns the direction of text would let one name look like another; joiners hold emoji and scripts together.
_TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u200b")


def cleaned(name: str) -> str:
    """A name without control characters and doubled blanks, composed (NFC); may be empty."""
    kept = (
        " " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char
        for char in name
        if char not in _TURNING and unicodedata.category(char) != "Cs"
    )
    return " ".join(unicodedata.normalize("NFC", "".join(kept)).split())


def checked(name: str) -> str:
    """The cleaned name.

    Raises:
        InvalidRequest: Nothing is left of it, or it is too long.
    """
    clean = cleaned(name)
    if not clean:
        raise InvalidRequest(
            "A kept voice needs a name.",
            "保存的声音需要一个名字。",
            fix_en="Write at least one letter or character.",
            fix_zh="请至少写一个字。",
        )
    if len(clean) > MAX_NAME_CHARS:
        raise InvalidRequest(
            f"The name has {len(clean):,} characters; at most {MAX_NAME_CHARS} are kept.",
            f"名字有 {len(clean):,} 个字符，最多 {MAX_NAME_CHARS} 个。",
            fix_en="Choose a shorter one.",
            fix_zh="请换一个短一些的名字。",
        )
    return clean


def folded(name: str) -> str:
    """What tells names apart: not case, nor full or half width."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cleaned(name)).casefold())


def free_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name itself, or with a number behind it: `name (2)`.

    Args:
        name: A checked one.
        is_taken: Told a folded name.
    """
    for number in count(1):
        numbered = name if number == 1 else f"{name} ({number})"
        if not is_taken(folded(numbered)):
            break
    return numbered


def near(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Names that look like the one that was asked for, nearest first."""
    by_key = {folded(each): each for each in names}
    return [by_key[key] for key in difflib.get_close_matches(folded(name), by_key, n=most, cutoff=0.4)]
