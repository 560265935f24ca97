"""The HTTP API as one application over a studio; the page is mounted beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Match

from voice_sculptor import __version__
from voice_sculptor.api import errors, schemas
from voice_sculptor.api.answers import error_answer
from voice_sculptor.api.caller import caller_of
from voice_sculptor.api.examples import ERRORS
from voice_sculptor.api.gate import Gate
from voice_sculptor.api.routes import listings, making, state, voices
from voice_sculptor.api.security import Guard
from voice_sculptor.api.validation import wrong_field
from voice_sculptor.config import Settings
from voice_sculptor.domain import Preset
from voice_sculptor.errors import VoiceSculptorError
from voice_sculptor.studio import Studio

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
_ROUTERS = (making.router, voices.router, listings.router, state.router)
_ALONE = ("/health", "/ready", "/metrics")
_BODIES: dict[str, type[BaseModel]] = {
    "/v1/design": schemas.DesignRequest,
    "/v1/audio/speech": schemas.SpeechRequest,
    "/v1/tts": schemas.TtsRequest,
    "/v1/voices": schemas.KeepRequest,
}


def create_app(studio: Studio, settings: Settings | None = None, presets: Iterable[Preset] = ()) -> FastAPI:
    """The API of a studio.

    Args:
        studio: What does the work; whoever made it closes it.
        settings: Keys, limits and addresses; the studio's own by default.
        presets: What `/v1/presets` lists.

    Raises:
        ConfigError: The file of keys cannot be read.
    """
    settings = settings or studio.settings
    app = FastAPI(
        title="Voice Sculptor",
        version=__version__,
        summary="Describe a voice, hear candidates, speak with the best.",
        docs_url=None,
        redoc_url=None,
        responses=ERRORS,
        redirect_slashes=False,
    )
    app.state.studio = studio
    app.state.presets = tuple(presets)
    for router in _ROUTERS:
        app.include_router(router)
    for path in ("/v1", "/v1/{rest:path}", *_ALONE):
        app.add_api_route(path, _nothing_here, methods=_METHODS, include_in_schema=False)
    app.add_exception_handler(VoiceSculptorError, _known)
    app.add_exception_handler(RequestValidationError, _wrong_field)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _broken)
    app.add_middleware(
        Gate, guard=Guard(settings), max_body_bytes=settings.max_body_bytes, root_path=settings.root_path
    )
    # Without any origin too: where there is none, Gradio puts its own here, which lets in whoever calls the server by a
    # name that is not localhost.
    app.add_middleware(
        CORSMiddleware,
        allow_origins=settings.cors_origins,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Accept-Language", "X-Request-Id"],
        expose_headers=["X-Request-Id", "X-Seed", "X-Ignored", "X-Sample-Rate", "Retry-After"],
    )
    document = app.openapi

    def without_422() -> dict[str, Any]:
        # FastAPI's own answer to wrong fields, which is 400 here.
        whole = document()
        for operations in whole["paths"].values():
            for operation in operations.values():
                operation["responses"].pop("422", None)
        return whole

    app.openapi = without_422  # type: ignore[method-assign]
    return app


def _nothing_here(request: Request) -> Response:
    methods: set[str] = set()
    for router in _ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and route.matches(request.scope)[0] is not Match.NONE:
                methods.update(route.methods or ())
    if methods:
        allowed = ", ".join(sorted(methods))
        answer = error_answer(errors.WrongMethod(request.method, allowed), caller_of(request.scope))
        answer.headers["Allow"] = allowed
        return answer
    raise errors.UnknownAddress


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, VoiceSculptorError)
    return error_answer(error, caller_of(request.scope))


async def _wrong_field(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_answer(
        wrong_field(error.errors(), _BODIES.get(request.scope["route"].path)), caller_of(request.scope)
    )


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known: VoiceSculptorError
    if error.status_code == 413:
        settings: Any = request.app.state.studio.settings
        known = errors.BodyTooLarge(settings.max_body_bytes)
    elif error.status_code == 404:
        known = errors.UnknownAddress()
    elif error.status_code == 405:
        known = errors.WrongMethod(request.method)
    else:
        known = errors.UnreadableBody(
            "The body cannot be read.",
            "无法读取请求正文。",
            fix_en="Send valid JSON with `Content-Type: application/json`.",
            fix_zh="请以 `Content-Type: application/json` 发送有效的 JSON。",
        )
    return error_answer(known, caller_of(request.scope))


async def _broken(request: Request, error: Exception) -> Response:
    return error_answer(errors.InternalError(), caller_of(request.scope))
