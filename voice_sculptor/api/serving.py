"""One uvicorn server on a thread, as long as a block lasts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from voice_sculptor.errors import ConfigError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from voice_sculptor.config import Settings

_GRACE_S = 3
_STEP_S = 0.01


@contextmanager
def listening(app: ASGIApp, settings: Settings, port: int) -> Iterator[None]:
    """Serve an application; entered once it answers, and left once all that runs has ended or was broken off.

    Args:
        app: What is served.
        settings: The host, and whose `X-Forwarded-…` headers count.
        port: Free.

    Raises:
        ConfigError: The port cannot be listened on after all.
    """
    import uvicorn

    from voice_sculptor.api.forwarding import Forwarding

    config = uvicorn.Config(
        Forwarding(app, settings.trusted_proxies),
        host=settings.host,
        port=port,
        log_level="warning",
        access_log=False,
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=_quietly, args=(server,), name="http", daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(_STEP_S)
    if not server.started:
        raise ConfigError(
            f"Port {port} cannot be listened on.",
            f"无法监听端口 {port}。",
            fix_en="Choose another with --port.",
            fix_zh="请用 --port 换一个端口。",
        )
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(_GRACE_S + 5)


def _quietly(server: object) -> None:
    import uvicorn

    assert isinstance(server, uvicorn.Server)
    try:
        server.run()
    except SystemExit:  # How uvicorn says that it could not start.
        return
