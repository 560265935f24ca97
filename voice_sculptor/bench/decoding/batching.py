"""Three candidates against one, and eight requests at once against one after the other."""

from __future__ import annotations

from typing import Any

from voice_sculptor.bench.decoding.models import make_decoder, prompt, speak, step_out
from voice_sculptor.bench.decoding.timing import goal, in_turn, ratio, table
from voice_sculptor.engines.voicesculptor.decoding import Decoder, Row
from voice_sculptor.engines.voicesculptor.sampling import Sampling

_NUM_REQUESTS = 8


def candidates(model: Any, num_tokens: int, rounds: int) -> str:
    """The report on one click: decoding, the prompt read before.

    Args:
        model: From `random_model`.
        num_tokens: Said by each row.
        rounds: Repetitions of each way.
    """
    one, four = (make_decoder(model, num_slots, num_tokens) for num_slots in (1, 4))
    read = four.prefill(prompt(0))

    def decode(decoder: Decoder, num_rows: int) -> None:
        for number in range(num_rows):
            decoder.admit(Row((number,), Sampling(), num_tokens), read)
        step_out(decoder)

    ways = {
        "1 of 1": lambda: decode(one, 1),
        "1 of 4": lambda: decode(four, 1),
        "3 of 4": lambda: decode(four, 3),
    }
    times = in_turn(ways, rounds)
    titles = {
        "1 of 4": "1 candidate, 4 slots",
        "3 of 4": "3 candidates, 4 slots",
        "1 of 1": "1 candidate, a decoder of 1 slot",
    }
    rows = [
        [
            title,
            _ms(times[name], num_tokens),
            f"{ratio(times, name, '1 of 4'):.2f}",
            f"{ratio(times, name, '1 of 1'):.2f}",
            goal(ratio(times, name, "1 of 4"), 1.25) if name == "3 of 4" else "",
        ]
        for name, title in titles.items()
    ]
    headings = ("decoding", "ms per step", "wall time / 1 candidate", "wall time / decoder of 1 slot", "goal")
    return table(headings, rows)


def requests(model: Any, num_tokens: int, rounds: int) -> str:
    """The report on many requests, their prompts read within the time; arguments as above."""
    one, eight = (make_decoder(model, num_slots, num_tokens) for num_slots in (1, _NUM_REQUESTS))
    prompts = [prompt(number) for number in range(_NUM_REQUESTS)]

    def in_a_row(num_tokens: int = num_tokens) -> None:
        for each in prompts:
            speak(one, [each], num_tokens)

    in_a_row(2)
    speak(eight, prompts, 2)
    times = in_turn({"in turn": in_a_row, "at once": lambda: speak(eight, prompts, num_tokens)}, rounds, True)
    gain = ratio(times, "in turn", "at once")
    tokens = _NUM_REQUESTS * num_tokens
    rows = [
        [name, f"{tokens / sorted(times[name])[len(times[name]) // 2]:.1f}", figure, met]
        for name, figure, met in (
            ("in turn", "1", ""),
            ("at once", f"{gain:.2f}", goal(gain, 3.0, at_least=True)),
        )
    ]
    headings = (f"{_NUM_REQUESTS} requests with different prompts", "tokens/s", "ratio of throughput", "goal")
    return table(headings, rows)


def _ms(times: list[float], num_tokens: int) -> str:
    return f"{1e3 * sorted(times)[len(times) // 2] / num_tokens:.1f}"
