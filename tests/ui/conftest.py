from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.ports import free_port
from tests.ui.acting import GRANNY, ActingEngine
from tests.ui.browser import CHROMIUM, CHROMIUM_ARGS
from voice_sculptor.config import Settings
from voice_sculptor.studio import Studio
from voice_sculptor.ui.handlers import Handlers
from voice_sculptor.ui.shelf import Shelf


@pytest.fixture
def handlers() -> Iterator[Handlers]:
    shelf = Shelf()
    with Studio(Settings(engine="fake", max_queue=2), ActingEngine()) as studio:
        yield Handlers(studio, [GRANNY], shelf)
    shelf.close()


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """Address of the whole page over a fake engine."""
    from voice_sculptor.ui.server import running

    settings = Settings(engine="fake", port=free_port())
    with ExitStack() as stack:
        with warnings.catch_warnings():
            # Gradio makes event loops in a thread that runs none, and leaves them to the garbage collector.
            warnings.simplefilter("ignore", ResourceWarning)
            url, _ = stack.enter_context(running(settings, ActingEngine()))
            asyncio.set_event_loop(None)
            gc.collect()
        yield url


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield browser
        browser.close()
