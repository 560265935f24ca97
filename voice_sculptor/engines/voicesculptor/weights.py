"""Where the weights of the Voice Sculptor engine are: given, found in the checkpoints folder, or downloaded.

Two folders: the language model, and the codec that makes sound of its tokens. What is looked at here is cheap (names,
sizes, a line of JSON); the loaders check the rest.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from voice_sculptor.config import Settings
from voice_sculptor.engines.voicesculptor import hub
from voice_sculptor.engines.voicesculptor.folders import Lack, lack_of_codec, lack_of_model, weight_files
from voice_sculptor.errors import ConfigError, OutputError, WeightsNotFound

COMMAND = "voice-sculptor download voicesculptor"
_BESIDE_BYTES = 3_000_000_000
"""Device memory beside the language model's own: the codec's decoder, the cache of all slots, a gigabyte to work in."""
_SPARE_DISK_BYTES = 200_000_000

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Repository:
    """A checkpoint on the hub.

    Attributes:
        id: Owner and name.
        licence: SPDX identifier of the weights'.
    """

    id: str
    licence: str

    @property
    def folder(self) -> str:
        """Name of its folder among the checkpoints."""
        return self.id.partition("/")[2]


MODEL = Repository("ASLP-lab/VoiceSculptor-VD", "Apache-2.0")
CODEC = Repository("HKUSTAudio/xcodec2-hf", "CC-BY-NC-4.0")
ORIGINAL_CODEC = Repository("HKUSTAudio/xcodec2", "CC-BY-NC-4.0")
"""The same codec in its authors' own format; taken where it is, never downloaded."""


@dataclass(frozen=True)
class Found:
    """Folders with a checkpoint; `None` where there is none."""

    model_dir: Path | None
    codec_dir: Path | None

    @property
    def is_complete(self) -> bool:
        """Whether both are there."""
        return self.model_dir is not None and self.codec_dir is not None


def locate(settings: Settings) -> Found:
    """The checkpoints on this machine: those that were given, else those in the checkpoints folder.

    Raises:
        WeightsNotFound: A folder was given that has none; the sentence names what is missing in it.
    """
    checkpoints = settings.checkpoints_dir
    return Found(
        _chosen(settings.model_dir, "--model-dir", [checkpoints / MODEL.folder], lack_of_model),
        _chosen(
            settings.codec_dir,
            "--codec-dir",
            [checkpoints / CODEC.folder, checkpoints / ORIGINAL_CODEC.folder],
            lack_of_codec,
        ),
    )


def is_ready(settings: Settings) -> bool:
    """Whether both checkpoints are on this machine."""
    try:
        return locate(settings).is_complete
    except WeightsNotFound:
        return False


def ensure(settings: Settings, progress: Progress | None = None) -> Found:
    """The checkpoints; what is not on this machine is downloaded into the checkpoints folder.

    A download that was interrupted goes on, with the same commit. However many processes ask, one of them downloads.

    Args:
        settings: Where to look; `model_revision` and `codec_revision` say what to download.
        progress: Called with the fraction of all bytes, 0–1.

    Returns:
        Both folders.

    Raises:
        WeightsNotFound: As `locate`, or the download failed; with what else can be done.
        ConfigError: What is in the checkpoints folder was downloaded from another revision than is asked for.
        OutputError: The folder cannot be written, or the disk is full.
    """
    report = progress or (lambda _fraction: None)
    found = locate(settings)
    for folder, revision, name in (
        (found.model_dir, settings.model_revision, "model_revision"),
        (found.codec_dir, settings.codec_revision, "codec_revision"),
    ):
        _check_revision(folder, revision, name)
    if not found.is_complete:
        _download(settings, found, report)
        found = locate(settings)
        if not found.is_complete:
            raise _not_found(settings, "the download is not a checkpoint", "下载的内容不是检查点")
    report(1.0)
    return found


def memory_bytes(model_dir: Path) -> int:
    """Device memory that speaking takes in 16 bit: the files of the language model and what is needed beside them."""
    return sum(path.stat().st_size for path in weight_files(model_dir)) + _BESIDE_BYTES


def _chosen(
    given: Path | None, flag: str, places: list[Path], lack_of: Callable[[Path], Lack | None]
) -> Path | None:
    if given is None:
        return next((place for place in places if lack_of(place) is None), None)
    lack = lack_of(given)
    if lack is not None:
        raise WeightsNotFound(
            f"There is no checkpoint in {given} ({flag}): {lack[0]}.",
            f"{given}（{flag}）中没有检查点：{lack[1]}。",
            fix_en=f"Give a folder with all of its files, or leave {flag} out.",
            fix_zh=f"请给出文件齐全的文件夹，或去掉 {flag}。",
        )
    return given


