"""Answers as HTTP: JSON, errors, and audio that is sent while it is made."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from voice_sculptor import metrics
from voice_sculptor.api.caller import Caller, caller_of
from voice_sculptor.api.errors import body_of, headers_of, status_of
from voice_sculptor.errors import Cancelled, VoiceSculptorError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from voice_sculptor.api.work import Work

_log = logging.getLogger(__name__)


class Json(Response):
    """A JSON document, readable in a terminal also where it is Chinese."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The document's bytes."""
        written = partial(json.dumps, content, allow_nan=False, separators=(",", ":"))
        try:
            return written(ensure_ascii=False).encode()
        except UnicodeEncodeError:  # a caller's own broken characters are quoted in it
            return written().encode()


def error_answer(error: VoiceSculptorError, caller: Caller) -> Json:
    """An error as its answer; what the worker did not answer, which counts its own, is counted here."""
    if not error.was_counted and not isinstance(error, Cancelled):
        metrics.count_error(error)
    return Json(
        body_of(error, caller.language, caller.request_id),
        status_of(error),
        headers_of(error, caller.language),
    )


class Flow(Response):
    """A body that is made while it is sent. The first piece is there before the headers; who leaves cancels the rest.

    Args:
        work: Makes the pieces.
        first: The first of them.
        media_type: Of the body.
        headers: Further headers.
    """

    def __init__(
        self, work: Work[bytes], first: bytes, media_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self._work = work
        self._first = first
        super().__init__(None, 200, headers, media_type)
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        request = Request(scope, receive)
        try:
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            piece: bytes | None = self._first
            while piece is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                piece = await self._next(request)
            await send({"type": "http.response.body", "body": b""})
        except Cancelled:
            return
        finally:
            self._work.cancel()

    async def _next(self, request: Request) -> bytes | None:
        try:
            return await self._work.next_for(request)
        except Cancelled:
            raise
        except VoiceSculptorError as error:
            # The status is sent: breaking the body off is the only way left to say so.
            _log.warning("%s: %s", caller_of(request.scope).request_id, error.message())
            raise


class Events(Flow):
    """The same as server-sent events in OpenAI's form; an error is one of them."""

    def __init__(self, work: Work[bytes], first: bytes, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(
            work, _delta(first), "text/event-stream", {"Cache-Control": "no-cache", **(headers or {})}
        )
        self._is_over = False

    async def _next(self, request: Request) -> bytes | None:
        if self._is_over:
            return None
        try:
            piece = await self._work.next_for(request)
        except Cancelled:
            raise
        except VoiceSculptorError as error:
            self._is_over = True
            caller = caller_of(request.scope)
            return _event({"type": "error", **body_of(error, caller.language, caller.request_id)})
        if piece is None:
            self._is_over = True
            return _event({"type": "speech.audio.done"})
        return _delta(piece)


def _delta(piece: bytes) -> bytes:
    return _event({"type": "speech.audio.delta", "audio": base64.b64encode(piece).decode()})


def _event(document: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"
