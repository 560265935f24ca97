"""A model of the real size on a graphics card: steps against the memory floor, first token, codec, memory by part."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch

from voice_sculptor.bench.decoding.models import (
    make_decoder,
    num_read_bytes,
    prompt,
    random_model,
    speak,
    synchronize,
)
from voice_sculptor.bench.decoding.timing import goal, table
from voice_sculptor.engines.voicesculptor.codec import Codec
from voice_sculptor.engines.voicesculptor.decoding import Row
from voice_sculptor.engines.voicesculptor.sampling import Sampling
from voice_sculptor.engines.voicesculptor.tiny_codec import write_tiny_codec

_ROWS = (1, 3, 8)
_CODES_OF_10_S = 500
_BANDWIDTH_BYTES = 1 << 28


def measure(device: str, size: str, num_tokens: int, rounds: int) -> str:
    """The report; a few minutes for a 3B. Works on a CPU as well, with a small size, to try it out.

    Args:
        device: `cuda:0` …, or `cpu`.
        size: One of `models.SIZES`.
        num_tokens: Said by each row.
        rounds: Repetitions.
    """
    half = torch.float16 if device.startswith("cuda") else torch.bfloat16
    bandwidth = _bandwidth(device, rounds)
    lines = [f"Device: {_name(device)}; {bandwidth / 1e9:.0f} GB/s read and written by a copy."]
    peaks = {}
    for dtype in (half, torch.float32):
        report, peaks[dtype] = _of_type(device, size, dtype, num_tokens, rounds, bandwidth)
        lines.append(report)
        gc.collect()
        if device.startswith("cuda"):
            torch.cuda.empty_cache()
    if device.startswith("cuda"):
        share = peaks[half] / peaks[torch.float32]
        lines.append(f"Peak in 16 bit / in fp32: {share:.2f} ({goal(share, 0.6)})")
    return "\n\n".join(lines)


def _of_type(
    device: str, size: str, dtype: torch.dtype, num_tokens: int, rounds: int, bandwidth: float
) -> tuple[str, int]:
    memory = _Memory(device)
    model = random_model(size, device, dtype)
    memory.note("language model")
    floor_s = num_read_bytes(model) / bandwidth
    rows = []
    for num_rows in _ROWS:
        rows.append(_row(model, num_rows, num_tokens, rounds, floor_s))
        memory.note(f"{num_rows} rows: cache and graphs, freed again")
    with tempfile.TemporaryDirectory() as folder:
        write_tiny_codec(Path(folder), hidden_size=1024 if size != "small" else 64, num_layers=12)
        codec_type = dtype if device.startswith("cuda") else torch.float32
        codec = Codec.load(Path(folder), device, codec_type, lambda _: None)
    memory.note("codec")
    codes = [list(range(_CODES_OF_10_S))]
    codec_s = _timed(lambda: codec.decode(codes), rounds, device)
    memory.note("decoding 10 s of sound")
    headings = ("rows", "ms per step", "floor, ms", "ratio", "goal", "first token, ms", "tokens/s")
    name = str(dtype).removeprefix("torch.")
    report = [
        f"{size}, {name}: {num_read_bytes(model) / 1e9:.2f} GB of weights read a step",
        table(headings, rows),
        f"Codec: 10 s of sound in {1e3 * codec_s:.0f} ms.",
    ]
    if memory.parts:
        report.append(
            table(
                ("memory", "held more, GB", "peak so far, GB"),
                [[part, f"{held / 1e9:.2f}", f"{peak / 1e9:.2f}"] for part, held, peak in memory.parts],
            )
        )
    return "\n\n".join(report), memory.peak_bytes


def _row(model: Any, num_rows: int, num_tokens: int, rounds: int, floor_s: float) -> list[str]:
    device = str(model.device)
    decoder = make_decoder(model, num_rows if num_rows != 3 else 4, num_tokens)
    ids = [prompt(0)] * num_rows
    first_s = _timed(lambda: _first_token(decoder, ids), rounds, device)
    whole_s = _timed(lambda: speak(decoder, ids, num_tokens), rounds, device)
    step_s = (whole_s - first_s) / (num_tokens - 1)
    return [
        str(num_rows),
        f"{1e3 * step_s:.2f}",
        f"{1e3 * floor_s:.2f}",
        f"{step_s / floor_s:.2f}",
        goal(step_s / floor_s, 1.5) if num_rows == 3 and model.dtype != torch.float32 else "",
        f"{1e3 * first_s:.0f}",
        f"{num_rows / step_s:.0f}",
    ]


class _Memory:
    """What each part takes of a card; nothing on a CPU."""

    def __init__(self, device: str) -> None:
        self._device = device if device.startswith("cuda") else None
        self.parts: list[tuple[str, int, int]] = []
        if self._device:
            torch.cuda.reset_peak_memory_stats(self._device)
            self._before = torch.cuda.memory_allocated(self._device)

    def note(self, part: str) -> None:
        """The part is there now."""
        if self._device:
            now = torch.cuda.memory_allocated(self._device)
            self.parts.append((part, now - self._before, self.peak_bytes))
            self._before = now

    @property
    def peak_bytes(self) -> int:
        """Most that was allocated."""
        return torch.cuda.max_memory_allocated(self._device) if self._device else 0


def _first_token(decoder: Any, ids: list[tuple[int, ...]]) -> None:
    read = decoder.prefill(ids[0])
    for number in range(len(ids)):
        decoder.admit(Row((number,), Sampling(), 2), read)
    decoder.step()
    synchronize(str(decoder.cache.positions.device))
    decoder.clear()


def _timed(do: Callable[[], object], rounds: int, device: str) -> float:
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        do()
        synchronize(device)
        times.append(time.perf_counter() - began)
    return median(times[1:])


def _bandwidth(device: str, rounds: int) -> float:
    """Bytes read and written per second by a copy."""
    one = torch.zeros(_BANDWIDTH_BYTES, dtype=torch.uint8, device=device)
    other = torch.empty_like(one)
    return 2 * _BANDWIDTH_BYTES / _timed(lambda: other.copy_(one), rounds + 3, device)


def _name(device: str) -> str:
    if device.startswith("cuda"):
        return str(torch.cuda.get_device_name(device))
    from voice_sculptor.device import cpu_name

    return cpu_name()
