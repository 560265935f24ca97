"""What the studio says while it works, in the order in which it says it."""

from __future__ import annotations

from dataclasses import dataclass

from voice_sculptor.controls import Controls
from voice_sculptor.domain import AudioClip, Candidate, Notice, Understood
from voice_sculptor.errors import VoiceSculptorError
from voice_sculptor.scheduling.worker import Loading, Started, Waiting
from voice_sculptor.timbre import Timbre


@dataclass(frozen=True)
class Planned:
    """What the studio is about to do; the first event of every request.

    Attributes:
        controls: Effective controls: the explicit ones over those read from the description.
        timbre: Effective dimensions of timbre, alike.
        understood: What was read from the description.
        seeds: One per candidate.
        notices: Conflicts and unknown words.
    """

    controls: Controls
    timbre: Timbre
    understood: Understood
    seeds: tuple[int, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Preview:
    """Audio of a candidate that is not complete; its level is estimated from its beginning.

    Attributes:
        index: Which candidate.
        clip: The next piece.
        fraction: Share of the candidate's text done, 0–1.
    """

    index: int
    clip: AudioClip
    fraction: float


@dataclass(frozen=True)
class Ready:
    """A candidate is complete."""

    candidate: Candidate
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Failed:
    """A candidate cannot be made; the others go on."""

    index: int
    error: VoiceSculptorError


StudioEvent = Planned | Waiting | Loading | Started | Preview | Ready | Failed
