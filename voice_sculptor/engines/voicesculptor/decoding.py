"""The decoding loop: a fixed number of slots, one speech token in each of them a step.

A prompt is read on its own, padded to a bucket on its right (what is behind cannot be seen from before), and copied
into as many slots as there are rows of it. From then on every step has the same shape, whatever is in the other slots:
that is why a seed gives the same tokens alone and among others, also in 16 bit. The output head is cut down to the
speech tokens and the end, which are all that may come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from voice_sculptor.engines.voicesculptor.few_rows import multiply
from voice_sculptor.engines.voicesculptor.sampling import RowSampler, Sampling
from voice_sculptor.engines.voicesculptor.slots import SlotCache
from voice_sculptor.engines.voicesculptor.vocabulary import NUM_SPEECH_TOKENS, Vocabulary

_PROMPT_BUCKET = 64
_WINDOW = 512
_WARM_UP_STEPS = 2


@dataclass(eq=False)
class Row:
    """One stream of speech tokens.

    Attributes:
        seed: Names its stream of random numbers.
        sampling: How it is drawn.
        max_new_tokens: It ends there at the latest.
        said: Speech tokens at the end of its prompt; they count for the repetition penalty.
        tokens: What it has said, 0 … 65,535 each.
        has_ended: It ended by itself.
    """

    seed: tuple[int, ...]
    sampling: Sampling
    max_new_tokens: int
    said: Sequence[int] = ()
    tokens: list[int] = field(default_factory=list)
    has_ended: bool = False


@dataclass(frozen=True)
class Prefilled:
    """A prompt that was read, all but its last token; held until every row of it has a slot."""

    cache: Any
    length: int
    last_id: int


class Decoder:
    """Speaks up to `num_slots` rows at a time.

    Args:
        model: A transformers Llama model, in `eval` mode, on its device.
        vocabulary: Its tokens.
        num_slots: Rows of every step, used or not.
        max_prompt_tokens: Longest prompt.
        max_new_tokens: Most tokens that a row says.
        use_graph: Record a step on a CUDA device and replay it.
    """

    def __init__(
        self,
        model: Any,
        vocabulary: Vocabulary,
        num_slots: int,
        max_prompt_tokens: int,
        max_new_tokens: int,
        use_graph: bool = True,
    ) -> None:
        self._model = model
        self._use_graph = use_graph
        self._device = str(model.device)
        self._end = NUM_SPEECH_TOKENS
        first, length = vocabulary.first_speech_id, max_prompt_tokens + max_new_tokens
        head = model.lm_head.weight
        self._speech_head, self._end_head = (
            head[first : first + NUM_SPEECH_TOKENS],
            head[vocabulary.end_id, None],
        )
        self._first = first
        self.max_prompt_tokens, self.max_new_tokens = max_prompt_tokens, max_new_tokens
        self.cache = SlotCache(model.config, num_slots, length, model.dtype, self._device)
        self.sampler = RowSampler(num_slots, NUM_SPEECH_TOKENS + 1, max_new_tokens, self._device)
        self.rows: list[Row | None] = [None] * num_slots
        self._ids = torch.zeros(num_slots, 1, dtype=torch.long, device=self._device)
        self._active = torch.zeros(num_slots, dtype=torch.long, device=self._device)
        self._token = torch.zeros(num_slots, dtype=torch.long, device=self._device)
        self._graphs: dict[tuple[int, bool], torch.cuda.CUDAGraph] = {}

    @property
    def is_on_card(self) -> bool:
        """Whether it works on a CUDA device."""
        return self._device.startswith("cuda")

    @property
    def num_free(self) -> int:
        """Slots without a row."""
        return self.rows.count(None)

    @torch.inference_mode()
    def prefill(self, prompt: Sequence[int]) -> Prefilled:
        """Read a prompt, once for all its rows.

        Args:
            prompt: Token ids, at least two and at most `max_prompt_tokens`.
        """
        from transformers import DynamicCache

        if not 2 <= len(prompt) <= self.max_prompt_tokens:
            raise ValueError(f"a prompt of {len(prompt)} tokens; it can have 2 to {self.max_prompt_tokens}")
        length = len(prompt) - 1
        padding = -length % _PROMPT_BUCKET
        ids = torch.tensor([[*prompt[:-1], *[prompt[0]] * padding]], device=self._device)
        cache = DynamicCache(config=self._model.config)
        self._model.model(input_ids=ids, cache=cache, use_cache=True)
        return Prefilled(cache, length, prompt[-1])

    @torch.inference_mode()
    def admit(self, row: Row, prefilled: Prefilled) -> None:
        """Give a row a free slot; `num_free` must not be 0."""
        slot = self.rows.index(None)
        self.cache.put(slot, prefilled.cache, prefilled.length)
        said = torch.tensor(sorted(set(row.said)), dtype=torch.long, device=self._device)
        self.sampler.start(slot, row.sampling, row.seed, said)
        self._ids[slot] = prefilled.last_id
        self._active[slot] = 1
        self.rows[slot] = row

    @torch.inference_mode()
    def step(self) -> list[Row]:
        """One more token for every row.

        Returns:
            The rows that ended with it, whose slots are free again.
        """
        deepest = max(self.cache.positions.tolist()) + 1
        self.cache.window = min(-(-deepest // _WINDOW) * _WINDOW, self.cache.length)
        has_wide = any(row is not None and row.sampling.is_wide for row in self.rows)
        if self.is_on_card and self._use_graph:
            self._replay((self.cache.window, has_wide))
        else:
            self._forward(has_wide)
        ended = []
        for slot, token in enumerate(self._token.tolist()):
            row = self.rows[slot]
            if row is None:
                continue
            row.has_ended = token == self._end
            if not row.has_ended:
                row.tokens.append(token)
            if row.has_ended or len(row.tokens) >= min(row.max_new_tokens, self.max_new_tokens):
                self.drop(row)
                ended.append(row)
        return ended

    @torch.inference_mode()
    def drop(self, row: Row) -> None:
        """Take a row out, at its end or before it."""
        slot = self.rows.index(row)
        self.rows[slot] = None
        self._active[slot] = 0
        self.cache.positions[slot] = 0
        self._ids[slot] = 0

    def clear(self) -> None:
        """Take every row out."""
        for row in [row for row in self.rows if row is not None]:
            self.drop(row)

    def _forward(self, has_wide: bool) -> None:
        """Every tensor it reads and writes keeps its place in memory, as a captured graph needs."""
        hidden = self._model.model(
            input_ids=self._ids,
            position_ids=self.cache.positions[:, None],
            attention_mask=self.cache.mask(),
            cache=self.cache,
            use_cache=True,
        ).last_hidden_state[:, 0]
        token = self.sampler.draw(self.logits(hidden), has_wide)
        self._token.copy_(token)
        self._ids.copy_((self._first + token.clamp(max=self._end - 1))[:, None])
        self.cache.positions.add_(self._active)

    def logits(self, hidden: Tensor) -> Tensor:
        """`[num_slots, 65,537]` of hidden states `[num_slots, size]`: the speech tokens, then the end."""
        return torch.cat((multiply(hidden, self._speech_head), multiply(hidden, self._end_head)), 1)

    def _replay(self, key: tuple[int, bool]) -> None:
        graph = self._graphs.get(key)
        if graph is None:
            graph = self._graphs[key] = self._captured(key[1])
        graph.replay()

    def _captured(self, has_wide: bool) -> torch.cuda.CUDAGraph:
        """A step as one graph: at this size the launches of a step take longer than its work."""
        state = (self._ids, self.cache.positions, self.sampler.seen, self.sampler.draws)
        before = [tensor.clone() for tensor in state]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP_STEPS):
                self._forward(has_wide)
                for tensor, value in zip(state, before, strict=True):
                    tensor.copy_(value)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._forward(has_wide)
        return graph
