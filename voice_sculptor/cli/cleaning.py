"""`clean`: end servers that were left running."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voice_sculptor.cli.session import Session, print_table


def clean(
    ctx: typer.Context,
    *,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", metavar="DIR", help="Of the servers, if not the usual one.")
    ] = None,
    wait: Annotated[
        float, typer.Option("--wait", metavar="S", min=0.0, max=600.0, help="Time to finish by themselves.")
    ] = 15.0,
) -> None:
    """End servers of this folder that still run, gently and then firmly; nothing else is touched."""
    from voice_sculptor import pid_files
    from voice_sculptor.config import load_settings
    from voice_sculptor.device import report
    from voice_sculptor.errors import VoiceSculptorError

    session: Session = ctx.obj
    folder = load_settings(data_dir=data_dir).data_dir
    servers = pid_files.running(folder)
    if not servers:
        session.say(session.pick("No server of this folder is running.", "没有属于此文件夹的服务在运行。"))
        return

    def show(en: str, zh: str) -> None:
        session.say(session.pick(en, zh))
        for line in report(folder).lines(session.language):
            session.say(f"  {line}")

    show("Before:", "清理前：")
    rows = []
    for server in servers:
        rows.append((str(server.process.pid), str(server.port), str(pid_files.end(server, wait))))
    show("After:", "清理后：")
    print_table(("process", "port", "what"), rows)
    left = [pid for pid, _, what in rows if what == "left"]
    if left:
        raise VoiceSculptorError(
            f"These processes could not be ended: {', '.join(left)}.",
            f"以下进程无法结束：{'、'.join(left)}。",
            fix_en="They belong to another user, or hang in a driver; their owner can end them.",
            fix_zh="它们属于其他用户，或卡在驱动中；请由其所有者结束。",
        )
