"""English words that are spelled alike and said differently: which one is meant, from the words around."""

from __future__ import annotations

import re
from typing import NamedTuple

from voice_sculptor.engines.kokoro.lexicon import Entry


class Context(NamedTuple):
    """What the words around tell of a word.

    Attributes:
        before: The word before in lower case, empty at the start of a phrase.
        after: The word after in lower case, empty at the end of a phrase.
        around: Some words before and after in lower case, the word itself in `<>`.
        vowel_next: Whether the next sound is a vowel; `None` at the end of a phrase.
        shouting: Whether the passage is written in capitals.
    """

    before: str
    after: str
    around: str
    vowel_next: bool | None
    shouting: bool


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_BEFORE_VERB = _words(
    "to will would can could should must may might shall do does did don't doesn't didn't won't can't couldn't",
    "wouldn't shouldn't cannot i you we they i'll you'll we'll they'll he'll she'll i'd you'd we'd they'd let's",
    "please and never always often who that help not just",
)
_BEFORE_NOUN = _words(
    "the a an this these those my your his her its our their of in on for with no any some every each new old",
    "first last good bad great best one two three another other same next own by from at world's",
)
_AFTER_VERB = _words(
    "the a an my your his her its our their this that these those it them me us him you in at with on to"
)
_AFTER_NOUN = _words("of is was are were")
_BE = _words("is are was were be been being am so very too more most how")
_HAVE = _words(
    "have has had having was were been be is are i've you've we've they've he's she's already ever"
)
_PAST = re.compile(r"\b(?:yesterday|ago|last (?:night|week|month|year|time)|once|earlier)\b")

# Senses that the lexicon lacks: metal, fish and the like.
_OTHER_SENSES = {
    "lead": (
        r"\b(?:of|contains?|contained|from|like|heavy as) <lead>|"
        r"<lead> (?:pipes?|paint|poisoning|acid|weights?|bullets?|metal)\b",
        "lˈɛd",
    ),
    "bass": (r"\b(?:fish\w*|caught|sea|largemouth|striped)\b.*<bass>|<bass> (?:fish|fishing)\b", "bˈæs"),
    "wound": (r"<wound> (?:up|down|around|through|the (?:clock|thread|rope|string|bandage))\b", "wˈWnd"),
    "tear": (
        r"\b(?:to|will|would|can|could|don't|wear and) <tear>|<tear> (?:it|up|down|apart|off|out|the|this|that)\b",
        "tˈɛɹ",
    ),
    "row": (r"\b(?:having|had|blazing) a <row>", "ɹˈW"),
    "dove": (r"\b(?:he|she|they|we|i|it) <dove>|<dove> (?:into|in|down|under|off)\b", "dˈOv"),
}


def choose(word: str, entry: Entry, context: Context) -> str:
    """Symbols of the reading of `entry` that fits.

    Args:
        word: In lower case.
        entry: Its lexicon entry.
        context: The words around it.
    """
    pattern, symbols = _OTHER_SENSES.get(word, ("", ""))
    if pattern and re.search(pattern, context.around):
        return symbols
    if isinstance(entry, str):
        return entry
    default = entry["DEFAULT"] or ""
    uses = ("None",) if context.vowel_next is None and "None" in entry else _uses(word, context)
    return next((entry[use] or default for use in uses if use in entry), default)


def _uses(word: str, context: Context) -> tuple[str, ...]:
    before, after = context.before, context.after
    if word == "read":
        past = before in _HAVE or before in ("he", "she", "it") or _PAST.search(context.around)
        return ("VBD", "VBN") if past and before not in ("to", "will", "can", "be") else ()
    if word == "that":
        return ("DT",) if after and after not in _BEFORE_NOUN and before in _BE | _BEFORE_NOUN | {""} else ()
    if before in _BEFORE_NOUN:
        return ("NOUN", "ADJ")
    if before in _BE:
        return ("ADJ",)
    if before in _BEFORE_VERB or (after in _AFTER_VERB and not before.endswith("s")):
        return ("VERB",)
    return ("NOUN",) if not after or after in _AFTER_NOUN else ()
