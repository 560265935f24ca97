"""The model against onnxruntime on the published graph in float32, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from tests.engines.kokoro import float_graph
from voice_sculptor.engines.kokoro import weights
from voice_sculptor.engines.kokoro.atlas import Atlas
from voice_sculptor.engines.kokoro.model import KokoroModel
from voice_sculptor.engines.kokoro.text import Encoded
from voice_sculptor.engines.kokoro.vocabulary import to_ids

SENTENCES = {
    "short": "həlˈO wˈɜɹld.",
    "english": "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ, ænd ðˈɛn ɪt ɹˈʌnz əwˈA.",
    "question": "kˈæn ju tˈɛl mˌi wˌʌt tˈIm ɪt ˈɪz?",
    "mandarin": "ni↓xau↓, tɕin→tʰjɛn→ tʰjɛn→tɕʰi↘ xən↓ xau↓.",
}
CASES = [
    ("short", "af_heart"),
    ("short", "am_onyx"),
    ("english", "bf_emma"),
    ("english", "af_nicole"),
    ("question", "am_michael"),
    ("mandarin", "zf_xiaobei"),
]
AUDIO_CASES = [CASES[0], CASES[4], CASES[5]]


@dataclass(frozen=True)
class Run:
    """One sentence in one voice, by the model."""

    feed: dict[str, NDArray[np.generic]]
    style: Tensor
    encoded: Encoded
    durations: Tensor
    f0_hz: Tensor
    energy: Tensor


@pytest.fixture(scope="module")
def model(checkpoints_dir: Path) -> KokoroModel:
    # Always the converted export: onnxruntime runs the same weights.
    path = checkpoints_dir / weights.FOLDER / weights.CONVERTED
    return KokoroModel.load(path, torch.device("cpu"), torch.float32)


def _session(inputs: list[str], outputs: list[str]) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    content = float_graph.float_model(weights.read_export(), inputs, outputs)
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def prosody_graph() -> onnxruntime.InferenceSession:
    return _session([], [float_graph.DURATIONS, float_graph.F0, float_graph.ENERGY, float_graph.SOURCE])


@pytest.fixture(scope="module")
def decoder_graph() -> onnxruntime.InferenceSession:
    return _session([float_graph.F0, float_graph.ENERGY, float_graph.EXCITATION], [float_graph.AUDIO])


def _run(model: KokoroModel, sentence: str, voice: str) -> Run:
    ids = to_ids(SENTENCES[sentence])
    style = Atlas.load().style(voice, len(ids) - 2)
    feed: dict[str, NDArray[np.generic]] = {
        "tokens": np.array([ids]),
        "style": style[None],
        "speed": np.ones(1, dtype=np.float32),
    }
    encoded = model.encode(torch.tensor(ids), torch.from_numpy(style))
    durations = encoded.durations.round().clamp(min=1).long()
    f0_hz, energy = model.contours(encoded, durations, torch.from_numpy(style))
    return Run(feed, torch.from_numpy(style), encoded, durations, f0_hz, energy)


@pytest.mark.parametrize(("sentence", "voice"), CASES)
def test_prosody(
    model: KokoroModel, prosody_graph: onnxruntime.InferenceSession, sentence: str, voice: str
) -> None:
    run = _run(model, sentence, voice)
    durations, f0_hz, energy, source = (
        torch.from_numpy(a).flatten() for a in prosody_graph.run(None, run.feed)
    )
    torch.testing.assert_close(run.encoded.durations, durations, rtol=0, atol=1e-4)
    assert torch.equal(run.durations, durations.round().clamp(min=1).long())
    torch.testing.assert_close(run.f0_hz, f0_hz, rtol=0, atol=1e-2)
    torch.testing.assert_close(run.energy, energy, rtol=0, atol=1e-2)
    # The graph sums phases in float32, and over seconds loses a little of them.
    torch.testing.assert_close(model.source(f0_hz, noise=False), source, rtol=0, atol=2e-2)


@pytest.mark.parametrize(("sentence", "voice"), AUDIO_CASES)
def test_audio_with_the_same_source(
    model: KokoroModel, decoder_graph: onnxruntime.InferenceSession, sentence: str, voice: str
) -> None:
    run = _run(model, sentence, voice)
    source = model.source(run.f0_hz, generator=torch.Generator().manual_seed(7))
    audio = model.decode(run.encoded, run.durations, run.f0_hz, run.energy, run.style, source)
    # The graph's own STFT is not exact: it gives a negative DC or Nyquist the phase -pi as often as +pi.
    # Ours is compared with torch's in `test_spectrum.py`, and here feeds both.
    excitation = model.excitation(source)
    feed = {
        **run.feed,
        float_graph.F0: run.f0_hz[None].numpy(),
        float_graph.ENERGY: run.energy[None].numpy(),
        float_graph.EXCITATION: excitation.t()[None].numpy(),
    }
    (expected,) = decoder_graph.run(None, feed)
    # Nor does it divide by the sum of the squared windows (3/2), but for the first frame's 20 samples.
    ours, theirs = audio.numpy()[20:], expected.flatten()[20:] / 1.5
    assert audio.shape == expected.flatten().shape
    assert np.linalg.norm(ours - theirs) <= 1e-4 * np.linalg.norm(theirs)
