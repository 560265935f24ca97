from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.conftest import serving
from voice_sculptor.library.store import Library


def test_a_kept_voice_speaks_by_its_name_and_its_id_until_it_is_deleted(tmp_path: Path) -> None:
    with serving(data_dir=tmp_path) as client:
        [made] = client.post("/v1/design", json={"text": "Hello.", "n": 1, "seed": 4}).json()["candidates"]
        answer = client.post("/v1/voices", json={"voice": made["voice"], "name": "旁白"})
        assert answer.status_code == 201
        kept = answer.json()
        assert kept["name"] == "旁白"
        assert kept["voice"]["state"] == made["voice"]["state"]
        assert client.get(f"/v1/voices/{kept['id']}").json() == kept
        assert [each["id"] for each in client.get("/v1/voices").json()["kept"]] == [kept["id"]]
        assert client.get("/v1/audio/voices").json()["voices"] == ["旁白", "fake_low", "fake_high"]

        def spoken(voice: object) -> bytes:
            asked = {"model": "auto", "input": "Other words.", "voice": voice, "response_format": "wav"}
            answer = client.post("/v1/audio/speech", json=asked)
            assert answer.status_code == 200
            return answer.content

        assert spoken("旁白") == spoken(kept["id"]) == spoken(made["voice"])
        by_reference = client.post("/v1/tts", json={"text": "Other words.", "reference_id": "旁白"})
        assert by_reference.content == spoken("旁白")
        assert client.delete("/v1/voices/旁白").json() == {"id": kept["id"], "deleted": True}
        assert client.delete(f"/v1/voices/{kept['id']}").status_code == 404
        answer = client.post("/v1/tts", json={"text": "x", "reference_id": kept["id"]})
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "UnknownVoice")
        assert client.get("/v1/voices").json()["kept"] == []


def test_a_kept_voice_outlives_the_server_and_takes_no_other_ones_name(tmp_path: Path) -> None:
    voice = {"name": "fake_low", "engine": "fake", "state": {"f0_hz": 150.0}}
    with serving(data_dir=tmp_path) as client:
        names = [client.post("/v1/voices", json={"voice": voice}).json()["name"] for _ in range(2)]
    assert names == ["fake_low (2)", "fake_low (3)"]
    with serving(data_dir=tmp_path) as client:
        assert {each["name"] for each in client.get("/v1/voices").json()["kept"]} == set(names)


def test_asking_makes_no_library(tmp_path: Path) -> None:
    with serving(data_dir=tmp_path) as client:
        assert client.get("/v1/voices").json()["kept"] == []
        assert client.get("/v1/voices/nobody").status_code == 404
        assert client.delete("/v1/voices/nobody").status_code == 404
    assert not Library.is_in(tmp_path)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("", {}),
        ("x" * 121, {}),
        (" ", {}),
        ("a", "no object"),
        ("a", {"x": float("nan")}),
        ("a", {"x": "\ud800"}),
        ("a", {"\ud800": 1}),
        ("a", {"x": json.loads("[" * 40 + "]" * 40)}),
        ("a", json.loads('{"x":' * 900 + "{}" + "}" * 900)),
    ],
)
def test_a_voice_that_cannot_be_kept(tmp_path: Path, name: str, state: object) -> None:
    body = json.dumps({"name": name, "voice": {"name": "v", "engine": "fake", "state": state}})
    with serving(data_dir=tmp_path) as client:
        answer = client.post("/v1/voices", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["error"]["message"]
        assert ("nested too deeply" in answer.text) is ("[[[" in body or '{"x": {"x"' in body)
        assert client.get("/v1/voices").json()["kept"] == []


def test_a_voice_of_another_engine_is_kept_but_not_spoken_with(tmp_path: Path) -> None:
    voice = {"name": "far", "engine": "other", "state": {}}
    with serving(data_dir=tmp_path) as client:
        assert client.post("/v1/voices", json={"voice": voice}).status_code == 201
        assert "far" not in client.get("/v1/audio/voices").json()["voices"]
        answer = client.post("/v1/tts", json={"text": "x", "reference_id": "far"})
        assert answer.status_code == 400
        assert "other" in answer.json()["error"]["message"]
