"""What it would gain to keep the encoded description of a character who speaks many lines."""

from __future__ import annotations

import copy
from statistics import median
from typing import Any

import torch

from voice_sculptor.bench.decoding.models import make_decoder, prompt, speak, synchronize
from voice_sculptor.bench.decoding.timing import in_turn, table

_PREFIX_TOKENS = 128
"""Template, description of 100 Chinese characters and tags."""
_LINES = ((16, 100), (32, 200), (64, 400))
"""Tokens of text and of speech of a short, a middle and a long line: 2, 4 and 8 s."""


def measure(model: Any, num_tokens: int, rounds: int) -> str:
    """The report: reading a whole prompt against reading what comes behind a kept prefix.

    Args:
        model: From `random_model`.
        num_tokens: Said to time a step.
        rounds: Repetitions of each way.
    """
    from transformers import DynamicCache

    decoder = make_decoder(model, 4, num_tokens)
    device = str(model.device)
    prefix = prompt(0, _PREFIX_TOKENS)
    with torch.inference_mode():
        kept = DynamicCache(config=model.config)
        model.model(input_ids=torch.tensor([prefix], device=device), cache=kept, use_cache=True)
    layers: Any = kept.layers
    num_bytes = sum(layer.keys.nbytes + layer.values.nbytes for layer in layers)

    @torch.inference_mode()
    def read_rest(line: tuple[int, ...]) -> None:
        ids = torch.tensor([line], device=device)
        model.model(input_ids=ids, cache=copy.deepcopy(kept), use_cache=True)
        synchronize(device)

    def read_all(line: tuple[int, ...]) -> None:
        decoder.prefill((*prefix, *line))
        synchronize(device)

    step_s = (
        median(in_turn({"step": lambda: speak(decoder, [prompt(1, 32)], num_tokens)}, rounds)["step"])
        / num_tokens
    )
    rows, saved_s, total_s = [], 0.0, 0.0
    for text_tokens, speech_tokens in _LINES:
        line = prompt(2, text_tokens)
        times = in_turn({"all": lambda: read_all(line), "rest": lambda: read_rest(line)}, 3 * rounds)  # noqa: B023
        whole_s, rest_s = median(times["all"]), median(times["rest"])
        line_s = whole_s + speech_tokens * step_s
        saved_s, total_s = saved_s + whole_s - rest_s, total_s + line_s
        rows.append(
            [
                f"{text_tokens} tokens of text, {speech_tokens / 50:g} s of speech",
                f"{1e3 * whole_s:.0f}",
                f"{1e3 * rest_s:.0f}",
                f"{1e3 * speech_tokens * step_s:.0f}",
                f"{100 * (whole_s - rest_s) / line_s:.1f} %",
            ]
        )
    headings = (
        "line",
        "read whole, ms",
        "read behind the prefix, ms",
        "decoding, ms",
        "of the line's time saved",
    )
    return (
        table(headings, rows)
        + f"\n\nWith every lookup a hit {100 * saved_s / total_s:.1f} % of the time of these lines would be saved, "
        f"for {num_bytes / 1e6:.1f} MB a description."
    )
