"""`download`: an engine's weights onto this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voice_sculptor.cli import options as opt
from voice_sculptor.cli.session import Session
from voice_sculptor.errors import InvalidRequest

if TYPE_CHECKING:
    from voice_sculptor.config import Settings

_Progress = Callable[[float], None]


def download(
    ctx: typer.Context,
    engine: Annotated[
        str | None,
        typer.Argument(metavar="ENGINE", help="voicesculptor or kokoro; by default the one in use."),
    ] = None,
    checkpoints_dir: opt.CheckpointsDir = None,
    model_revision: Annotated[
        str | None,
        typer.Option("--model-revision", metavar="REVISION", help="Branch, tag or commit of the model."),
    ] = None,
    codec_revision: Annotated[
        str | None,
        typer.Option("--codec-revision", metavar="REVISION", help="Branch, tag or commit of the codec."),
    ] = None,
) -> None:
    """Get an engine's weights: print where they are, and say their licence."""
    from voice_sculptor.config import load_settings
    from voice_sculptor.engines.registry import choose_engine, create_engine

    session: Session = ctx.obj
    settings = load_settings(
        engine=engine,
        checkpoints_dir=checkpoints_dir,
        model_revision=model_revision,
        codec_revision=codec_revision,
    )
    name = choose_engine(settings).engine_id
    if name not in _GETTERS:
        create_engine(name, settings)  # An unknown one is said to be so.
        raise InvalidRequest(
            f"The engine {name!r} has nothing to download.",
            f"引擎 {name!r} 没有可下载的内容。",
            fix_en=f"Valid engines: {', '.join(_GETTERS)}.",
            fix_zh=f"可用的引擎：{'、'.join(_GETTERS)}。",
        )
    label = session.pick("Getting the weights", "正在获取模型权重")
    with session.progress() as show:
        got = _GETTERS[name](settings, lambda fraction: show(label, fraction))
    for path, licence in got:
        session.say(session.pick(f"{path.name}: licence {licence}", f"{path.name}：许可 {licence}"))
        typer.echo(path)


def _kokoro(settings: Settings, progress: _Progress) -> list[tuple[Path, str]]:
    from voice_sculptor.engines.kokoro.engine import KokoroEngine
    from voice_sculptor.engines.kokoro.weights import prepare

    return [(prepare(settings.checkpoints_dir, progress), KokoroEngine.info.weights_licence)]


def _voicesculptor(settings: Settings, progress: _Progress) -> list[tuple[Path, str]]:
    from voice_sculptor.engines.voicesculptor import weights

    found = weights.ensure(settings, progress)
    pairs = ((found.model_dir, weights.MODEL), (found.codec_dir, weights.CODEC))
    return [(folder, repository.licence) for folder, repository in pairs if folder is not None]


_GETTERS = {"voicesculptor": _voicesculptor, "kokoro": _kokoro}
