"""What this machine is: processor, memory, disk, graphics cards. Needs no driver and no torch.

`python -m voice_sculptor.device [FOLDER]` prints it and exits with 6 where the product cannot run.
"""

from __future__ import annotations

import logging
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import psutil

from voice_sculptor.errors import OutOfMemory, OutputError, VoiceSculptorError

MIN_RAM_BYTES = 1_500_000_000
"""Free memory that loading the embedded engine needs (about 1.2 GB measured) with a little to spare."""
MIN_DISK_BYTES = 300_000_000
"""Free disk for the embedded weights, and some audio."""

_log = logging.getLogger(__name__)

_GB = 1e9
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Gpu:
    """One CUDA device as the driver sees it.

    Attributes:
        name: As sold.
        uuid: The driver's name for it, the same whatever the order of devices.
        total_bytes: Its memory.
        free_bytes: Its memory not in use by anyone.
    """

    name: str
    uuid: str
    total_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class DeviceReport:
    """What a machine has.

    Attributes:
        cpu: Processor name.
        num_cores: Physical cores this process may use.
        ram_total_bytes: Memory, or the limit of the container.
        ram_available_bytes: Memory that can be had without swapping.
        disk_free_bytes: Free space where `disk_path` is.
        disk_path: The folder asked about.
        gpus: CUDA devices; empty without a driver.
    """

    cpu: str
    num_cores: int
    ram_total_bytes: int
    ram_available_bytes: int
    disk_free_bytes: int
    disk_path: Path
    gpus: tuple[Gpu, ...]

    def lines(self, language: str = "en") -> list[str]:
        """The report for people, one thing a line.

        Args:
            language: `"zh"` for Chinese, anything else for English.
        """
        chinese = language == "zh"
        gpus = [
            f"{gpu.name}, {gpu.free_bytes / _GB:.1f} / {gpu.total_bytes / _GB:.1f} GB" for gpu in self.gpus
        ]
        ram_gb = (self.ram_available_bytes / _GB, self.ram_total_bytes / _GB)
        disk_gb = self.disk_free_bytes / _GB
        if chinese:
            return [
                f"处理器：{self.cpu}，{self.num_cores} 核",
                *[f"显卡：{gpu}" for gpu in gpus or ["无（使用处理器）"]],
                f"内存：可用 {ram_gb[0]:.1f} GB，共 {ram_gb[1]:.1f} GB",
                f"磁盘：剩余 {disk_gb:.1f} GB（{self.disk_path}）",
            ]
        return [
            f"CPU: {self.cpu}, {self.num_cores} cores",
            *[f"GPU: {gpu}" for gpu in gpus or ["none (the CPU is used)"]],
            f"RAM: {ram_gb[0]:.1f} GB free of {ram_gb[1]:.1f} GB",
            f"Disk: {disk_gb:.1f} GB free ({self.disk_path})",
        ]

    def require_enough(self) -> None:
        """Refuses a machine on which the embedded engine cannot be loaded.

        Raises:
            OutOfMemory: Too little memory is free.
            OutputError: Too little disk is free.
        """
        if self.ram_available_bytes < MIN_RAM_BYTES:
            free, needed = f"{self.ram_available_bytes / _GB:.1f} GB", f"{MIN_RAM_BYTES / _GB:.1f} GB"
            raise OutOfMemory(
                f"Only {free} of memory is free; speech needs {needed}.",
                f"可用内存只有 {free}，合成语音需要 {needed}。",
                fix_en="Close other programs, or give the container more memory.",
                fix_zh="请关闭其他程序，或给容器更多内存。",
            )
        if self.disk_free_bytes < MIN_DISK_BYTES:
            free, needed = f"{self.disk_free_bytes / _GB:.1f} GB", f"{MIN_DISK_BYTES / _GB:.1f} GB"
            raise OutputError(
                f"Only {free} of disk is free in {self.disk_path}; {needed} are needed.",
                f"{self.disk_path} 所在磁盘只剩 {free}，需要 {needed}。",
                fix_en="Free some space, or set VOICE_SCULPTOR_CHECKPOINTS to a folder on another disk.",
                fix_zh="请腾出空间，或将 VOICE_SCULPTOR_CHECKPOINTS 设为另一磁盘上的文件夹。",
            )


