"""`kept`: the voices in the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voice_sculptor.cli import options as opt
from voice_sculptor.cli.session import Session, print_json, print_table

if TYPE_CHECKING:
    from voice_sculptor.library.records import KeptVoice
    from voice_sculptor.library.store import Library

kept_app = typer.Typer(name="kept", invoke_without_command=True)

_Voice = Annotated[str, typer.Argument(metavar="VOICE", help="Its name or id.")]


@kept_app.callback()
def kept(
    ctx: typer.Context,
    is_deleted: Annotated[
        bool, typer.Option("--deleted", help="List the deleted ones that can be restored.")
    ] = False,
    data_dir: opt.DataDir = None,
    as_json: opt.Json = False,
) -> None:
    """List the voices you keep, newest first."""
    if ctx.invoked_subcommand is not None:
        # Also understood before the name of a command.
        ctx.obj.data_dir = data_dir
        return
    with _library(ctx.obj, data_dir) as library:
        listed = library.deleted() if is_deleted else library.voices()
    if as_json:
        print_json({"voices": [_as_json(each) for each in listed]})
        return
    rows = [
        (each.name, each.voice.engine, f"{each.created_at.astimezone():%Y-%m-%d %H:%M}", each.id)
        for each in listed
    ]
    print_table(("name", "engine", "kept", "id"), rows)


@kept_app.command()
def add(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .voice.json file, as `design` makes them.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What to call it; by default its own name.")
    ] = None,
    data_dir: opt.DataDir = None,
    as_json: opt.Json = False,
) -> None:
    """Keep the voice of a file."""
    from voice_sculptor.library.voice_files import load_voice

    voice = load_voice(file)
    with _library(ctx.obj, data_dir) as library:
        made = library.keep(voice, name, reserved=_stock_names(voice.engine))
    _show(made, as_json)


@kept_app.command()
def rename(
    ctx: typer.Context,
    voice: _Voice,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it from now on.")],
    data_dir: opt.DataDir = None,
    as_json: opt.Json = False,
) -> None:
    """Give a kept voice another name."""
    with _library(ctx.obj, data_dir) as library:
        found = library.find(voice)
        made = library.rename(found.id, name, _stock_names(found.voice.engine))
    _show(made, as_json)


@kept_app.command()
def delete(ctx: typer.Context, voice: _Voice, data_dir: opt.DataDir = None) -> None:
    """Take a kept voice off the list; for 30 days `kept restore` brings it back."""
    session: Session = ctx.obj
    with _library(session, data_dir) as library:
        found = library.find(voice)
        library.delete(found.id)
    session.say(
        session.pick(
            f"Deleted {found.name}. `voice-sculptor kept restore {found.id}` brings it back.",
            f"已删除 {found.name}。用 `voice-sculptor kept restore {found.id}` 可恢复。",
        )
    )


@kept_app.command()
def restore(
    ctx: typer.Context, voice: _Voice, data_dir: opt.DataDir = None, as_json: opt.Json = False
) -> None:
    """Bring back a deleted voice."""
    from voice_sculptor.library.names import folded

    with _library(ctx.obj, data_dir) as library:
        deleted = library.deleted()
        # Of several that had the name, the one deleted last.
        named = (each for each in deleted if voice == each.id or folded(each.name) == folded(voice))
        found = next(named, None)
        if found is None:
            from voice_sculptor.library.voice_rows import unknown_voice

            raise unknown_voice(voice, [each.name for each in deleted])
        made = library.restore(found.id, _stock_names(found.voice.engine))
    _show(made, as_json)


@kept_app.command()
def export(
    ctx: typer.Context,
    voice: _Voice,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE|DIR",
            help="A file ending in .voice.json, replaced where it exists, or a folder.",
        ),
    ] = Path(),
    data_dir: opt.DataDir = None,
) -> None:
    """Write a kept voice to a .voice.json file and print its path."""
    from voice_sculptor.cli.output import check_folder, write_new
    from voice_sculptor.domain import safe_stem
    from voice_sculptor.library.voice_files import SUFFIX, save_voice, voice_bytes

    session: Session = ctx.obj
    with _library(session, data_dir) as library:
        found = library.find(voice).voice
    if out.suffix == ".json":
        if out.exists():
            session.say(session.pick(f"Replaced {out}.", f"已替换 {out}。"))
        save_voice(found, out)
        typer.echo(out)
        return
    check_folder(out)
    stem = write_new(out, safe_stem(found.name), lambda _: {SUFFIX: voice_bytes(found)})
    typer.echo(out / f"{stem}{SUFFIX}")


def _library(session: Session, data_dir: Path | None) -> Library:
    from voice_sculptor.config import load_settings
    from voice_sculptor.library.keeping import open_library

    return open_library(load_settings(data_dir=data_dir or session.data_dir))


def _stock_names(engine_id: str) -> list[str]:
    """Names that a kept voice of that engine cannot have, as `speak` would take the stock voice."""
    from voice_sculptor.config import load_settings
    from voice_sculptor.engines.registry import create_engine
    from voice_sculptor.errors import EngineError

    try:
        return [voice.name for voice in create_engine(engine_id, load_settings()).stock_voices()]
    except EngineError:
        # A voice of an engine that is not installed here can be kept all the same.
        return []


def _show(voice: KeptVoice, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(voice))
    else:
        typer.echo(voice.name)


def _as_json(voice: KeptVoice) -> dict[str, Any]:
    return {
        "id": voice.id,
        "name": voice.name,
        "engine": voice.voice.engine,
        "description": voice.voice.description,
        "created_at": voice.created_at.isoformat(timespec="seconds"),
    }
