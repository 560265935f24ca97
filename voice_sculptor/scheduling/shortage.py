"""Out of memory: how it is told from other errors, what is freed then, and how it is said."""

from __future__ import annotations

import gc
import re
import sys
import traceback

import psutil

from voice_sculptor.errors import OutOfMemory
from voice_sculptor.scheduling.memory import memory_snapshot

# torch is not imported here: its classes are known by name, and what is raised as a bare RuntimeError by its words.
_NAMES = {"OutOfMemoryError", "MemoryError"}
_WORDS = re.compile(
    r"out of memory|can't allocate memory|not enough memory|CU(BLAS|DNN|FFT)_STATUS_ALLOC_FAILED",
    re.IGNORECASE,
)
_ASKED = re.compile(r"tried to allocate ([\d.]+) ?([KMGT]i?B|bytes)", re.IGNORECASE)
_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def is_shortage(error: BaseException) -> bool:
    """Whether an error means that memory was not enough."""
    return (
        isinstance(error, MemoryError | OutOfMemory)
        or type(error).__name__ in _NAMES
        or (isinstance(error, RuntimeError) and _WORDS.search(str(error)) is not None)
    )


def free_caches(error: BaseException | None = None) -> None:
    """Give back what nobody uses.

    Args:
        error: Its traceback holds on to the tensors of the frames that it went through; they are let go.
    """
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def said(error: BaseException, device: str) -> OutOfMemory:
    """The error for the user, with what was needed and what is free, as far as that is known.

    Args:
        error: What the engine raised.
        device: As returned by `memory.choose`.
    """
    if isinstance(error, OutOfMemory):
        return error
    memory = memory_snapshot(device)
    free_bytes = memory.total_bytes - memory.used_bytes
    asked = _ASKED.search(str(error))
    needed_bytes = round(float(asked[1]) * _UNITS[asked[2][0].lower()]) if asked else None
    needed = f" ({_gb(needed_bytes)} more were needed, {_gb(free_bytes)} are free)" if needed_bytes else ""
    needed_zh = f"（还需要 {_gb(needed_bytes)}，剩余 {_gb(free_bytes)}）" if needed_bytes else ""
    if not needed_bytes:
        needed, needed_zh = f" ({_gb(free_bytes)} are free)", f"（剩余 {_gb(free_bytes)}）"
    answer = OutOfMemory(
        f"The device has too little memory left for this request{needed}.",
        f"设备剩余内存不足，无法完成此请求{needed_zh}。",
        fix_en="Shorten the text, ask for fewer candidates, or close other programs.",
        fix_zh="请缩短文本、减少候选数量，或关闭其他程序。",
        needed_bytes=needed_bytes,
        free_bytes=free_bytes,
    )
    answer.__cause__ = error
    return answer


class PeakMemory:
    """The most memory that was in use since the last look; for the worker's thread only."""

    def __init__(self) -> None:
        self._process = psutil.Process()

    def restart(self, device: str) -> None:
        """Look from now on."""
        torch = sys.modules.get("torch")
        if device.startswith("cuda") and torch is not None:
            torch.cuda.reset_peak_memory_stats(device)

    def read_bytes(self, device: str) -> int:
        """As `Limits.measured` wants it."""
        torch = sys.modules.get("torch")
        if device.startswith("cuda") and torch is not None:
            return int(torch.cuda.max_memory_allocated(device))
        return int(self._process.memory_info().rss)


def _gb(num_bytes: int | None) -> str:
    return f"{(num_bytes or 0) / 1e9:.2f} GB"
