"""What pydantic found wrong with a value, in both languages: a predicate that follows the name of the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

# By pydantic's name of the fault, over the fault's own figures.
_SAID: dict[str, tuple[str, str]] = {
    "missing": ("is missing", "缺失"),
    "extra_forbidden": ("is unknown", "未知"),
    "string_type": ("must be a string", "须为字符串"),
    "string_unicode": ("must be valid Unicode", "须为有效的 Unicode"),
    "string_too_short": ("must have at least {min_length} characters", "至少 {min_length} 个字符"),
    "string_too_long": ("may have at most {max_length} characters", "最多 {max_length} 个字符"),
    "string_pattern_mismatch": ("must match {pattern}", "须匹配 {pattern}"),
    "int_type": ("must be a whole number", "须为整数"),
    "int_parsing": ("must be a whole number", "须为整数"),
    "int_parsing_size": ("is too large", "过大"),
    "int_from_float": ("must be a whole number", "须为整数"),
    "float_type": ("must be a number", "须为数字"),
    "float_parsing": ("must be a number", "须为数字"),
    "finite_number": ("must be a finite number", "须为有限的数"),
    "bool_type": ("must be true or false", "须为 true 或 false"),
    "bool_parsing": ("must be true or false", "须为 true 或 false"),
    "literal_error": ("must be one of {expected}", "须为 {expected} 之一"),
    "greater_than": ("must be over {gt}", "须大于 {gt}"),
    "greater_than_equal": ("must be at least {ge}", "不得小于 {ge}"),
    "less_than": ("must be below {lt}", "须小于 {lt}"),
    "less_than_equal": ("may be at most {le}", "不得大于 {le}"),
    "dict_type": ("must be an object", "须为对象"),
    "model_attributes_type": ("must be an object", "须为对象"),
    "model_type": ("must be an object", "须为对象"),
    "list_type": ("must be a list", "须为列表"),
    "tuple_type": ("must be a list", "须为列表"),
    "too_short": ("must have at least {min_length} entries", "至少 {min_length} 项"),
    "too_long": ("may have at most {max_length} entries", "最多 {max_length} 项"),
    "path_type": ("must be a path", "须为路径"),
    "json_invalid": ("is not valid JSON", "不是有效的 JSON"),
}


def said(fault: Mapping[str, Any]) -> tuple[str, str]:
    """The fault without the field's name and without a full stop.

    Args:
        fault: One of `ValidationError.errors()`.

    Returns:
        In English and in Chinese; what has no words of ours is told in pydantic's.
    """
    en, zh = _SAID.get(fault["type"], ("", ""))
    if not en:
        plain = str(fault["msg"]).removeprefix("Value error, ").rstrip(".")
        return f"is wrong: {plain}", f"有误：{plain}"
    figures = fault.get("ctx", {})
    return en.format_map(figures), zh.format_map(figures)


def first_said(error: ValidationError, whole: str = "") -> tuple[str, str]:
    """The first fault with the place it is at: `blend.af_heart must be a number`.

    Args:
        error: As raised.
        whole: What to call the place of a fault of the whole.
    """
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or whole
    en, zh = said(first)
    return f"{where} {en}".strip(), f"{where} {zh}".strip()
