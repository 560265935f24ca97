"""Errors as HTTP answers: one table of statuses, one JSON shape, in the language that was asked for.

::

    {"error": {"type": "UnknownVoice", "message": "…", "fix": "…", "request_id": "…"}}
"""

from __future__ import annotations

import math
from typing import Any

from voice_sculptor import errors as known
from voice_sculptor.errors import CapacityError, InvalidRequest, VoiceSculptorError


class UnknownAddress(InvalidRequest):
    """Nothing is at this address."""

    def __init__(self) -> None:
        super().__init__(
            "There is nothing at this address.",
            "此地址没有内容。",
            fix_en="/openapi.json lists what there is.",
            fix_zh="可用的地址见 /openapi.json。",
        )


class WrongMethod(InvalidRequest):
    """The address does not take this method."""

    def __init__(self, method: str, allowed: str = "") -> None:
        super().__init__(
            f"This address does not take {method}.",
            f"此地址不接受 {method}。",
            fix_en=f"It takes {allowed}." if allowed else "/openapi.json lists what it takes.",
            fix_zh=f"它接受 {allowed}。" if allowed else "可用的方法见 /openapi.json。",
        )


class UnreadableBody(InvalidRequest):
    """The body is not what its headers say."""


class BodyTooLarge(InvalidRequest):
    """The body of the request is over the limit."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(
            f"The body is longer than {limit_bytes:,} bytes.",
            f"请求正文超过 {limit_bytes:,} 字节。",
            fix_en="Send less, or have the operator raise max_body_bytes.",
            fix_zh="请减少内容，或由管理员调高 max_body_bytes。",
        )


class MissingKey(VoiceSculptorError):
    """No key, or none of ours."""

    def __init__(self) -> None:
        super().__init__(
            "This needs a valid API key.",
            "此操作需要有效的 API 密钥。",
            fix_en="Send it as `Authorization: Bearer KEY`.",
            fix_zh="请在请求头中发送 `Authorization: Bearer 密钥`。",
        )


class ForbiddenAddress(VoiceSculptorError):
    """The client's address is not on the list."""

    def __init__(self) -> None:
        super().__init__(
            "Clients from this address are not answered.",
            "不接受来自此地址的访问。",
            fix_en="Ask the operator to add it to allow_ip.",
            fix_zh="请管理员将其加入 allow_ip。",
        )


class ForbiddenHost(VoiceSculptorError):
    """The server was called by a name that is not its own.

    Args:
        host: As it was called, from the header `Host`.
    """

    def __init__(self, host: str) -> None:
        super().__init__(
            f"This server does not answer to the name {host!r}.",
            f"此服务器不以 {host!r} 这一名称提供服务。",
            fix_en="Open it as localhost, or have the operator add the name to allow_hosts.",
            fix_zh="请用 localhost 打开，或由管理员将该名称加入 allow_hosts。",
        )


class TooManyRequests(CapacityError):
    """One client asks too often.

    Args:
        retry_after_s: Seconds until the next request is taken.
    """

    def __init__(self, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        seconds = max(1, math.ceil(retry_after_s))
        super().__init__(
            "You have sent too many requests.",
            "请求过于频繁。",
            fix_en=f"Try again in {seconds} s.",
            fix_zh=f"请 {seconds} 秒后再试。",
        )


class NotReady(CapacityError):
    """The engine is not loaded yet."""

    def __init__(self) -> None:
        super().__init__(
            "The engine is still being loaded.",
            "引擎仍在加载。",
            fix_en="Ask again in a few seconds.",
            fix_zh="请几秒后再试。",
        )


class NoCloning(InvalidRequest):
    """References were sent, which nothing here speaks like.

    Args:
        title: Of the engine.
    """

    def __init__(self, title: str) -> None:
        super().__init__(
            f"{title} does not speak like a recording: 'references' cannot be followed.",
            f"{title} 不能模仿录音：无法使用 references。",
            fix_en="Leave 'references' out and give a 'reference_id', or design a voice with POST /v1/design.",
            fix_zh="请去掉 references，改用 reference_id，或用 POST /v1/design 设计声音。",
        )


class InternalError(VoiceSculptorError):
    """A fault of ours."""

    def __init__(self) -> None:
        super().__init__(
            "Something broke that should not.",
            "发生了不该发生的错误。",
            fix_en="Report it with the request id; the server's log says more.",
            fix_zh="请附上请求编号报告问题；服务器日志中有详情。",
        )


STATUSES: dict[type[VoiceSculptorError], int] = {
    known.VoiceSculptorError: 500,
    known.InvalidRequest: 400,
    known.TextTooLong: 413,
    known.UnknownVoice: 404,
    known.UnknownRecording: 404,
    known.UnknownPreset: 404,
    known.UnknownEngine: 404,
    known.PresetError: 500,
    known.ConfigError: 500,
    known.OutputError: 507,
    known.LibraryError: 503,
    known.EngineError: 503,
    known.SynthesisFailed: 503,
    known.CapacityError: 503,
    known.OutOfMemory: 507,
    known.DeadlineExceeded: 504,
    known.Cancelled: 499,
    UnknownAddress: 404,
    WrongMethod: 405,
    BodyTooLarge: 413,
    MissingKey: 401,
    ForbiddenAddress: 403,
    ForbiddenHost: 403,
    TooManyRequests: 429,
    InternalError: 500,
}
"""Status of each class; one that is not named has that of its nearest base.

An engine that breaks is 503, as what lies behind it does not work now; 500 is for faults of the server itself. 499 is
what proxies log for a caller who left: nobody reads it.
"""


def status_of(error: VoiceSculptorError) -> int:
    """The HTTP status of an error."""
    return next(STATUSES[base] for base in type(error).__mro__ if base in STATUSES)


def body_of(error: VoiceSculptorError, language: str, request_id: str) -> dict[str, Any]:
    """The JSON document of an error."""
    zh = language == "zh"
    return {
        "error": {
            "type": error.kind,
            "message": error.zh if zh else error.en,
            "fix": error.fix_zh if zh else error.fix_en,
            "request_id": request_id,
        }
    }


def headers_of(error: VoiceSculptorError, language: str) -> dict[str, str]:
    """The headers that an error's answer has beside its body."""
    headers = {"Content-Language": language}
    retry_after_s = getattr(error, "retry_after_s", None)
    if retry_after_s is None and isinstance(error, NotReady):
        retry_after_s = 2.0
    if retry_after_s is not None:
        headers["Retry-After"] = str(max(1, math.ceil(retry_after_s)))
    if isinstance(error, MissingKey):
        headers["WWW-Authenticate"] = "Bearer"
    return headers
