"""`presets`, `voices` and `engines`: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voice_sculptor.cli import options as opt
from voice_sculptor.cli.session import Session, print_json, print_table
from voice_sculptor.errors import EngineError

if TYPE_CHECKING:
    from voice_sculptor.config import Settings
    from voice_sculptor.domain import Preset
    from voice_sculptor.presets import PresetBook

_WEIGHTS = {True: "ready", False: "missing", None: ""}

presets_app = typer.Typer(name="presets", invoke_without_command=True)


def load_book(settings: Settings) -> PresetBook:
    """The presets that ship, and the user's own."""
    from voice_sculptor.presets import load_presets, shipped_presets_dir

    own = settings.presets_dir
    return load_presets(shipped_presets_dir(), *([] if own is None else [own]))


@presets_app.callback()
def presets(
    ctx: typer.Context,
    # The same names as `domain.PRESET_GROUPS`; a test compares them.
    group: Annotated[
        Literal["role", "profession", "scene"] | None,
        typer.Option("--group", help="Only those of one group."),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """List the presets."""
    if ctx.invoked_subcommand is not None:
        return
    from voice_sculptor.config import load_settings
    from voice_sculptor.documents import preset_json

    session: Session = ctx.obj
    chosen = [preset for preset in load_book(load_settings()) if group in (None, preset.group)]
    if as_json:
        print_json({"presets": [preset_json(preset) for preset in chosen]})
        return
    rows = [
        (preset.id, preset.group, preset.name.get(session.language), _controls_line(session, preset))
        for preset in chosen
    ]
    print_table(("id", "group", "name", "controls"), rows)


@presets_app.command("show")
def show_preset(
    ctx: typer.Context, preset_id: Annotated[str, typer.Argument(metavar="ID")], as_json: opt.Json = False
) -> None:
    """Show one preset whole."""
    from voice_sculptor.config import load_settings
    from voice_sculptor.documents import preset_json

    session: Session = ctx.obj
    preset = load_book(load_settings()).get(preset_id)
    if as_json:
        print_json(preset_json(preset))
        return
    for name in ("name", "description", "text"):
        typer.echo(f"{name}: {getattr(preset, name).get(session.language)}")
    typer.echo(f"group: {preset.group}")
    typer.echo(f"controls: {_controls_line(session, preset)}")


def voices(engine: opt.EngineId = None, as_json: opt.Json = False) -> None:
    """List the stock voices and their measurements."""
    from voice_sculptor.config import load_settings
    from voice_sculptor.documents import stock_voice_json
    from voice_sculptor.engines.registry import engine_with_voice

    found = engine_with_voice(None, load_settings(engine=engine))
    listed = found.stock_voices()
    if as_json:
        print_json({"engine": found.info.id, "voices": [stock_voice_json(voice) for voice in listed]})
        return
    measured = tuple(dict.fromkeys(name for voice in listed for name in voice.measurements))
    rows = [
        (
            voice.name,
            voice.language,
            voice.gender,
            *(_figure(voice.measurements.get(name)) for name in measured),
        )
        for voice in listed
    ]
    print_table(("name", "language", "gender", *measured), rows)


def engines(ctx: typer.Context, as_json: opt.Json = False) -> None:
    """List the engines, their abilities and licences, and which one `auto` takes."""
    from voice_sculptor.config import load_settings
    from voice_sculptor.documents import engine_json
    from voice_sculptor.engines.registry import choose_engine, create_engine, engine_ids

    session: Session = ctx.obj
    settings = load_settings()
    auto: dict[str, Any] = {}
    try:
        choice = choose_engine(settings.model_copy(update={"engine": "auto"}))
        auto = {"engine": choice.engine_id, "reason": choice.reason(session.language)}
    except EngineError as error:
        session.say(error.message(session.language))
    listed: list[dict[str, Any]] = []
    for engine_id in engine_ids():
        try:
            listed.append(engine_json(create_engine(engine_id, settings)))
        except EngineError as error:
            # One engine that cannot be imported does not hide the others.
            listed.append({"id": engine_id, "error": error.message()})
    if as_json:
        print_json({"engines": listed, "auto": auto})
        return
    rows = [
        (
            engine["id"],
            engine.get("title", engine.get("error", "")),
            " ".join(engine.get("languages", ())),
            " ".join(name for name, value in engine.get("capabilities", {}).items() if value is True),
            engine.get("code_licence", ""),
            engine.get("weights_licence", ""),
            _WEIGHTS[engine.get("weights_ready")],
            auto["reason"] if auto.get("engine") == engine["id"] else "",
        )
        for engine in listed
    ]
    print_table(
        ("id", "title", "languages", "capabilities", "code licence", "weights licence", "weights", "auto"),
        rows,
    )


def _controls_line(session: Session, preset: Preset) -> str:
    from voice_sculptor.language.describe import shown

    asked = preset.controls.asked().items()
    return ", ".join(f"{name} {shown(name, value, session.language)}" for name, value in asked)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