def _check_revision(folder: Path | None, revision: str | None, name: str) -> None:
    record = hub.read_record(folder) if folder is not None else None
    if record is None or record.is_of(revision):
        return
    raise ConfigError(
        f"{folder} was downloaded at the commit {record.commit[:12]}; {name} asks for {revision!r}.",
        f"{folder} 是按提交 {record.commit[:12]} 下载的，而 {name} 要求 {revision!r}。",
        fix_en=f"Delete the folder to download the other, or leave {name} out.",
        fix_zh=f"如需另一版本请先删除该文件夹，否则请去掉 {name}。",
    )


def _download(settings: Settings, found: Found, report: Progress) -> None:
    wanted = []
    if found.model_dir is None:
        wanted.append((MODEL, settings.model_revision, "model_revision"))
    if found.codec_dir is None:
        wanted.append((CODEC, settings.codec_revision, "codec_revision"))
    with _told(settings), _locked(settings.checkpoints_dir):
        plan = []
        for repository, revision, name in wanted:
            folder = settings.checkpoints_dir / repository.folder
            _refuse_foreign(settings, folder)
            _check_revision(folder, revision, name)
            plan.append((hub.resolve(repository.id, revision, folder), folder))
        total_bytes = sum(record.num_bytes for record, _ in plan)
        there_bytes = sum(
            path.stat().st_size
            for record, folder in plan
            for path in (folder / name for name in record.files)
            if path.is_file()
        )
        if total_bytes - there_bytes + _SPARE_DISK_BYTES > shutil.disk_usage(plan[0][1]).free:
            raise OSError(errno.ENOSPC, f"{(total_bytes - there_bytes) / 1e9:.1f} GB are needed")
        done_bytes = 0

        def add_bytes(count: int) -> None:
            nonlocal done_bytes
            done_bytes += count
            report(done_bytes / max(1, total_bytes))

        for record, folder in plan:
            hub.fetch(record, folder, add_bytes)


def _refuse_foreign(settings: Settings, folder: Path) -> None:
    """Files that somebody put there are never written over."""
    if hub.read_record(folder) is not None or not folder.is_dir():
        return
    if any(not path.name.startswith(".") for path in folder.iterdir()):
        lack = (lack_of_model if folder.name == MODEL.folder else lack_of_codec)(folder) or ("", "")
        raise _not_found(settings, f"{folder} has files, but {lack[0]}", f"{folder} 里有文件，但{lack[1]}")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    from filelock import FileLock

    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".voicesculptor.lock"):
        yield


@contextmanager
def _told(settings: Settings) -> Iterator[None]:
    """Maps what the hub and a file system can say to words."""
    try:
        yield
    except hub.HubFault as error:
        raise _not_found(settings, f"the download failed ({error})", f"下载失败（{error}）") from error
    except OSError as error:
        folder, why = settings.checkpoints_dir, error.strerror or str(error)
        raise OutputError(
            f"The checkpoints cannot be written to {folder}: {why}.",
            f"无法把模型检查点写入 {folder}：{why}。",
            fix_en="Make room, or set VOICE_SCULPTOR_CHECKPOINTS to a folder on another disk that can be written.",
            fix_zh="请腾出空间，或将 VOICE_SCULPTOR_CHECKPOINTS 设为另一磁盘上可写的文件夹。",
        ) from error


def _not_found(settings: Settings, why_en: str, why_zh: str) -> WeightsNotFound:
    checkpoints = settings.checkpoints_dir
    model, codec = checkpoints / MODEL.folder, checkpoints / CODEC.folder
    return WeightsNotFound(
        f"The weights of the Voice Sculptor engine are not on this machine: {why_en}.",
        f"这台机器上没有 Voice Sculptor 引擎的权重：{why_zh}。",
        fix_en=f"Run `{COMMAND}` with a network, or copy the checkpoints {MODEL.id} to {model} and {CODEC.id} to"
        f" {codec}, or name their folders with --model-dir and --codec-dir.",
        fix_zh=f"请联网运行 `{COMMAND}`，或把检查点 {MODEL.id} 复制到 {model}、{CODEC.id} 复制到 {codec}，"
        "或用 --model-dir 和 --codec-dir 指定其文件夹。",
    )
