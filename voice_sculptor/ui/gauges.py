"""The panel's HTML: how full the device is and with what, what it does, and which engine is on it. All is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from voice_sculptor.engines.base import EngineInfo
from voice_sculptor.engines.registry import Choice
from voice_sculptor.scheduling.governor import HISTORY_S, Look
from voice_sculptor.scheduling.memory import PARTS
from voice_sculptor.scheduling.pressure import Thresholds
from voice_sculptor.ui.render import both, said, spelled
from voice_sculptor.ui.strings import say

_WIDTH, _HEIGHT = 120, 20
_MAX_POINTS = 100


@dataclass(frozen=True)
class Machine:
    """What the panel shows beside the memory.

    Attributes:
        info: The engine.
        choice: Why it is this one.
        dtype: Its type of numbers; `None` where that was left to it.
        is_loaded: Whether it is on the device.
        num_waiting: Requests that have not begun.
        num_running: Requests on the device.
    """

    info: EngineInfo
    choice: Choice
    dtype: str | None
    is_loaded: bool
    num_waiting: int
    num_running: int


def panel(machine: Machine, looks: Sequence[Look], thresholds: Thresholds) -> str:
    """Both lines of the panel.

    Args:
        machine: What works.
        looks: At its memory, oldest first; may be empty.
        thresholds: What use of the memory means.
    """
    latest = looks[-1] if looks else None
    classes = f"vs-status vs-level-{latest.level if latest else 'normal'}"
    classes += " vs-is-loaded" if machine.is_loaded else " vs-is-unloaded"
    first = _memory(latest, looks, thresholds) if latest else f"<span>{said('memory')} …</span>"
    return f'<div class="{classes}"><div>{first}</div><div>{_work(machine, latest)}</div></div>'


def _memory(latest: Look, looks: Sequence[Look], thresholds: Thresholds) -> str:
    memory, is_gpu = latest.memory, latest.memory.kind == "vram"
    shown = {part: num_bytes for part, num_bytes in latest.parts.items() if num_bytes >= 5e6}
    total_bytes = max(1, memory.total_bytes)
    bar = "".join(
        f'<i class="vs-part-{part}" style="--f:{num_bytes / total_bytes:.4f}"></i>'
        for part, num_bytes in shown.items()
    )
    keys = "".join(
        f'<span class="vs-key vs-part-{part}">{said(_NAMES[part])} {_gb(num_bytes)}</span>'
        for part, num_bytes in shown.items()
    )
    of = said("of", used=_gb(memory.used_bytes), total=f"{_gb(memory.total_bytes)} GB")
    items = [
        ("memory", f"{said('gpu_memory' if is_gpu else 'memory')} <b>{of}</b>"),
        ("stack", f'<span title="{_spelled(shown)}">{bar}</span>'),
        ("keys", keys),
        ("spark", sparkline([look.memory.used_percent for look in looks], thresholds.warning)),
    ]
    if latest.level != "normal":
        limit = latest.allowance.limit
        words = said("admission_paused") if latest.allowance.is_paused else said("memory_short", count=limit)
        items.insert(1, ("alarm", words))
    if memory.utilisation is not None:
        items.append(("load", f"{'GPU' if is_gpu else 'CPU'} <b>{100 * memory.utilisation:.0f}%</b>"))
    if memory.temperature_c is not None:
        items.append(("heat", f"<b>{memory.temperature_c:.0f} °C</b>"))
    return _spans(items)


def _work(machine: Machine, latest: Look | None) -> str:
    info, choice = machine.info, machine.choice
    state = "" if machine.is_loaded else f" ({said('not_loaded')})"
    activity = latest.activity if latest else None
    rtf = "–" if activity is None or activity.rtf is None else f"{activity.rtf:.2f}"
    rate = f"{activity.requests_per_min:.0f}" if activity else "0"
    device = " · ".join(filter(None, (latest.memory.device_name if latest else "", machine.dtype or "auto")))
    return _spans(
        [
            ("queue", said("queue", count=machine.num_waiting)),
            ("running", said("running", count=machine.num_running)),
            ("rtf", f'<span title="{spelled("rtf")}">RTF <b>{rtf}</b></span>'),
            ("rate", said("per_minute", count=rate)),
            ("engine", f"<b>{escape(info.title)}</b>{state}"),
            ("why", both(choice.reason_en, choice.reason_zh)),
            ("licence", said("licence", name=info.weights_licence)),
            ("device", escape(device)),
        ]
    )


def sparkline(percents: Sequence[float], warning: float) -> str:
    """The use of the memory over the last minutes, the latest on the right, as SVG.

    Args:
        percents: One a second, oldest first, 0–100.
        warning: Where a line is drawn across.
    """
    if not percents:
        return ""
    step = -(-len(percents) // _MAX_POINTS)
    last = len(percents) - 1
    kept = [(last - ago, percents[last - ago]) for ago in range(0, len(percents), step)]
    scale = _WIDTH / (HISTORY_S - 1.0)
    points = " ".join(f"{_WIDTH - (last - at) * scale:.1f},{_y(percent):.1f}" for at, percent in kept)
    labels = [
        say("sparkline", lang, low=f"{min(percents):.0f}", high=f"{max(percents):.0f}") for lang in _BOTH
    ]
    title = escape(" / ".join(labels), quote=True)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{title}">'
        f'<path class="vs-limit" d="M0 {_y(warning):.1f}H{_WIDTH}"/><polyline points="{points}"/></svg>'
    )


def _spelled(parts: Mapping[str, int]) -> str:
    """The parts in words, for where there is no room for their names."""
    lines = (
        ", ".join(f"{say(_NAMES[part], lang)} {_gb(num_bytes)} GB" for part, num_bytes in parts.items())
        for lang in _BOTH
    )
    return escape(" / ".join(lines), quote=True)


def _y(percent: float) -> float:
    return _HEIGHT * (1.0 - min(100.0, max(0.0, percent)) / 100.0)


def _gb(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:.{1 if num_bytes >= 1e10 else 2}f}"


def _spans(items: Sequence[tuple[str, str]]) -> str:
    return "".join(f'<span class="vs-{name}">{inner}</span>' for name, inner in items)


_BOTH = ("en", "zh")
_NAMES = {part: f"part_{part}" for part in PARTS}
