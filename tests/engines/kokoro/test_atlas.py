"""The atlas: the stock voices to five digits, checked against published files; blends; what is known of them."""

from __future__ import annotations

import hashlib
import io
import json
import math
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from voice_sculptor.engines.kokoro import atlas as atlas_module
from voice_sculptor.engines.kokoro import build_atlas
from voice_sculptor.engines.kokoro.atlas import DEFAULT_PATH, Atlas
from voice_sculptor.errors import CheckpointMismatch, InvalidVoiceFile, MissingDependency, UnknownVoice

AF_HEART = Path(__file__).with_name("data") / "af_heart.bin"
PUBLISHED = build_atlas.read_voice(AF_HEART.read_bytes())


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return Atlas.load()


def test_holds_54_voices_in_a_small_file(atlas: Atlas) -> None:
    assert len(atlas.names) == len(set(atlas.names)) == 54
    assert list(atlas.names) == sorted(atlas.names)
    assert DEFAULT_PATH.stat().st_size < 1_000_000
    assert Atlas.load() is atlas


def test_a_published_voice_is_reproduced(atlas: Atlas) -> None:
    table = atlas.table("af_heart")
    assert table.dtype == np.float32
    assert build_atlas.relative_error(PUBLISHED, table) < 2e-5
    rows = np.linalg.norm(table - PUBLISHED, axis=1) / np.linalg.norm(PUBLISHED, axis=1)
    assert rows.max() < 1e-4
    np.testing.assert_allclose(atlas.mean("af_heart"), PUBLISHED.mean(axis=0), atol=1e-5)


def test_the_script_rebuilds_the_committed_coefficients() -> None:
    committed = load(DEFAULT_PATH.read_bytes())
    index = Atlas.load().names.index("af_heart")
    rebuilt = build_atlas.coefficients(PUBLISHED, committed["basis"])
    np.testing.assert_allclose(rebuilt, committed["coefficients"][index], atol=1e-5)


def test_the_basis_finds_the_curves_that_voices_share() -> None:
    rng = np.random.default_rng(0)
    curves = np.linalg.qr(rng.standard_normal((510, 3)))[0]
    scales = np.array([[9.0], [3.0], [1.0]])
    tables = [(curves @ (scales * rng.standard_normal((3, 256)))).astype(np.float32) for _ in range(4)]
    basis = build_atlas.shared_basis(tables, rank=3)
    assert basis.dtype == np.float32
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-6)
    for table in tables:
        assert build_atlas.relative_error(table, basis @ build_atlas.coefficients(table, basis)) < 1e-6


def test_row_of_a_style_is_the_number_of_phonemes_minus_one(atlas: Atlas) -> None:
    for num_phonemes in (1, 2, 17, 509, 510):
        np.testing.assert_allclose(
            atlas.style("af_heart", num_phonemes), PUBLISHED[num_phonemes - 1], atol=1e-4
        )
    np.testing.assert_array_equal(atlas.style("af_heart", 0), atlas.style("af_heart", 1))
    np.testing.assert_array_equal(atlas.style("af_heart", 9999), atlas.style("af_heart", 510))


def test_styles_and_tables_agree_for_every_voice(atlas: Atlas) -> None:
    for name in atlas.names:
        table = atlas.table(name)
        np.testing.assert_allclose(atlas.style(name, 60), table[59], atol=1e-5)
        assert np.isfinite(table).all()


@given(
    st.dictionaries(st.sampled_from(Atlas.load().names), st.floats(0, 1e30), min_size=1), st.integers(1, 510)
)
@settings(max_examples=50, deadline=None)
def test_a_blend_is_the_weighted_mean_whatever_the_scale(
    weights: dict[str, float], num_phonemes: int
) -> None:
    atlas = Atlas.load()
    if max(weights.values()) == 0:
        with pytest.raises(InvalidVoiceFile, match="above 0"):
            atlas.blend(weights, num_phonemes)
        return
    shares = atlas.shares(weights)
    assert math.isclose(sum(shares.values()), 1.0)
    expected = sum(
        share * atlas.style(name, num_phonemes).astype(np.float64) for name, share in shares.items()
    )
    np.testing.assert_allclose(atlas.blend(weights, num_phonemes), expected, atol=1e-5)
    reordered = dict(reversed(list(weights.items())))
    np.testing.assert_array_equal(atlas.blend(weights, num_phonemes), atlas.blend(reordered, num_phonemes))


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf, "0.5", None, True])
def test_bad_weights_are_refused_in_words(atlas: Atlas, bad: object) -> None:
    with pytest.raises(InvalidVoiceFile, match="af_heart") as caught:
        atlas.blend({"af_bella": 1.0, "af_heart": bad}, 40)  # type: ignore[dict-item]
    assert caught.value.fix_zh
    with pytest.raises(InvalidVoiceFile):
        atlas.blend({}, 40)


@pytest.mark.parametrize(
    ("typed", "near"), [("af_hart", "af_heart"), ("AF_BELLA", "af_bella"), ("zf_xiaobe", "zf_xiaobei")]
)
def test_an_unknown_voice_suggests_near_names(atlas: Atlas, typed: str, near: str) -> None:
    for ask in (atlas.info, atlas.table, atlas.mean, lambda name: atlas.blend({name: 1.0}, 10)):
        with pytest.raises(UnknownVoice, match=typed) as caught:
            ask(typed)
        assert near in caught.value.message()
        assert near in caught.value.message("zh")
    with pytest.raises(UnknownVoice):
        atlas.info("../../etc/passwd")


