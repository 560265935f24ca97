from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from voice_sculptor.config import Settings, load_settings
from voice_sculptor.engines.voicesculptor.checkpoint import load_language_model
from voice_sculptor.engines.voicesculptor.engine import VoiceSculptorEngine
from voice_sculptor.engines.voicesculptor.tiny import write_tiny

# No release of transformers for Python 3.10 has the codec; there the engine says so (tests/test_registry.py).
collect_ignore_glob = [] if importlib.util.find_spec("transformers") else ["test_*.py"]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders of a small language model and codec."""
    return write_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def settings(tiny: tuple[Path, Path]) -> Settings:
    return load_settings(device="cpu", model_dir=tiny[0], codec_dir=tiny[1])


@pytest.fixture(scope="session")
def language_model(tiny: tuple[Path, Path]):
    """Model and tokenizer, fp32."""
    return load_language_model(tiny[0], "cpu", torch.float32)


@pytest.fixture(scope="session")
def engine(settings: Settings) -> Iterator[VoiceSculptorEngine]:
    made = VoiceSculptorEngine(settings)
    made.load("cpu", None, lambda fraction: None)
    yield made
    made.unload()
