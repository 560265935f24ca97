"""Fixtures shared by all tests."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A shell that starts the tests in the background has interrupts ignored, and programs hand that on to what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Nothing may reach for a network or a user's settings.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
for _name in [
    name for name in os.environ if name.startswith("VOICE_SCULPTOR_") and name != "VOICE_SCULPTOR_CHECKPOINTS"
]:
    del os.environ[_name]
os.environ.pop("PORT", None)
# Processes that share the cores: with all the threads each they would wait for one another.
if _count := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // int(_count))))
# What tests make is not the history of whoever runs them.
os.environ["VOICE_SCULPTOR_DATA_DIR"] = tempfile.mkdtemp(prefix="voice-sculptor-test-")
atexit.register(shutil.rmtree, os.environ["VOICE_SCULPTOR_DATA_DIR"], ignore_errors=True)


@pytest.fixture(autouse=True)
def _same_draws() -> None:
    """What a test draws is the same every time, so that one that fails fails again."""
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def checkpoints_dir() -> Path:
    """The checkout's weights folder, with the embedded weights ready in it."""
    from voice_sculptor.config import load_settings
    from voice_sculptor.engines.kokoro import weights

    folder = load_settings().checkpoints_dir
    weights.prepare(folder)
    return folder


@pytest.fixture(scope="session")
def kokoro_checkpoint(checkpoints_dir: Path) -> Path:
    """The embedded engine's weights file."""
    from voice_sculptor.engines.kokoro import weights

    path = weights.find(checkpoints_dir)
    assert path is not None
    return path
