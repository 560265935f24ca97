"""What requests take: as stated, and as it turned out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from voice_sculptor.controls import Controls
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.scheduling.estimate import Estimate
from voice_sculptor.scheduling.length import predicted_s

INFO = replace(FakeEngine.info, codec_frame_rate=50.0)


def request(text: str, description: str = "") -> SynthesisRequest:
    return SynthesisRequest("r", text, "en", Controls(), (1, 2, 3), description=description)


def test_an_engine_that_states_nothing_needs_nothing() -> None:
    estimate = Estimate(INFO)
    assert estimate.needed_bytes(request("word " * 10_000)) == 0
    estimate.learn([request("word")], 10**9)
    assert estimate.ratio == 1.0


def test_audio_and_tokens_are_counted() -> None:
    text = "one two three four five six seven eight nine ten"
    audio_s = predicted_s(request(text))
    assert Estimate(replace(INFO, bytes_per_audio_s=1000)).needed_bytes(request(text)) == round(
        1000 * audio_s
    )
    tokens = audio_s * 50.0 + len(text) + len("deep")
    assert Estimate(replace(INFO, bytes_per_token=7)).needed_bytes(request(text, "deep")) == round(7 * tokens)


def test_it_does_not_grow_past_a_piece() -> None:
    estimate = Estimate(replace(INFO, bytes_per_audio_s=1000, bytes_per_token=1, max_piece_s=10.0))
    long, longer = (estimate.needed_bytes(request("word " * count)) for count in (1000, 4000))
    assert long == pytest.approx(longer, rel=0.01)
    assert long > estimate.needed_bytes(request("word " * 10))


def test_what_was_measured_corrects_it_bit_by_bit_and_in_bounds() -> None:
    estimate = Estimate(replace(INFO, bytes_per_audio_s=1_000_000))
    batch = [request("one two three four"), request("five six seven eight")]
    stated = sum(map(estimate.needed_bytes, batch))
    estimate.learn(batch, 2 * stated)
    assert estimate.ratio == pytest.approx(1.2)
    for _ in range(50):
        estimate.learn(batch, 2 * stated)
    assert estimate.ratio == pytest.approx(2.0, rel=0.01)
    assert sum(map(estimate.needed_bytes, batch)) == pytest.approx(2 * stated, rel=0.01)
    for _ in range(100):
        estimate.learn(batch, 10**15)
    assert estimate.ratio == pytest.approx(4.0, rel=0.01)
    for _ in range(100):
        estimate.learn(batch, 0)
    assert estimate.ratio == pytest.approx(0.25, rel=0.01)
