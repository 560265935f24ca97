from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import pytest

from tests.api.conftest import serving
from voice_sculptor import errors, metrics
from voice_sculptor.api.app import create_app
from voice_sculptor.api.caller import language_of
from voice_sculptor.api.errors import headers_of, status_of
from voice_sculptor.config import Settings
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import CandidateFailed
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.studio import Studio

GOOD = {"text": "Hello."}


def error_of(answer: httpx.Response) -> dict[str, str]:
    error: dict[str, str] = answer.json()["error"]
    assert set(answer.json()) == {"error"}
    assert set(error) == {"type", "message", "fix", "request_id"}
    assert error["fix"], error
    assert error["request_id"] == answer.headers["x-request-id"]
    return error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.EmptyText(), 400),
        (errors.TextTooLong(2, 1), 413),
        (errors.UnknownVoice("", ""), 404),
        (errors.InvalidVoiceFile("", ""), 400),
        (errors.WeightsNotFound("", ""), 503),
        (errors.RunawayOutput("", ""), 503),
        (errors.QueueFull(3, 4.2), 503),
        (errors.OutOfMemory("", ""), 507),
        (errors.DeadlineExceeded(), 504),
        (errors.ShuttingDown(), 503),
    ],
)
def test_each_kind_of_error_has_its_status(error: errors.VoiceSculptorError, status: int) -> None:
    assert status_of(error) == status


def test_a_full_queue_says_when_to_come_back() -> None:
    assert headers_of(errors.QueueFull(3, 4.2), "en")["Retry-After"] == "5"


def test_an_unknown_field_is_named_with_what_there_is(api: httpx.Client) -> None:
    answer = api.post("/v1/tts", json={**GOOD, "temperatur": 1})
    assert answer.status_code == 400
    error = error_of(answer)
    assert "'temperatur'" in error["message"]
    assert "'temperature'" in error["fix"]
    assert "reference_id" in error["fix"]


def test_an_unknown_field_inside_another_too(api: httpx.Client) -> None:
    error = error_of(api.post("/v1/design", json={**GOOD, "controls": {"pich": 1}}))
    assert "'controls.pich'" in error["message"]
    assert "'pitch'" in error["fix"]


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/v1/design", {}, "'text'"),
        ("/v1/design", {**GOOD, "n": 9}, "at most 6"),
        ("/v1/design", {**GOOD, "n": "3"}, "whole number"),
        ("/v1/design", {**GOOD, "response_format": "aac"}, "'wav'"),
        ("/v1/design", {**GOOD, "options": {"nope": 1}}, "'nope'"),
        ("/v1/design", {"text": " … "}, "nothing to speak"),
        ("/v1/audio/speech", {"model": "auto", "input": "x", "voice": "fake_low", "speed": 9}, "at most 2"),
        ("/v1/audio/speech", {"model": "auto", "input": "x"}, "'voice'"),
        ("/v1/design", [], "JSON object"),
        ("/v1/design", {"text": "\ud800"}, "Unicode"),
    ],
)
def test_a_wrong_field_is_named(api: httpx.Client, path: str, body: object, said: str) -> None:
    import json

    answer = api.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert said in error_of(answer)["message"]


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"", b"[" * 100_000, b'{"text": ' + b"1" * 6000 + b"}"])
def test_a_broken_body_is_a_sentence(api: httpx.Client, body: bytes) -> None:
    answer = api.post("/v1/design", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert error_of(answer)["message"]


def test_chinese_is_readable_as_it_comes(api: httpx.Client) -> None:
    body = {"model": "auto", "input": "x", "voice": "没有这个声音"}
    answer = api.post("/v1/audio/speech", json=body, headers={"Accept-Language": "zh-CN"})
    assert "没有名为 '没有这个声音' 的声音。".encode() in answer.content


def test_errors_speak_the_callers_language(api: httpx.Client) -> None:
    answer = api.post("/v1/tts", json={**GOOD, "x": 1}, headers={"Accept-Language": "zh-CN"})
    assert "没有字段" in error_of(answer)["message"]
    assert answer.headers["content-language"] == "zh"


def test_the_better_liked_language() -> None:
    assert language_of("en;q=0.8, zh-TW") == "zh"
    assert language_of("de, en;q=0.5, zh;q=0.4") == "en"
    assert language_of("") == "en"


def test_a_request_keeps_its_own_id(api: httpx.Client) -> None:
    assert api.get("/health", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert api.get("/health", headers={"X-Request-Id": "a b"}).headers["x-request-id"] != "a b"


def test_what_is_not_there(api: httpx.Client) -> None:
    answer = api.get("/v1/nothing")
    assert answer.status_code == 404
    assert error_of(answer)["type"] == "UnknownAddress"
    answer = api.get("/v1/design")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    assert error_of(answer)["type"] == "WrongMethod"
    assert api.post("/health").status_code == 405


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/v1/audio/speech", {"model": "auto", "input": "x", "voice": 5}, "'voice' must be a string"),
        ("/v1/audio/speech", {"model": "auto", "input": "x", "voice": ""}, "'voice' must have at least 1"),
        (
            "/v1/audio/speech",
            {"model": "auto", "input": "x", "voice": {"name": "v", "engine": "fake", "state": []}},
            "'voice.state' must be",
        ),
        (
            "/v1/audio/speech",
            {
                "model": "auto",
                "input": "x",
                "voice": {"name": "v", "engine": "fake", "state": {}, "seed": -1},
            },
            "'voice.seed' must be at least 0",
        ),
        ("/v1/tts", {"text": "x", "format": "zip"}, "'format' must be one of"),
    ],
)
def test_a_field_that_may_be_one_of_two_kinds_has_its_own_name(
    api: httpx.Client, path: str, body: object, said: str
) -> None:
    answer = api.post(path, json=body)
    assert answer.status_code == 400
    assert said in error_of(answer)["message"]


