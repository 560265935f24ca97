"""Which device works, and how much of its memory is in use."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from typing import Literal

import psutil

from voice_sculptor import device as machine
from voice_sculptor.errors import ConfigError

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MemorySnapshot:
    """Memory of the device that speaks, now.

    Attributes:
        kind: `vram` of a graphics card, or `ram`.
        used_bytes: In use by anyone.
        total_bytes: All there is.
        process_bytes: In use by this process.
        device_name: The card, or the processor.
    """

    kind: Literal["vram", "ram"]
    used_bytes: int
    total_bytes: int
    process_bytes: int
    device_name: str


def choose(device: str, needed_bytes: int = 0) -> str:
    """The device to load an engine onto. Imports torch where a graphics card or another device is in question.

    Args:
        device: `cpu`, `mps`, `cuda`, `cuda:0` …, or `auto`: the CUDA device with most free memory where one works and
            has enough, else the CPU.
        needed_bytes: Memory the engine needs; looked at for `auto` only.

    Returns:
        What torch understands: `cpu`, `mps`, `cuda:1` ….

    Raises:
        ConfigError: There is no such device; the sentence lists those there are.
    """
    if device == "cpu" or (device == "auto" and not machine.gpus()):
        return "cpu"
    import torch

    cuda = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    if device == "auto":
        free = {name: torch.cuda.mem_get_info(name)[0] for name in cuda if _works(name)}
        best = max(free, key=free.__getitem__, default="cpu")
        return best if free.get(best, 0) >= needed_bytes else "cpu"
    there = ["cpu", *cuda, *(["mps"] if torch.backends.mps.is_available() else [])]
    wanted = "cuda:0" if device == "cuda" else device
    if wanted not in there:
        raise ConfigError(
            f"There is no device {device!r} here.",
            f"这台机器上没有设备 {device!r}。",
            fix_en=f"Devices: auto, {', '.join(there)}.",
            fix_zh=f"可用设备：auto、{'、'.join(there)}。",
        )
    return wanted


def memory_snapshot(device: str = "auto") -> MemorySnapshot:
    """Memory of the device in use; a millisecond or two, never an error where there is no driver.

    Args:
        device: As returned by `choose`; before that `auto`, the first graphics card where there is one.
    """
    vram = _vram(device) if device == "auto" or device.startswith("cuda") else None
    if vram is not None:
        return vram
    ram = psutil.virtual_memory()
    process_bytes = psutil.Process().memory_info().rss
    return MemorySnapshot("ram", ram.total - ram.available, ram.total, process_bytes, machine.cpu_name())


def peak_bytes(device: str) -> int:
    """Most memory that this process had: of the card where one is in use, else of the machine."""
    torch = sys.modules.get("torch")
    if device.startswith("cuda") and torch is not None:
        return int(torch.cuda.max_memory_allocated(device))
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _vram(device: str) -> MemorySnapshot | None:
    library = machine.nvml()
    if library is None:
        return None
    index = int(device.partition(":")[2] or 0)
    # Looked up, not imported: before an engine has loaded torch there is nothing of ours on the card.
    torch = sys.modules.get("torch")
    try:
        if torch is not None and torch.cuda.is_initialized():
            handle = library.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(index).uuid}")
            process_bytes = int(torch.cuda.memory_reserved(index))
        elif machine.gpus():
            handle, process_bytes = library.nvmlDeviceGetHandleByIndex(index), 0
        else:
            return None
        memory = library.nvmlDeviceGetMemoryInfo(handle)
        name = library.nvmlDeviceGetName(handle)
    except library.NVMLError:
        return None
    return MemorySnapshot("vram", int(memory.used), int(memory.total), process_bytes, name)


def _works(device: str) -> bool:
    """Whether torch has code for this card: a card can be older than what a release of torch is built for."""
    import torch

    try:
        torch.zeros(1, device=device).add_(1).item()
    except (RuntimeError, AssertionError) as error:  # the latter from a torch that is built without CUDA
        _log.warning("The device %s cannot be used: %s", device, error)
        return False
    return True
