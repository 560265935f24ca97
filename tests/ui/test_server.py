from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.ports import free_port
from voice_sculptor.config import Settings
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import ConfigError
from voice_sculptor.ui import server
from voice_sculptor.ui.server import Port, choose_port

HOST = "127.0.0.1"
ROOT = Path(__file__).parents[2]


@contextmanager
def busy(port: int = 0) -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind((HOST, port))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Two free ports in place of 7860 and 6006, which a developer's own page may hold."""
    with busy() as first, busy() as second:
        monkeypatch.setattr(server, "DEFAULT_PORT", first)
        monkeypatch.setattr(server, "SECOND_PORT", second)
    return first, second


def test_the_default_port_first(ports: tuple[int, int]) -> None:
    assert choose_port(HOST, None) == Port(ports[0])


def test_the_second_where_the_first_is_busy(ports: tuple[int, int]) -> None:
    with busy(ports[0]):
        port = choose_port(HOST, None)
    assert port == Port(ports[1], (ports[0],))
    notes = "\n".join(server._notes(Settings(), port))
    assert f"{ports[0]} is busy; using {ports[1]}" in notes
    assert "改用" in notes


def test_the_next_free_one_where_both_are_busy(ports: tuple[int, int]) -> None:
    with busy(ports[0]), busy(ports[1]):
        port = choose_port(HOST, None)
    assert port.number not in ports
    assert port.skipped == ports


def test_an_asked_port_is_never_replaced() -> None:
    with busy() as taken, pytest.raises(ConfigError) as caught:
        choose_port(HOST, taken)
    assert str(taken) in caught.value.message("en")
    assert str(os.getpid()) in caught.value.message("zh"), "who holds it"
    assert "--port" in caught.value.message("zh")
    assert caught.value.exit_code == 2


def test_a_foreign_host_is_a_sentence() -> None:
    with pytest.raises(ConfigError) as caught:
        choose_port("no such host", 7860)
    assert "0.0.0.0" in caught.value.message("en")


@pytest.mark.parametrize(
    ("host", "warned"),
    [("127.0.0.1", False), ("localhost", False), ("::1", False), ("0.0.0.0", True), ("192.168.1.5", True)],
)
def test_an_open_host_is_warned_about(host: str, warned: bool) -> None:
    notes = "\n".join(server._notes(Settings(host=host), Port(7860)))
    assert ("WARNING" in notes) is warned
    assert ("警告" in notes) is warned


def test_at_the_end_what_runs_is_finished_and_what_waits_is_refused() -> None:
    answers: dict[str, httpx.Response] = {}

    def ask(url: str, name: str, delay_s: float) -> None:
        asked = {"text": "a" * 24, "n": 1, "options": {"step_delay_s": delay_s}}
        answers[name] = httpx.post(f"{url}/v1/design", json=asked, timeout=30.0)

    port = free_port()
    settings = Settings(engine="fake", port=port, preload=False, max_batch_size=1)
    with warnings.catch_warnings():
        # As for the fixture `site`.
        warnings.simplefilter("ignore", ResourceWarning)
        with server.running(settings, FakeEngine()) as (url, _):
            runs, waits = (threading.Thread(target=ask, args=(url, name, 0.5)) for name in ("runs", "waits"))
            for thread, state in ((runs, "running_requests"), (waits, "pending_requests")):
                thread.start()
                until_s = time.monotonic() + 10
                while httpx.get(f"{url}/health").json()[state] == 0:
                    assert time.monotonic() < until_s
        for thread in (runs, waits):
            thread.join()
        asyncio.set_event_loop(None)
        gc.collect()
    assert answers["runs"].status_code == 200
    assert (answers["waits"].status_code, answers["waits"].json()["error"]["type"]) == (503, "ShuttingDown")


def test_under_a_path_of_a_proxy() -> None:
    settings = Settings(
        engine="fake",
        port=free_port(),
        preload=False,
        root_path="/voice",
        trusted_proxies=(HOST,),
    )
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "example.org", "X-Forwarded-For": "10.0.0.1"}
    with warnings.catch_warnings():
        # As for the fixture `site`.
        warnings.simplefilter("ignore", ResourceWarning)
        with server.running(settings, FakeEngine()) as (url, _), httpx.Client(headers=headers) as client:
            for prefix in ("", "/voice"):
                page = client.get(f"{url}{prefix}/")
                assert page.status_code == 200
                assert '"root":"https://example.org/voice"' in page.text
                assert client.get(f"{url}{prefix}/theme.css").status_code == 200
                assert client.get(f"{url}{prefix}/v1/voices").json()["engine"] == "fake"
        asyncio.set_event_loop(None)
        gc.collect()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "without a password"),
        ({"api_keys": ("correct-horse",)}, "page is open"),
        ({"page_login": ("ann:password-1",)}, None),
    ],
)
def test_what_is_warned_about_names_what_is_open(given: dict[str, tuple[str, ...]], said: str | None) -> None:
    notice = server.open_to_all(Settings(host="0.0.0.0", **given))  # type: ignore[arg-type]
    assert (notice is None) is (said is None)
    if notice is not None:
        assert said is not None
        assert said in notice.en
        assert "PAGE_LOGIN" in notice.zh


