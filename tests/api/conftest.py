from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from tests.ports import free_port
from voice_sculptor.api.app import create_app
from voice_sculptor.api.serving import listening
from voice_sculptor.config import Settings
from voice_sculptor.engines.base import Engine
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.presets import load_presets
from voice_sculptor.studio import Studio

HOST = "127.0.0.1"


@contextmanager
def serving(engine: Engine | None = None, **given: object) -> Iterator[httpx.Client]:
    """A client of a server over a fake engine."""
    settings = Settings(engine="fake", port=free_port(), **given)
    assert settings.port is not None
    with ExitStack() as stack:
        studio = stack.enter_context(Studio(settings, engine or FakeEngine()))
        app = create_app(studio, settings, load_presets())
        stack.enter_context(listening(app, settings, settings.port))
        yield stack.enter_context(
            httpx.Client(base_url=f"http://{HOST}:{settings.port}", timeout=30.0, trust_env=False)
        )


@pytest.fixture(scope="module")
def api() -> Iterator[httpx.Client]:
    with serving() as client:
        yield client
