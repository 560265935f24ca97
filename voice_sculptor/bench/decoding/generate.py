"""Our loop against `generate` of transformers, with the same model, rows and sampling."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from voice_sculptor.bench.decoding.models import make_decoder, prompt, speak
from voice_sculptor.bench.decoding.timing import goal, in_turn, ratio, table
from voice_sculptor.engines.voicesculptor.sampling import Sampling

_NUM_ROWS = 3


def measure(model: Any, num_tokens: int, rounds: int) -> str:
    """The report; prompts are read within the time of either side.

    Args:
        model: From `random_model`.
        num_tokens: Said by each row.
        rounds: Repetitions of each way.
    """
    ids = prompt(0)
    ours = make_decoder(model, _NUM_ROWS, num_tokens)
    given = torch.tensor([ids], device=model.device)
    sampling = Sampling()

    def generate(**how: Any) -> Callable[[], object]:
        def run() -> object:
            said = model.generate(
                input_ids=given,
                attention_mask=torch.ones_like(given),
                do_sample=True,
                temperature=sampling.temperature,
                top_k=sampling.top_k,
                top_p=sampling.top_p,
                repetition_penalty=sampling.repetition_penalty,
                num_return_sequences=_NUM_ROWS,
                max_new_tokens=num_tokens,
                min_new_tokens=num_tokens,
                disable_compile=True,
                **how,
            )
            if said.shape != (_NUM_ROWS, len(ids) + num_tokens):
                raise RuntimeError(f"generate() returned {tuple(said.shape)}")
            return said

        return run

    ways = {
        "our loop": lambda: speak(ours, [ids] * _NUM_ROWS, num_tokens),
        "generate": generate(),
        "generate, static cache": generate(cache_implementation="static"),
    }
    times = in_turn(ways, rounds)
    rows = []
    for name in ways:
        gain = ratio(times, name, "our loop")
        met = goal(gain, 1.5, at_least=True) if name == "generate" else ""
        rows.append([name, f"{_NUM_ROWS * num_tokens / median(times[name]):.1f}", f"{gain:.2f}", met])
    headings = (f"{_NUM_ROWS} rows, {num_tokens} tokens each", "tokens/s", "time / ours", "goal")
    return table(headings, rows)
