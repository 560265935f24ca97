from __future__ import annotations

import asyncio
import base64
import gc
import warnings
from collections.abc import Iterable
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import serving
from tests.ports import free_port
from voice_sculptor.access import hash_secret
from voice_sculptor.api.errors import TooManyRequests
from voice_sculptor.api.security import Rates, is_login
from voice_sculptor.config import Settings, load_settings
from voice_sculptor.errors import ConfigError

KEY = "correct-horse"
OTHER = "battery-staple"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def test_keys_are_kept_as_hashes_only() -> None:
    settings = Settings(api_keys=f"{KEY}, {hash_secret(OTHER)}", page_login=f"ann:{KEY}")  # type: ignore[arg-type]
    assert settings.api_keys == (hash_secret(KEY), hash_secret(OTHER))
    assert KEY not in repr(settings)
    assert KEY not in settings.model_dump_json()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("api_keys", "short"),
        ("api_keys", "sha256:12"),
        ("page_login", "nopassword"),
        ("allow_ip", "10.0.0"),
        ("trusted_proxies", "proxy.example.org"),
        ("allow_hosts", "https://example.org"),
        ("allow_hosts", "example.org:80"),
        ("cors_origins", "example.org"),
        ("root_path", "voice"),
        ("rate_limit", "0"),
    ],
)
def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"VOICE_SCULPTOR_{name.upper()}", value)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert name in caught.value.message("en")
    assert (value in caught.value.message("en")) is (name not in ("api_keys", "page_login"))


def test_the_api_asks_for_a_key(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# ours\n{OTHER}\n\n")
    with serving(api_keys=(KEY,), api_keys_file=file) as client:
        for path in ("/v1/voices", "/v1/nothing", "/metrics", "/openapi.json", "/v1"):
            for headers in (
                {},
                bearer("wrong-wrong"),
                bearer("."),
                bearer(hash_secret(KEY)),
                basic("x", KEY),
            ):
                answer = client.get(path, headers=headers)
                assert answer.status_code == 401, path
                assert answer.headers["www-authenticate"] == "Bearer"
                assert answer.json()["error"]["type"] == "MissingKey"
        assert client.post("/v1/tts", json={"text": "x"}).status_code == 401
        for key in (KEY, OTHER):
            assert client.get("/v1/voices", headers=bearer(key)).status_code == 200
        assert client.get("/health").status_code == 200
        assert client.get("/ready").status_code == 503


def test_the_pages_login_opens_the_api_too() -> None:
    with serving(page_login=("ann:password-1",)) as client:
        assert client.get("/v1/voices").status_code == 401
        assert client.get("/v1/voices", headers=basic("ann", "password-2")).status_code == 401
        assert client.get("/v1/voices", headers={"Authorization": "Basic é".encode()}).status_code == 401
        assert client.get("/v1/voices", headers=basic("ann", "password-1")).status_code == 200


def test_a_login_is_user_and_password_together() -> None:
    logins = Settings(page_login=("ann:password-1", "bob:password-2")).page_login
    assert is_login("ann", "password-1", logins)
    assert is_login("bob", "password-2", logins)
    assert not is_login("ann", "password-2", logins)
    assert not is_login("", "", logins)
    assert not is_login("ann", logins[0].partition(":")[2], logins)


def test_a_file_of_keys_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError), serving(api_keys_file=tmp_path / "none"):
        pass


def test_only_listed_networks_are_answered() -> None:
    with serving(allow_ip=("10.0.0.0/8",)) as client:
        answer = client.get("/health")
        assert (answer.status_code, answer.json()["error"]["type"]) == (403, "ForbiddenAddress")
        forged = client.get("/health", headers={"X-Forwarded-For": "10.1.2.3"})
        assert forged.status_code == 403
    with serving(allow_ip=("127.0.0.0/8",)) as client:
        assert client.get("/health").status_code == 200


