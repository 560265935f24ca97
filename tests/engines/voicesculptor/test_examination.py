"""What the doctor finds in a checkpoint that is right, and in those that are not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from voice_sculptor.config import Settings, load_settings
from voice_sculptor.engines.base import Finding
from voice_sculptor.engines.voicesculptor.engine import VoiceSculptorEngine


def examined(settings: Settings) -> dict[str, Finding]:
    return {finding.en: finding for finding in VoiceSculptorEngine(settings).examine("cpu", None)}


@pytest.fixture
def copied(tiny: tuple[Path, Path], tmp_path: Path) -> Settings:
    folders = [Path(shutil.copytree(folder, tmp_path / folder.name)) for folder in tiny]
    return load_settings(device="cpu", model_dir=folders[0], codec_dir=folders[1])


def test_a_whole_checkpoint(settings: Settings) -> None:
    findings = examined(settings)
    assert [each.error for each in findings.values()] == [None] * 7
    assert "vocab_size" in findings["Language model"].detail
    assert "65536 speech tokens" in findings["Speech tokens and tags"].detail
    assert "bfloat16" not in findings["Types"].detail
    assert str(settings.model_dir) not in "".join(each.detail for each in findings.values())


def test_one_fault_does_not_hide_the_next(copied: Settings) -> None:
    assert copied.model_dir is not None
    weights = copied.model_dir / "model.safetensors"
    state = load_file(weights)
    del state["model.norm.weight"]
    save_file(state, weights, metadata={"format": "pt"})
    template = copied.model_dir / "chat_template.jinja"
    template.write_text("{{ bos_token }} nothing of it")
    findings = examined(copied)
    faulty = {name for name, finding in findings.items() if finding.error}
    assert faulty == {"Its tensors", "Chat template"}
    assert "model.norm.weight" in findings["Its tensors"].error.message("zh")


def test_tokens_that_are_not_there(copied: Settings) -> None:
    assert copied.model_dir is not None
    path = copied.model_dir / "tokenizer.json"
    content = json.loads(path.read_text("utf-8"))
    content["added_tokens"] = [each for each in content["added_tokens"] if each["content"] != "<|语速很慢|>"]
    path.write_text(json.dumps(content), "utf-8")
    finding = examined(copied)["Speech tokens and tags"]
    assert finding.error is not None
    assert "<|语速很慢|>" in finding.error.message("en")


def test_no_checkpoint_at_all(tmp_path: Path) -> None:
    findings = examined(load_settings(device="cpu", checkpoints_dir=tmp_path))
    assert "voice-sculptor download" in findings["Language model"].error.message("en")
    assert findings["Codec"].error is not None
