"""Requests whose audio can be told apart, and whether a clip is what its request asked for."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from voice_sculptor.controls import Controls
from voice_sculptor.domain import Candidate, Voice, VoiceSpec
from voice_sculptor.engines import fake_marks
from voice_sculptor.engines.fake import piece_lengths
from voice_sculptor.events import Ready, StudioEvent
from voice_sculptor.studio import Studio

_NAMES = ("Ann", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gwen", "Hal")


@dataclass(frozen=True)
class Asked:
    """A good request.

    Attributes:
        text: To speak.
        seed: Of its first candidate.
        voice: Who speaks; `None` designs one.
        controls: How.
        num_candidates: Of a design.
    """

    text: str
    seed: int
    voice: Voice | None
    controls: Controls
    num_candidates: int = 1

    def begin(self, studio: Studio, options: Mapping[str, Any], **rest: Any) -> Iterator[StudioEvent]:
        """Ask for it."""
        if self.voice is not None:
            return studio.speak(
                self.voice, self.text, controls=self.controls, seed=self.seed, options=options, **rest
            )
        spec, count = VoiceSpec(controls=self.controls), self.num_candidates
        return studio.design(self.text, spec, num_candidates=count, seed=self.seed, options=options, **rest)


class OwnClips(Protocol):
    """How audio is told apart.

    Attributes:
        options: Of every request.
    """

    options: Mapping[str, Any]

    def draw(self, chance: random.Random, number: int) -> Asked:
        """A request."""

    def is_own(self, asked: Asked, candidate: Candidate) -> bool:
        """Whether a candidate is what was asked."""


class Marks:
    """The fake engine's: each piece of audio says text and seed."""

    options: Mapping[str, Any] = {"is_marked": True}

    def draw(self, chance: random.Random, number: int) -> Asked:
        """A request like no other."""
        text = f"{chance.choice(_NAMES)} {number}" + " and so on" * chance.randint(0, 3)
        controls = Controls(speed=chance.choice((None, 1.5)), pitch=chance.choice((None, 1.0)))
        seed = chance.randrange(2**32)
        voice = Voice(name="kept", engine="fake", state={"f0_hz": 150.0}, seed=seed)
        is_kept = chance.random() < 0.3
        return Asked(text, seed, voice if is_kept else None, controls, chance.choice((1, 1, 2)))

    def is_own(self, asked: Asked, candidate: Candidate) -> bool:
        """Whether the clip is as long as its text and each of its pieces bears its mark."""
        samples, lengths = candidate.audio.samples, piece_lengths(asked.text, asked.controls)
        if len(samples) != sum(lengths):
            return False
        starts = [sum(lengths[:number]) for number in range(len(lengths))]
        return all(
            fake_marks.read(samples[start:]) == fake_marks.code(asked.text, candidate.seed, number)
            for number, start in enumerate(starts)
        )


class Echoes:
    """Of an engine that makes the same bytes of the same seed: a few requests, each heard alone before.

    Args:
        studio: Makes the clips to compare with, before anything else is asked of it.
    """

    options: Mapping[str, Any] = {}

    def __init__(self, studio: Studio) -> None:
        is_english = "en" in studio.engine.info.languages
        texts = ("Good morning.", "Come in.") if is_english else ("早上好。", "请进。")
        names = [voice.name for voice in studio.engine.stock_voices()[:2]]
        voices: list[Voice | None] = [studio.find_voice(name) for name in names] or [None]
        self._asked = [
            Asked(text, seed, voice, Controls()) for text in texts for voice in voices for seed in (1, 2)
        ]
        self._heard = [
            [
                _checksum(event.candidate)
                for event in asked.begin(studio, self.options)
                if isinstance(event, Ready)
            ]
            for asked in self._asked
        ]

    def draw(self, chance: random.Random, number: int) -> Asked:
        """One of the few."""
        return chance.choice(self._asked)

    def is_own(self, asked: Asked, candidate: Candidate) -> bool:
        """Whether it is the clip that was heard alone."""
        return self._heard[self._asked.index(asked)] == [_checksum(candidate)]


def _checksum(candidate: Candidate) -> int:
    return zlib.crc32(candidate.audio.samples.tobytes())
