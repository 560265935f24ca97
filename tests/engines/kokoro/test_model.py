"""The model's stages, with random weights of a small model."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.engines.kokoro.reference import random_weights
from voice_sculptor.engines.kokoro.layout import KokoroConfig
from voice_sculptor.engines.kokoro.model import KokoroModel, native_dtype

CONFIG = KokoroConfig.tiny()
IDS = torch.tensor([0, 50, 83, 16, 47, 0])
STYLE = torch.linspace(-0.3, 0.3, 2 * CONFIG.style_size)
DURATIONS = torch.tensor([1, 2, 1, 3, 2, 1])


@pytest.fixture(scope="module")
def model() -> KokoroModel:
    return KokoroModel(random_weights(CONFIG), torch.device("cpu"), torch.float32, CONFIG)


def _speak(model: KokoroModel, seed: int = 1, style: Tensor = STYLE) -> Tensor:
    encoded = model.encode(IDS, style)
    f0_hz, energy = model.contours(encoded, DURATIONS, style)
    return model.decode(encoded, DURATIONS, f0_hz + 100, energy, style, torch.Generator().manual_seed(seed))


def test_stages_have_the_promised_shapes(model: KokoroModel) -> None:
    encoded = model.encode(IDS, STYLE)
    assert encoded.text.shape == (6, CONFIG.hidden_size)
    assert encoded.prosody.shape == (6, CONFIG.hidden_size + CONFIG.style_size)
    assert encoded.durations.shape == (6,)
    assert ((encoded.durations > 0) & (encoded.durations < CONFIG.num_duration_bins)).all()
    f0_hz, energy = model.contours(encoded, DURATIONS, STYLE)
    assert f0_hz.shape == energy.shape == (20,)
    assert model.source(f0_hz).shape == (6000,)
    audio = _speak(model)
    assert (audio.shape, audio.dtype) == ((6000,), torch.float32)
    assert audio.isfinite().all()


def test_the_same_seed_gives_the_same_samples(model: KokoroModel) -> None:
    assert torch.equal(_speak(model), _speak(model))
    assert not torch.equal(_speak(model), _speak(model, seed=2))


def test_a_given_source_equals_one_made_from_the_generator(model: KokoroModel) -> None:
    encoded = model.encode(IDS, STYLE)
    f0_hz, energy = model.contours(encoded, DURATIONS, STYLE)
    source = model.source(f0_hz + 100, generator=torch.Generator().manual_seed(1))
    audio = model.decode(encoded, DURATIONS, f0_hz + 100, energy, STYLE, source)
    assert torch.equal(audio, _speak(model))


def test_each_half_of_a_style_does_its_part(model: KokoroModel) -> None:
    timbre, prosody = STYLE.clone(), STYLE.clone()
    timbre[: CONFIG.style_size] += 1
    prosody[CONFIG.style_size :] += 1
    plain = model.encode(IDS, STYLE).durations
    assert torch.equal(model.encode(IDS, timbre).durations, plain)
    assert not torch.equal(model.encode(IDS, prosody).durations, plain)
    assert not torch.equal(_speak(model, style=timbre), _speak(model))


def test_source_follows_f0(model: KokoroModel) -> None:
    num = 160
    source = model.source(torch.full((num,), 150.0), noise=False)
    spectrum = torch.fft.rfft(source - source.mean()).abs()
    hz_per_bin = model.sample_rate / len(source)
    strong = spectrum > 0.05 * spectrum.max()
    remainder = (torch.arange(len(spectrum))[strong] * hz_per_bin / 150).frac()
    assert strong.any()
    assert torch.minimum(remainder, 1 - remainder).max() < 0.02


def test_unvoiced_source_is_noise_or_silence(model: KokoroModel) -> None:
    f0_hz = torch.zeros(80)
    still = model.source(f0_hz, noise=False)
    assert torch.equal(still, still[:1].expand(len(still)))
    loud = model.source(f0_hz, generator=torch.Generator().manual_seed(0)) - still[0]
    voiced = model.source(f0_hz + 100, generator=torch.Generator().manual_seed(0))
    voiced = voiced - model.source(f0_hz + 100, noise=False)
    # Unvoiced noise is a third of the harmonics' level, 0.1; under voice it is 0.003.
    assert float(loud.std() / voiced.std()) == pytest.approx(0.1 / 3 / 0.003, rel=0.1)


def test_weights_are_taken_over() -> None:
    weights = random_weights(CONFIG)
    KokoroModel(weights, torch.device("cpu"), torch.float32, CONFIG)
    assert not weights


def test_type_of_the_decoder_follows_the_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    assert native_dtype(torch.device("cpu")) == torch.float32
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)
    assert native_dtype(torch.device("cpu")) == torch.bfloat16
    assert native_dtype(torch.device("cuda")) == torch.float16