def test_the_page_shows_the_warning_and_asks_for_its_login(tmp_path: Path) -> None:
    def front(**given: object) -> tuple[httpx.Response, httpx.Response]:
        settings = Settings(engine="fake", port=free_port(), preload=False, **given)  # type: ignore[arg-type]
        with warnings.catch_warnings():
            # As for the fixture `site`.
            warnings.simplefilter("ignore", ResourceWarning)
            with server.running(settings, FakeEngine()) as (url, _):
                found = httpx.get(url), httpx.get(f"{url}/v1/voices")
                if settings.page_login:
                    login = {"username": "ann", "password": "password-2"}
                    assert httpx.post(f"{url}/login", data=login).status_code == 400
                    login["password"] = "password-1"
                    assert httpx.post(f"{url}/login", data=login).status_code == 200
            asyncio.set_event_loop(None)
            gc.collect()
        return found

    page, voices = front(host="0.0.0.0")
    assert "vs-operator" in page.text
    assert voices.status_code == 200
    page, voices = front(page_login=("ann:password-1",))
    assert "vs-operator" not in page.text
    assert "vs-header" not in page.text
    assert voices.status_code == 401


def test_the_front_page_names_no_foreign_address(site: str) -> None:
    response = httpx.get(site, headers={"accept-encoding": "identity"})
    assert response.status_code == 200
    assert "gradio_config" in response.text
    assert "default-src 'self'" in response.headers["content-security-policy"]
    head = response.text.split("<script>window.gradio_config")[0]
    assert not re.findall(r"https?://\S+", head)
    assert not re.search(r"googleapis|gstatic|cdnjs|jsdelivr|unpkg|huggingface\.co", response.text)
    theme = httpx.get(f"{site}/theme.css").text
    assert not re.search(r"""url\(["']?(https?:|//)""", theme)
    assert "@import" not in theme


def test_the_api_answers_beside_the_page(site: str) -> None:
    assert httpx.get(f"{site}/health").json()["status"] == "ok"
    assert len(httpx.get(f"{site}/v1/presets").json()["presets"]) > 30
    answer = httpx.post(f"{site}/v1/tts", json={"text": "Hello.", "reference_id": "fake_low"})
    assert answer.headers["content-type"] == "audio/wav"
    assert httpx.get(f"{site}/v1/nothing").json()["error"]["type"] == "UnknownAddress"


@pytest.mark.parametrize(
    "path",
    [
        "upload",
        "proxy=https://example.org/",
        "file=http://example.org/",
        "file=/etc/passwd",
        "file=../pyproject.toml",
    ],
)
def test_doors_that_the_page_does_not_need_are_shut(site: str, path: str) -> None:
    method = "POST" if path == "upload" else "GET"
    assert httpx.request(method, f"{site}/gradio_api/{path}").status_code in (403, 404)


@pytest.mark.timeout(120)
def test_serve_behind_a_proxy_variable_answers_and_ends_cleanly() -> None:
    with busy() as port:
        pass
    environment = {key: value for key, value in os.environ.items() if key.lower() not in ("no_proxy", "port")}
    environment |= {
        "HTTP_PROXY": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
        "VOICE_SCULPTOR_ENGINE": "fake",
        "VOICE_SCULPTOR_SLOTS": "2",
    }
    code = (
        "from voice_sculptor.config import load_settings; from voice_sculptor.ui.server import serve; "
        f"serve(load_settings(port={port}))"
    )
    page = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert page.stdout is not None
        chosen, line = page.stdout.readline(), page.stdout.readline()
        assert chosen.strip() == "Fake (tones, for tests) · Apache-2.0 · asked for · 按指定"
        assert line.strip() == f"Voice Sculptor → http://127.0.0.1:{port}"
        assert httpx.get(f"http://127.0.0.1:{port}", trust_env=False).status_code == 200
        began_s = time.monotonic()
        page.send_signal(signal.SIGINT)
        out, err = page.communicate(timeout=30)
    finally:
        page.kill()
    assert page.returncode == 0, err
    assert "Traceback" not in out + err
    assert "does not use: slots." in err
    assert "不使用这些设置：slots。" in err
    assert time.monotonic() - began_s < 15.0


def test_the_page_itself_needs_no_torch() -> None:
    code = (
        "import sys; from voice_sculptor.config import Settings; from voice_sculptor.studio import Studio\n"
        "from voice_sculptor.ui.handlers import Handlers; from voice_sculptor.ui.page import build_page\n"
        "from voice_sculptor.ui.shelf import Shelf\n"
        "build_page(Handlers(Studio(Settings(engine='fake')), [], Shelf()))\n"
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=100)


@pytest.mark.parametrize(("preload", "is_loaded"), [(None, True), (True, True), (False, False)])
def test_preloading_is_what_was_asked(preload: bool | None, is_loaded: bool) -> None:
    engine = FakeEngine()
    settings = Settings(engine="fake", port=free_port(), preload=preload)
    with warnings.catch_warnings():
        # As for the fixture `site`.
        warnings.simplefilter("ignore", ResourceWarning)
        with server.running(settings, engine):
            time.sleep(0.5)
            assert engine.is_loaded is is_loaded
        asyncio.set_event_loop(None)
        gc.collect()
