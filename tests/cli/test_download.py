"""`download`, as a process that talks to a hub on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.voicesculptor.local_hub import LocalHub, serving
from voice_sculptor.engines.voicesculptor import weights


def download(
    root: Path, hub: LocalHub, *args: str | Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    proxies = ("http_proxy", "https_proxy", "all_proxy")
    environment = {key: value for key, value in os.environ.items() if key.lower() not in proxies}
    environment |= {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "LC_ALL": "C.UTF-8", **variables}
    command = [sys.executable, "-m", "voice_sculptor", "download", *map(str, args)]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def test_voicesculptor(root: Path, tmp_path: Path) -> None:
    with serving() as hub:
        done = download(root, hub, "voicesculptor", "--checkpoints-dir", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(tmp_path / "VoiceSculptor-VD"), str(tmp_path / "xcodec2-hf")]
    assert done.stderr.splitlines() == [
        f"VoiceSculptor-VD: licence {weights.MODEL.licence}",
        f"xcodec2-hf: licence {weights.CODEC.licence}",
    ]


def test_a_revision_and_the_network_that_is_not_there(root: Path, tmp_path: Path) -> None:
    flags = ("voicesculptor", "--checkpoints-dir", tmp_path, "--model-revision", "v2")
    with serving() as hub:
        offline = download(root, hub, *flags, HF_HUB_OFFLINE="1", LC_ALL="zh_CN.UTF-8")
        assert hub.asked == []
        commit = hub.push(
            weights.MODEL.id, hub.repositories[weights.MODEL.id][hub.branches[weights.MODEL.id]["main"]], "v2"
        )
        done = download(root, hub, *flags)
    assert offline.returncode == 5
    assert offline.stdout == ""
    assert len(offline.stderr.splitlines()) == 1
    assert "voice-sculptor download voicesculptor" in offline.stderr
    assert "没有 Voice Sculptor 引擎的权重" in offline.stderr
    assert done.returncode == 0, done.stderr
    assert commit in (tmp_path / "VoiceSculptor-VD/download.json").read_text("utf-8")


@pytest.mark.parametrize("engine", [(), ("kokoro",)], ids=["by default", "kokoro"])
def test_kokoro_is_what_setup_makes(
    root: Path,
    checkpoints_dir: Path,
    engine: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from voice_sculptor import device
    from voice_sculptor.cli import main

    monkeypatch.setattr(device, "gpus", lambda: ())
    monkeypatch.setenv("VOICE_SCULPTOR_UI_LANG", "en")
    assert main(["setup", "--checkpoints-dir", str(checkpoints_dir)]) == 0
    made = capsys.readouterr().out
    assert main(["download", *engine, "--checkpoints-dir", str(checkpoints_dir)]) == 0
    out, err = capsys.readouterr()
    assert out == made
    assert err == f"{Path(made.strip()).name}: licence Apache-2.0\n"


@pytest.mark.parametrize(("engine", "code"), [("fake", 2), ("nobody", 3)])
def test_engines_without_a_download(
    engine: str, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from voice_sculptor.cli import main

    monkeypatch.setenv("VOICE_SCULPTOR_UI_LANG", "en")
    assert main(["download", engine]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert repr(engine) in err
    assert "kokoro" in err
