"""What of Gradio's server this page does not need, shut; and its front page without foreign addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing is uploaded, and the server fetches no addresses for visitors.
_SHUT = re.compile(r"/(upload|upload_progress|proxy=|file=https?:)", re.IGNORECASE)
_FOREIGN_META = re.compile(rb'\s*<meta\s+(?:property|name)="(?:og|twitter):[^>]*>')
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'"
)


class Doors:
    """ASGI middleware: refuses unneeded routes, keeps the browser from calling anyone but this server.

    Args:
        app: Gradio's.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif _SHUT.search(scope["path"]):
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body"})
        else:
            await self._app(scope, receive, _Cleaner(send))


class _Cleaner:
    """Sends a response on; that of an HTML page goes out whole, cleaned and with a policy."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            if headers.get(b"content-type", b"").startswith(b"text/html"):
                self._start = message
                return
        elif self._start is not None and message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if message.get("more_body"):
                return
            body = _FOREIGN_META.sub(b"", self._body)
            kept = [each for each in self._start["headers"] if each[0] != b"content-length"]
            length = (b"content-length", str(len(body)).encode())
            policy = (b"content-security-policy", _POLICY.encode())
            await self._send({**self._start, "headers": [*kept, length, policy]})
            message = {"type": "http.response.body", "body": body}
        await self._send(message)
