from __future__ import annotations

import time

import httpx

from tests.api.conftest import serving
from voice_sculptor.presets import load_presets


def test_voices_with_their_measurements(api: httpx.Client) -> None:
    voices = api.get("/v1/voices").json()
    assert voices["engine"] == "fake"
    assert [(each["name"], each["measurements"]["f0_hz"]) for each in voices["voices"]] == [
        ("fake_low", 110.0),
        ("fake_high", 220.0),
    ]
    assert api.get("/v1/audio/voices").json() == {"voices": ["fake_low", "fake_high"]}


def test_presets_are_whole(api: httpx.Client) -> None:
    presets = api.get("/v1/presets").json()["presets"]
    assert [each["id"] for each in presets] == [preset.id for preset in load_presets()]
    asked = {"text": "Hello.", "description": presets[0]["description"]["en"], "n": 1}
    assert api.post("/v1/design", json={**asked, "controls": presets[0]["controls"]}).status_code == 200


def test_engines_with_their_options(api: httpx.Client) -> None:
    engines = {each["id"]: each for each in api.get("/v1/engines").json()["engines"]}
    assert [name for name, each in engines.items() if each["is_running"]] == ["fake"]
    assert "step_delay_s" in engines["fake"]["options"]
    assert engines["kokoro"]["weights_licence"] == "Apache-2.0"


def test_ready_follows_the_engine() -> None:
    with serving() as client:
        answer = client.get("/ready")
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.json()["error"]["type"] == "NotReady"
        assert client.get("/health").json()["is_loaded"] is False
        assert client.post("/v1/tts", json={"text": "Hello."}).status_code == 200
        assert client.get("/ready").json() == {"status": "ready", "engine": "fake"}
    with serving(preload=False) as client:
        assert client.get("/ready").status_code == 200


def test_health_has_the_figures(api: httpx.Client) -> None:
    began_s = time.monotonic()
    health = api.get("/health").json()
    assert time.monotonic() - began_s < 5
    assert health["status"] == "ok"
    assert health["engine"] == "fake"
    assert health["pending_requests"] == 0
    assert "gpu_memory_used" in health


def test_metrics_are_prometheus(api: httpx.Client) -> None:
    api.post("/v1/tts", json={"text": "Hello."})
    api.post("/v1/tts", json={"text": "Hello.", "reference_id": "nobody"})
    answer = api.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert 'voice_sculptor_requests_total{engine="fake",outcome="done"}' in answer.text
    assert 'voice_sculptor_errors_total{kind="UnknownVoice"}' in answer.text
