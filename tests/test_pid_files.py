"""Files of servers, with real processes: what is ended, and above all what is not."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from voice_sculptor import pid_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")

SERVER = """
    import signal, subprocess, sys, threading
    from pathlib import Path
    from voice_sculptor import pid_files

    how = sys.argv[2]
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: None if how == "stubborn" else stopped.set())
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"]) if how == "parent" else None
    with pid_files.written(Path(sys.argv[1]), 7861):
        print(child.pid if child else 0, flush=True)
        stopped.wait()
"""

Start = Callable[..., subprocess.Popen[str]]
Serve = Callable[[str], tuple[subprocess.Popen[str], int]]


@pytest.fixture
def start(root: Path) -> Iterator[Start]:
    """Starts a process; ended with the test, whatever happened."""
    started: list[subprocess.Popen[str]] = []

    def run(*command: str, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def serve(start: Start, tmp_path: Path) -> Serve:
    """Starts a server that has a file, and says the number of its child."""

    def run(how: str) -> tuple[subprocess.Popen[str], int]:
        process = start(sys.executable, "-c", textwrap.dedent(SERVER), str(tmp_path), how)
        assert process.stdout is not None
        return process, int(process.stdout.readline())

    return run


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / pid_files.FOLDER).iterdir())


def forged(folder: Path, process: subprocess.Popen[str], **other: object) -> Path:
    """A file that names a process, right in all that is not told otherwise."""
    seen = psutil.Process(process.pid)
    record = {"pid": seen.pid, "began_s": seen.create_time(), "command": seen.cmdline(), "port": 1, **other}
    path = folder / pid_files.FOLDER / "1.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record))
    return path


def test_one_that_finishes_when_it_is_asked(serve: Serve, tmp_path: Path) -> None:
    process, _ = serve("willing")
    (server,) = pid_files.running(tmp_path)
    assert (server.process.pid, server.port) == (process.pid, 7861)
    assert pid_files.end(server) == "ended"
    assert process.poll() == 0
    assert files(tmp_path) == []
    assert pid_files.end(server) == "ended"


def test_one_that_does_not_is_killed(serve: Serve, tmp_path: Path) -> None:
    process, _ = serve("stubborn")
    (server,) = pid_files.running(tmp_path)
    assert pid_files.end(server, gentle_s=0.5) == "killed"
    process.wait(1)
    assert files(tmp_path) == []


def test_what_it_started_goes_with_it(serve: Serve, tmp_path: Path) -> None:
    _, child = serve("parent")
    (server,) = pid_files.running(tmp_path)
    assert pid_files.end(server, gentle_s=1.0) == "ended"
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_several_and_one_that_was_killed(serve: Serve, tmp_path: Path) -> None:
    dead, alive = serve("willing")[0], serve("willing")[0]
    dead.kill()
    dead.wait()
    assert len(files(tmp_path)) == 2
    assert [server.process.pid for server in pid_files.running(tmp_path)] == [alive.pid]
    assert files(tmp_path) == [f"{alive.pid}.json"]


@pytest.mark.parametrize(
    "other",
    [
        {"began_s": 1.0},
        {"command": ["python", "app.py"]},
        {},  # All of it is right, but it is no server of this product.
    ],
)
def test_another_process_is_never_ended(start: Start, tmp_path: Path, other: dict[str, object]) -> None:
    bystander = start("sleep", "100")
    path = forged(tmp_path, bystander, **other)
    assert pid_files.running(tmp_path) == ()
    assert not path.exists()
    assert bystander.poll() is None


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"null", b"[1]", b'{"pid": -1}', b'{"pid": 1e999}', b"9" * 100_000, b"[" * 50_000],
    ids=["empty", "bytes", "null", "list", "negative", "endless", "huge", "deep"],
)
def test_a_damaged_file_is_no_server(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / pid_files.FOLDER / "7.json"
    path.parent.mkdir()
    path.write_bytes(content)
    assert pid_files.running(tmp_path) == ()
    assert not path.exists()


def test_a_server_does_not_find_itself(tmp_path: Path) -> None:
    with pid_files.written(tmp_path, 1):
        assert files(tmp_path) == [f"{os.getpid()}.json"]
        assert pid_files.running(tmp_path) == ()
        assert files(tmp_path) == [f"{os.getpid()}.json"]
    assert files(tmp_path) == []


def test_a_folder_that_takes_no_files_stops_no_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "file"
    folder.touch()
    with caplog.at_level(logging.WARNING), pid_files.written(folder, 1):
        assert pid_files.running(folder) == ()
    assert "run.sh --clean" in caplog.text


def test_the_real_page_killed_started_again_and_cleaned_up(start: Start, tmp_path: Path, root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    env = {"VOICE_SCULPTOR_DATA_DIR": str(tmp_path)}
    page = (sys.executable, "app.py", "--engine", "fake", "--port", port, "--no-preload")

    def begin() -> subprocess.Popen[str]:
        process = start(*page, **env)
        assert process.stdout is not None
        said = []
        while not said or "→ http" not in said[-1]:
            said.append(process.stdout.readline())
            assert said[-1], "".join(said)
        return process

    killed = begin()
    killed.kill()
    killed.wait()
    again = begin()
    assert httpx.get(f"http://127.0.0.1:{port}", trust_env=False).status_code == 200
    command = [sys.executable, "app.py", "clean"]
    environ = {**os.environ, **env, "LC_ALL": "C"}

    def clean() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=False)

    done = clean()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [f"{again.pid}\t{port}\tended"]
    assert done.stderr.count("RAM: ") == 2
    assert again.wait(1) == 0
    assert files(tmp_path) == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}", trust_env=False)
    assert "No server" in clean().stderr
