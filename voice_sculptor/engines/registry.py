"""Finding engines: built-in ones and foreign ones enter by the same door; and which one `auto` means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from voice_sculptor import device
from voice_sculptor.config import Settings
from voice_sculptor.domain import Notice
from voice_sculptor.engines.base import Engine, EngineInfo
from voice_sculptor.errors import LoadFailed, UnknownEngine

GROUP = "voice_sculptor.engines"
DEFAULT_ENGINE = "kokoro"
GPU_ENGINE = "voicesculptor"
"""What `auto` takes where a graphics card can hold it."""

# A checkout that is not installed has no entry points of its own; these are the same declarations as in pyproject.toml.
_BUILT_IN = (
    EntryPoint("kokoro", "voice_sculptor.engines.kokoro.engine:KokoroEngine", GROUP),
    EntryPoint("voicesculptor", "voice_sculptor.engines.voicesculptor.engine:VoiceSculptorEngine", GROUP),
    EntryPoint("fake", "voice_sculptor.engines.fake:FakeEngine", GROUP),
)


@dataclass(frozen=True)
class Choice:
    """Which engine is used.

    Attributes:
        engine_id: As in `--engine`, never `auto`.
        reason_en: Why, a few words in English.
        reason_zh: The same in Chinese.
    """

    engine_id: str
    reason_en: str
    reason_zh: str

    def reason(self, language: str) -> str:
        """Why, in `"zh"` Chinese, anything else English."""
        return self.reason_zh if language == "zh" else self.reason_en


@cache
def _found() -> dict[str, EntryPoint]:
    return {point.name: point for point in (*entry_points(group=GROUP), *_BUILT_IN)}


def engine_ids() -> tuple[str, ...]:
    """Ids of all engines found, the default first."""
    return tuple(sorted(_found(), key=lambda name: (name != DEFAULT_ENGINE, name)))


def choose_engine(settings: Settings) -> Choice:
    """The engine that `settings.engine` means: the one named there, or under `auto` the best one that can run here.

    Imports no torch and opens no weights.

    Raises:
        WeightsNotFound: Under `auto`, a folder was given for the checkpoint and has none.
    """
    if settings.engine != "auto":
        return Choice(settings.engine, "asked for", "按指定")
    from voice_sculptor.engines.voicesculptor import weights

    if settings.device in ("cpu", "mps"):
        return _default(f"the device is {settings.device}", f"设备为 {settings.device}")
    cards = device.gpus()
    if not cards:
        return _default("no CUDA device", "没有 CUDA 设备")
    if not _torch_has_cuda():
        return _default("torch is installed without CUDA", "安装的 torch 不支持 CUDA")
    if find_spec("transformers") is None:
        return _default("transformers needs Python 3.11", "transformers 需要 Python 3.11")
    found = weights.locate(settings)
    for place, repository in ((found.model_dir, weights.MODEL), (found.codec_dir, weights.CODEC)):
        if place is None:
            # Not the whole path: the page may be open to others.
            where = f"{settings.checkpoints_dir.name}/{repository.folder}"
            return _default(f"checkpoint not found in {where}", f"{where} 中没有找到检查点")
    assert found.model_dir is not None
    free_bytes = max(card.free_bytes for card in _in_question(settings, cards))
    needed_bytes = weights.memory_bytes(found.model_dir)
    if free_bytes < needed_bytes:
        free, needed = f"{free_bytes / 1e9:.1f} GB", f"{needed_bytes / 1e9:.1f} GB"
        return _default(
            f"{free} of GPU memory are free, {needed} are needed", f"显存剩余 {free}，需要 {needed}"
        )
    return Choice(GPU_ENGINE, "auto: CUDA device and checkpoint found", "自动：找到 CUDA 设备和检查点")


def create_engine(engine_id: str, settings: Settings) -> Engine:
    """A new, unloaded engine.

    Args:
        engine_id: As in `--engine`; `auto` is what `choose_engine` takes.
        settings: Handed to the engine.

    Raises:
        UnknownEngine: No such id; the sentence lists the valid ones.
        LoadFailed: The engine's package cannot be imported.
        WeightsNotFound: As `choose_engine`.
    """
    name = choose_engine(settings.model_copy(update={"engine": engine_id})).engine_id
    point = _found().get(name)
    if point is None:
        raise UnknownEngine(
            f"There is no engine named {engine_id!r}.",
            f"没有名为 {engine_id!r} 的引擎。",
            fix_en=f"Valid engines: {', '.join(engine_ids())}.",
            fix_zh=f"可用的引擎：{'、'.join(engine_ids())}。",
        )
    try:
        factory = point.load()
    except ImportError as error:
        raise LoadFailed(
            f"The engine {name!r} cannot be imported: {error}.",
            f"无法导入引擎 {name!r}：{error}。",
            fix_en="Run `bash run.sh setup` again, or reinstall the engine's package.",
            fix_zh="请重新运行 `bash run.sh setup`，或重新安装该引擎的软件包。",
        ) from error
    engine: Engine = factory(settings)
    return engine


def unused_settings(settings: Settings, info: EngineInfo) -> Notice | None:
    """Settings that were given but that an engine does not read; `None` where there are none."""
    names = settings.unused(info.settings)
    if not names:
        return None
    return Notice(
        "unused_setting",
        f"{info.title} does not use: {', '.join(names)}.",
        f"{info.title} 不使用这些设置：{'、'.join(names)}。",
    )


def engine_with_voice(name: str | None, settings: Settings) -> Engine:
    """The engine whose stock voices are meant: the chosen one; under `auto` the default one where only that has them.

    Args:
        name: Of a stock voice; `None` means any.
        settings: As for `choose_engine`.
    """
    chosen = create_engine(settings.engine, settings)
    if settings.engine != "auto" or chosen.info.id == DEFAULT_ENGINE or _has_voice(chosen, name):
        return chosen
    default = create_engine(DEFAULT_ENGINE, settings)
    return default if _has_voice(default, name) else chosen


def _has_voice(engine: Engine, name: str | None) -> bool:
    return any(name in (None, voice.name) for voice in engine.stock_voices())


def _default(why_en: str, why_zh: str) -> Choice:
    return Choice(DEFAULT_ENGINE, f"auto: {why_en}", f"自动：{why_zh}")


def _in_question(settings: Settings, cards: tuple[device.Gpu, ...]) -> tuple[device.Gpu, ...]:
    """The cards that `settings.device` leaves open; torch's order of them is taken to be the driver's."""
    if settings.device == "auto":
        return cards
    number = int(settings.device.partition(":")[2] or 0)
    # One that does not exist is refused where the device is opened.
    return cards[number : number + 1] or cards


def _torch_has_cuda() -> bool:
    """Whether the installed torch is built for CUDA, read from its files: importing it would take seconds."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    try:
        facts = (Path(spec.origin).parent / "version.py").read_text("utf-8")
    except OSError:
        return True  # Nothing known against it; the loading will tell.
    return re.search(r"^cuda\b[^=]*= None", facts, re.MULTILINE) is None