def test_language_and_gender_come_from_the_name(atlas: Atlas) -> None:
    known = {
        "af_heart": ("en", "female"), "bm_lewis": ("en", "male"), "ef_dora": ("es", "female"),
        "ff_siwis": ("fr", "female"), "hm_psi": ("hi", "male"), "im_nicola": ("it", "male"),
        "jf_alpha": ("ja", "female"), "pm_alex": ("pt", "male"), "zm_yunxi": ("zh", "male"),
    }  # fmt: skip
    assert {name: (atlas.info(name).language, atlas.info(name).gender) for name in known} == known


def test_measurements_are_whole_and_possible(atlas: Atlas) -> None:
    ranges = {
        "f0_hz": (60, 400), "f0_sd_st": (0.5, 10), "hnr_db": (0, 25), "tract_cm": (11, 20), "tilt_db": (-30, 5),
        "jitter": (0.3, 4), "syllables_per_s": (2, 9), "loudness_lufs": (-40, -8),
    }  # fmt: skip
    for name in atlas.names:
        info = atlas.info(name)
        assert set(info.measurements) == {"en", "zh"}
        for measured in info.measurements.values():
            assert set(measured) == set(ranges)
            for attribute, (low, high) in ranges.items():
                assert low < measured[attribute] < high, (name, attribute)
        assert min(each["f0_hz"] for each in info.measurements.values()) <= info.f0_hz
        assert info.f0_hz <= max(each["f0_hz"] for each in info.measurements.values())
    mean_hz = {
        gender: np.mean([atlas.info(n).f0_hz for n in atlas.names if atlas.info(n).gender == gender])
        for gender in ("male", "female")
    }
    assert mean_hz["female"] > 1.4 * mean_hz["male"]


@pytest.mark.parametrize("damage", ["missing", "cut", "text", "format", "shape", "names", "no-metadata"])
def test_a_damaged_atlas_is_refused_with_the_remedy(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "atlas.safetensors"
    data = DEFAULT_PATH.read_bytes()
    header_size = int.from_bytes(data[:8], "little")
    about = json.loads(json.loads(data[8 : 8 + header_size])["__metadata__"]["atlas"])
    tensors = load(data)
    if damage == "format":
        about["format"] = "other@1"
    elif damage == "shape":
        tensors["basis"] = tensors["basis"][:100].copy()
    elif damage == "names":
        about["names"] = about["names"][1:]
    if damage == "cut":
        path.write_bytes(data[:-1000])
    elif damage == "text":
        path.write_text("not an atlas")
    elif damage != "missing":
        path.write_bytes(save(tensors, None if damage == "no-metadata" else {"atlas": json.dumps(about)}))
    with pytest.raises(CheckpointMismatch, match="atlas") as caught:
        Atlas.load(path)
    assert "build_atlas" in caught.value.fix_en


def test_the_shared_tensors_cannot_be_written(atlas: Atlas) -> None:
    with pytest.raises(ValueError, match="read-only"):
        atlas._basis[0] = 0


def archive(path: Path, members: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> Path:
    with tarfile.open(path, "w:gz") as file:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.type, entry.linkname = len(content), kind, "/etc/passwd"
            file.addfile(entry, io.BytesIO(content))
    return path


def test_reads_only_plain_voice_files_of_the_known_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    voice = AF_HEART.read_bytes()
    members = {
        "package/voices/af_heart.bin": voice,
        "package/voices/../../../etc/evil.bin": voice,
        "/package/voices/af_root.bin": voice,
        "package/voices/af_short.bin": voice[:-4],
        "package/dist/kokoro.js": b"throw 1",
    }
    package = archive(tmp_path / "p.tgz", members)
    with pytest.raises(CheckpointMismatch, match="1 voices"):
        build_atlas.read_package(package)
    monkeypatch.setattr(build_atlas, "VOICES_SHA256", hashlib.sha256(voice).hexdigest())
    voices = build_atlas.read_package(package)
    assert list(voices) == ["af_heart"]
    np.testing.assert_array_equal(voices["af_heart"], PUBLISHED)
    with pytest.raises(CheckpointMismatch, match="0 voices"):
        build_atlas.read_package(
            archive(tmp_path / "l.tgz", {"package/voices/af_heart.bin": b""}, tarfile.SYMTYPE)
        )


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00 cut"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.tgz").write_bytes(content)
    with pytest.raises(CheckpointMismatch):
        build_atlas.read_package(tmp_path / "p.tgz")
    with pytest.raises(CheckpointMismatch):
        build_atlas.read_package(tmp_path / "none.tgz")
    with pytest.raises(CheckpointMismatch):
        build_atlas.read_voice(content)


def test_command_line_builds_the_same_file_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    voice = AF_HEART.read_bytes()
    package = archive(tmp_path / "p.tgz", {"package/voices/af_heart.bin": voice})
    assert build_atlas.main(["--package", str(package), "--out", str(tmp_path / "a")]) == 5
    assert "npm pack" in capsys.readouterr().err
    monkeypatch.setattr(build_atlas, "VOICES_SHA256", hashlib.sha256(voice).hexdigest())
    for name in ("a", "b"):
        assert build_atlas.main(["--package", str(package), "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert "1 voices" in capsys.readouterr().out
    assert build_atlas.relative_error(PUBLISHED, Atlas.read(tmp_path / "a").table("af_heart")) < 2e-5


def test_without_npm_the_remedy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency, match="kokoro-js") as caught:
        build_atlas._fetch(tmp_path)
    assert "--package" in caught.value.fix_en


def test_loading_needs_no_torch() -> None:
    code = (
        "import sys; from voice_sculptor.engines.kokoro.atlas import Atlas; Atlas.load(); "
        "sys.exit('torch' in sys.modules or 'scipy' in sys.modules)"
    )
    root = Path(atlas_module.__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=root).returncode == 0
