"""How the time of something grows, whatever else the machine does."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def growth(work: Callable[[int], object], size: int, factor: int = 4, times: int = 5) -> float:
    """Time for `factor * size` over time for `size`: `factor` where it is linear, its square where it is quadratic.

    Only this thread's processor time counts, the best of several tries, without the garbage collector's walks over all
    that other tests left behind.
    """

    def best_s(size: int) -> float:
        spans_s = []
        for _ in range(times):
            began_s = time.thread_time()
            work(size)
            spans_s.append(time.thread_time() - began_s)
        return min(spans_s)

    work(size)
    was_on = gc.isenabled()
    gc.disable()
    try:
        return best_s(factor * size) / max(best_s(size), 1e-4)
    finally:
        if was_on:
            gc.enable()
