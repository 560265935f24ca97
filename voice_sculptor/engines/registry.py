"""Finding engines: built-in ones and foreign ones enter by the same door."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from voice_sculptor.config import Settings
from voice_sculptor.engines.base import Engine
from voice_sculptor.errors import LoadFailed, UnknownEngine

GROUP = "voice_sculptor.engines"
DEFAULT_ENGINE = "kokoro"

# A checkout that is not installed has no entry points of its own; these are the same declarations as in pyproject.toml.
_BUILT_IN = (
    EntryPoint("kokoro", "voice_sculptor.engines.kokoro.engine:KokoroEngine", GROUP),
    EntryPoint("fake", "voice_sculptor.engines.fake:FakeEngine", GROUP),
)


@cache
def _found() -> dict[str, EntryPoint]:
    return {point.name: point for point in (*entry_points(group=GROUP), *_BUILT_IN)}


def engine_ids() -> tuple[str, ...]:
    """Ids of all engines found, the default first."""
    return tuple(sorted(_found(), key=lambda name: (name != DEFAULT_ENGINE, name)))


def create_engine(engine_id: str, settings: Settings) -> Engine:
    """A new, unloaded engine.

    Args:
        engine_id: As in `--engine`; `auto` is the default engine.
        settings: Handed to the engine.

    Raises:
        UnknownEngine: No such id; the sentence lists the valid ones.
        LoadFailed: The engine's package cannot be imported.
    """
    name = DEFAULT_ENGINE if engine_id == "auto" else engine_id
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
