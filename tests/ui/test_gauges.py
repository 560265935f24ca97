"""The panel's HTML: what stands in it, in both languages, and what is escaped."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.ui.acting import GRANNY
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.engines.registry import Choice
from voice_sculptor.scheduling.activity import Activity
from voice_sculptor.scheduling.governor import Look
from voice_sculptor.scheduling.memory import MemorySnapshot
from voice_sculptor.scheduling.pressure import Allowance, Thresholds
from voice_sculptor.ui import gauges
from voice_sculptor.ui.handlers import Handlers

GB = 10**9
CARD = MemorySnapshot(
    "vram",
    12 * GB,
    24 * GB,
    9 * GB,
    "<b>Card</b>",
    held_bytes=GB // 2,
    utilisation=0.734,
    temperature_c=61.2,
)
MACHINE = gauges.Machine(FakeEngine.info, Choice("fake", "no <CUDA>", "没有 <CUDA>"), "bf16", True, 3, 2)
HELD = {"weights": 6 * GB, "codec": 10**9, "cache": 10**9}


def look(memory: MemorySnapshot = CARD, level: str = "normal", **rest: object) -> Look:
    allowance = rest.pop("allowance", Allowance(4))
    activity = rest.pop("activity", Activity(0.625, 7.0))
    return Look(1.0, memory, memory.parts(HELD), level, allowance, activity)  # type: ignore[arg-type]


def panel(*looks: Look, machine: gauges.Machine = MACHINE) -> str:
    html = gauges.panel(machine, looks, Thresholds())
    ElementTree.fromstring(html)  # It is well-formed.
    return html


def text_of(html: str, language: str) -> str:
    other = "zh" if language == "en" else "en"
    shown = re.sub(rf'<span lang="{other}">[^<]*</span>', "", html)
    return " ".join(re.sub(r"<[^>]*>", " ", shown).split())


def test_a_cards_memory_and_whose_it_is() -> None:
    html = panel(look())
    english, chinese = text_of(html, "en"), text_of(html, "zh")
    for part in ("GPU memory", "12.0 of 24.0 GB", "weights 6.00", "codec 1.00", "cache 1.00", "working 0.50"):
        assert part in english
    for part in (
        "reserve 0.50",
        "other programs 3.00",
        "73%",
        "61 °C",
        "Queue 3",
        "Running 2",
        "RTF",
        "0.62",
    ):
        assert part in english
    for part in ("显存", "12.0 / 24.0 GB", "权重 6.00", "缓存 1.00", "其他程序 3.00", "排队 3", "运行 2"):
        assert part in chinese
    assert "7/min" in english
    assert "bf16" in english
    assert "Apache-2.0" in english
    shares = [float(share) for share in re.findall(r"--f:([\d.]+)", html)]
    assert sum(shares) == pytest.approx(0.5, abs=1e-3)


def test_nothing_is_markup_but_ours() -> None:
    html = panel(look())
    assert "<b>Card" not in html
    assert "&lt;b&gt;Card" in html
    assert "no &lt;CUDA&gt;" in html
    assert "没有 &lt;CUDA&gt;" in html


def test_without_a_card() -> None:
    ram = MemorySnapshot("ram", 4 * GB, 16 * GB, GB, "Chip", utilisation=0.5)
    html = panel(look(ram), machine=replace(MACHINE, dtype=None, is_loaded=False))
    english = text_of(html, "en")
    assert "CPU" in english
    assert "GPU" not in english
    assert "°C" not in english
    assert "not loaded" in english
    assert "未加载" in html
    assert "vs-is-unloaded" in html
    assert "Chip · auto" in english


def test_before_the_first_look() -> None:
    html = panel()
    assert "…" in html
    assert "Queue 3" in text_of(html, "en")
    assert "svg" not in html


@pytest.mark.parametrize(
    ("level", "allowance", "words"),
    [
        ("normal", Allowance(4), None),
        ("warning", Allowance(2), ("batch 2", "每批 2 个")),
        ("critical", Allowance(1, is_paused=True), ("full: waiting", "请求暂缓")),
    ],
)
def test_what_a_full_memory_leads_to(level: str, allowance: Allowance, words: tuple[str, str] | None) -> None:
    html = panel(look(level=level, allowance=allowance))
    assert f"vs-level-{level}" in html
    assert ("vs-alarm" in html) is (words is not None)
    for word in words or ():
        assert word in html


def test_the_sparkline_has_its_place_and_its_limits() -> None:
    assert gauges.sparkline([], 90.0) == ""
    svg = gauges.sparkline([0.0, 50.0, 100.0, 250.0], 90.0)
    root = ElementTree.fromstring(svg)
    points = [tuple(map(float, pair.split(","))) for pair in root.find("polyline").get("points").split()]  # type: ignore[union-attr]
    xs, ys = zip(*points, strict=True)
    assert xs[0] == 120.0
    assert list(xs) == sorted(xs, reverse=True)
    assert ys == (0.0, 0.0, 10.0, 20.0)
    assert root.find("path").get("d") == "M0 2.0H120"  # type: ignore[union-attr]
    full = gauges.sparkline([float(number % 100) for number in range(300)], 90.0)
    points_of_full = re.search(r'points="([^"]*)"', full)
    assert points_of_full is not None
    assert len(points_of_full[1].split()) == 100
    assert points_of_full[1].split()[-1].startswith(("0.", "1."))
    assert "0 to 99 percent" in full


def test_the_panel_of_a_studio(handlers: Handlers) -> None:
    studio = handlers.studio
    studio.governor.look()
    html = handlers.panel.show()
    for part in ("Fake (tones, for tests)", "Apache-2.0", "GB", "Queue 0", "排队 0", "asked for", "按指定"):
        assert part in html
    choice = Choice("fake", "auto: no <CUDA> device", "自动：没有 CUDA 设备")
    html = Handlers(studio, [GRANNY], handlers.shelf, choice).panel.show()
    assert "auto: no &lt;CUDA&gt; device" in html
    assert "自动：没有 CUDA 设备" in html


def test_showing_it_is_cheap(handlers: Handlers) -> None:
    for _ in range(300):
        handlers.studio.governor.look()
    began_s = time.process_time()
    for _ in range(20):
        handlers.panel.show()
    assert (time.process_time() - began_s) / 20 < 0.02


def test_unloading_and_reloading(handlers: Handlers) -> None:
    studio = handlers.studio

    def until(is_loaded: bool) -> None:
        deadline_s = time.monotonic() + 5.0
        while studio.worker.is_loaded is not is_loaded and time.monotonic() < deadline_s:
            time.sleep(0.01)
        assert studio.worker.is_loaded is is_loaded

    assert "vs-is-unloaded" in handlers.panel.show()
    handlers.panel.reload()
    until(True)
    assert "vs-is-loaded" in handlers.panel.show()
    handlers.panel.unload()
    until(False)
    assert "vs-is-unloaded" in handlers.panel.show()
