"""Drawing the next token of every row at once, each from its own stream of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

NARROW = 64
"""Rows that keep at most this many tokens are drawn from the largest ones only: no sort over the whole vocabulary."""


@dataclass(frozen=True)
class Sampling:
    """How a row is drawn, in the order in which it is applied.

    Attributes:
        repetition_penalty: Tokens said before have their logit divided by it, or multiplied where it is negative
            (Keskar et al. 2019, arXiv 1909.05858); 1 is off.
        temperature: Logits are divided by it.
        top_k: Only this many of the likeliest tokens; 0 keeps all, 1 always takes the likeliest.
        top_p: Of these only the likeliest that together reach this probability (Holtzman et al. 2020, arXiv
            1904.09751).
    """

    repetition_penalty: float = 1.05
    temperature: float = 0.9
    top_k: int = 15
    top_p: float = 0.95

    @property
    def is_wide(self) -> bool:
        """Whether it may take more than the `NARROW` likeliest."""
        return not 0 < self.top_k <= NARROW


class RowSampler:
    """The state of drawing in `num_rows` rows. A row's tokens depend on nothing but its logits, settings and seed.

    Every tensor keeps its place in memory, so that a captured graph can go on using it.

    Args:
        num_rows: Rows drawn at a time.
        num_tokens: Size of the vocabulary that is drawn from.
        max_draws: Most tokens a row draws.
        device: Where the logits are.
    """

    def __init__(self, num_rows: int, num_tokens: int, max_draws: int, device: str) -> None:
        self.seen = torch.zeros(num_rows, num_tokens, dtype=torch.bool, device=device)
        self.uniforms = torch.zeros(num_rows, max_draws, dtype=torch.float64, device=device)
        self.draws = torch.zeros(num_rows, dtype=torch.long, device=device)
        self.penalty = torch.ones(num_rows, 1, device=device)
        self.temperature = torch.ones(num_rows, 1, device=device)
        self.top_p = torch.ones(num_rows, 1, dtype=torch.float64, device=device)
        self.top_k = torch.ones(num_rows, 1, dtype=torch.long, device=device)
        self.is_wide = torch.zeros(num_rows, dtype=torch.bool, device=device)
        self._rows = torch.arange(num_rows, device=device)

    def start(self, row: int, sampling: Sampling, seed: tuple[int, ...], said: Tensor) -> None:
        """Begin a new stream in a row.

        Args:
            row: Which.
            sampling: Its settings.
            seed: Numbers that name its stream.
            said: int64 `[n]`, indices into the vocabulary that count as said.
        """
        numbers = np.random.default_rng(seed).random(self.uniforms.shape[1])
        self.uniforms[row] = torch.from_numpy(numbers).to(self.uniforms.device)
        self.draws[row] = 0
        self.seen[row] = False
        self.seen[row, said] = True
        self.penalty[row] = sampling.repetition_penalty
        self.temperature[row] = sampling.temperature
        self.top_p[row] = sampling.top_p
        self.top_k[row] = sampling.top_k or self.seen.shape[1]
        self.is_wide[row] = sampling.is_wide

    def draw(self, logits: Tensor, has_wide: bool) -> Tensor:
        """Draw one token in every row, and remember it.

        Args:
            logits: `[num_rows, num_tokens]`, any float dtype.
            has_wide: Whether a row in use has `is_wide` set.

        Returns:
            int64 `[num_rows]`, indices into the vocabulary.
        """
        scores = logits.float()
        scores = torch.where(
            self.seen, torch.where(scores > 0, scores / self.penalty, scores * self.penalty), scores
        )
        scores = scores / self.temperature
        uniform = self.uniforms.gather(1, self.draws[:, None])
        token = self._pick(*scores.topk(min(NARROW, scores.shape[1])), uniform)
        if has_wide:
            token = torch.where(self.is_wide, self._pick(*scores.sort(descending=True), uniform), token)
        self.draws.add_(1).clamp_(max=self.uniforms.shape[1] - 1)
        self.seen[self._rows, token] = True
        return token

    def _pick(self, scores: Tensor, tokens: Tensor, uniform: Tensor) -> Tensor:
        """By inverting the cumulated probability at `uniform`; scores are sorted, the largest first."""
        rank = torch.arange(scores.shape[1], device=scores.device)[None]
        chances = scores.double().masked_fill(rank >= self.top_k, -torch.inf).softmax(-1)
        before = chances.cumsum(-1) - chances
        kept = chances.masked_fill(before >= self.top_p, 0.0).cumsum(-1)
        place = (kept <= uniform * kept[:, -1:]).sum(-1, keepdim=True).clamp_(max=scores.shape[1] - 1)
        return tokens.gather(1, place)[:, 0]
