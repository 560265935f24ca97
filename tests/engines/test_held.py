"""What the tensors of a model hold, and that engines tell it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from voice_sculptor.config import Settings
from voice_sculptor.engines.base import StatesMemory
from voice_sculptor.engines.held import held_bytes
from voice_sculptor.engines.kokoro.engine import KokoroEngine


def test_modules_and_buffers_are_counted_once() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(10, 10), torch.nn.BatchNorm1d(10))
    expected = sum(each.nbytes for each in (*module.parameters(), *module.buffers()))
    assert held_bytes(module) == expected
    assert held_bytes(module, module, module[0]) == expected


def test_plain_objects_views_and_cycles() -> None:
    @dataclass
    class Plain:
        tensors: dict[str, Any]
        me: Any = None

    base = torch.zeros(100)
    plain = Plain({"a": base, "b": base[10:20], "c": [(torch.zeros(5, dtype=torch.float16),)], "d": "text"})
    plain.me = plain
    assert held_bytes(plain) == 400 + 10


def test_slots_are_looked_into() -> None:
    class Slotted:
        __slots__ = ("tensor", "unset")

    slotted = Slotted()
    slotted.tensor = torch.zeros(3)
    assert held_bytes(slotted) == 12


def test_the_embedded_engine_tells_its_weights(kokoro_checkpoint: Path) -> None:
    engine = KokoroEngine(Settings(checkpoints_dir=kokoro_checkpoint.parent.parent))
    assert isinstance(engine, StatesMemory)
    assert engine.memory_parts() == {}
    engine.load("cpu", None, lambda fraction: None)
    weights_bytes = engine.memory_parts()["weights"]
    assert abs(weights_bytes / engine.info.weights_bytes - 1.0) < 0.2
    engine.unload()
    assert engine.memory_parts() == {}
