"""Why there is no pool of tensors made by hand: what taking memory costs, beside the work that is done in it.

`python benchmarks/allocator.py [cpu|cuda]` prints a table: for tensors of the sizes that speaking uses, the time to
take one from torch, the time to take one from a pool, and both with the smallest work that can be done in it, writing
it once. Each figure is the median of rounds in turn.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

import torch

SIZES_MB = (0.01, 0.1, 1.0, 10.0, 50.0)
ROUNDS = 9
COUNT = 40


class Pool:
    """The simplest pool there is: free tensors by size, handed out again."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._free: dict[int, list[torch.Tensor]] = {}

    def take(self, size: int) -> torch.Tensor:
        free = self._free.get(size)
        return free.pop() if free else torch.empty(size, device=self._device)

    def give(self, tensor: torch.Tensor) -> None:
        self._free.setdefault(tensor.numel(), []).append(tensor)


def microseconds(work: Callable[[], object], device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(COUNT):
        work()
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - began) / COUNT * 1e6


def main() -> None:
    device = sys.argv[1] if len(sys.argv) > 1 else "cuda" if torch.cuda.is_available() else "cpu"
    pool = Pool(device)
    print(
        f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads, microseconds, medians of {ROUNDS}"
    )
    print(
        "| tensor, MB | take from torch | take from a pool | take from torch and write | from a pool and write |"
    )
    print("|---|---|---|---|---|")
    for size_mb in SIZES_MB:
        size = round(size_mb * 1e6 / 4)

        def torchs(size: int = size) -> None:
            torch.empty(size, device=device)

        def pools(size: int = size) -> None:
            pool.give(pool.take(size))

        def torchs_written(size: int = size) -> None:
            torch.empty(size, device=device).fill_(1.0)

        def pools_written(size: int = size) -> None:
            pool.give(pool.take(size).fill_(1.0))

        ways = (torchs, pools, torchs_written, pools_written)
        rounds = [[microseconds(way, device) for way in ways] for _ in range(ROUNDS + 1)][1:]
        figures = [median(each) for each in zip(*rounds, strict=True)]
        print(f"| {size_mb:g} | " + " | ".join(f"{figure:.1f}" for figure in figures) + " |")


if __name__ == "__main__":
    main()
