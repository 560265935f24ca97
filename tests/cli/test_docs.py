"""What docs/cli.md says is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from tests.cli.commands import Cli
from voice_sculptor import domain, errors
from voice_sculptor.cli import options
from voice_sculptor.errors import VoiceSculptorError

HELP_PAGES = [
    (),
    ("design",),
    ("speak",),
    ("understand",),
    ("measure",),
    ("presets",),
    ("presets", "show"),
    ("voices",),
    ("engines",),
    ("serve",),
    ("clean",),
    ("setup",),
    ("download",),
    ("doctor",),
    ("kept",),
    *(("kept", name) for name in ("add", "rename", "delete", "restore", "export")),
    ("bench",),
]


@pytest.mark.parametrize("path", HELP_PAGES, ids=lambda path: " ".join(path) or "voice-sculptor")
def test_the_documented_help_is_the_real_one(cli: Cli, root: Path, path: tuple[str, ...]) -> None:
    real = cli(*path, "--help").out
    command = " ".join(("voice-sculptor", *path))
    assert f"```console\n$ {command} --help\n{real}```" in (root / "docs/cli.md").read_text("utf-8")


def test_every_command_is_documented(cli: Cli) -> None:
    listed = re.findall(r"^  ([a-z]+) ", cli("--help").out.split("Commands:")[1], re.MULTILINE)
    assert set(listed) == {path[0] for path in HELP_PAGES if path}


def test_the_documented_exit_codes_are_the_real_ones(root: Path) -> None:
    rows = re.findall(r"^\| (\d+) \| (.*?) ?\| ", (root / "docs/cli.md").read_text("utf-8"), re.MULTILINE)
    documented = {int(code): set(re.findall(r"`(\w+)`", names)) for code, names in rows}
    assert documented.pop(0) == set()
    real: dict[int, set[str]] = {}
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, VoiceSculptorError):
            real.setdefault(value.exit_code, set()).add(value.__name__)
    assert documented == real


def test_choices_are_those_of_the_domain() -> None:
    optional = get_args(options.Format)[0]
    assert get_args(get_args(optional)[0]) == domain.AUDIO_FORMATS
    assert get_args(get_args(options.TextLang)[0]) == get_args(domain.TextLanguage)
