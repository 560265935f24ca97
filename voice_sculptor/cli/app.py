"""The commands put together, and the one place where errors become sentences and exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from voice_sculptor import __version__
from voice_sculptor.cli import (
    cleaning,
    downloading,
    examining,
    keeping,
    listings,
    making,
    measuring,
    running,
)
from voice_sculptor.cli.session import PROGRAM, Session, language_of, program
from voice_sculptor.errors import Cancelled, InvalidRequest, VoiceSculptorError

# Plain help: it is read in pipes and checked against docs/cli.md, and needs no import of rich.
app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings={"max_content_width": 100})
app.command()(making.design)
app.command()(making.speak)
app.command()(making.understand)
app.command()(measuring.measure)
app.add_typer(listings.presets_app)
app.command()(listings.voices)
app.command()(listings.engines)
app.command()(running.serve)
app.command()(cleaning.clean)
app.command()(running.setup)
app.command()(downloading.download)
app.command()(examining.doctor)
app.add_typer(keeping.kept_app)
app.add_typer(running.bench_app)


def _set_language(ctx: typer.Context, value: str | None) -> None:
    if value:
        ctx.obj.language = value


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    ui_language: Annotated[
        Literal["zh", "en"] | None,
        typer.Option(
            "--ui-lang",
            envvar="VOICE_SCULPTOR_UI_LANG",
            help="Language of messages; by default that of LC_ALL, LC_MESSAGES or LANG.",
            callback=_set_language,
            is_eager=True,
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Design voices with words and controls, and let them speak."""


def main(args: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        args: Without the program's name; `None` takes those of the process.

    Returns:
        Exit status; docs/cli.md lists them.
    """
    session = Session(language_of(os.environ))
    given = list(sys.argv[1:] if args is None else args) or ["--help"]
    try:
        status = app(given, prog_name=program(), standalone_mode=False, obj=session)
        sys.stdout.flush()
    except VoiceSculptorError as error:
        return _fail(session, error)
    except typer.TyperException as error:
        return _fail(session, _usage(error))
    except BrokenPipeError:
        # Whoever read our output has left; nothing may be written to it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001  # The outermost boundary: a fault of ours is a sentence, too.
        return _fail(session, _fault(error), error)
    if status == Cancelled.exit_code:
        return _fail(session, Cancelled())
    return int(status or 0)


def _fail(session: Session, error: VoiceSculptorError, cause: Exception | None = None) -> int:
    if os.environ.get("VOICE_SCULPTOR_DEBUG"):
        traceback.print_exception(cause or error)
    session.say(error.message(session.language))
    return error.exit_code


def _usage(error: typer.TyperException) -> InvalidRequest:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else PROGRAM
    what = " ".join(error.format_message().split()).rstrip(".")
    return InvalidRequest(
        what if what.endswith("?") else f"{what}.",
        f"命令写法有误（{what}）。",
        fix_en=f"`{command} --help` shows what is possible.",
        fix_zh=f"用 `{command} --help` 查看用法。",
    )


def _fault(error: Exception) -> VoiceSculptorError:
    return VoiceSculptorError(
        f"Something broke that should not: {error!r}.",
        f"发生了不该发生的错误：{error!r}。",
        fix_en="Run it again with VOICE_SCULPTOR_DEBUG=1 and report what it shows.",
        fix_zh="请设置 VOICE_SCULPTOR_DEBUG=1 重新运行，并报告显示的内容。",
    )
