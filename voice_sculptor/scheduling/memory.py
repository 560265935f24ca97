"""Which device works, and how much of its memory is in use."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

import psutil

from voice_sculptor import device as machine
from voice_sculptor.errors import ConfigError

_log = logging.getLogger(__name__)


PARTS = ("weights", "codec", "cache", "working", "held", "others")
"""Whose the memory is: the engine's own three, what it works with, what torch keeps for later, other programs."""


@dataclass(frozen=True)
class MemorySnapshot:
    """Memory of the device that speaks, now.

    Attributes:
        kind: `vram` of a graphics card, or `ram`.
        used_bytes: In use by anyone; files that are kept in memory only for speed are not.
        total_bytes: All there is.
        process_bytes: In use by this process; on a card what torch has taken from it.
        device_name: The card, or the processor.
        held_bytes: Of `process_bytes`, what torch's allocator keeps for the next time.
        swap_bytes: Beside it, free on disk.
        utilisation: Share of the time that the card, or all processors, work, 0–1; `None` where not known.
        temperature_c: Of the card or the processor, degrees Celsius; `None` where not known.
    """

    kind: Literal["vram", "ram"]
    used_bytes: int
    total_bytes: int
    process_bytes: int
    device_name: str
    held_bytes: int = 0
    swap_bytes: int = 0
    utilisation: float | None = None
    temperature_c: float | None = None

    @property
    def used_percent(self) -> float:
        """Of all there is, 0–100."""
        return 100.0 * self.used_bytes / self.total_bytes if self.total_bytes else 0.0

    def parts(self, stated: Mapping[str, int]) -> dict[str, int]:
        """What is in use, by part; the parts are `PARTS`; their sum is `used_bytes`, but for readings apart in time.

        Args:
            stated: What the engine says it holds.
        """
        left_bytes, found = self.process_bytes - self.held_bytes, {}
        for part in PARTS[:3]:
            found[part] = min(stated.get(part, 0), left_bytes)
            left_bytes -= found[part]
        others_bytes = max(0, self.used_bytes - self.process_bytes)
        return {**found, "working": left_bytes, "held": self.held_bytes, "others": others_bytes}


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
    """Memory of the device in use; a few milliseconds, never an error where there is no driver.

    Args:
        device: As returned by `choose`; before that `auto`, the first graphics card where there is one.
    """
    vram = _vram(device) if device == "auto" or device.startswith("cuda") else None
    if vram is not None:
        return vram
    total_bytes, available_bytes = machine.ram()
    return MemorySnapshot(
        "ram",
        total_bytes - available_bytes,
        total_bytes,
        psutil.Process().memory_info().rss,
        machine.cpu_name(),
        swap_bytes=_free_swap_bytes(),
        # Since the last call: of the one who looks every second.
        utilisation=psutil.cpu_percent() / 100.0,
        temperature_c=_cpu_temperature_c(),
    )


def prepare_allocator(expandable: bool) -> None:
    """Set up torch's allocator for CUDA devices: it reads this once, when torch starts. What an operator set stands.

    Args:
        expandable: Let segments grow, so that memory is split up less; done on Linux only, where torch can.
    """
    if not expandable or not sys.platform.startswith("linux"):
        return
    if not any(os.environ.get(name) for name in ALLOCATOR_VARIABLES):
        os.environ[ALLOCATOR_VARIABLES[0]] = "expandable_segments:True"


ALLOCATOR_VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
"""torch's names for it, the present one first."""


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
    held_bytes = process_bytes = 0
    try:
        if torch is not None and torch.cuda.is_initialized():
            handle = library.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(index).uuid}")
            process_bytes = int(torch.cuda.memory_reserved(index))
            held_bytes = max(0, process_bytes - int(torch.cuda.memory_allocated(index)))
        elif machine.gpus():
            handle = library.nvmlDeviceGetHandleByIndex(index)
        else:
            return None
        memory = library.nvmlDeviceGetMemoryInfo(handle)
        name = library.nvmlDeviceGetName(handle)
    except library.NVMLError:
        return None
    return MemorySnapshot(
        "vram",
        int(memory.used),
        int(memory.total),
        process_bytes,
        name,
        held_bytes=held_bytes,
        utilisation=_asked(library, lambda: library.nvmlDeviceGetUtilizationRates(handle).gpu / 100.0),
        temperature_c=_asked(library, lambda: float(library.nvmlDeviceGetTemperature(handle, 0))),
    )


def _asked(library: ModuleType, ask: Callable[[], float]) -> float | None:
    """What a card says; not every card says everything."""
    try:
        return ask()
    except library.NVMLError:
        return None


def _free_swap_bytes() -> int:
    try:
        return int(psutil.swap_memory().free)
    except (OSError, RuntimeError):  # Containers may hide it.
        return 0


def _cpu_temperature_c() -> float | None:
    """The hottest of the processor's own sensors."""
    if not hasattr(psutil, "sensors_temperatures"):
        return None
    try:
        sensors = psutil.sensors_temperatures()
    except (OSError, RuntimeError):
        return None
    known = [each.current for name in _CPU_SENSORS for each in sensors.get(name, ()) if each.current]
    return max(known, default=None)


_CPU_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal")


def _works(device: str) -> bool:
    """Whether torch has code for this card: a card can be older than what a release of torch is built for."""
    import torch

    try:
        torch.zeros(1, device=device).add_(1).item()
    except (RuntimeError, AssertionError) as error:  # the latter from a torch that is built without CUDA
        _log.warning("The device %s cannot be used: %s", device, error)
        return False
    return True
