"""run.sh for real, in a copy whose path has a space; only the package index and the product are small ones."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")

APP = """\
import json, os, pathlib, sys
import tiny_thing
weights = pathlib.Path(__file__).parent / "checkpoints/kokoro/kokoro-v1_0-int8.safetensors"
if sys.argv[1:] == ["setup"]:
    weights.parent.mkdir(parents=True, exist_ok=True)
    weights.touch()
names = ("NO_PROXY", "no_proxy", "PORT", "PYTHONPATH", "VOICE_SCULPTOR_PROGRAM")
print(json.dumps({"args": sys.argv[1:], "cwd": os.getcwd(), **{name: os.environ.get(name) for name in names}}))
"""
TOOLS = "awk bash cat cksum cut df dirname grep mkdir paste readlink rm sleep sort tail"


def _wheel(folder: Path) -> Path:
    """A package index with one tiny package."""
    folder.mkdir()
    info = "tiny_thing-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_thing-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_thing.py", "")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return folder


class Checkout:
    """A copy of run.sh with a product that prints how it was called."""

    def __init__(self, folder: Path, run_sh: Path) -> None:
        self.path = folder / "a voice studio"
        self.path.mkdir(parents=True)
        shutil.copy(run_sh, self.path)
        (self.path / "app.py").write_text(APP)
        (self.path / "requirements.txt").write_text("tiny-thing==1.0\n")
        package = self.path / "voice_sculptor"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "device.py").write_text("print('the machine')\n")
        self.stamp = self.path / ".venv/.installed"
        self.env = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("PIP_", "VOICE_SCULPTOR_"))
            },
            "PYTHON": sys.executable,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(_wheel(folder / "index")),
        }
        for name in ("NO_PROXY", "no_proxy", "PORT"):
            self.env.pop(name, None)

        self._started: list[subprocess.Popen[str]] = []

    def start(self, *args: str, script: Path | None = None, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            ["bash", str(script or self.path / "run.sh"), *args],
            cwd="/",
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def stop(self) -> None:
        """End what a failed test has left running."""
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()

    def run(self, *args: str, script: Path | None = None, **env: str) -> tuple[int, str, str]:
        """Exit status, stdout, stderr."""
        process = self.start(*args, script=script, **env)
        out, err = process.communicate(timeout=250)
        return process.returncode, out, err


@pytest.fixture
def new_checkout(tmp_path: Path, root: Path) -> Iterator[Checkout]:
    checkout = Checkout(tmp_path, root / "run.sh")
    yield checkout
    checkout.stop()


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Checkout]:
    """One that is set up; tests leave it so."""
    checkout = Checkout(tmp_path_factory.mktemp("ready"), root / "run.sh")
    status, out, err = checkout.run("setup")
    assert status == 0, err
    assert json.loads(out)["args"] == ["setup"]
    yield checkout
    checkout.stop()


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of the system's tools, without Python and flock, to be all of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS.split():
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


def _script(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("word", ["help", "-h", "--help"])
def test_help_needs_nothing_installed(new_checkout: Checkout, word: str) -> None:
    status, out, err = new_checkout.run(word)
    assert (status, err) == (0, "")
    assert "bash run.sh setup" in out
    assert "只安装" in out
    assert not (new_checkout.path / ".venv").exists()


def test_cleaning_up_installs_nothing(new_checkout: Checkout, ready: Checkout) -> None:
    status, out, err = new_checkout.run("--clean")
    assert (status, out) == (0, "")
    assert "Nothing is set up" in err
    assert not (new_checkout.path / ".venv").exists()
    (ready.path / "requirements.txt").write_text("tiny-thing==2.0\n")
    try:
        status, out, err = ready.run("--clean", "--wait", "3")
    finally:
        (ready.path / "requirements.txt").write_text("tiny-thing==1.0\n")
    assert (status, err) == (0, "")
    assert json.loads(out)["args"] == ["clean", "--wait", "3"]


def test_second_start_installs_nothing(ready: Checkout) -> None:
    log = ready.path / ".venv/install.log"
    before = log.stat().st_mtime_ns
    status, out, err = ready.run("presets", "a b", PIP_FIND_LINKS="/nowhere")
    assert (status, err) == (0, "")
    assert json.loads(out)["args"] == ["presets", "a b"]
    assert log.stat().st_mtime_ns == before


def test_arguments_folder_and_port_reach_the_product(ready: Checkout) -> None:
    status, out, err = ready.run("--port", "7001", "--host", "0.0.0.0", PORT="7002", PYTHONPATH="/elsewhere")
    assert status == 0
    called = json.loads(out)
    assert called["args"] == ["--port", "7001", "--host", "0.0.0.0"]
    assert called["cwd"] == "/"
    assert called["PORT"] == "7002"
    assert called["VOICE_SCULPTOR_PROGRAM"] == "bash run.sh"
    assert called["PYTHONPATH"] is None
    assert "the machine" in err


@pytest.mark.parametrize(
    ("given", "expected"), [("", "localhost,127.0.0.1,::1"), ("intranet", "intranet,localhost,127.0.0.1,::1")]
)
def test_a_proxy_is_not_used_for_this_machine(ready: Checkout, given: str, expected: str) -> None:
    _, out, _ = ready.run("voices", HTTP_PROXY="http://proxy.invalid:3128", no_proxy=given)
    called = json.loads(out)
    assert called["NO_PROXY"] == called["no_proxy"] == expected


def test_symlinks_are_followed(ready: Checkout, tmp_path: Path) -> None:
    first, second = tmp_path / "first link", tmp_path / "sculptor"
    first.symlink_to(ready.path / "run.sh")
    second.symlink_to("first link")
    status, out, err = ready.run("voices", script=second)
    assert (status, err) == (0, "")
    assert json.loads(out)["args"] == ["voices"]


def test_failure_of_the_product_is_the_exit_status(ready: Checkout) -> None:
    app = ready.path / "app.py"
    app.write_text("import sys; sys.exit(5)")
    try:
        status, _, err = ready.run("presets")
    finally:
        app.write_text(APP)
    assert (status, err) == (5, "")


def test_weights_are_prepared_where_they_are_missing(ready: Checkout) -> None:
    shutil.rmtree(ready.path / "checkpoints")
    status, out, err = ready.run("voices")
    assert status == 0
    assert json.loads(out)["args"] == ["voices"]
    assert json.loads(err)["args"] == ["setup"]


def test_changed_requirements_are_installed(ready: Checkout) -> None:
    with (ready.path / "requirements.txt").open("a") as file:
        file.write("# changed\n")
    _, _, err = ready.run("voices")
    assert "Installing packages" in err
    assert "Making the environment" not in err
    _, _, err = ready.run("voices")
    assert err == ""


@pytest.mark.parametrize("args", [("--version",), ("--ui-lang", "zh", "presets"), ("presets",)])
def test_the_machine_is_told_of_with_the_page_only(ready: Checkout, args: tuple[str, ...]) -> None:
    status, out, err = ready.run(*args)
    assert (status, err) == (0, "")
    assert json.loads(out)["args"] == list(args)


def test_after_the_installation_of_the_tests_nothing_is_installed_again(new_checkout: Checkout) -> None:
    (new_checkout.path / "requirements-dev.txt").write_text("tiny-thing==1.0\n")
    _, _, err = new_checkout.run("test")
    assert "Installing packages" in err
    status, _, err = new_checkout.run("setup", PIP_FIND_LINKS="/nowhere")
    assert (status, err) == (0, "")


def test_a_failed_install_says_what_to_do_and_is_not_believed(new_checkout: Checkout) -> None:
    status, out, err = new_checkout.run("voices", PIP_FIND_LINKS="/nowhere")
    assert (status, out) == (1, "")
    assert "no version of a package" in err
    assert "没有适合当前 Python" in err
    assert (
        err.count("ERROR: No matching distribution found for tiny-thing==1.0") == 2
    )  # as it came, and at the end
    assert not new_checkout.stamp.exists()
    status, _, err = new_checkout.run("voices")
    assert status == 0, err


def test_no_network_says_so(new_checkout: Checkout) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]  # closed by the time pip calls
    index = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple"}
    status, _, err = new_checkout.run("voices", **index, PIP_RETRIES="0", HTTP_PROXY="", http_proxy="")
    assert status == 1
    assert "cannot be reached" in err
    assert "无法连接" in err
    assert not new_checkout.stamp.exists()


@pytest.fixture
def hanging_index() -> Iterator[tuple[str, Callable[[], None]]]:
    """A package index that takes calls and never answers; its address, and a wait for the first call."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(200)
        calls = []
        yield f"http://127.0.0.1:{server.getsockname()[1]}/simple", lambda: calls.append(server.accept()[0])
        for call in calls:
            call.close()


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_install_is_not_believed(
    new_checkout: Checkout, hanging_index: tuple[str, Callable[[], None]], kind: signal.Signals
) -> None:
    url, wait_for_call = hanging_index
    process = new_checkout.start("voices", PIP_NO_INDEX="0", PIP_INDEX_URL=url, HTTP_PROXY="", http_proxy="")
    wait_for_call()
    os.killpg(process.pid, kind)
    _, err = process.communicate(timeout=250)
    assert process.returncode == (130 if kind == signal.SIGINT else -kind), err
    assert ("已中断" in err) == (kind == signal.SIGINT)
    assert not new_checkout.stamp.exists()
    if kind == signal.SIGKILL:
        status, _, err = new_checkout.run("voices")
        assert status == 0, err
        assert "Making the environment" in err