OWN_NAMES = ("localhost", "LOCALHOST:7860", "127.0.0.1:1", "[::1]:7860", "[::1]", "localhost.", "a.localhost")
OTHER_NAMES = (
    "rebound.example",
    "rebound.example:7860",
    "localhost.example",
    "127.0.0.1.example",
    "10.0.0.1",
    "x y",
)


def statuses_by_name(client: httpx.Client, names: Iterable[str], path: str = "/health") -> set[int]:
    return {client.get(path, headers={"Host": name}).status_code for name in names}


@pytest.mark.parametrize("path", ["/health", "/v1/voices", "/openapi.json", "/nothing"])
def test_a_private_server_answers_to_its_own_names_only(api: httpx.Client, path: str) -> None:
    assert 403 not in statuses_by_name(api, OWN_NAMES, path)
    assert statuses_by_name(api, OTHER_NAMES, path) == {403}
    refused = api.get(path, headers={"Host": "rebound.example:7860"}).json()["error"]
    assert refused["type"] == "ForbiddenHost"
    assert "rebound.example:7860" in refused["message"]
    assert "allow_hosts" in refused["fix"]


@pytest.mark.parametrize(
    "given",
    [
        {"page_login": ("ann:password-1",)},
        {"trusted_proxies": ("127.0.0.1",)},
        {"allow_hosts": ("*",)},
        {"allow_hosts": ("rebound.example",)},
    ],
)
def test_other_names_where_that_is_safe_or_asked_for(given: dict[str, tuple[str, ...]]) -> None:
    with serving(**given) as client:
        assert statuses_by_name(client, ("rebound.example:7860", "Rebound.Example.")) == {200}


def test_a_list_of_names_is_strict_wherever_the_server_is() -> None:
    with serving(allow_hosts=("studio.lan", "[2001:db8::1]"), trusted_proxies=("127.0.0.1",)) as client:
        assert statuses_by_name(client, ("studio.lan", "[2001:db8::1]:80", "localhost")) == {200}
        assert statuses_by_name(client, ("rebound.example", "[2001:db8::2]")) == {403}


def test_keys_of_the_api_do_not_make_the_page_safe() -> None:
    with serving(api_keys=(KEY,)) as client:
        assert client.get("/health", headers={"Host": "rebound.example"}).status_code == 403


def test_a_caller_without_a_host_is_no_browser(api: httpx.Client) -> None:
    import socket

    with socket.create_connection((api.base_url.host, api.base_url.port)) as caller:
        caller.settimeout(5)
        caller.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        assert caller.recv(4096).split()[1] == b"200"


def test_a_trusted_proxy_names_the_client() -> None:
    with serving(allow_ip=("10.0.0.0/8",), trusted_proxies=("127.0.0.1",)) as client:
        assert client.get("/health", headers={"X-Forwarded-For": "10.1.2.3"}).status_code == 200
        assert client.get("/health", headers={"X-Forwarded-For": "192.168.1.1"}).status_code == 403
        # What the client itself claims comes first, what the proxy saw comes last.
        claimed = client.get("/health", headers={"X-Forwarded-For": "10.1.2.3, 192.168.1.1"})
        assert claimed.status_code == 403


