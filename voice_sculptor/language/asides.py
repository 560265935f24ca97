"""Who in a clause is not the speaker: those spoken to ("to a child"), told of ("about angry gods"), and places.

An *aside* begins at a word such as "to" or 给 and runs to the end of the clause, or to a word that leads back to
the voice: "as", "in a … voice", 用. A Chinese one ends sooner, at its verb: "给孩子讲故事的爷爷" is a grandfather.
"""

from __future__ import annotations

from typing import NamedTuple

from voice_sculptor.language.lexicon import Attribute, Value
from voice_sculptor.language.tokens import Token

_PERSON = ("age", "gender")
_OPENERS = ("listener", "addressee", "audience", "topic")
_TALKING = ("说话", "讲话", "to sound")
_MAX_GAP = 3
"""Unknown words that may stand between the word that begins an aside and whoever is meant."""


class Aside(NamedTuple):
    """Where a token stands that may belong to somebody else.

    Attributes:
        kind: Word that began the aside: `listener` (给), `addressee` (to), `audience` (for), `topic` (about),
            `place` (in), or `work` before a word such as 的故事.
        is_near: Whether no unknown word stands between that word and the token.
        follows: What comes right after: `noun`, `voice`, `work` or nothing.
    """

    kind: str
    is_near: bool
    follows: str

    def hides(self, control: str, rank: int) -> bool:
        """Whether a finding is not about the speaker.

        Args:
            control: Of the finding.
            rank: Of the finding.
        """
        is_person, before_noun = control in _PERSON, self.follows == "noun"
        if self.follows == "voice":
            return False
        if self.kind == "work":
            return rank < 3 and (is_person or control == "emotion")
        if self.kind == "place":
            return control == "age" and rank == 2 and self.is_near and before_noun
        if self.kind == "audience":
            return is_person and rank <= 1
        if rank == 0:
            return self.is_near and self.kind != "topic"
        if is_person:
            return rank == 1 or self.is_near or before_noun
        if self.kind == "topic":
            return rank < 3 and (before_noun or (self.is_near and control == "emotion"))
        return self.is_near and (rank == 1 or (rank == 2 and control == "emotion" and before_noun))


def find_asides(clause: list[Token]) -> list[Aside | None]:
    """The aside each token of a clause stands in, if any."""
    follows = _follows(clause)
    last_attribute = max((at for at, token in enumerate(clause) if token.kind == "attribute"), default=-1)
    is_casting = any(token.kind == "casting" for token in clause)
    asides: list[Aside | None] = []
    kind, gap, met = "", 0, ""
    for at, token in enumerate(clause):
        if token.kind in _OPENERS:
            if kind != "topic":
                kind, gap, met = token.kind, 0, ""
                if kind == "listener" and is_casting:
                    kind = ""  # "给老爷爷的角色配音" says whose voice it is.
                elif kind == "addressee" and at + 1 < len(clause) and clause[at + 1].kind == "other":
                    kind = "audience"  # Perhaps a verb: "to convey the wisdom of a 70-year-old".
        elif token.kind == "closer" or (token.kind == "joiner" and token.text.isascii()):
            kind = ""
        elif token.kind == "place":
            if not kind or at < last_attribute:
                kind, gap, met = "place", 0, ""
        elif kind == "listener" and met and not _continues(token, met):
            kind = ""
        elif token.kind == "other":
            gap += 1
            if gap > _MAX_GAP and kind != "topic" and not met:
                kind = ""
        here = "work" if follows[at] == "work" else kind
        asides.append(Aside(here, gap == 0, follows[at]) if here else None)
        if token.kind in ("value", "level", "exact", "someone"):
            is_quality = not isinstance(token.meaning, Value) or token.meaning.rank != 1
            met = "quality" if is_quality and token.kind != "someone" else "person"
            kind = "" if kind == "audience" and not _is_pronoun(token) else kind
    return asides


def _follows(clause: list[Token]) -> list[str]:
    """What comes after each token, past words that may stand before a noun."""
    follows, here = [], ""
    for token in reversed(clause):
        is_adverb = (
            token.text.endswith("ly") and isinstance(token.meaning, Value) and "emotion" in token.meaning.set
        )
        follows.append("" if is_adverb else here)
        if isinstance(token.meaning, Attribute) and token.meaning.control == "voice":
            here = "" if token.text in _TALKING else "voice"
        elif token.kind in ("other", "someone") or _is_person(token):
            here = here if here in ("voice", "work") else "noun"
        elif token.kind == "work":
            here = "work"
        elif (token.kind == "joiner" and token.text.isascii()) or token.kind not in (
            "joiner",
            "link",
            "quality",
            "value",
            "level",
            "exact",
        ):
            here = ""
    return follows[::-1]


def _continues(token: Token, met: str) -> bool:
    """Whether a token still belongs to the listener of whom a person or a quality has been named."""
    if isinstance(token.meaning, Value):
        return _is_person(token) or (met == "quality" and "emotion" in token.meaning.set)
    if token.kind == "joiner":
        return met == "quality"
    return token.kind in ("link", "before", "negation", "exact")


def _is_person(token: Token) -> bool:
    meaning = token.meaning
    return isinstance(meaning, Value) and meaning.rank > 0 and any(name in meaning.set for name in _PERSON)


def _is_pronoun(token: Token) -> bool:
    return isinstance(token.meaning, Value) and token.meaning.rank == 0
