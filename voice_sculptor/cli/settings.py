"""What `serve --print-config` shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice_sculptor.cli.session import print_table

if TYPE_CHECKING:
    from voice_sculptor.config import Resolved


def print_settings(resolved: Resolved) -> None:
    """Every setting, its value and where that came from, one a line.

    Args:
        resolved: What holds.
    """
    from voice_sculptor.config import SECRETS

    values = {name: getattr(resolved.settings, name) for name in type(resolved.settings).model_fields}
    for name in SECRETS:
        values[name] = "…" if values[name] else ""
    rows = [(name, _shown(value), str(resolved.sources[name])) for name, value in values.items()]
    print_table(("setting", "value", "source"), rows)


def _shown(value: Any) -> str:
    """As it would be written in the file."""
    if value is None:
        return "auto"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple | list | set | frozenset):
        return ", ".join(map(_shown, value))
    return str(value) if isinstance(value, Path | str | int) else repr(value)
