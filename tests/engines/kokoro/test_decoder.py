"""The reworked decoder against the plain one, with random weights of a small model."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.engines.kokoro import reference
from voice_sculptor.engines.kokoro import blocks
from voice_sculptor.engines.kokoro.decoder import Decoder
from voice_sculptor.engines.kokoro.layout import KokoroConfig
from voice_sculptor.engines.kokoro.norms import Moments, StyleProjections

CONFIG = KokoroConfig.tiny()
WEIGHTS = reference.random_weights(CONFIG)


def _inputs(num_frames: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(num_frames)

    def noise(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    return [
        noise(num_frames, CONFIG.hidden_size),
        100 + 20 * noise(2 * num_frames),
        noise(2 * num_frames),
        noise(CONFIG.style_size),
        0.1 * noise(2 * num_frames * CONFIG.samples_per_f0),
    ]


def _error(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


@pytest.mark.parametrize("num_frames", [2, 7, 60])
def test_it_equals_the_plain_decoder(num_frames: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Small tiles, so that there are several even here.
    monkeypatch.setattr(blocks, "_CACHED_VALUES", 200 * CONFIG.stage_sizes[1] / torch.get_num_threads())
    inputs = _inputs(num_frames)
    decoder = Decoder(WEIGHTS, CONFIG, torch.float32)
    # One spectrum for both: where a phase is near pi, rounding decides its sign, and that is heard.
    spectrum = decoder.spectrum.analyse(inputs[-1])
    plain = reference.decode(
        {name: weight.double() for name, weight in WEIGHTS.items()},
        CONFIG,
        *(x.double() for x in [*inputs[:-1], spectrum]),
    )
    ours = decoder(*inputs, check=lambda: None)
    assert ours.shape == plain.shape == (2 * num_frames * CONFIG.samples_per_f0,)
    assert _error(ours, plain) < 1e-5
    assert torch.equal(decoder(*inputs, check=lambda: None), ours)


def test_half_precision_factors_stay_close() -> None:
    inputs = _inputs(20)
    exact = Decoder(WEIGHTS, CONFIG, torch.float32)(*inputs, check=lambda: None)
    rounded = Decoder(WEIGHTS, CONFIG, torch.bfloat16)(*inputs, check=lambda: None)
    assert rounded.dtype == torch.float32
    assert 0 < _error(rounded, exact) < 0.1


def test_it_is_checked_between_blocks() -> None:
    class Stop(Exception):
        pass

    def stop_after(num_calls: int) -> int:
        count = 0

        def check() -> None:
            nonlocal count
            count += 1
            if count > num_calls:
                raise Stop

        with pytest.raises(Stop):
            Decoder(WEIGHTS, CONFIG, torch.float32)(*_inputs(2), check=check)
        return count

    assert [stop_after(n) for n in (0, 5, 20)] == [1, 6, 21]


@pytest.mark.parametrize("name", ["decoder.encode", "decoder.decode.3", "predictor.F0.0", "predictor.N.1"])
def test_style_block(name: str) -> None:
    inputs = WEIGHTS[f"{name}.conv1.weight"].shape[1]
    x, style = torch.randn(9, inputs), torch.randn(CONFIG.style_size)
    styles = StyleProjections(WEIGHTS, [f"{name}.norm1", f"{name}.norm2"])(style)
    ours = blocks.StyleBlock(WEIGHTS, name)(x, styles)
    plain = reference.style_block(WEIGHTS, name, x.t()[None], style)[0].t()
    torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_snake_block(dtype: torch.dtype) -> None:
    name = "decoder.generator.resblocks.5"
    x, style = torch.randn(250, CONFIG.stage_sizes[1]), torch.randn(CONFIG.style_size)
    block = blocks.SnakeBlock(WEIGHTS, name, CONFIG, dtype)
    moments = Moments()
    moments.add(x)
    styles = StyleProjections(WEIGHTS, block.norms)(style)
    ours = block(x, moments, styles, lambda: None) + block.bias
    plain = reference.snake_block(WEIGHTS, name, x.t()[None], style, CONFIG.dilations)[0].t()
    assert _error(ours, plain) < (1e-5 if dtype == torch.float32 else 2e-2)


def test_moments_of_parts_equal_those_of_the_whole() -> None:
    x = 0.01 * torch.randn(1000, 8) + torch.linspace(-100, 100, 8)
    moments = Moments()
    for part in x.split([1, 400, 599]):
        moments.add(part)
    gain, offset = moments.normalising((torch.full((8,), 2.0), torch.full((8,), 3.0)))
    variance, mean = torch.var_mean(x.double(), dim=0, correction=0)
    # At a mean of 100 float32 resolves a deviation of 0.01 to 8e-4; squares less the mean squared leave nothing of it.
    torch.testing.assert_close(gain.double(), 2 / (variance + 1e-5).sqrt(), rtol=1e-3, atol=0)
    torch.testing.assert_close(offset.double(), 3 - mean * gain.double(), rtol=1e-4, atol=1e-2)
