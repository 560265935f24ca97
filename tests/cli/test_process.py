"""The command line as a process: signals, pipes, terminals, time."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import DESIGN, Cli
from voice_sculptor.cli.session import print_table

COMMAND = [sys.executable, "-m", "voice_sculptor"]
LONG_TEXT = "word " * 400


def test_ctrl_c_cancels(tmp_path: Path) -> None:
    command = [
        *COMMAND,
        "design",
        "--engine",
        "fake",
        "--text",
        LONG_TEXT,
        "--n",
        "6",
        "--out",
        str(tmp_path),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        first = process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1
    assert Path(first).is_file()
    written = sorted(path.name for path in tmp_path.iterdir())
    assert all(name.endswith((".wav", ".voice.json")) for name in written)
    assert len(written) % 2 == 0
    assert len(written) < 12


def test_a_reader_that_leaves_is_no_error_message() -> None:
    with subprocess.Popen(
        [*COMMAND, "presets", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


class Terminal(io.StringIO):
    """A stderr that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_on_a_terminal(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    made = cli(*DESIGN, "--json", "--out", tmp_path)
    assert len(made.document["candidates"]) == 3
    assert "Candidate 3/3" in sys.stderr.getvalue()


def test_names_are_whole_in_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", Terminal())
    print_table(("name", *"abcdefgh"), [("af_jessica", *["some long words"] * 8)])
    assert "af_jessica" in sys.stdout.getvalue()


def test_help_is_quick() -> None:
    script = (
        "import sys, time; began_s = time.process_time(); from voice_sculptor.cli import main; code = main(['--help']);"
        "slow = {'torch', 'gradio', 'transformers', 'scipy', 'numpy', 'pydantic', 'rich', 'onnx'} & set(sys.modules);"
        "print(code, slow, time.process_time() - began_s, file=sys.stderr)"
    )
    lines = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
        for _ in range(3)
    ]
    assert all(line.startswith("0 set() ") for line in lines), lines
    # Processor time, so that a busy machine does not fail it; alone, the command takes about 0.2 s.
    assert min(float(line.split()[-1]) for line in lines) < 0.5