def test_an_option_out_of_range_is_the_callers_fault(api: httpx.Client) -> None:
    for delay_s in (-1, 1e300, "nan"):
        answer = api.post("/v1/design", json={**GOOD, "options": {"step_delay_s": delay_s}})
        assert (answer.status_code, error_of(answer)["type"]) == (400, "InvalidRequest")


def test_an_unknown_model_is_not_replaced(api: httpx.Client) -> None:
    answer = api.post("/v1/audio/speech", json={"model": "gpt-5", "input": "x", "voice": "fake_low"})
    assert answer.status_code == 404
    assert "'fake'" in error_of(answer)["fix"]


def test_long_text_and_long_bodies_are_413() -> None:
    with serving(max_text_chars=100, max_body_bytes=5_000) as client:
        answer = client.post("/v1/tts", json={"text": "a" * 101})
        assert (answer.status_code, error_of(answer)["type"]) == (413, "TextTooLong")
        answer = client.post("/v1/tts", json={"text": "a" * 6_000})
        assert (answer.status_code, error_of(answer)["type"]) == (413, "BodyTooLarge")

        def chunks() -> object:
            yield b'{"text": "'
            yield b"a" * 6_000

        answer = client.post("/v1/tts", content=chunks(), headers={"Content-Type": "application/json"})  # type: ignore[arg-type]
        assert (answer.status_code, error_of(answer)["type"]) == (413, "BodyTooLarge")


def test_a_full_queue_and_a_deadline() -> None:
    slow = {"text": "a" * 60, "n": 1, "options": {"step_delay_s": 0.3}}
    with serving(max_queue=1, max_batch_size=1) as client:
        answers: list[httpx.Response] = []

        def ask() -> None:
            answers.append(client.post("/v1/design", json=slow))

        askers = [threading.Thread(target=ask) for _ in range(4)]
        for each in askers:
            each.start()
        for each in askers:
            each.join()
        assert 200 in {each.status_code for each in answers}
        refused = [each for each in answers if each.status_code != 200]
        assert {error_of(each)["type"] for each in refused} == {"QueueFull"}
        assert all(each.status_code == 503 and int(each.headers["retry-after"]) >= 1 for each in refused)
        answer = client.post("/v1/design", json={**slow, "timeout_s": 0.2})
        assert (answer.status_code, error_of(answer)["type"]) == (504, "DeadlineExceeded")
        assert client.post("/v1/tts", json=GOOD).status_code == 200


class Refusing(FakeEngine):
    def synthesize(self, batch: object, is_cancelled: object) -> object:  # type: ignore[override]
        raise errors.UnsupportedControl("No.", "不。", fix_en="Go.", fix_zh="走。")


class Failing(FakeEngine):
    def synthesize(self, batch: list[SynthesisRequest], is_cancelled: object) -> Iterator[CandidateFailed]:  # type: ignore[override]
        for request in batch:
            yield CandidateFailed(
                request.id, 0, errors.InvalidVoiceFile("No.", "不。", fix_en="Go.", fix_zh="走。")
            )


@pytest.mark.parametrize(
    ("engine", "asked", "kind"),
    [
        (Refusing, GOOD, "UnsupportedControl"),
        (Failing, GOOD, "InvalidVoiceFile"),
        (FakeEngine, {"text": "。"}, "EmptyText"),
        (FakeEngine, {"text": "x", "reference_id": "nobody"}, "UnknownVoice"),
        (FakeEngine, {"text": 1}, "WrongField"),
    ],
)
def test_an_error_is_counted_once(engine: type[FakeEngine], asked: dict[str, object], kind: str) -> None:
    counter = metrics.ERRORS.labels(kind)
    with serving(engine()) as client:
        before = counter._value.get()
        assert error_of(client.post("/v1/tts", json=asked))["type"] == kind
        assert counter._value.get() == before + 1


def test_one_error_that_ends_two_requests_is_counted_twice() -> None:
    error = errors.ShuttingDown()
    counter = metrics.ERRORS.labels(error.kind)
    before = counter._value.get()
    for _ in range(2):
        metrics.count_error(error)
    assert counter._value.get() == before + 2


class Broken(FakeEngine):
    def synthesize(self, batch: object, is_cancelled: object) -> object:  # type: ignore[override]
        raise MemoryError


def test_out_of_memory_is_507_and_the_server_lives() -> None:
    with serving(Broken()) as client:
        answer = client.post("/v1/tts", json=GOOD)
        assert (answer.status_code, error_of(answer)["type"]) == (507, "OutOfMemory")
        assert client.get("/health").status_code == 200


def test_the_document_is_complete() -> None:
    with Studio(Settings(engine="fake"), FakeEngine()) as studio:
        document = create_app(studio).openapi()
    assert set(document["paths"]) >= {"/v1/design", "/v1/audio/speech", "/v1/tts", "/health", "/metrics"}
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            assert "503" in operation["responses"], path
            assert "422" not in operation["responses"], path
            done = operation["responses"].get("200") or operation["responses"]["201"]
            kinds = done["content"]
            assert "application/json" not in kinds or "example" in kinds["application/json"], path
    for name in ("DesignRequest", "SpeechRequest", "TtsRequest"):
        assert document["components"]["schemas"][name]["examples"]
