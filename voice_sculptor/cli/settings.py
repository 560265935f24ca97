"""What `serve --print-config` shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice_sculptor.cli.session import Session, print_table

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


def recommendation(resolved: Resolved, session: Session) -> str | None:
    """A hint at the profile for this machine's card; `None` where there is no card, or a file was chosen.

    Args:
        resolved: What holds.
        session: Whose language counts.
    """
    from voice_sculptor.config_file import recommended_profile
    from voice_sculptor.device import gpus

    if resolved.is_file_chosen:
        return None
    card = max(gpus(), key=lambda each: each.total_bytes, default=None)
    name = recommended_profile(card.total_bytes) if card else None
    if card is None or name is None:
        return None
    size = f"{card.name}, {card.total_bytes / 1e9:.0f} GB"
    return session.pick(
        f"Recommended for this card ({size}): --profile {name}",
        f"推荐用于这张显卡（{size}）：--profile {name}",
    )


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
