"""A candidate in the making: what it has to say, what it has said, and what the model reads for the next piece."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.voicesculptor.decoding import Row
from voice_sculptor.engines.voicesculptor.passes import passes
from voice_sculptor.engines.voicesculptor.prompt import PromptBuilder
from voice_sculptor.engines.voicesculptor.sampling import Sampling
from voice_sculptor.engines.voicesculptor.voice import VoiceState, read_state
from voice_sculptor.engines.voicesculptor.wording import description, tags

NUM_ATTEMPTS = 2
"""A runaway is tried once more."""


@dataclass(eq=False)
class Take:
    """One candidate.

    Attributes:
        request: Whose.
        index: Which of its candidates.
        words: Description for the model.
        tags: Words of the tags.
        anchor: The voice it speaks with; `None` until its own first piece is said.
        pieces: Texts it has still to say.
        recalls: The next piece is what the voice was kept with: its tokens are there.
        num_pieces: In all.
        attempt: How often the current piece ran away.
    """

    request: SynthesisRequest
    index: int
    words: str
    tags: tuple[str, ...]
    anchor: VoiceState | None
    pieces: deque[str]
    recalls: bool = False
    num_pieces: int = field(init=False)
    attempt: int = 0

    def __post_init__(self) -> None:
        self.num_pieces = len(self.pieces)

    @classmethod
    def all_of(cls, request: SynthesisRequest) -> list[Take]:
        """The candidates of a request, to be begun.

        Raises:
            InvalidVoiceFile: The request's voice is not one of this engine's.
            InvalidRequest: The description is too long.
        """
        tag_words = tags(request.controls)
        whole = passes(request.text)
        if request.voice is None:
            words = description(request)
            return [
                cls(request, index, words, tag_words, None, deque(whole))
                for index in range(len(request.seeds))
            ]
        anchor = read_state(request.voice.state)
        continued = passes(request.text, len(anchor.text))
        takes = []
        for index, seed in enumerate(request.seeds):
            # A voice that is asked for what it has said, by the same seed and controls, has said it.
            recalls = (whole[0], seed, tag_words) == (anchor.text, anchor.seed, anchor.tags)
            pieces = deque(whole if recalls else continued)
            takes.append(cls(request, index, anchor.description, tag_words, anchor, pieces, recalls))
        return takes

    @property
    def seed(self) -> int:
        """Of the candidate."""
        return self.request.seeds[self.index]

    @property
    def fraction(self) -> float:
        """Share of its pieces that are said."""
        return 1.0 - len(self.pieces) / self.num_pieces

    def prompt(self, builder: PromptBuilder) -> tuple[int, ...]:
        """What the model reads to say the next piece."""
        if self.anchor is None:
            return builder.build(self.words, self.tags, self.pieces[0])
        gap = "" if ord(self.anchor.text[-1]) > 0x2E80 else " "
        return builder.build(
            self.words, self.tags, self.anchor.text + gap + self.pieces[0], self.anchor.tokens
        )

    def row(self, sampling: Callable[[SynthesisRequest], tuple[Sampling, int]]) -> Row:
        """A row for the next piece, with a stream of numbers of its own: a second try is not the next seed's voice."""
        how, max_new_tokens = sampling(self.request)
        said = self.anchor.tokens if self.anchor else ()
        return Row((self.seed, self.num_pieces - len(self.pieces), self.attempt), how, max_new_tokens, said)

    def say(self, tokens: list[int]) -> None:
        """Note that the next piece is said."""
        text = self.pieces.popleft()
        self.attempt, self.recalls = 0, False
        if self.anchor is None:
            self.anchor = VoiceState(
                description=self.words, tags=self.tags, text=text, tokens=tuple(tokens), seed=self.seed
            )
