"""`voice-sculptor bench decoding`: one table for each part."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import psutil

PARTS = ("candidates", "requests", "generate", "head", "prefix", "codec", "card")
_SIZES = ("small", "middle", "1b", "3b")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="voice-sculptor bench decoding",
        description="Decoding of the engine voicesculptor, on a language model of random weights with the real "
        "vocabulary of 193,856 tokens.",
    )
    parser.add_argument(
        "--part",
        choices=PARTS,
        action="append",
        help="candidates: three of a click against one; requests: eight at once against in turn; generate: against "
        "transformers' own loop; head: the output head cut down or not; prefix: what keeping a description would save; "
        "codec: loading half or all of it; card: a model of the real size on a graphics card. May be repeated; by "
        "default all but card.",
    )
    parser.add_argument("--size", choices=_SIZES, help="of the model; by default middle, and 3b for card")
    parser.add_argument("--device", help="cpu, cuda:0 …; by default cpu, and cuda:0 for card")
    parser.add_argument("--tokens", type=int, default=64, help="said by each row")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions of each way, in turn")
    parser.add_argument("--threads", type=int, default=psutil.cpu_count(logical=False) or 1)
    options = parser.parse_args(arguments)
    if options.tokens < 2 or options.rounds < 1 or options.threads < 1:
        parser.error("--tokens must be at least 2, --rounds and --threads at least 1")

    import torch

    from voice_sculptor.bench.decoding import batching, card, codec, generate, head, prefix
    from voice_sculptor.bench.decoding.models import random_model
    from voice_sculptor.device import cpu_name

    torch.set_num_threads(options.threads)
    parts = options.part or [part for part in PARTS if part != "card"]
    say = sys.stdout.write
    size, device = options.size or "middle", options.device or "cpu"
    say(
        f"CPU: {cpu_name()}; {options.threads} threads. Median of {options.rounds} rounds, in turn; ratios round by "
        f"round. Model: {size}, fp32, on {device}; {options.tokens} tokens a row.\n"
    )
    on_model = {
        "candidates": batching.candidates,
        "requests": batching.requests,
        "generate": generate.measure,
        "head": head.measure,
        "prefix": prefix.measure,
    }
    model = random_model(size, device, torch.float32) if set(parts) & set(on_model) else None
    for part in dict.fromkeys(parts):
        if part in on_model:
            report = on_model[part](model, options.tokens, options.rounds)
        elif part == "codec":
            report = codec.measure(min(3, options.rounds))
        else:
            report = card.measure(
                options.device or "cuda:0", options.size or "3b", options.tokens, options.rounds
            )
        say(f"\n## {part}\n\n{report}\n")
        sys.stdout.flush()
