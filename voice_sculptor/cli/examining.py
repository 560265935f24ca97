"""`doctor`: an engine looked at closely, and a report that can be sent."""

from __future__ import annotations

from typing import Annotated

import typer

from voice_sculptor.cli import options as opt
from voice_sculptor.cli.session import Session


@opt.takes_engine_settings
def doctor(
    ctx: typer.Context,
    *,
    engine: opt.EngineSettings,
    quick: Annotated[
        bool, typer.Option("--quick", help="Speak one text only, not every level of every control.")
    ] = False,
) -> None:
    """Check an engine on this machine, from its files to its sound, and print a report."""
    from voice_sculptor.config import load_settings
    from voice_sculptor.doctor import Diagnosis
    from voice_sculptor.engines.registry import choose_engine

    session: Session = ctx.obj
    settings = load_settings(**engine)
    diagnosis = Diagnosis(settings, choose_engine(settings).engine_id, session.language, quick)
    with session.progress() as show:
        for block in diagnosis.run(show):
            typer.echo(f"{block}\n")
    if diagnosis.faults:
        session.say(
            session.pick(
                "Something is wrong: see ✗ above. The report can be pasted into a bug report as it is.",
                "发现问题，见上方 ✗。这份报告可以直接贴到问题反馈里。",
            )
        )
        raise typer.Exit(diagnosis.faults[0].exit_code)