def report(path: Path) -> DeviceReport:
    """Looks at the machine.

    Args:
        path: Folder whose disk counts; it need not exist yet.
    """
    existing = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    total_bytes, available_bytes = ram()
    return DeviceReport(
        cpu=cpu_name(),
        num_cores=_num_cores(),
        ram_total_bytes=total_bytes,
        ram_available_bytes=available_bytes,
        disk_free_bytes=shutil.disk_usage(existing).free,
        disk_path=path,
        gpus=gpus(),
    )


def ram() -> tuple[int, int]:
    """Memory of the machine or of the container, and what of it can be had without swapping; bytes.

    Files that the system keeps in memory only for speed count as available.
    """
    machine = psutil.virtual_memory()
    limit_bytes, used_bytes = _container_memory()
    if limit_bytes is None or limit_bytes >= machine.total:
        return machine.total, machine.available
    return limit_bytes, min(machine.available, max(0, limit_bytes - used_bytes))


def gpus() -> tuple[Gpu, ...]:
    """CUDA devices in the driver's order; none without a driver, or where `CUDA_VISIBLE_DEVICES` hides them all."""
    library = nvml()
    if library is None or os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
        return ()
    found = []
    try:
        for index in range(library.nvmlDeviceGetCount()):
            handle = library.nvmlDeviceGetHandleByIndex(index)
            memory = library.nvmlDeviceGetMemoryInfo(handle)
            name, uuid = library.nvmlDeviceGetName(handle), library.nvmlDeviceGetUUID(handle)
            found.append(Gpu(name, uuid, int(memory.total), int(memory.free)))
    except library.NVMLError as error:
        _log.warning("The NVIDIA driver does not answer: %s", error)
    return tuple(found)


@cache
def nvml() -> ModuleType | None:
    """NVIDIA's management library, started once; `None` without a driver."""
    import pynvml

    library: ModuleType = pynvml
    try:
        library.nvmlInit()
    except library.NVMLError:
        return None
    return library


@cache
def cpu_name() -> str:
    """The processor, as sold."""
    if sys.platform == "darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        name = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    else:
        name = _linux_cpu_name(Path("/proc/cpuinfo"))
    return name or platform.processor() or platform.machine()


def _num_cores() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, psutil.cpu_count(logical=False) or usable)


def _linux_cpu_name(cpuinfo: Path) -> str:
    try:
        lines = cpuinfo.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _container_memory(cgroup: Path = _CGROUP) -> tuple[int | None, int]:
    """Limit and use of this container's memory, bytes; the limit is `None` where there is none (cgroup v2)."""
    try:
        limit = (cgroup / "memory.max").read_text("ascii").strip()
        stat = (cgroup / "memory.stat").read_text("ascii")
        used_bytes = int((cgroup / "memory.current").read_text("ascii"))
    except (OSError, ValueError):
        return None, 0
    if not limit.isdigit():
        return None, 0
    # Cached file pages count as used, but are given up when memory is asked for.
    cache = next((int(line.split()[1]) for line in stat.splitlines() if line.startswith("inactive_file ")), 0)
    return int(limit), max(0, used_bytes - cache)


def _language(environ: Mapping[str, str]) -> str:
    names = ("VOICE_SCULPTOR_UI_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    return (
        "zh"
        if next((environ[name] for name in names if environ.get(name)), "").lower().startswith("zh")
        else "en"
    )


def main() -> int:
    """Prints the report; 0 where the product can run."""
    language = _language(os.environ)
    machine = report(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(machine.lines(language)))  # noqa: T201
    try:
        machine.require_enough()
    except VoiceSculptorError as error:
        print(error.message(language), file=sys.stderr)  # noqa: T201
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
