"""Starting the page: port, address, safety, a clean end."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voice_sculptor.config import Settings
from voice_sculptor.engines.registry import Choice, choose_engine, create_engine, unused_settings
from voice_sculptor.errors import ConfigError

if TYPE_CHECKING:
    import gradio as gr

    from voice_sculptor.engines.base import Engine, EngineInfo

DEFAULT_PORT = 7860
SECOND_PORT = 6006
_LAST_PORT = 65535


@dataclass(frozen=True)
class Port:
    """Where the page can listen.

    Attributes:
        number: Free a moment ago.
        skipped: Default ports that were busy.
    """

    number: int
    skipped: tuple[int, ...] = ()


def choose_port(host: str, asked: int | None) -> Port:
    """A free port: the asked one, else 7860, else 6006, else the next free after 7860.

    Raises:
        ConfigError: The asked port is busy or not allowed, none is free, or the host is not this machine's.
    """
    if asked is not None:
        if not _is_free(host, asked):
            raise ConfigError(
                f"Port {asked} is busy or not allowed.",
                f"端口 {asked} 已被占用或无权使用。",
                fix_en="Stop the program that uses it, or choose another with --port or PORT; without one a free "
                "port is found.",
                fix_zh="请停止占用它的程序，或用 --port 或 PORT 换一个；不指定则自动选择空闲端口。",
            )
        return Port(asked)
    skipped: list[int] = []
    for port in (DEFAULT_PORT, SECOND_PORT, *range(DEFAULT_PORT + 1, _LAST_PORT)):
        if _is_free(host, port):
            return Port(port, tuple(skipped[:2]))
        skipped.append(port)
    raise ConfigError("No port is free.", "没有空闲的端口。")


def serve(settings: Settings, open_browser: bool = False) -> None:
    """Run the page until Ctrl-C or SIGTERM.

    Args:
        settings: Engine, host, port, limits.
        open_browser: Open the page once it answers.

    Raises:
        ConfigError: The port is busy or the host is not this machine's.
        PresetError: A preset file is wrong.
        EngineError: There is no such engine, or no checkpoint where one was given.
    """
    choice = choose_engine(settings)
    engine = create_engine(choice.engine_id, settings)
    if notice := unused_settings(settings, engine.info):
        print(f"{notice.en} {notice.zh}", file=sys.stderr, flush=True)  # noqa: T201
    from voice_sculptor import pid_files

    with running(settings, engine, choice) as (url, port), pid_files.written(settings.data_dir, port.number):
        for line in (*_notes(settings, port), _chosen(engine.info, choice), f"Voice Sculptor → {url}"):
            print(line, flush=True)  # noqa: T201
        if open_browser:
            import webbrowser

            webbrowser.open(url)
        stopped = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        stopped.wait()


@contextmanager
def running(
    settings: Settings, engine: Engine | None = None, choice: Choice | None = None
) -> Iterator[tuple[str, Port]]:
    """The page as long as the block lasts; entered once it answers.

    Args:
        settings: As for `serve`.
        engine: An engine to use in place of the one that `settings` names.
        choice: Why it is used; shown on the page.

    Yields:
        Its address, and the port that was found.
    """
    port = choose_port(settings.host, settings.port)
    # Before Gradio is imported: it reads these once.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    _keep_loopback_off_proxies()

    from voice_sculptor.presets import load_presets, shipped_presets_dir
    from voice_sculptor.studio import Studio
    from voice_sculptor.ui.shelf import Shelf

    shelf = Shelf()
    os.environ["GRADIO_TEMP_DIR"] = str(shelf.path)
    folders = [shipped_presets_dir(), *([settings.presets_dir] if settings.presets_dir else [])]
    presets = load_presets(*folders)
    page: gr.Blocks | None = None
    with Studio(settings, engine) as studio:
        try:
            from voice_sculptor.ui.handlers import Handlers
            from voice_sculptor.ui.page import build_page

            page = build_page(Handlers(studio, presets, shelf, choice))
            url = launch(page, settings, port.number)
            # After the page answers: importing torch beside Gradio would delay both.
            if settings.preload is not False:
                studio.preload()
            yield url, port
        finally:
            if page is not None:
                page.close(verbose=False)
            shelf.close()


def launch(page: gr.Blocks, settings: Settings, port: int) -> str:
    """Start to serve a page; returns its address once it answers."""
    from starlette.middleware import Middleware

    from voice_sculptor.ui.doors import Doors
    from voice_sculptor.ui.theme import head, make_theme

    page.queue(max_size=2 * settings.max_queue, default_concurrency_limit=settings.concurrency)
    page.launch(
        server_name=settings.host,
        server_port=port,
        # A waiting request holds a thread; the light events need some beside them.
        max_threads=settings.max_queue + settings.concurrency + 40,
        theme=make_theme(),
        head=head(),
        footer_links=[],
        run_history=False,
        share=False,
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
        enable_monitoring=False,
        app_kwargs={"middleware": [Middleware(Doors)]},
        quiet=True,
        prevent_thread_lock=True,
        inbrowser=False,
    )
    return f"http://{_shown(settings.host)}:{port}"


def _notes(settings: Settings, port: Port) -> Iterator[str]:
    if port.skipped:
        busy = ", ".join(map(str, port.skipped))
        yield f"Port {busy} is busy; using {port.number}. 端口 {busy} 已被占用，改用 {port.number}。"
    if not _is_loopback(settings.host):
        yield (
            f"WARNING: open to the network on {settings.host} without a password. Everyone who can reach this "
            "machine can use it.\n"
            f"警告：正在 {settings.host} 上对网络开放且没有密码，能访问这台机器的人都可以使用。"
        )


def _chosen(info: EngineInfo, choice: Choice) -> str:
    facts = (info.title, info.weights_licence, choice.reason_en, choice.reason_zh)
    return " · ".join(facts)


def _is_free(host: str, port: int) -> bool:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ConfigError(
            f"The host {host!r} is not an address of this machine.",
            f"{host!r} 不是这台机器的地址。",
            fix_en="Use 127.0.0.1 for this machine alone, or 0.0.0.0 for the network.",
            fix_zh="仅本机使用请用 127.0.0.1，对网络开放请用 0.0.0.0。",
        ) from error
    with socket.socket(family, kind, protocol) as probe:
        if sys.platform != "win32":
            # As the server itself does: a port that is only winding down from the last run is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError:
            return False
    return True


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _keep_loopback_off_proxies() -> None:
    # Gradio asks its own server whether it is up, through whatever HTTP_PROXY says.
    local = ("localhost", "127.0.0.1", "::1")
    for name in ("NO_PROXY", "no_proxy"):
        given = [each for each in os.environ.get(name, "").split(",") if each]
        os.environ[name] = ",".join([*given, *(each for each in local if each not in given)])
