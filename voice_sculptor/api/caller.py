"""Who asks: the client, the language of answers, the id of the request. Kept in the ASGI scope's state."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Scope

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass
class Caller:
    """One request's caller.

    Attributes:
        request_id: The caller's own `X-Request-Id` where it is a plain word, else drawn.
        language: `"zh"` or `"en"`, of messages.
        client: Who shares turns and rates: the key that was used, else the address.
    """

    request_id: str
    language: str
    client: str


def caller_of(scope: Scope) -> Caller:
    """The caller that `Gate` put into a request's scope."""
    caller: Caller = scope["state"]["caller"]
    return caller


def new_caller(scope: Scope) -> Caller:
    """The caller of a request, by its headers and address."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    return Caller(request_id_of(headers), language_of(headers.get(b"accept-language", "")), address_of(scope))


def address_of(scope: Scope) -> str:
    """The client's address; empty where there is none."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def request_id_of(headers: Mapping[bytes, str]) -> str:
    """The caller's own id where it is a plain word, else a new one."""
    given = headers.get(b"x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def language_of(accept_language: str) -> str:
    """The better liked of `"zh"` and `"en"`; English where neither is named (RFC 9110, 12.5.4)."""
    weights = {"en": 0.0, "zh": 0.0}
    for part in accept_language.split(","):
        tag, _, rest = part.strip().partition(";")
        language = tag.strip().lower().partition("-")[0]
        found = re.fullmatch(r"\s*q\s*=\s*(\d(?:\.\d+)?)\s*", rest)
        if language in weights:
            weights[language] = max(weights[language], float(found[1]) if found else 1.0)
    return "zh" if weights["zh"] > weights["en"] else "en"
