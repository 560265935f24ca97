"""`serve`, `setup` and `bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voice_sculptor.cli import options as opt
from voice_sculptor.cli.session import Session
from voice_sculptor.cli.settings import print_settings, recommendation

bench_app = typer.Typer(name="bench", help="Measure speed, quality, obedience, decoding or serving.")

# What follows belongs to the measurement's own parser, `--help` included.
_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@opt.takes_engine_settings
def serve(
    ctx: typer.Context,
    *,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="Default: 7860, or 6006 where that is busy.")
    ] = None,
    host: Annotated[str | None, typer.Option("--host", metavar="ADDRESS", help="Default: 127.0.0.1.")] = None,
    engine: opt.EngineSettings,
    preload: Annotated[
        bool | None,
        typer.Option(
            "--preload/--no-preload",
            help="Load the engine whole at the start, or only when it is first needed; by default at the start,"
            " save what the engine itself puts off.",
        ),
    ] = None,
    max_queue: Annotated[
        int | None, typer.Option("--max-queue", metavar="N", help="Most requests that wait for the device.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", metavar="N", help="Most page events that run at once.")
    ] = None,
    api_keys_file: Annotated[
        Path | None,
        typer.Option(
            "--api-keys-file",
            metavar="FILE",
            help="Keys of the HTTP API, one a line, plain or as sha256:HEX; beside VOICE_SCULPTOR_API_KEYS.",
        ),
    ] = None,
    allow_ip: Annotated[
        str | None,
        typer.Option(
            "--allow-ip", metavar="NETWORKS", help="Answer these clients only, e.g. 127.0.0.1,10.0.0.0/8."
        ),
    ] = None,
    allow_hosts: Annotated[
        str | None,
        typer.Option(
            "--allow-hosts",
            metavar="NAMES",
            help="Names that the server answers to, beside localhost; * for any.",
        ),
    ] = None,
    trusted_proxies: Annotated[
        str | None,
        typer.Option(
            "--trusted-proxies", metavar="NETWORKS", help="Proxies whose X-Forwarded headers count."
        ),
    ] = None,
    cors_origins: Annotated[
        str | None,
        typer.Option(
            "--cors-origins",
            metavar="ORIGINS",
            help="Other sites whose scripts may use the API; default: none.",
        ),
    ] = None,
    rate_limit: Annotated[
        int | None,
        typer.Option("--rate-limit", metavar="N", help="API requests a minute that one client may start."),
    ] = None,
    root_path: Annotated[
        str | None,
        typer.Option(
            "--root-path", metavar="PATH", help="Path under which a proxy shows this server, e.g. /voice."
        ),
    ] = None,
    max_body_bytes: Annotated[
        int | None, typer.Option("--max-body-bytes", metavar="N", help="Longest body of one HTTP request.")
    ] = None,
    max_batch_size: Annotated[
        int | None, typer.Option("--max-batch-size", metavar="N", help="Most requests of one batch.")
    ] = None,
    idle_unload_s: Annotated[
        float | None,
        typer.Option(
            "--idle-unload-s", metavar="S", help="Unload the engine after so long without a request."
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Show every setting and where it came from; start nothing.")
    ] = False,
) -> None:
    """Start the page and the HTTP API, and print their address."""
    from voice_sculptor.config import resolve

    resolved = resolve(
        **engine,
        port=port,
        host=host,
        preload=preload,
        max_queue=max_queue,
        concurrency=concurrency,
        api_keys_file=api_keys_file,
        allow_ip=allow_ip,
        allow_hosts=allow_hosts,
        trusted_proxies=trusted_proxies,
        cors_origins=cors_origins,
        rate_limit=rate_limit,
        root_path=root_path,
        max_body_bytes=max_body_bytes,
        max_batch_size=max_batch_size,
        idle_unload_s=idle_unload_s,
    )
    session: Session = ctx.obj
    if hint := recommendation(resolved, session):
        session.say(hint)
    if print_config:
        print_settings(resolved)
        return
    from voice_sculptor.ui.server import serve as serve_page

    serve_page(resolved.settings, open_browser=open_browser)


def setup(ctx: typer.Context, checkpoints_dir: opt.CheckpointsDir = None) -> None:
    """Make the embedded engine's weights ready."""
    from voice_sculptor.config import load_settings
    from voice_sculptor.engines.kokoro.weights import prepare

    session: Session = ctx.obj
    settings = load_settings(checkpoints_dir=checkpoints_dir)
    label = session.pick("Preparing the weights", "正在准备模型权重")
    with session.progress() as show:
        path = prepare(settings.checkpoints_dir, lambda fraction: show(label, fraction))
    typer.echo(path)


@bench_app.command("speed", context_settings=_PASSED_ON)
def bench_speed(ctx: typer.Context) -> None:
    """Measure real-time factor, first audio, memory and load time."""
    from voice_sculptor.bench.speed import main

    main(ctx.args)


@bench_app.command("obedience", context_settings=_PASSED_ON)
def bench_obedience(ctx: typer.Context) -> None:
    """Measure whether the controls do what they say."""
    from voice_sculptor.bench.obedience.command import main

    main(ctx.args)


@bench_app.command("quality", context_settings=_PASSED_ON)
def bench_quality(ctx: typer.Context) -> None:
    """Measure intelligibility and cleanliness."""
    from voice_sculptor.bench.quality import main

    main(ctx.args)


@bench_app.command("decoding", context_settings=_PASSED_ON)
def bench_decoding(ctx: typer.Context) -> None:
    """Measure how fast the engine voicesculptor decodes, on random weights."""
    from voice_sculptor.bench.decoding.command import main

    main(ctx.args)


@bench_app.command("load", context_settings=_PASSED_ON)
def bench_load(ctx: typer.Context) -> None:
    """Measure throughput and latency with many clients."""
    from voice_sculptor.bench.load import main

    main(ctx.args)


@bench_app.command("soak", context_settings=_PASSED_ON)
def bench_soak(ctx: typer.Context) -> None:
    """Try thousands of mixed requests; fails where a promise is broken."""
    from voice_sculptor.bench.soak import main

    if not main(ctx.args):
        raise typer.Exit(1)