def test_each_client_has_its_own_rate() -> None:
    with serving(rate_limit=2, api_keys=(KEY, OTHER)) as client:
        asked = {"text": "x"}
        statuses = [client.post("/v1/tts", json=asked, headers=bearer(KEY)).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        answer = client.post("/v1/tts", json=asked, headers={**bearer(KEY), "Accept-Language": "zh"})
        assert 1 <= int(answer.headers["retry-after"]) <= 30
        assert "请求过于频繁" in answer.json()["error"]["message"]
        assert client.post("/v1/tts", json=asked, headers=bearer(OTHER)).status_code == 200
        assert client.get("/v1/voices", headers=bearer(KEY)).status_code == 200


def test_a_rate_refills_evenly() -> None:
    now_s = 0.0
    rates = Rates(60, lambda: now_s)
    for _ in range(60):
        rates.take("ann")
    with pytest.raises(TooManyRequests) as caught:
        rates.take("ann")
    assert caught.value.retry_after_s == pytest.approx(1.0)
    now_s = 1.0
    rates.take("ann")
    with pytest.raises(TooManyRequests):
        rates.take("ann")


def test_other_sites_are_let_in_only_by_name() -> None:
    asked = {"Origin": "https://example.org"}
    preflight = {
        **asked,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    with serving() as client:
        assert "access-control-allow-origin" not in client.get("/v1/voices", headers=asked).headers
        assert "access-control-allow-origin" not in client.options("/v1/tts", headers=preflight).headers
        # What a page of another site can send without asking first.
        plain = client.post("/v1/tts", content=b'{"text": "x"}', headers={"Content-Type": "text/plain"})
        assert plain.status_code == 400
    with serving(cors_origins=("https://example.org",), api_keys=(KEY,)) as client:
        assert client.options("/v1/tts", headers=preflight).status_code == 200
        refused = client.get("/v1/voices", headers=asked)
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == "https://example.org"
        other = client.get("/v1/voices", headers={"Origin": "https://example.net"})
        assert "access-control-allow-origin" not in other.headers


def test_behind_a_proxy_under_a_path() -> None:
    with serving(root_path="/voice", api_keys=(KEY,)) as client:
        for prefix in ("", "/voice"):
            assert client.get(f"{prefix}/v1/voices").status_code == 401
            assert client.get(f"{prefix}/v1/voices", headers=bearer(KEY)).status_code == 200
        document = client.get("/openapi.json", headers=bearer(KEY)).json()
        assert document["servers"] == [{"url": "/voice"}]


@pytest.mark.parametrize("length", ["abc", "-1", "1e9", "99999999999999999999999"])
def test_an_odd_length_is_refused(length: str) -> None:
    import socket

    with (
        serving() as client,
        socket.create_connection((client.base_url.host, client.base_url.port)) as caller,
    ):
        caller.settimeout(5)
        caller.sendall(
            f"POST /v1/tts HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode()
        )
        status = int(caller.recv(4096).split()[1])
    assert status in (400, 413)


def test_answers_cannot_be_taken_for_something_else(api: httpx.Client) -> None:
    assert api.get("/v1/voices").headers["x-content-type-options"] == "nosniff"


def test_the_page_believes_no_stranger_either() -> None:
    from voice_sculptor.ui.server import running

    settings = Settings(engine="fake", port=free_port(), preload=False, allow_hosts=("studio.lan",))
    with warnings.catch_warnings():
        # Gradio leaves event loops to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        with (
            running(settings) as (url, _),
            httpx.Client(base_url=url, timeout=30.0, trust_env=False) as client,
        ):
            forged = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
            assert "evil.example" not in client.get("/config", headers=forged).text
            crossing = client.get("/config", headers={"Host": "studio.lan", "Origin": "https://evil.example"})
            assert crossing.status_code == 200
            assert "access-control-allow-origin" not in crossing.headers
            rebound = client.get("/", headers={"Host": "rebound.example"})
            assert (rebound.status_code, rebound.json()["error"]["type"]) == (403, "ForbiddenHost")
        asyncio.set_event_loop(None)
        gc.collect()


def test_passwords_cannot_be_tried_for_ever() -> None:
    with serving(page_login=("ann:password-1",)) as client:
        answers = [client.get("/v1/voices", headers=basic("ann", f"guess-{n:04d}")) for n in range(25)]
        assert [answer.status_code for answer in answers] == [401] * 20 + [429] * 5
        assert int(answers[-1].headers["retry-after"]) >= 1
        # Whoever knows it is not shut out by others' guesses from elsewhere, nor by a few of their own.
        assert client.get("/v1/voices", headers=basic("ann", "password-1")).status_code == 200
