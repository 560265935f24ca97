"""What a proxy says of the client it speaks for counts from proxies that are trusted, and from nobody else."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING

from voice_sculptor.api.caller import address_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_SAID = (b"x-forwarded-", b"forwarded", b"x-real-ip")


class Forwarding:
    """ASGI middleware, outermost: takes client and scheme from a trusted proxy, and such headers away from others.

    Gradio reads these headers itself, whoever sent them, and writes what they say into the page.

    Args:
        app: Behind it.
        trusted: Networks of the proxies.
    """

    def __init__(self, app: ASGIApp, trusted: Sequence[str]) -> None:
        from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

        self._app = app
        self._networks = tuple(map(ipaddress.ip_network, trusted))
        self._believing = ProxyHeadersMiddleware(app, trusted_hosts=list(trusted))  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._is_trusted(address_of(scope)):
            await self._believing(scope, receive, send)  # type: ignore[arg-type]
        else:
            kept = [each for each in scope["headers"] if not each[0].lower().startswith(_SAID)]
            await self._app({**scope, "headers": kept}, receive, send)

    def _is_trusted(self, address: str) -> bool:
        try:
            ip = ipaddress.ip_address(address)
        except ValueError:
            return False
        mapped = getattr(ip, "ipv4_mapped", None)
        return any((mapped or ip) in network for network in self._networks)
