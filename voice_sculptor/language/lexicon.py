"""The words of voices: what each says, read once from `lexicon.yaml`, and longest-match lookup.

Text is a row of *units*: a word of an alphabetic script, one Chinese character, or one punctuation mark that
ends a clause. An entry of the lexicon is a row of units too, so "old" is never found in "bold", nor "man" in
"woman", and blanks and hyphens make no difference.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from voice_sculptor.controls import parse_control

_Controls = Literal["pitch", "pitch_variation", "volume", "speed"]
_Timbre = Literal["breathiness", "roughness", "brightness", "body", "nasality"]
_LevelName = _Controls | _Timbre
LEVEL_NAMES: tuple[str, ...] = get_args(_Controls) + get_args(_Timbre)
"""Controls and dimensions of timbre whose words are levels, −2 … +2, in the lexicon."""

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNIT = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:'[^\W_{_CJK}]+)*|[,.;:!?。、()\n]")
_CLAUSE_ENDS = frozenset(",.;!?。()\n")


class Unit(NamedTuple):
    """A word, a Chinese character or a punctuation mark, and where it stands in the normalised text."""

    text: str
    start: int
    end: int


def normalise(text: str) -> str:
    """`text` in compatibility form and lower case, with one kind of apostrophe."""
    return unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")


def split_units(text: str) -> list[Unit]:
    """The units of normalised text; a possessive `'s` is left off."""
    return [Unit(match[0].removesuffix("'s"), *match.span()) for match in _UNIT.finditer(text)]


def is_chinese(unit: str) -> bool:
    """Whether a unit is a Chinese character."""
    return re.fullmatch(f"[{_CJK}]", unit) is not None


def _read_settings(given: dict[str, Any]) -> dict[str, Any]:
    return {name: _read_setting(name, value) for name, value in given.items()}


def _read_setting(name: str, value: Any) -> Any:
    if name == "whisper" and value is True:
        return value
    if name not in LEVEL_NAMES:
        return parse_control(name, str(value))
    if not isinstance(value, int | float) or not -2 <= value <= 2:
        raise ValueError(f"{name}: {value!r} is not a level from -2 to 2")
    return float(value)


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


_WordList = Annotated[tuple[Annotated[str, Field(strict=True, min_length=1)], ...], Field(min_length=1)]


_Settings = Annotated[dict[str, Any], AfterValidator(_read_settings)]


class Value(_Entry):
    """Words that set controls or timbre by themselves; levels as −2 … +2, also for speed.

    Beside a level, a degree or a negation, one with an `of` is a word for that attribute: "气声较重".
    """

    kind: ClassVar[str] = "value"

    words: _WordList
    set: _Settings
    implies: _Settings = {}
    rank: Annotated[int, Field(ge=0, le=2)] = 2
    bare: bool = True
    of: _LevelName | None = None


class Level(_Entry):
    """A level, −2 … +2, of whichever attribute stands nearest."""

    kind: ClassVar[str] = "level"

    words: _WordList
    level: Annotated[float, Field(ge=-2, le=2)]
    alone: _LevelName | None = None
    voice: _LevelName | None = None
    intonation: _LevelName = "pitch_variation"
    bare: bool = True


class _Degrees(_Entry):
    factor: Annotated[float, Field(gt=0)]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Degree:
    """How much of the value after it (kind `before`) or before it (kind `after`): a factor."""

    kind: Literal["before", "after"]
    factor: float


@dataclass(frozen=True)
class Attribute:
    """A word for what a level is a level of: the name of a control or dimension, `voice` or `intonation`.

    With no level beside it, one that is a `presence` says that the thing is there: "带点鼻音".
    """

    kind: ClassVar[str] = "attribute"

    control: str
    presence: bool = False


MarkKind = Literal[
    "negation",
    "again",
    "limit",
    "break",
    "joiner",
    "link",
    "unsupported",
    "quality",
    "known",
    "listener",
    "addressee",
    "audience",
    "topic",
    "place",
    "closer",
    "casting",
    "work",
    "someone",
]
"""What a word with no value of its own does; the lists of `lexicon.yaml` say what each is."""
"""What a word with no value of its own does; the lists of `lexicon.yaml` say what each is."""


@dataclass(frozen=True)
class Mark:
    """A word with a part in the sentence but no value of its own."""

    kind: MarkKind


Meaning = Value | Level | Degree | Attribute | Mark


class _File(_Entry):
    values: tuple[Value, ...]
    levels: tuple[Level, ...]
    attributes: dict[_LevelName | Literal["voice", "intonation"], _WordList]
    presences: dict[_LevelName, _WordList]
    degrees: tuple[_Degrees, ...]
    marks: dict[MarkKind, tuple[_WordList, ...]]

    def meanings(self) -> Iterator[tuple[str, Meaning]]:
        """Every word with its meaning."""
        for value in self.values:
            yield from ((word, value) for word in value.words)
        for level in self.levels:
            yield from ((word, level) for word in level.words)
        for name, words in self.attributes.items():
            yield from ((word, Attribute(name)) for word in words)
        for name, words in self.presences.items():
            yield from ((word, Attribute(name, presence=True)) for word in words)
        for degree in self.degrees:
            yield from ((word, Degree("before", degree.factor)) for word in degree.before)
            yield from ((word, Degree("after", degree.factor)) for word in degree.after)
        for kind, groups in self.marks.items():
            yield from ((word, Mark(kind)) for words in groups for word in words)


class Lexicon:
    """Longest-match lookup of the words of voices.

    Args:
        source: YAML text in the layout of `lexicon.yaml`.

    Raises:
        ValueError: A key, level or control that does not exist, or a word listed twice.
    """

    def __init__(self, source: str) -> None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        data = _File.model_validate(yaml.load(source, Loader=loader))
        self._root: dict[str, Any] = {mark: {"": Mark("break")} for mark in _CLAUSE_ENDS}
        for word, meaning in data.meanings():
            node = self._root
            for unit in split_units(normalise(word)):
                node = node.setdefault(unit.text, {})
            if "" in node or node is self._root:
                raise ValueError(f"lexicon: {word!r} is listed twice or has no letters")
            node[""] = meaning

    def match(self, units: list[str], start: int) -> tuple[Meaning | None, int]:
        """The longest entry that begins at a unit; punctuation that ends a clause is a `break`.

        Args:
            units: Words and characters of normalised text.
            start: Index of the first unit.

        Returns:
            Its meaning and the number of units it covers; `(None, 1)` where none begins.
        """
        node, found, num_units = self._root, None, 1
        for index in range(start, len(units)):
            if units[index] not in node:
                break
            node = node[units[index]]
            if "" in node:
                found, num_units = node[""], index - start + 1
        return found, num_units


@cache
def load_lexicon() -> Lexicon:
    """The shipped lexicon; read once."""
    return Lexicon((files("voice_sculptor.language") / "lexicon.yaml").read_text("utf-8"))