@pytest.mark.parametrize("has_flock", [True, False])
def test_two_starts_at_once_install_once(new_checkout: Checkout, tools: Path, has_flock: bool) -> None:
    if has_flock:
        flock = shutil.which("flock")
        if flock is None:
            pytest.skip("no flock on this system")
        (tools / "flock").symlink_to(flock)
    first = new_checkout.start("voices", PATH=str(tools))
    unfinished = new_checkout.path / ".venv.unfinished"
    while not unfinished.exists():
        assert first.poll() is None
        time.sleep(0.01)
    status, out, err = new_checkout.run("presets", PATH=str(tools))
    _, first_err = first.communicate(timeout=250)
    assert (first.returncode, status) == (0, 0), first_err + err
    assert json.loads(out)["args"] == ["presets"]
    assert "Making the environment" in first_err
    assert "waiting for it" in err
    assert "等待中" in err
    assert "Making the environment" not in err
    assert "Installing" not in err
    assert not (new_checkout.path / ".venv.lock.d").exists()


def test_a_lock_of_a_dead_start_is_taken_over(ready: Checkout, tools: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    lock = ready.path / ".venv.lock.d"
    lock.mkdir()
    (lock / "pid").write_text(f"{dead.pid}\n")
    ready.stamp.unlink()
    status, _, err = ready.run("voices", PATH=str(tools))
    assert status == 0, err
    assert not lock.exists()


PYTHONS = {
    "none": ("", "No Python 3.10 to 3.13 was found.", "没有找到 Python 3.10–3.13。"),
    "old": (
        "case $2 in *exit*) exit 1 ;; *) echo 3.8 ;; esac",
        "No Python 3.10 to 3.13 was found (found: 3.8).",
        "（找到：3.8）",
    ),
    "without venv": (
        "case $2 in *exit*) ;; *ensurepip*) exit 1 ;; *) echo python3.12 ;; esac",
        "sudo apt-get install python3.12-venv",
        "缺少 venv 模块",
    ),
}


@pytest.mark.parametrize("kind", PYTHONS)
def test_no_fitting_python_is_said(new_checkout: Checkout, tools: Path, kind: str) -> None:
    text, english, chinese = PYTHONS[kind]
    if text:
        _script(tools / "python3", text)
    status, out, err = new_checkout.run("voices", PATH=str(tools), PYTHON="")
    assert (status, out) == (1, "")
    assert english in err
    assert chinese in err
    assert not (new_checkout.path / ".venv").exists()


def test_a_full_disk_is_said_before_anything_is_made(new_checkout: Checkout, tools: Path) -> None:
    _script(tools / "df", "echo header; echo /dev/x 100 100 204800 1% /")
    status, _, err = new_checkout.run("voices", PATH=str(tools))
    assert status == 1
    assert "Only 200 MB of disk is free" in err
    assert "只剩 200 MB" in err
    assert not (new_checkout.path / ".venv").exists()


def test_a_folder_that_cannot_be_written_is_said(new_checkout: Checkout) -> None:
    (new_checkout.path / ".venv.lock").mkdir()  # unlike a missing permission, this stops root as well
    status, _, err = new_checkout.run("voices")
    assert status == 1
    assert "Cannot write into" in err
    assert "无法写入" in err
