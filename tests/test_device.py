"""What the machine is, and which device works; with a stand-in for NVIDIA's library where there is no card."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import psutil
import pynvml
import pytest

from voice_sculptor import device
from voice_sculptor.errors import ConfigError, OutOfMemory, OutputError
from voice_sculptor.scheduling import memory

CARD = device.Gpu("Test Card", "GPU-1", 24_000_000_000, 20_000_000_000)


class Driver(ModuleType):
    """What is used of pynvml, with one card."""

    NVMLError = pynvml.NVMLError
    is_broken = False
    is_terse = False

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        if self.is_broken:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return 1

    def nvmlDeviceGetHandleByIndex(self, index: int) -> str:  # noqa: N802
        assert index == 0
        return "handle"

    def nvmlDeviceGetMemoryInfo(self, handle: str) -> SimpleNamespace:  # noqa: N802
        used = CARD.total_bytes - CARD.free_bytes
        return SimpleNamespace(total=CARD.total_bytes, free=CARD.free_bytes, used=used)

    def nvmlDeviceGetName(self, handle: str) -> str:  # noqa: N802
        return CARD.name

    def nvmlDeviceGetUUID(self, handle: str) -> str:  # noqa: N802
        return CARD.uuid

    def nvmlDeviceGetUtilizationRates(self, handle: str) -> SimpleNamespace:  # noqa: N802
        if self.is_terse:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return SimpleNamespace(gpu=42, memory=7)

    def nvmlDeviceGetTemperature(self, handle: str, sensor: int) -> int:  # noqa: N802
        if self.is_terse:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return 61


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    library = Driver("pynvml")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(device, "nvml", lambda: library)
    return library


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "nvml", lambda: None)


def test_report_of_this_machine(tmp_path: Path) -> None:
    found = device.report(tmp_path / "not" / "yet")
    assert found.cpu
    assert 1 <= found.num_cores <= (psutil.cpu_count() or 1)
    assert 0 < found.ram_available_bytes <= found.ram_total_bytes <= psutil.virtual_memory().total
    assert found.disk_free_bytes > 0
    assert not (tmp_path / "not").exists()
    for language in ("en", "zh"):
        assert found.cpu in found.lines(language)[0]


def test_cards_are_listed(driver: Driver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert device.gpus() == (CARD,)
    assert "GPU: Test Card, 20.0 / 24.0 GB" in device.report(tmp_path).lines()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert device.gpus() == ()


def test_a_broken_driver_is_no_card(driver: Driver) -> None:
    driver.is_broken = True
    assert device.gpus() == ()
    assert memory.memory_snapshot().kind == "ram"


def test_too_little_memory_or_disk_is_refused(tmp_path: Path) -> None:
    enough = replace(device.report(tmp_path), ram_available_bytes=10**10, disk_free_bytes=10**10)
    enough.require_enough()
    with pytest.raises(OutOfMemory, match=r"0\.3 GB"):
        replace(enough, ram_available_bytes=300_000_000).require_enough()
    with pytest.raises(OutputError, match=r"0\.1 GB"):
        replace(enough, disk_free_bytes=100_000_000).require_enough()


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("max", (None, 0)), ("4000000000", (4_000_000_000, 700_000_000)), (None, (None, 0))],
)
def test_a_containers_limit_counts(
    tmp_path: Path, limit: str | None, expected: tuple[int | None, int]
) -> None:
    if limit:
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        (tmp_path / "memory.current").write_text("1000000000\n")
        (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 300000000\n")
    assert device._container_memory(tmp_path) == expected


def test_the_module_prints_the_report(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "voice_sculptor.device"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, OutOfMemory.exit_code, OutputError.exit_code)
    assert len(done.stdout.splitlines()) >= 4


def test_snapshot_without_a_card(no_driver: None) -> None:
    snapshot = memory.memory_snapshot()
    assert snapshot.kind == "ram"
    assert 0 < snapshot.process_bytes < snapshot.used_bytes < snapshot.total_bytes
    assert snapshot.device_name == device.cpu_name()


def test_snapshot_of_a_card(driver: Driver) -> None:
    snapshot = memory.memory_snapshot()
    sizes = (4_000_000_000, 24_000_000_000, 0)
    assert snapshot == memory.MemorySnapshot(
        "vram", *sizes, "Test Card", utilisation=0.42, temperature_c=61.0
    )
    assert snapshot.used_percent == pytest.approx(100 / 6)
    assert memory.memory_snapshot("cpu").kind == "ram"
    driver.is_terse = True
    assert memory.memory_snapshot() == memory.MemorySnapshot("vram", *sizes, "Test Card")


def test_torchs_part_of_a_card(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(driver, "nvmlDeviceGetHandleByUUID", lambda uuid: uuid, raising=False)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: SimpleNamespace(uuid="1"))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda index: 3_000_000_000)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda index: 2_000_000_000)
    snapshot = memory.memory_snapshot("cuda:0")
    assert (snapshot.process_bytes, snapshot.held_bytes) == (3_000_000_000, 1_000_000_000)
    parts = snapshot.parts({"weights": 1_500_000_000, "cache": 10**12})
    assert parts == {
        "weights": 1_500_000_000,
        "codec": 0,
        "cache": 500_000_000,
        "working": 0,
        "held": 1_000_000_000,
        "others": 1_000_000_000,
    }
    assert sum(parts.values()) == snapshot.used_bytes


def test_a_containers_limit_is_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = SimpleNamespace(total=64_000_000_000, available=30_000_000_000)
    monkeypatch.setattr(device.psutil, "virtual_memory", lambda: machine)
    monkeypatch.setattr(device, "_container_memory", lambda: (8_000_000_000, 3_000_000_000))
    assert device.ram() == (8_000_000_000, 5_000_000_000)
    monkeypatch.setattr(device, "_container_memory", lambda: (8_000_000_000, 9_000_000_000))
    assert device.ram() == (8_000_000_000, 0)
    monkeypatch.setattr(device, "_container_memory", lambda: (2**63, 3_000_000_000))
    assert device.ram() == (64_000_000_000, 30_000_000_000)


@pytest.mark.parametrize(
    ("platform", "given", "expected"),
    [
        ("linux", {}, {"PYTORCH_ALLOC_CONF": "expandable_segments:True"}),
        (
            "linux",
            {"PYTORCH_CUDA_ALLOC_CONF": "backend:native"},
            {"PYTORCH_CUDA_ALLOC_CONF": "backend:native"},
        ),
        ("linux", {"PYTORCH_ALLOC_CONF": "a:b"}, {"PYTORCH_ALLOC_CONF": "a:b"}),
        ("win32", {}, {}),
    ],
)
def test_the_allocator_is_set_up_unless_an_operator_did(
    platform: str, given: dict[str, str], expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in memory.ALLOCATOR_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(memory.sys, "platform", platform)
    memory.prepare_allocator(expandable=False)
    assert {name: os.environ[name] for name in memory.ALLOCATOR_VARIABLES if name in os.environ} == given
    memory.prepare_allocator(expandable=True)
    assert {name: os.environ[name] for name in memory.ALLOCATOR_VARIABLES if name in os.environ} == expected


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Free bytes of each CUDA device torch sees; all of them work."""
    import torch

    free: dict[str, int] = {}
    monkeypatch.setattr(device, "gpus", lambda: (CARD,))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(free))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda name: (free[name], 10**11))
    monkeypatch.setattr(memory, "_works", lambda name: True)
    return free


def test_auto_takes_the_emptiest_card_that_works(
    cards: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memory.choose("auto") == "cpu"
    cards.update({"cuda:0": 10**9, "cuda:1": 10**10})
    assert memory.choose("auto") == "cuda:1"
    assert memory.choose("auto", needed_bytes=2 * 10**10) == "cpu"
    monkeypatch.setattr(memory, "_works", lambda name: name == "cuda:0")
    assert memory.choose("auto") == "cuda:0"


def test_a_named_device_is_taken_or_refused(cards: dict[str, int]) -> None:
    assert memory.choose("cpu") == "cpu"
    with pytest.raises(ConfigError, match="cuda") as caught:
        memory.choose("cuda")
    assert "auto, cpu" in caught.value.fix_en
    cards["cuda:0"] = 1
    assert memory.choose("cuda") == "cuda:0"
    with pytest.raises(ConfigError, match="cuda:1"):
        memory.choose("cuda:1")


def test_a_card_that_torch_cannot_use_does_not_work() -> None:
    assert memory._works("cuda:63") is False
    assert memory._works("cpu") is True
