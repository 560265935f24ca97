from __future__ import annotations

import base64
import io
import json
import socket
import time
import wave

import httpx
import numpy as np
import pytest
import soundfile as sf

from tests.api.conftest import serving
from voice_sculptor.audio.io import decode
from voice_sculptor.engines.fake import FakeCosts, FakeEngine

TEXT = "a" * 120
"""Ten pieces of the fake engine."""
SECONDS = len(TEXT) * 0.06
STEP_S = 0.2


def speech(**more: object) -> dict[str, object]:
    return {"model": "auto", "input": TEXT, "voice": "fake_low", **more}


def test_a_whole_wav_says_its_true_length(api: httpx.Client) -> None:
    answer = api.post("/v1/audio/speech", json=speech(response_format="wav"))
    assert int(answer.headers["content-length"]) == len(answer.content)
    with wave.open(io.BytesIO(answer.content)) as file:
        assert file.getsampwidth() == 2
        assert file.getnframes() * 2 == len(answer.content) - 44
        assert file.getnframes() / file.getframerate() == pytest.approx(SECONDS, abs=0.02)


@pytest.mark.parametrize("format", ["wav", "mp3", "opus"])
def test_a_stream_is_one_valid_file(api: httpx.Client, format: str) -> None:
    answer = api.post("/v1/audio/speech", json=speech(response_format=format, stream_format="audio"))
    assert "content-length" not in answer.headers
    assert answer.headers["transfer-encoding"] == "chunked"
    assert decode(answer.content).duration_s == pytest.approx(SECONDS, abs=0.15)


def test_fish_speechs_streaming_wav_claims_no_length(api: httpx.Client) -> None:
    answer = api.post("/v1/tts", json={"text": TEXT, "format": "wav", "streaming": True})
    assert answer.content[40:44] == bytes(4)
    samples, rate = sf.read(io.BytesIO(answer.content))
    assert len(samples) / rate == pytest.approx(SECONDS, abs=0.02)


def test_events_carry_the_same_audio(api: httpx.Client) -> None:
    asked = speech(response_format="pcm", seed=1)
    bare = api.post("/v1/audio/speech", json=asked).content
    answer = api.post("/v1/audio/speech", json={**asked, "stream_format": "sse"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]
    assert events[-1] == {"type": "speech.audio.done"}
    assert {each["type"] for each in events[:-1]} == {"speech.audio.delta"}
    assert b"".join(base64.b64decode(each["audio"]) for each in events[:-1]) == bare
    assert np.abs(np.frombuffer(bare, "<i2")).max() > 1000


def test_audio_comes_while_it_is_made() -> None:
    with serving(FakeEngine(costs=FakeCosts(step_s=STEP_S))) as client:
        client.get("/health")
        began_s = time.monotonic()
        with client.stream("POST", "/v1/audio/speech", json=speech(response_format="pcm")) as answer:
            pieces = answer.iter_raw()
            next(pieces)
            first_s = time.monotonic() - began_s
            rest = list(pieces)
        whole_s = time.monotonic() - began_s
    assert len(rest) >= 5
    assert first_s < whole_s - 4 * STEP_S


def test_an_error_before_the_first_piece_has_its_status(api: httpx.Client) -> None:
    asked = speech(response_format="pcm", voice="nobody")
    assert api.post("/v1/audio/speech", json=asked).status_code == 404


class Breaking(FakeEngine):
    """Breaks after three pieces."""

    def synthesize(self, batch, is_cancelled):  # type: ignore[no-untyped-def]
        for number, event in enumerate(super().synthesize(batch, is_cancelled)):
            if number == 3:
                raise RuntimeError("broken")
            yield event


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_midway_breaks_the_body_off() -> None:
    with serving(Breaking()) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            client.post("/v1/audio/speech", json=speech(response_format="pcm"))
        answer = client.post("/v1/audio/speech", json=speech(response_format="pcm", stream_format="sse"))
        last = json.loads(answer.text.strip().split("\n\n")[-1].removeprefix("data: "))
        assert last["type"] == "error"
        assert last["error"]["type"] == "SynthesisFailed"


@pytest.mark.parametrize(
    ("path", "body", "reads"),
    [
        ("/v1/audio/speech", speech(response_format="pcm", input=TEXT * 10), True),
        ("/v1/audio/speech", speech(response_format="wav", input=TEXT * 10), False),
        ("/v1/design", {"text": TEXT * 10, "n": 1}, False),
    ],
)
def test_who_leaves_cancels_within_a_step(path: str, body: dict[str, object], reads: bool) -> None:
    engine = FakeEngine(costs=FakeCosts(step_s=0.1))
    with serving(engine) as client:
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        with socket.create_connection((client.base_url.host, client.base_url.port)) as caller:
            caller.sendall(head.encode() + content)
            if reads:
                assert caller.recv(4096).startswith(b"HTTP/1.1 200")
            else:
                until_s = time.monotonic() + 5
                while client.get("/health").json()["running_requests"] == 0:
                    assert time.monotonic() < until_s
                    time.sleep(0.02)
        # A hundred steps of 0.1 s were asked for.
        until_s = time.monotonic() + 2
        while client.get("/health").json()["running_requests"]:
            assert time.monotonic() < until_s, "still running"
            time.sleep(0.02)
        assert engine.work_s < 3.0
        assert client.post("/v1/tts", json={"text": "Hello."}).status_code == 200
