"""Starting the page and the API in one process, on one port: address, safety, a clean end."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voice_sculptor import access
from voice_sculptor.config import Settings
from voice_sculptor.domain import Notice
from voice_sculptor.engines.registry import Choice, choose_engine, create_engine, unused_settings
from voice_sculptor.errors import ConfigError

if TYPE_CHECKING:
    import gradio as gr
    from fastapi import FastAPI

    from voice_sculptor.engines.base import Engine, EngineInfo

DEFAULT_PORT = 7860
SECOND_PORT = 6006
_LAST_PORT = 65535
_FINISH_S = 5.0


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
            holder = _holder(asked)
            raise ConfigError(
                f"Port {asked} is in use by {holder}." if holder else f"Port {asked} is busy or not allowed.",
                f"端口 {asked} 正被 {holder} 占用。" if holder else f"端口 {asked} 已被占用或无权使用。",
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
    """Page and API as long as the block lasts; entered once they answer.

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

    from voice_sculptor.presets import load_presets, shipped_presets_dir
    from voice_sculptor.studio import Studio
    from voice_sculptor.ui.shelf import Shelf

    shelf = Shelf()
    os.environ["GRADIO_TEMP_DIR"] = str(shelf.path)
    folders = [shipped_presets_dir(), *([settings.presets_dir] if settings.presets_dir else [])]
    presets = load_presets(*folders)
    with ExitStack() as stack:
        stack.callback(shelf.close)
        studio = stack.enter_context(Studio(settings, engine))
        from voice_sculptor.api.app import create_app
        from voice_sculptor.api.serving import listening
        from voice_sculptor.ui.handlers import Handlers
        from voice_sculptor.ui.page import build_page

        app = create_app(studio, settings, presets)
        page = build_page(Handlers(studio, presets, shelf, choice), open_to_all(settings))
        mount(page, app, settings, port.number)
        stack.enter_context(listening(app, settings, port.number))
        # Before the server ends, which waits for what the page's open tabs listen to.
        stack.callback(page.close, verbose=False)
        # And all are answered before that: what runs may finish, what waits is refused.
        stack.callback(studio.worker.close, finish_s=_FINISH_S)
        # After the page answers: importing torch beside Gradio would delay both.
        if settings.preload is not False:
            studio.preload()
        yield f"http://{_shown(settings.host)}:{port.number}", port


def mount(page: gr.Blocks, app: FastAPI, settings: Settings, port: int) -> None:
    """Put a page beside the API, at `/`."""
    import gradio as gr
    from starlette.middleware import Middleware
    from starlette.routing import Mount

    from voice_sculptor.api.security import is_login
    from voice_sculptor.ui.doors import Doors
    from voice_sculptor.ui.theme import head, make_theme

    page.queue(max_size=2 * settings.max_queue, default_concurrency_limit=settings.concurrency)
    # A waiting request holds a thread; the light events need some beside them.
    page.max_threads = settings.max_queue + settings.concurrency + 40
    page._queue.max_thread_count = page.max_threads

    def may_enter(user: str, password: str) -> bool:
        return is_login(user, password, settings.page_login)

    gr.mount_gradio_app(
        app,
        page,
        "/",
        server_name=settings.host,
        server_port=port,
        auth=may_enter if settings.page_login else None,
        root_path=settings.root_path or None,
        theme=make_theme(),
        head=head(),
        footer_links=[],
        run_history=False,
        show_error=False,
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
        enable_monitoring=False,
        app_kwargs={"middleware": [Middleware(Doors)]},
    )
    mounted: Any = next(route.app for route in reversed(app.router.routes) if isinstance(route, Mount))
    page.app = mounted


def _notes(settings: Settings, port: Port) -> Iterator[str]:
    if port.skipped:
        busy = ", ".join(map(str, port.skipped))
        yield f"Port {busy} is busy; using {port.number}. 端口 {busy} 已被占用，改用 {port.number}。"
    if warning := open_to_all(settings):
        yield f"WARNING: {warning.en}\n警告：{warning.zh}"


def open_to_all(settings: Settings) -> Notice | None:
    """What to say, loudly, where strangers can use the studio."""
    if access.is_loopback(settings.host) or settings.page_login:
        return None
    if settings.api_keys or settings.api_keys_file:
        return Notice(
            "open",
            f"the API asks for a key, but the page is open to the network on {settings.host} without a login. Everyone "
            "who can reach this machine can use it. Set VOICE_SCULPTOR_PAGE_LOGIN=USER:PASSWORD.",
            f"API 需要密钥，但页面正在 {settings.host} 上对网络开放且无需登录，能访问这台机器的人都可以使用。"
            "请设置 VOICE_SCULPTOR_PAGE_LOGIN=用户名:密码。",
        )
    return Notice(
        "open",
        f"open to the network on {settings.host} without a password. Everyone who can reach this machine can use it. "
        "Set VOICE_SCULPTOR_PAGE_LOGIN=USER:PASSWORD.",
        f"正在 {settings.host} 上对网络开放且没有密码，能访问这台机器的人都可以使用。"
        "请设置 VOICE_SCULPTOR_PAGE_LOGIN=用户名:密码。",
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


def _holder(port: int) -> str:
    """Name and number of the process that listens on a port; empty where the system does not tell."""
    import psutil

    try:
        for each in psutil.net_connections(kind="tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr[1] == port and each.pid:
                return f"{psutil.Process(each.pid).name()} ({each.pid})"
    except psutil.Error:
        pass
    return ""


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
