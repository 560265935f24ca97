"""The page as a proxy shows it, under a path: assets, queue and audio are all asked for there."""

from __future__ import annotations

import asyncio
import gc
import warnings
from typing import Any

import pytest

from tests.ports import free_port
from voice_sculptor.config import Settings
from voice_sculptor.ui.server import running

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def test_assets_queue_and_audio_under_a_path(chromium: Any) -> None:
    settings = Settings(engine="fake", port=free_port(), root_path="/voice")
    with warnings.catch_warnings():
        # As for the fixture `site`.
        warnings.simplefilter("ignore", ResourceWarning)
        with running(settings) as (url, _):
            page = chromium.new_page()
            answers: list[tuple[int, str]] = []
            page.on("response", lambda answer: answers.append((answer.status, answer.url)))
            page.set_default_timeout(25_000)
            page.goto(f"{url}/voice/")
            page.wait_for_selector(".vs-ready #vs-generate")
            page.fill("#vs-text textarea", "Hello from under a path.")
            page.click("#vs-generate")
            page.wait_for_selector("#vs-card-3 .play-pause-button")
            page.wait_for_selector("#vs-generate:enabled")
            asked = [address for _, address in answers if address.startswith("http")]
            assert [address for address in asked if not address.startswith(f"{url}/voice/")] == []
            assert [answer for answer in answers if answer[0] >= 400] == []
            assert sum("file=" in address for address in asked) >= 3
            page.close()
        asyncio.set_event_loop(None)
        gc.collect()
