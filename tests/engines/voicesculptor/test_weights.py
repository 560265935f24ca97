"""Finding checkpoints, and downloading them from a hub on this machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines.voicesculptor.local_hub import CODEC_FILES, MODEL_FILES, MODEL_WANTED, LocalHub, serving
from voice_sculptor.config import Settings, load_settings
from voice_sculptor.engines.voicesculptor import hub as hub_module
from voice_sculptor.engines.voicesculptor import weights
from voice_sculptor.errors import ConfigError, OutputError, WeightsNotFound

MODEL_FOLDER, CODEC_FOLDER = "VoiceSculptor-VD", "xcodec2-hf"


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def at(folder: Path, **given: object) -> Settings:
    return load_settings(checkpoints_dir=folder, **given)


# Locating


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    found = weights.locate(at(tmp_path / "nowhere"))
    assert found == weights.Found(None, None)
    assert not found.is_complete
    assert not weights.is_ready(at(tmp_path))


def test_the_checkpoints_folder_is_searched(tmp_path: Path) -> None:
    model = put(tmp_path / MODEL_FOLDER, MODEL_FILES)
    original = put(tmp_path / "xcodec2", {"config.json": b"{}", "ckpt/epoch=4-step=1.ckpt": b"x"})
    assert weights.locate(at(tmp_path)) == weights.Found(model, original)
    native = put(tmp_path / CODEC_FOLDER, CODEC_FILES)
    assert weights.locate(at(tmp_path)) == weights.Found(model, native), "the native format first"
    assert weights.is_ready(at(tmp_path))


def test_what_is_given_wins(tmp_path: Path) -> None:
    put(tmp_path / MODEL_FOLDER, MODEL_FILES)
    put(tmp_path / CODEC_FOLDER, CODEC_FILES)
    model, codec = put(tmp_path / "m", MODEL_FILES), put(tmp_path / "c", CODEC_FILES)
    assert weights.locate(at(tmp_path, model_dir=model)).model_dir == model
    assert weights.locate(at(tmp_path, codec_dir=codec)).codec_dir == codec
    assert weights.locate(at(tmp_path, codec_dir=codec)).model_dir == tmp_path / MODEL_FOLDER


def without(name: str) -> dict[str, bytes]:
    return {key: data for key, data in MODEL_FILES.items() if key != name}


@pytest.mark.parametrize(
    ("files", "part"),
    [
        ({}, "no such folder"),
        (without("config.json"), "config.json"),
        ({**MODEL_FILES, "config.json": b"{"}, "config.json"),
        ({**MODEL_FILES, "config.json": b"[1]"}, "config.json"),
        ({**MODEL_FILES, "config.json": b'{"model_type": "qwen3"}'}, "'qwen3'"),
        (without("tokenizer.json"), "tokenizer.json"),
        (without("model-00002-of-00002.safetensors"), "model-00002-of-00002.safetensors"),
        ({**MODEL_FILES, "model-00001-of-00002.safetensors": b""}, "model-00001-of-00002.safetensors"),
        ({"config.json": b'{"model_type": "llama"}', "tokenizer.json": b"{}"}, "*.safetensors"),
        (
            {"config.json": b'{"model_type": "llama"}', "tokenizer.json": b"{}", "model.safetensors": b""},
            "model.safetensors",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_given_folder_without_a_model_is_said_with_what_it_lacks(
    tmp_path: Path, files: dict[str, bytes], part: str
) -> None:
    folder = put(tmp_path / "given", files)
    with pytest.raises(WeightsNotFound) as refused:
        weights.locate(at(tmp_path, model_dir=folder))
    assert part in refused.value.en
    for language in ("en", "zh"):
        assert str(folder) in refused.value.message(language)
        assert "--model-dir" in refused.value.message(language)
    assert not weights.is_ready(at(tmp_path, model_dir=folder))
    shutil.rmtree(tmp_path / MODEL_FOLDER, ignore_errors=True)
    if files:
        folder.rename(tmp_path / MODEL_FOLDER)
    assert weights.locate(at(tmp_path)).model_dir is None, "one that was not given is passed over"


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_a_model_in_one_file(tmp_path: Path, name: str) -> None:
    files = {"config.json": b'{"model_type": "llama"}', "tokenizer.json": b"{}", name: b"12345"}
    folder = put(tmp_path / MODEL_FOLDER, files)
    assert weights.locate(at(tmp_path)).model_dir == folder
    assert weights.memory_bytes(folder) == 3_000_000_005


def test_an_index_decides_what_is_loaded(tmp_path: Path) -> None:
    folder = put(tmp_path, {**MODEL_FILES, "consolidated.safetensors": b"x" * 1000})
    assert weights.memory_bytes(folder) == 3_000_300_000
    outside = json.dumps({"weight_map": {"a": "../../secret.safetensors"}}).encode()
    put(tmp_path, {"model.safetensors.index.json": outside})
    with pytest.raises(WeightsNotFound, match=r"secret\.safetensors is missing"):
        weights.locate(at(tmp_path, model_dir=folder))


@pytest.mark.parametrize(
    ("files", "is_codec"),
    [
        (CODEC_FILES, True),
        (
            {**CODEC_FILES, "config.json": b'{"model_type": "xcodec", "architectures": ["XCodec2Model"]}'},
            True,
        ),
        ({"ckpt/epoch=4.ckpt": b"x"}, True),
        ({"ckpt/epoch=4.ckpt": b""}, False),
        ({"config.json": CODEC_FILES["config.json"]}, False),
        ({**CODEC_FILES, "model.safetensors": b""}, False),
        ({**CODEC_FILES, "config.json": b'{"model_type": "encodec"}'}, False),
        ({}, False),
    ],
)
def test_what_a_codec_is(tmp_path: Path, files: dict[str, bytes], is_codec: bool) -> None:
    folder = put(tmp_path / "codec", files)
    if is_codec:
        assert weights.locate(at(tmp_path, codec_dir=folder)).codec_dir == folder
        return
    with pytest.raises(WeightsNotFound, match="--codec-dir"):
        weights.locate(at(tmp_path, codec_dir=folder))


# Downloading


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """The hub that the library finds in place of the real one."""
    from huggingface_hub import constants

    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with serving() as served:
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", served.url)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", served.url + "/{repo_id}/resolve/{revision}/{filename}"
        )
        yield served


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def fetched(hub: LocalHub) -> list[str]:
    return [path.rpartition("/")[2] for path in hub.asked if path.startswith("GET") and "/resolve/" in path]


def test_a_download_brings_what_is_loaded_and_writes_down_its_commit(hub: LocalHub, tmp_path: Path) -> None:
    fractions: list[float] = []
    found = weights.ensure(at(tmp_path), fractions.append)
    assert found == weights.Found(tmp_path / MODEL_FOLDER, tmp_path / CODEC_FOLDER)
    assert names(tmp_path / MODEL_FOLDER) == sorted([*MODEL_WANTED, "download.json"])
    for name in MODEL_WANTED:
        assert (tmp_path / MODEL_FOLDER / name).read_bytes() == MODEL_FILES[name]
    record = json.loads((tmp_path / MODEL_FOLDER / "download.json").read_text("utf-8"))
    assert record["commit"] == hub.branches[weights.MODEL.id]["main"]
    assert record["repository"] == weights.MODEL.id
    assert record["files"]["model-00001-of-00002.safetensors"] == 200_000
    assert fractions == sorted(fractions)
    assert len(set(fractions)) > 5
    assert fractions[-1] == 1.0
    assert max(fractions) == 1.0


def test_later_runs_ask_nobody_and_change_nothing(hub: LocalHub, tmp_path: Path) -> None:
    weights.ensure(at(tmp_path))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    hub.push(weights.MODEL.id, {**MODEL_FILES, "tokenizer.json": b'{"new": 1}'})
    hub.asked.clear()
    weights.ensure(at(tmp_path))
    assert hub.asked == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_interrupted_download_goes_on_with_the_same_commit(hub: LocalHub, tmp_path: Path) -> None:
    hub.broken = {"model-00001-of-00002.safetensors"}
    with pytest.raises(WeightsNotFound):
        weights.ensure(at(tmp_path))
    assert weights.locate(at(tmp_path)).model_dir is None, "half a download is none"
    hub.broken = set()
    first = hub.branches[weights.MODEL.id]["main"]
    hub.push(weights.MODEL.id, {**MODEL_FILES, "model-00001-of-00002.safetensors": b"9" * 10})
    hub.asked.clear()
    weights.ensure(at(tmp_path))
    model_asked = [path for path in hub.asked if weights.MODEL.id in path and path.startswith("GET")]
    assert model_asked == [f"GET /{weights.MODEL.id}/resolve/{first}/model-00001-of-00002.safetensors"]
    assert (tmp_path / MODEL_FOLDER / "model-00001-of-00002.safetensors").stat().st_size == 200_000


def test_a_file_that_is_gone_or_cut_is_fetched_again(hub: LocalHub, tmp_path: Path) -> None:
    weights.ensure(at(tmp_path))
    (tmp_path / MODEL_FOLDER / "tokenizer_config.json").unlink()
    assert not weights.is_ready(at(tmp_path))
    hub.asked.clear()
    assert weights.ensure(at(tmp_path)).is_complete
    assert fetched(hub) == ["tokenizer_config.json"]


def test_only_what_is_missing_is_downloaded(hub: LocalHub, tmp_path: Path) -> None:
    put(tmp_path / "xcodec2", {"ckpt/a.ckpt": b"x"})
    found = weights.ensure(at(tmp_path))
    assert found.codec_dir == tmp_path / "xcodec2"
    assert not any(weights.CODEC.id in path for path in hub.asked)


def test_a_revision_is_kept_to(hub: LocalHub, tmp_path: Path) -> None:
    commit = hub.push(weights.MODEL.id, {**MODEL_FILES, "tokenizer.json": b'{"v": 2}'}, branch="v2")
    weights.ensure(at(tmp_path, model_revision="v2"))
    assert (tmp_path / MODEL_FOLDER / "tokenizer.json").read_bytes() == b'{"v": 2}'
    for same in (None, "v2", commit, commit[:8]):
        weights.ensure(at(tmp_path, model_revision=same))
    with pytest.raises(ConfigError) as refused:
        weights.ensure(at(tmp_path, model_revision="main"))
    assert commit[:12] in refused.value.message("en")
    assert "model_revision" in refused.value.message("zh")
    # What is half there is of that commit as well.
    (tmp_path / MODEL_FOLDER / "tokenizer.json").unlink()
    with pytest.raises(ConfigError):
        weights.ensure(at(tmp_path, model_revision="main"))


def test_an_unknown_revision_is_a_sentence(hub: LocalHub, tmp_path: Path) -> None:
    with pytest.raises(WeightsNotFound, match="download failed"):
        weights.ensure(at(tmp_path, model_revision="nowhere"))
    assert not (tmp_path / MODEL_FOLDER / "download.json").exists()


def test_pickles_come_only_where_there_is_nothing_else(hub: LocalHub, tmp_path: Path) -> None:
    pickled = {name: data for name, data in MODEL_FILES.items() if "safetensors" not in name}
    pickled["pytorch_model.bin.index.json"] = json.dumps({"weight_map": {"a": "pytorch_model.bin"}}).encode()
    hub.push(weights.MODEL.id, {**pickled, "training_args.bin": b"code"})
    weights.ensure(at(tmp_path))
    there = names(tmp_path / MODEL_FOLDER)
    assert "pytorch_model.bin" in there
    assert "training_args.bin" not in there
    assert not any(name.endswith(".py") for name in there)


def test_a_repository_without_weights_is_said(hub: LocalHub, tmp_path: Path) -> None:
    hub.push(weights.MODEL.id, {"config.json": b"{}"})
    with pytest.raises(WeightsNotFound, match="no weights"):
        weights.ensure(at(tmp_path))


def test_files_that_somebody_put_there_are_never_written_over(hub: LocalHub, tmp_path: Path) -> None:
    own = put(
        tmp_path / MODEL_FOLDER,
        {**without("tokenizer.json"), "config.json": b'{"model_type": "llama", "mine": 1}'},
    )
    before = {name: (own / name).read_bytes() for name in names(own) if (own / name).is_file()}
    with pytest.raises(WeightsNotFound) as refused:
        weights.ensure(at(tmp_path))
    assert "tokenizer.json" in refused.value.message("en")
    assert "tokenizer.json" in refused.value.message("zh")
    assert {name: (own / name).read_bytes() for name in names(own) if (own / name).is_file()} == before
    assert hub.asked == []


def refused_by_the_network(settings: Settings) -> WeightsNotFound:
    with pytest.raises(WeightsNotFound) as refused:
        weights.ensure(settings)
    checkpoints = settings.checkpoints_dir
    for language in ("en", "zh"):
        message = refused.value.message(language)
        for part in (
            "voice-sculptor download voicesculptor",
            str(checkpoints / MODEL_FOLDER),
            str(checkpoints / CODEC_FOLDER),
            "--model-dir",
            "--codec-dir",
        ):
            assert part in message
        assert "\n" not in message
    assert not (checkpoints / MODEL_FOLDER).exists()
    return refused.value


def test_without_a_network_the_ways_out_are_said(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    refused_by_the_network(at(tmp_path))


def test_offline_is_respected(hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "offline" in refused_by_the_network(at(tmp_path)).en
    assert hub.asked == []


def test_a_full_disk_is_said_before_the_download(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=200_100_000))
    with pytest.raises(OutputError, match=r"0\.0 GB are needed"):
        weights.ensure(at(tmp_path))
    assert fetched(hub) == []


def test_a_folder_that_cannot_be_written_is_said(hub: LocalHub, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(OutputError) as refused:
        weights.ensure(at(tmp_path / "file"))
    for language in ("en", "zh"):
        assert "VOICE_SCULPTOR_CHECKPOINTS" in refused.value.message(language)


def test_content_that_is_not_what_was_listed_is_no_checkpoint(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., dict[str, int]] = hub_module.needed
    monkeypatch.setattr(
        hub_module, "needed", lambda sizes: {name: size + 1 for name, size in real(sizes).items()}
    )
    with pytest.raises(WeightsNotFound, match="another size"):
        weights.ensure(at(tmp_path))


def test_a_damaged_record_is_no_record(tmp_path: Path) -> None:
    for content in ("{", "[]", '{"commit": 1}'):
        (tmp_path / "download.json").write_text(content)
        assert hub_module.read_record(tmp_path) is None
