"""Speaking a text with several voices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.engines.kokoro.reference import random_weights
from voice_sculptor.config import Settings
from voice_sculptor.controls import Controls
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import CandidateFailed
from voice_sculptor.engines.kokoro import speech
from voice_sculptor.engines.kokoro.edits import Edit
from voice_sculptor.engines.kokoro.engine import KokoroEngine
from voice_sculptor.engines.kokoro.layout import KokoroConfig
from voice_sculptor.engines.kokoro.model import KokoroModel
from voice_sculptor.engines.kokoro.reading import Reading
from voice_sculptor.engines.kokoro.speech import Speaker
from voice_sculptor.engines.kokoro.state import VoiceState
from voice_sculptor.errors import InvalidRequest

CONFIG = KokoroConfig.tiny()
TEXT = "Good morning.\n\nHow are you?"


class _Styles:
    """Styles of the small model's size."""

    def blend(self, blend: dict[str, float], num_phonemes: int) -> np.ndarray[Any, Any]:
        return np.full(2 * CONFIG.style_size, len(next(iter(blend))) / 100, np.float32)


@pytest.fixture
def model() -> KokoroModel:
    return KokoroModel(random_weights(CONFIG), torch.device("cpu"), torch.float32, CONFIG)


def _speak(model: KokoroModel, reading: Reading, name: str) -> np.ndarray[Any, Any]:
    speaker = Speaker(model, _Styles())  # type: ignore[arg-type]
    pieces = speaker.speak(reading, VoiceState(blend={name: 1.0}), Edit(), 1, lambda: None)
    return np.concatenate([piece.samples for piece in pieces])


def test_the_next_voice_says_the_text_without_reading_it_again(
    model: KokoroModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = _speak(model, Reading(TEXT, "en"), "af_nicole")
    reading = Reading(TEXT, "en")
    first = _speak(model, reading, "af_sky")
    assert len(reading.features) == len(list(reading.lines())) == 2

    def read_again(token_ids: torch.Tensor) -> None:
        raise AssertionError(f"read again: {token_ids}")

    monkeypatch.setattr(model, "read", read_again)
    second = _speak(model, reading, "af_nicole")
    assert second.tobytes() == alone.tobytes()
    assert first.tobytes() != second.tobytes()


def test_what_is_kept_of_a_long_text_is_bounded(model: KokoroModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "_NUM_KEPT_LINES", 1)
    reading = Reading(TEXT, "en")
    once, again = (_speak(model, reading, "af_sky").tobytes() for _ in range(2))
    assert once == again
    assert len(reading.features) == 1


@pytest.mark.parametrize("text", ["مرحبا", "こんにちは。", "한국어"])
def test_a_text_in_no_language_of_ours_is_the_callers_fault(text: str) -> None:
    engine = KokoroEngine(Settings())
    engine._speaker = object()  # type: ignore[assignment]
    request = SynthesisRequest("one", text, "auto", Controls(), (1, 2))
    events = list(engine.synthesize([request], lambda _: False))
    assert [(type(event), event.index) for event in events] == [(CandidateFailed, 0), (CandidateFailed, 1)]
    assert isinstance(events[0], CandidateFailed)
    assert type(events[0].error) is InvalidRequest
    assert "English and Chinese" in events[0].error.message()
