"""A text as lines of phonemes, made as they are needed and kept for the next voice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from voice_sculptor.domain import Language, TextLanguage
from voice_sculptor.engines.kokoro import phonemes
from voice_sculptor.language.text import Pause, Segment, cut, normalize, runs_of, split


@dataclass(frozen=True)
class Line:
    """One piece of a text, spoken in one pass.

    Attributes:
        token_ids: Symbols, 0 at both ends, at most 512.
        is_pause: For each token, whether it is silence: punctuation and both ends.
        pause: What ends with it.
    """

    token_ids: tuple[int, ...]
    is_pause: tuple[bool, ...]
    pause: Pause


class Reading:
    """How a text is said, the same for every voice of one accent.

    Lines are made on first use: the first is ready long before the last of a long text.

    Args:
        text: As the user wrote it.
        language: `auto` decides per run of text.

    Attributes:
        features: A place for what a model knows of a line whoever speaks it; it goes with the text.
        drafts: Likewise for how the voice that is being made says a line before any edit.
    """

    def __init__(self, text: str, language: TextLanguage) -> None:
        normalized = normalize(text, language)
        self._segments = split(normalized.spoken)
        self._lines: dict[tuple[int, bool], tuple[Line, ...]] = {}
        self._dropped: dict[str, None] = {}
        self.features: dict[Line, Any] = {}
        self.drafts: dict[Line, Any] = {}
        num_chinese = sum(len(run.text) for run in normalized.runs if run.lang == "zh")
        num_english = sum(len(run.text.split()) for run in normalized.runs if run.lang == "en")
        self.language: Language = "zh" if num_chinese >= num_english else "en"

    @property
    def dropped(self) -> tuple[str, ...]:
        """What has no reading, among the lines made so far."""
        return tuple(self._dropped)

    def lines(self, *, british: bool = False) -> Iterator[tuple[Line, float]]:
        """The lines in order, each with the share of the text that is done with it, 0–1.

        Args:
            british: Whether English is said the British way.
        """
        total = sum(len(segment.text) for segment in self._segments)
        done = 0
        for index, segment in enumerate(self._segments):
            key = (index, british)
            if key not in self._lines:
                self._lines[key] = self._read(segment, british)
            lines = self._lines[key]
            for place, line in enumerate(lines, start=1):
                yield line, (done + len(segment.text) * place / len(lines)) / total
            done += len(segment.text)

    def _read(self, segment: Segment, british: bool) -> tuple[Line, ...]:
        whole = phonemes.phonemize(runs_of(segment.text), british=british)
        pieces = [whole]
        if len(whole.text) > phonemes.MAX_PHONEMES:
            texts = cut(segment.text, lambda text: _num_phonemes(text, british), phonemes.MAX_PHONEMES)
            pieces = [phonemes.phonemize(runs_of(text), british=british) for text in texts]
        lines: list[Line] = []
        for place, piece in enumerate(pieces, start=1):
            self._dropped.update(dict.fromkeys(piece.dropped))
            if any(symbol not in _SILENT for symbol in piece.text):
                is_pause = (True, *(symbol in phonemes.PUNCTUATION for symbol in piece.text), True)
                lines.append(Line(piece.ids, is_pause, segment.pause if place == len(pieces) else "clause"))
        return tuple(lines)


_SILENT = phonemes.PUNCTUATION | {" "}


def _num_phonemes(text: str, british: bool) -> int:
    return len(phonemes.phonemize(runs_of(text), british=british).text)
