"""The output head cut down to what may be said, against the whole of it."""

from __future__ import annotations

from statistics import median
from typing import Any

import torch
from torch import Tensor

from voice_sculptor.bench.decoding.models import VOCABULARY, make_decoder, prompt, speak
from voice_sculptor.bench.decoding.timing import in_turn, ratio, table
from voice_sculptor.engines.voicesculptor.decoding import Decoder
from voice_sculptor.engines.voicesculptor.few_rows import multiply
from voice_sculptor.engines.voicesculptor.vocabulary import NUM_SPEECH_TOKENS

_NUM_ROWS = 3


class _FullHead(Decoder):
    """Computes every token's logit, then leaves out what may not be said."""

    def logits(self, hidden: Tensor) -> Tensor:
        """See `Decoder.logits`; multiplied from the same side."""
        full = multiply(hidden, self._model.lm_head.weight)
        first = VOCABULARY.first_speech_id
        return torch.cat((full[:, first : first + NUM_SPEECH_TOKENS], full[:, VOCABULARY.end_id, None]), 1)


def measure(model: Any, num_tokens: int, rounds: int) -> str:
    """The report.

    Args:
        model: From `random_model`.
        num_tokens: Said by each row.
        rounds: Repetitions of each way.
    """
    ids = [prompt(0)] * _NUM_ROWS
    sliced = make_decoder(model, 4, num_tokens)
    full = make_decoder(model, 4, num_tokens, _FullHead)
    hidden = torch.randn(4, model.config.hidden_size, device=model.device).to(model.dtype)
    alone = in_turn(
        {
            "sliced": lambda: sliced.logits(hidden).sum().item(),
            "full": lambda: full.logits(hidden).sum().item(),
        },
        5 * rounds,
    )
    steps = in_turn(
        {"sliced": lambda: speak(sliced, ids, num_tokens), "full": lambda: speak(full, ids, num_tokens)},
        rounds,
    )
    size = model.lm_head.weight[0].nbytes
    read = {"sliced": NUM_SPEECH_TOKENS + 1, "full": model.config.vocab_size}
    rows = [
        [
            name,
            f"{read[name] * size / 1e6:.0f}",
            f"{1e3 * median(alone[name]):.1f}",
            f"{ratio(alone, name, 'sliced'):.2f}",
            f"{1e3 * median(steps[name]) / num_tokens:.1f}",
            f"{ratio(steps, name, 'sliced'):.2f}",
        ]
        for name in read
    ]
    headings = ("output head", "MB read", "ms alone", "ratio", "ms per token, all of the step", "ratio")
    return table(headings, rows)
