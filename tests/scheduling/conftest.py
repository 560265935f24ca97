"""Fixtures of the tests of scheduling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scheduling.engines import GatedEngine
from voice_sculptor.scheduling.worker import Worker


@pytest.fixture
def gated() -> Iterator[tuple[GatedEngine, Worker]]:
    """An engine behind a gate, and its worker with three places."""
    engine = GatedEngine()
    worker = Worker(engine, "cpu", max_queue=3)
    yield engine, worker
    engine.gate.set()
    worker.close()
