"""Codes to sound: against the whole model of transformers, and against the original's arithmetic written out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from tests.engines.voicesculptor import codec_reference
from voice_sculptor.engines.voicesculptor.codec import Codec
from voice_sculptor.engines.voicesculptor.tiny_codec import write_tiny_codec
from voice_sculptor.errors import SynthesisFailed


def load(folder: Path, dtype: torch.dtype = torch.float32) -> Codec:
    return Codec.load(folder, "cpu", dtype, lambda _fraction: None)


def random_codes(num_frames: int, seed: int = 0) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, 65_536, num_frames)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("native")
    write_tiny_codec(folder, hidden_size=128)
    return folder


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    write_tiny_codec(folder, original=True, hidden_size=128)
    return folder


@pytest.fixture(scope="module")
def codec(native: Path) -> Codec:
    return load(native)


def test_it_sounds_as_the_whole_model(native: Path, codec: Codec) -> None:
    from transformers.models.xcodec2 import Xcodec2Config, Xcodec2Model

    whole = Xcodec2Model(Xcodec2Config.from_pretrained(native)).eval()
    state = load_file(native / "model.safetensors")
    own = {
        name: value for name, value in state.items() if name.startswith(("quantizer.", "acoustic_decoder."))
    }
    missing, unexpected = whole.load_state_dict(own, strict=False)
    assert unexpected == []
    assert not [name for name in missing if name.startswith(("quantizer.", "acoustic_decoder."))]
    codes = random_codes(40)
    with torch.inference_mode():
        wanted = whole.decode(torch.from_numpy(codes)[None, None]).audio_values[0, 0].numpy()
    np.testing.assert_allclose(codec.decode([codes])[0], wanted, rtol=0, atol=1e-6)
    assert codec.num_bytes == sum(value.nbytes for value in own.values())


def test_of_the_published_sizes_the_decoder_is_under_a_third() -> None:
    from transformers.models.xcodec2 import Xcodec2Config, Xcodec2Model

    from voice_sculptor.engines.voicesculptor.codec_layout import Decoder

    with torch.device("meta"):
        whole = sum(p.numel() for p in Xcodec2Model(Xcodec2Config()).parameters())
    part = sum(p.numel() for p in Decoder(Xcodec2Config()).parameters())
    assert part == 187_000_074
    assert part < whole / 3


def test_the_original_layout_holds_the_same_codec(original: Path, codec: Codec) -> None:
    other = load(original)
    mine, theirs = (it._decoder.state_dict() for it in (codec, other))
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        assert torch.equal(value, theirs[name]), name
    np.testing.assert_array_equal(codec.decode([random_codes(30)])[0], other.decode([random_codes(30)])[0])


def test_the_original_layout_sounds_as_its_own_arithmetic(original: Path) -> None:
    codes = random_codes(40, seed=1)
    wanted = codec_reference.decode(load_file(original / "model.safetensors"), torch.from_numpy(codes))
    np.testing.assert_allclose(load(original).decode([codes])[0], wanted.numpy(), rtol=0, atol=5e-6)


def test_neighbours_change_not_a_byte(codec: Codec) -> None:
    clips = [random_codes(num_frames, seed) for seed, num_frames in enumerate((50, 20, 50, 1, 7))]
    together = codec.decode(clips)
    for clip, sound in zip(clips, together, strict=True):
        assert sound.tobytes() == codec.decode([clip])[0].tobytes()
        assert sound.shape == (codec.hop * len(clip),)
        assert sound.dtype == np.float32
    assert codec.decode([]) == []


def test_codes_come_as_lists_arrays_and_tensors(codec: Codec) -> None:
    codes = random_codes(10)
    kinds = [codes.tolist(), codes.astype(np.uint16), torch.from_numpy(codes), torch.from_numpy(codes).int()]
    first, *others = codec.decode([codes, *kinds])
    for sound in others:
        np.testing.assert_array_equal(sound, first)


@pytest.mark.parametrize(
    ("clip", "said"),
    [
        ([1, 2, -1, 3], "code -1 at index 2"),
        ([65_536], "code 65536 at index 0"),
        (np.array([0, 70_000, -5]), "code 70000 at index 1"),
        (torch.tensor([5, -1]), "code -1 at index 1"),
        ([], "at least one"),
        (np.array([], np.int64), "at least one"),
        ([[1, 2]], "one row"),
        ([1.0, 2.0], "integer"),
    ],
)
def test_what_are_no_codes_is_refused_with_its_place(codec: Codec, clip: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        codec.decode([[1, 2, 3], clip])  # type: ignore[list-item]


def test_its_facts_are_the_published_ones(codec: Codec) -> None:
    assert (codec.sample_rate, codec.frame_rate, codec.hop, codec.num_codes) == (16_000, 50.0, 320, 65_536)


@pytest.mark.parametrize("hidden_size", [64, 128])
@pytest.mark.parametrize("seed", range(3))
def test_the_tiny_codec_can_be_heard(tmp_path: Path, hidden_size: int, seed: int) -> None:
    write_tiny_codec(tmp_path, seed=seed, hidden_size=hidden_size)
    one, other = load(tmp_path).decode([random_codes(50), random_codes(50, 1)])
    for sound in (one, other):
        assert 0.02 < np.sqrt(np.mean(sound**2)) < 0.5
        assert np.abs(sound).max() < 1
    assert np.abs(one - other).mean() > 0.01


@pytest.mark.parametrize(("dtype", "snr_db"), [(torch.float16, 35), (torch.bfloat16, 20)])
def test_half_precision_sounds_nearly_the_same_and_is_half_as_large(
    native: Path, codec: Codec, dtype: torch.dtype, snr_db: float
) -> None:
    half = load(native, dtype)
    wanted, got = codec.decode([random_codes(50)])[0], half.decode([random_codes(50)])[0]
    assert 10 * np.log10(np.mean(wanted**2) / np.mean((wanted - got) ** 2)) > snr_db
    kinds = {name: value.dtype for name, value in half._decoder.named_parameters()}
    assert {
        kind for name, kind in kinds.items() if ".head." in name or name.endswith("decoder.norm.weight")
    } == {torch.float32}
    assert kinds["acoustic_decoder.layers.0.mlp.fc1.weight"] == dtype
    assert half.num_bytes < 0.65 * codec.num_bytes


def test_sound_beyond_full_scale_is_clipped_and_numbers_that_are_none_are_an_error(native: Path) -> None:
    codec = load(native)
    bias = codec._decoder.acoustic_decoder.head.linear.bias
    bias += 4
    assert np.abs(codec.decode([random_codes(10)])[0]).max() == 1
    bias[-1] = float("nan")
    with pytest.raises(SynthesisFailed):
        codec.decode([random_codes(10)])


@pytest.mark.slow
def test_the_full_size_in_both_layouts(tmp_path: Path) -> None:
    for folder, original in (("native", False), ("original", True)):
        write_tiny_codec(tmp_path / folder, original=original, hidden_size=1024, num_layers=12)
    codec = load(tmp_path / "native")
    assert codec.num_bytes == 4 * 187_000_074
    sound = codec.decode([random_codes(100)])[0]
    del codec
    np.testing.assert_array_equal(load(tmp_path / "original").decode([random_codes(100)])[0], sound)
    wanted = codec_reference.decode(
        load_file(tmp_path / "original" / "model.safetensors"), torch.from_numpy(random_codes(100))
    )
    np.testing.assert_allclose(sound, wanted.numpy(), rtol=0, atol=1e-5)
