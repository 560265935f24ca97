"""What does not fit a request's schema, as one sentence that names the field."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

from voice_sculptor.errors import InvalidRequest
from voice_sculptor.faults import said

_SHOWN_CHARS = 80
_PARTS = ("body", "query", "path", "header")
_LISTED_EN, _LISTED_ZH = "/openapi.json lists what it takes.", "/openapi.json 列出了可接受的内容。"


class WrongField(InvalidRequest):
    """A field of the request is missing, unknown or out of range."""


def wrong_field(errors: Sequence[Mapping[str, Any]], model: type[BaseModel] | None = None) -> InvalidRequest:
    """The first fault that pydantic found, in both languages.

    Args:
        errors: As in `ValidationError.errors()` and FastAPI's `RequestValidationError.errors()`.
        model: What the body should have been; its fields are named where one is unknown.
    """
    # Of the members of a union each has its fault; that of an unknown or missing name says most, then the deepest.
    first = next((each for each in errors if each["type"] == "extra_forbidden"), None)
    first = first or _deepest(errors)
    *above, last = (str(part) for part in first["loc"]) if first["loc"] else ("",)
    kind = first["type"]
    is_shown = kind in ("extra_forbidden", "json_invalid") or not _is_member(last)
    loc = [part for part in above if not _is_member(part)] + ([last] if last and is_shown else [])
    if loc and loc[0] in _PARTS:
        loc = loc[1:]
    if kind == "json_invalid":
        return InvalidRequest(
            "The body is not valid JSON.",
            "请求正文不是有效的 JSON。",
            fix_en=f"Look at character {loc[0] if loc else 0}.",
            fix_zh=f"请检查第 {loc[0] if loc else 0} 个字符。",
        )
    name = ".".join(loc)[:_SHOWN_CHARS]
    if kind == "extra_forbidden":
        return _unknown(loc, name, _fields_at(model, loc[:-1]))
    if not loc:
        return WrongField(
            "The body must be a JSON object.",
            "请求正文须为 JSON 对象。",
            fix_en="Send it with `Content-Type: application/json`.",
            fix_zh="请以 `Content-Type: application/json` 发送。",
        )
    en, zh = said(first)
    return WrongField(
        f"The field {name!r} {en}.",
        f"字段 {name!r} {zh}。",
        fix_en=_LISTED_EN,
        fix_zh=_LISTED_ZH,
    )


def _deepest(errors: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The first fault, or where it is in a union, the one that lies deepest in the same."""
    loc = errors[0]["loc"]
    depth = next((depth for depth, part in enumerate(loc) if _is_member(str(part))), None)
    if depth is None:
        return errors[0]
    return max(
        (each for each in errors if each["loc"][:depth] == loc[:depth]), key=lambda each: len(each["loc"])
    )


def _is_member(part: str) -> bool:
    """Whether a part of a place names a union's member: `Voice`, `constrained-str`, `literal['wav',…]`."""
    return re.fullmatch(r"[a-z0-9_]*", part) is None


def _unknown(loc: Sequence[str], name: str, valid: Sequence[str]) -> InvalidRequest:
    near = difflib.get_close_matches(loc[-1][:_SHOWN_CHARS], valid, n=1)
    fields_en, fields_zh = ", ".join(valid), "、".join(valid)
    return WrongField(
        f"There is no field {name!r} in this request.",
        f"此请求没有字段 {name!r}。",
        fix_en=(f"Did you mean {near[0]!r}? " if near else "")
        + (f"Valid: {fields_en}." if valid else _LISTED_EN),
        fix_zh=(f"您是不是想用 {near[0]!r}？" if near else "")
        + (f"可用：{fields_zh}。" if valid else _LISTED_ZH),
    )


def _fields_at(model: Any, loc: Sequence[str]) -> list[str]:
    """Names of the fields of the model at a place in another; empty where there is none."""
    for part in loc:
        fields = getattr(model, "model_fields", {})
        if part not in fields:
            continue  # The name of a union's member.
        model = _model_in(fields[part].annotation)
    return list(getattr(model, "model_fields", {}))


def _model_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)
