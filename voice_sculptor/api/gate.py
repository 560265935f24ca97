"""What every request passes first: its id and language, the guard, the limit of its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from voice_sculptor.api.answers import error_answer
from voice_sculptor.api.caller import new_caller
from voice_sculptor.api.errors import BodyTooLarge
from voice_sculptor.errors import VoiceSculptorError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from voice_sculptor.api.caller import Caller
    from voice_sculptor.api.security import Guard


class Gate:
    """ASGI middleware around the API and the page.

    Args:
        app: Behind it.
        guard: Who is answered.
        max_body_bytes: Longest body.
        root_path: Path under which a proxy shows the server.
    """

    def __init__(self, app: ASGIApp, guard: Guard, max_body_bytes: int, root_path: str = "") -> None:
        self._app = app
        self._guard = guard
        self._max_body_bytes = max_body_bytes
        self._root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = new_caller(scope)
        scope.setdefault("state", {})["caller"] = caller
        if self._root_path:
            # The proxy may leave its prefix in the path or take it off: routing understands both.
            scope["root_path"] = self._root_path
        named = _Named(send, caller.request_id)
        try:
            self._check(scope, caller)
        except VoiceSculptorError as error:
            await error_answer(error, caller)(scope, receive, named)
            return
        await self._app(scope, _Limited(receive, self._max_body_bytes), named)

    def _check(self, scope: Scope, caller: Caller) -> None:
        headers = dict(scope["headers"])
        self._guard.check_address(caller.client)
        for name, value in scope["headers"]:
            if name == b"host":
                self._guard.check_host(value.decode("latin-1"))
        path = scope["path"]
        if self._root_path and path.startswith(f"{self._root_path}/"):
            path = path.removeprefix(self._root_path)
        if path in ("/v1", "/metrics", "/openapi.json") or path.startswith(("/v1/", "/metrics/")):
            self._guard.check_key(headers, caller)
            if scope["method"] == "POST":
                self._guard.check_rate(caller)
        elif path.rstrip("/") in ("/login", "/gradio_api/login"):
            self._guard.check_try(caller)
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > self._max_body_bytes:
            raise BodyTooLarge(self._max_body_bytes)


class _Limited:
    """Receives a body up to a limit."""

    def __init__(self, receive: Receive, limit_bytes: int) -> None:
        self._receive = receive
        self._left_bytes = limit_bytes

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left_bytes -= len(message.get("body", b""))
        if self._left_bytes < 0:
            raise HTTPException(413)
        return message


class _Named:
    """Sends an answer on with the id of its request."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [(b"x-request-id", self._request_id.encode()), (b"x-content-type-options", b"nosniff")]
            message = {**message, "headers": [*message.get("headers", ()), *own]}
        await self._send(message)
