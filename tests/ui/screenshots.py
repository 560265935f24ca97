"""Takes the pictures of the documentation: `python -m tests.ui.screenshots docs/images`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tests.ui.browser import CHROMIUM, CHROMIUM_ARGS
from voice_sculptor.config import load_settings
from voice_sculptor.ui.server import running

# Name, locale, colours, width, height, scale, preset to show.
SHOTS = (
    ("page-en-light", "en-US", "light", 1440, 1270, 1.0, "kind-grandmother"),
    ("page-zh-dark", "zh-CN", "dark", 1440, 1180, 1.0, "kind-grandmother"),
    ("page-phone", "zh-CN", "light", 390, 844, 2.0, "kind-grandmother"),
)
_PATIENCE_MS = 180_000


def take(browser: Any, url: str, folder: Path, shot: tuple[str, str, str, int, int, float, str]) -> None:
    """Design three voices with a preset and save what the page shows then."""
    name, locale, scheme, width, height, scale, preset = shot
    context = browser.new_context(
        locale=locale,
        color_scheme=scheme,
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
    )
    page = context.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    page.goto(url)
    page.wait_for_selector(".vs-ready #vs-generate")
    page.click(f"label:has(> input[value='{preset}'])")
    page.wait_for_selector("#vs-understood .vs-chip")
    page.fill("#vs-seed input", "2026")
    page.click("#vs-generate")
    page.wait_for_selector("#vs-card-3 .play-pause-button")
    page.wait_for_selector("#vs-generate:enabled")
    page.click(".vs-card:has([data-rank='1']) .vs-report summary")
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)
    page.evaluate(
        "wide => wide ? scrollTo(0, 0) : document.querySelector('#vs-progress').scrollIntoView()", width > 860
    )
    page.wait_for_timeout(800)
    page.screenshot(path=folder / f"{name}.png")
    context.close()


def main() -> None:
    """Run the page over an engine and take all pictures."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where they go")
    parser.add_argument("--engine", help="who speaks; as for the page by default")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    with running(load_settings(engine=options.engine)) as (url, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        for shot in SHOTS:
            take(browser, url, folder, shot)
        browser.close()


if __name__ == "__main__":
    main()
