"""What the README says is run as it stands there."""

import re
import shlex
from pathlib import Path

import pytest

from voice_sculptor.cli import main

READMES = ("README.md", "README.zh.md")


def commands(text: str) -> list[list[str]]:
    blocks = "\n".join(re.findall(r"```bash\n(.*?)```", text, re.DOTALL)).replace("\\\n", " ")
    return [
        shlex.split(line, comments=True)[2:] for line in blocks.splitlines() if line.startswith("bash run.sh")
    ]


@pytest.mark.parametrize("name", READMES)
def test_the_commands_of_the_readme_work(
    name: str, root: Path, kokoro_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOICE_SCULPTOR_CHECKPOINTS", str(kokoro_checkpoint.parent.parent))
    found = commands((root / name).read_text("utf-8"))
    assert found[:2] == [[], ["test"]]  # test_run_sh.py and .ci/run start those.
    assert [command[0] for command in found[2:]] == ["design", "speak", "presets"]
    for command in found[2:]:
        assert main(command) == 0
    assert len(list((tmp_path / "out").glob("*.wav"))) == 3
    assert len(list((tmp_path / "out").glob("*.voice.json"))) == 3
    assert (tmp_path / "hello.wav").stat().st_size > 24_000


@pytest.mark.parametrize("name", READMES)
def test_what_the_readme_links_to_is_there(name: str, root: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (root / name).read_text("utf-8"))
    assert len(links) > 8
    assert [link for link in links if not (root / link).exists()] == []
