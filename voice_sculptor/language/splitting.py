"""A long text as the pieces an engine speaks one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from voice_sculptor.language.script import HAN

Pause = Literal["clause", "sentence", "paragraph"]

_CLOSERS = "\"'”’」』）)】》〉\\]"
_ABBREVIATION = re.compile(
    r"(?:^|[^A-Za-z])(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Gen|Sen|Rep|Gov|Lt|Col|Capt|Sgt|Mt|Ft|vs|etc|e\.g|i\.e|cf|al|approx|"
    r"Inc|Ltd|Co|Corp|Dept|Ave|Blvd|Rd|a\.m|p\.m|A\.M|P\.M|[A-Z]|(?:[A-Za-z]\.)+[A-Za-z])$"
)
_STOP = re.compile(
    rf"(?P<hard>[。！？]+[。！？!?…]*[{_CLOSERS}]*|(?<![!?])[!?]+[{_CLOSERS}]*(?=\s|$|[{HAN}])|(?<!\.)\.+[{_CLOSERS}]*(?=\s|$|[{HAN}]))|\n\s*"
)
_CLAUSE = re.compile(rf"[，；：、—…]+[{_CLOSERS}]*|(?<![,;:])[,;:]+[{_CLOSERS}]*(?=\s|[{HAN}])|\)(?=\s)")
_BORDERS = (_STOP, _CLAUSE, re.compile(r"\s+"), re.compile(rf"(?<=[{HAN}])(?=[{HAN}])"))
# In syllables: what is too short to be spoken on its own, and what is long enough to be opened by its first clause.
_TINY, _LONG = 4.0, 12.0


class Segment(NamedTuple):
    """A piece of text that is spoken in one go.

    Attributes:
        text: The piece, without space at its ends. All pieces together are the text, up to white space.
        pause: What ends with it.
    """

    text: str
    pause: Pause


def _weight(text: str) -> float:
    """About how many syllables `text` has: one a Chinese character, one in three letters."""
    return sum(1.0 if ord(char) > 0x2E80 else 0.34 for char in text if char.isalnum())


def split(text: str, *, max_chars: int = 200, quick_start: bool = True) -> tuple[Segment, ...]:
    """Cut a text into the pieces to speak, in order.

    A piece is a sentence; very short ones join a neighbour of the same paragraph, long ones are cut at clauses, words
    and only then anywhere. The first piece is the first clause, so that the first sound comes soon.

    Args:
        text: Text, normalised or not, of any length; linear time.
        max_chars: Longest piece, in characters; at least 8.
        quick_start: Whether the first clause becomes a piece of its own.
    """
    max_chars = max(8, max_chars)
    segments: list[Segment] = []
    for sentence in _join_tiny(_sentences(text), max_chars):
        pieces = cut(sentence.text, len, max_chars)
        segments += [Segment(piece, "clause") for piece in pieces[:-1]]
        segments.append(Segment(pieces[-1], sentence.pause))
    if quick_start and segments:
        segments[:1] = _opening(segments[0])
    return tuple(segments)


def cut(text: str, measure: Callable[[str], int], limit: int) -> list[str]:
    """Cut a text until every piece measures at most `limit`, each time at the best border nearest its middle.

    Args:
        text: A text that is not blank.
        measure: Size of a text in the unit of `limit`, for instance its number of phonemes.
        limit: Largest size of a piece; a single character is never cut.

    Returns:
        The pieces, without space at their ends.
    """
    pending, pieces = [text.strip()], []
    while pending:
        piece = pending.pop()
        if len(piece) <= 1 or measure(piece) <= limit:
            pieces.append(piece)
            continue
        border = _border(piece)
        pending += [part for part in (piece[border:].strip(), piece[:border].strip()) if part]
    return pieces


def _border(text: str) -> int:
    middle, margin = len(text) / 2, len(text) * 0.35
    for pattern in _BORDERS:
        ends = [
            match.end()
            for match in pattern.finditer(text)
            if abs(match.end() - middle) <= margin and 0 < match.end() < len(text)
        ]
        if pattern is _STOP:
            ends = [end for end in ends if _ends_sentence(text, end)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return max(1, int(middle))


def _ends_sentence(text: str, end: int) -> bool:
    """Whether the stop that ends at `end` is more than the point of an abbreviation."""
    before = text[max(0, end - 16) : end].rstrip(_CLOSERS.replace("\\", "") + " \n")
    after = text[end : end + 2].lstrip()[:1]
    if not before.endswith(".") or before.endswith(".."):
        return True
    if after.islower():
        return False
    if re.search(r"(?:^|\W)(?:No|Nos|pp|Fig|Vol|Ch)\.$", before):
        return not after.isdigit()
    return not (after and _ABBREVIATION.search(before[:-1]))


def sentence_ends(text: str) -> Iterator[int]:
    """Where each sentence or line of `text` ends, white space after it included; the last is the length of `text`."""
    for match in _STOP.finditer(text):
        if match.group("hard") is None or _ends_sentence(text, match.end()):
            end = match.end()
            while end < len(text) and text[end].isspace():
                end += 1
            if end < len(text):
                yield end
    yield len(text)


def _sentences(text: str) -> Iterator[Segment]:
    start = 0
    for end in sentence_ends(text):
        sentence = text[start:end]
        start = end
        if sentence.strip():
            gap = sentence[len(sentence.rstrip()) :]
            yield Segment(
                sentence.strip(), "paragraph" if gap.count("\n") > 1 or end == len(text) else "sentence"
            )


def _join_tiny(sentences: Iterator[Segment], max_chars: int) -> Iterator[Segment]:
    held: Segment | None = None
    for sentence in sentences:
        if held is None:
            held = sentence
        elif (
            not any(map(str.isalnum, sentence.text))
            or (held.pause != "paragraph" and min(_weight(held.text), _weight(sentence.text)) < _TINY)
        ) and len(held.text) + len(sentence.text) < max_chars:
            held = Segment(_joined(held.text, sentence.text), sentence.pause)
        else:
            yield held
            held = sentence
    if held:
        yield held


def _joined(left: str, right: str) -> str:
    return left + ("" if ord(left[-1]) > 0x2E80 or ord(right[0]) > 0x2E80 else " ") + right


def _opening(first: Segment) -> list[Segment]:
    for match in _CLAUSE.finditer(first.text):
        head, rest = first.text[: match.end()].strip(), first.text[match.end() :].strip()
        if _weight(head) >= _TINY and _weight(rest) >= _TINY and _weight(first.text) > _LONG:
            return [Segment(head, "clause"), Segment(rest, first.pause)]
    return [first]
