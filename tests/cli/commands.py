"""What the tests of the command line share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DESIGN = ("design", "--engine", "fake", "--text", "hello", "--seed", "7")


@dataclass
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """stdout as one JSON document."""
        document: dict[str, Any] = json.loads(self.out)
        return document


Cli = Callable[..., Result]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def documented_json(root: Path) -> list[dict[str, Any]]:
    """The JSON documents shown in docs/cli.md."""
    return [
        json.loads(block)
        for block in re.findall(r"```json\n(.*?)```", (root / "docs/cli.md").read_text("utf-8"), re.DOTALL)
    ]


def refused(result: Result, code: int, *parts: str) -> None:
    assert result.code == code, result.err
    assert result.out == ""
    assert len(result.err.strip().splitlines()) == 1, "an error is one line"
    assert "Traceback" not in result.err
    for part in parts:
        assert part in result.err
