"""Cost: how much longer designing a voice takes than plain synthesis, for each second of sound.

Plain synthesis is the same voice saying the same text with nothing asked: nothing is searched, rehearsed, corrected by
measurement or made twice. Both are timed in turn, in one process. What designing adds is bounded by what it does, not
by the text: from about six seconds on, a longer text makes it a smaller share.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from voice_sculptor.bench.obedience.renderings import TEXTS, make, say
from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.domain import Candidate, VoiceSpec
from voice_sculptor.studio import Studio
from voice_sculptor.timbre import Timbre

_SPECS = {
    "a woman": VoiceSpec(controls=Controls(gender="female")),
    "a low woman": VoiceSpec(controls=Controls(gender="female", pitch=-1)),
    "a breathy woman": VoiceSpec(controls=Controls(gender="female"), timbre=Timbre(breathiness=1.0)),
    "an old, sad, hoarse man": VoiceSpec(
        controls=Controls(gender="male", age=72, emotion=Emotion(name="sad", intensity=0.8)),
        timbre=Timbre(roughness=1.0),
    ),
    "a child": VoiceSpec(controls=Controls(age=7)),
}
_NUM_SENTENCES = (1, 3)


@dataclass(frozen=True)
class Row:
    """What one voice costs at one length.

    Attributes:
        voice: Who is asked for.
        num_characters: Of the text.
        added: Time of designing / time of plain synthesis, each by a second of sound, less 1: one for each seed.
    """

    voice: str
    num_characters: int
    added: tuple[float, ...]

    @property
    def median(self) -> float:
        """Of the seeds."""
        return median(self.added)


def cost(studio: Studio, num_seeds: int) -> Iterator[Row]:
    """One row per length and voice.

    Args:
        studio: Whose engine; it is loaded and warmed first.
        num_seeds: How many voices are designed for each row.
    """
    texts = [" ".join(TEXTS["en"][:count]) for count in _NUM_SENTENCES]
    make(studio, _SPECS["a woman"], texts[0], seed=0)
    for text in texts:
        for name, spec in _SPECS.items():
            row = Row(name, len(text), tuple(_added(studio, spec, text, seed) for seed in range(num_seeds)))
            sys.stderr.write(f"{row}\n")
            yield row


def _added(studio: Studio, spec: VoiceSpec, text: str, seed: int) -> float:
    designed = _Timed.of(lambda: make(studio, spec, text, seed)[0])
    plain_voice = designed.candidate.voice.model_copy(update={"controls": Controls()})
    # The first time a kept voice speaks, what it needs is set up: the second is what every further text costs.
    plain = min(_Timed.of(lambda: say(studio, plain_voice, text)).rtf for _ in range(2))
    return designed.rtf / plain - 1.0


@dataclass(frozen=True)
class _Timed:
    candidate: Candidate
    rtf: float

    @classmethod
    def of(cls, making: Callable[[], Candidate]) -> _Timed:
        begun_s = time.perf_counter()
        candidate = making()
        return cls(candidate, (time.perf_counter() - begun_s) / candidate.audio.duration_s)


def report(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| voice | characters | designing adds, median | seeds |", "|---|---|---|---|"]
    for row in rows:
        seeds = ", ".join(f"{share:+.0%}" for share in row.added)
        lines.append(f"| {row.voice} | {row.num_characters} | {row.median:+.0%} | {seeds} |")
    return "\n".join(lines)
