from __future__ import annotations

import base64
import io
from collections.abc import Iterator

import httpx
import numpy as np
import pytest
import soundfile as sf
from openai import NotFoundError, OpenAI

from voice_sculptor.audio.io import decode
from voice_sculptor.audio.streams import PCM_RATE

TEXT = "Good evening, this is a sentence of some length."
SECONDS = len(TEXT) * 0.06


@pytest.fixture
def openai(api: httpx.Client) -> Iterator[OpenAI]:
    own = httpx.Client(trust_env=False)
    with OpenAI(base_url=f"{api.base_url}/v1", api_key="unused", http_client=own, max_retries=0) as client:
        yield client


def f0_hz(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(spectrum.argmax() * rate / len(samples))


def test_design_gives_candidates_with_all_that_is_known_of_them(api: httpx.Client) -> None:
    asked = {
        "text": TEXT,
        "description": "an old man, frobnicating",
        "controls": {"pitch": 1, "emotion": {"name": "happy"}},
        "n": 2,
        "seed": 7,
        "response_format": "flac",
    }
    answer = api.post("/v1/design", json=asked)
    assert answer.status_code == 200
    made = answer.json()
    assert made["engine"] == "fake"
    assert {each["seed"] for each in made["candidates"]} == {7, 8}
    scores = [each["obedience"]["overall"] or -1.0 for each in made["candidates"]]
    assert scores == sorted(scores, reverse=True)
    for each in made["candidates"]:
        clip = decode(base64.b64decode(each["audio"]))
        assert clip.duration_s == pytest.approx(each["duration_s"], abs=0.01)
        assert each["measured"]["loudness_lufs"] < 0
        assert each["rtf"] > 0
        assert each["voice"]["state"]["f0_hz"] > 0
    assert made["understood"]["controls"]["gender"]["value"] == "male"
    assert made["failed"] == []
    again = api.post("/v1/design", json=asked).json()
    assert [each["audio"] for each in again["candidates"]] == [each["audio"] for each in made["candidates"]]


def test_warnings_are_in_the_asked_language(api: httpx.Client) -> None:
    asked = {"text": TEXT, "description": "a low voice", "controls": {"pitch": 2}, "n": 1}
    en = api.post("/v1/design", json=asked).json()["warnings"]
    zh = api.post("/v1/design", json=asked, headers={"Accept-Language": "zh-CN,zh;q=0.9"}).json()["warnings"]
    assert en
    assert [each["kind"] for each in en] == [each["kind"] for each in zh]
    assert en[0]["message"] != zh[0]["message"]


def test_a_designed_voice_speaks_other_text(api: httpx.Client) -> None:
    [made] = api.post("/v1/design", json={"text": TEXT, "n": 1, "seed": 3}).json()["candidates"]
    asked = {"model": "fake", "input": "Other words.", "voice": made["voice"], "response_format": "wav"}
    answer = api.post("/v1/audio/speech", json=asked)
    clip = decode(answer.content)
    expected = made["voice"]["state"]["f0_hz"]
    assert f0_hz(clip.samples, clip.sample_rate) == pytest.approx(expected, abs=2.0)
    assert answer.headers["x-seed"] == "3"


@pytest.mark.parametrize("format", ["wav", "flac", "mp3", "opus"])
def test_openais_client_gets_a_file_of_each_format(openai: OpenAI, format: str) -> None:
    answer = openai.audio.speech.create(
        model="tts-1",
        voice="fake_low",
        input=TEXT,
        response_format=format,  # type: ignore[arg-type]
    )
    clip = decode(answer.content)
    assert clip.duration_s == pytest.approx(SECONDS, abs=0.15)
    assert f0_hz(clip.samples, clip.sample_rate) == pytest.approx(110.0, abs=1.0)


def test_openais_client_streams_bare_samples(openai: OpenAI) -> None:
    with openai.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts",
        voice="fake_high",
        input=TEXT,
        response_format="pcm",
        instructions="speak slowly",
    ) as answer:
        pieces = list(answer.iter_bytes())
    samples = np.frombuffer(b"".join(pieces), "<i2").astype(np.float32)
    assert len(samples) / PCM_RATE > SECONDS * 1.1
    assert f0_hz(samples, PCM_RATE) == pytest.approx(220.0, abs=1.0)


def test_speed_is_followed(api: httpx.Client) -> None:
    asked = {"model": "auto", "input": TEXT, "voice": "fake_low", "response_format": "wav", "speed": 2.0}
    assert decode(api.post("/v1/audio/speech", json=asked).content).duration_s == pytest.approx(
        SECONDS / 2, abs=0.02
    )


def test_openais_client_is_told_of_an_unknown_voice(openai: OpenAI) -> None:
    with pytest.raises(NotFoundError) as caught:
        openai.audio.speech.create(model="tts-1", voice="fake_lo", input=TEXT)
    assert caught.value.body["type"] == "UnknownVoice"  # type: ignore[index]
    assert "fake_low" in caught.value.body["fix"]  # type: ignore[index]


def test_openais_client_lists_models(openai: OpenAI) -> None:
    assert next(iter(openai.models.list())).id == "fake"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "x.voice.json", "a\x00b"])
def test_a_voice_is_never_a_file(api: httpx.Client, name: str) -> None:
    for path, field, rest in (
        ("/v1/audio/speech", "voice", {"model": "auto", "input": TEXT}),
        ("/v1/tts", "reference_id", {"text": TEXT}),
    ):
        answer = api.post(path, json={**rest, field: name})
        assert answer.status_code == 404
        assert answer.json()["error"]["type"] == "UnknownVoice"


def test_tts_takes_fish_speechs_request(api: httpx.Client) -> None:
    asked = {
        "text": TEXT,
        "reference_id": "fake_high",
        "references": [],
        "format": "wav",
        "streaming": False,
        "seed": 5,
        "top_p": 0.7,
        "temperature": 0.7,
        "repetition_penalty": 1.2,
        "max_new_tokens": 1024,
        "chunk_length": 200,
        "normalize": True,
    }
    answer = api.post("/v1/tts", json=asked)
    assert answer.headers["content-type"] == "audio/wav"
    assert answer.headers["x-ignored"] == (
        "chunk_length, max_new_tokens, normalize, repetition_penalty, temperature, top_p"
    )
    samples, rate = sf.read(io.BytesIO(answer.content))
    assert len(samples) / rate == pytest.approx(SECONDS, abs=0.02)
    assert f0_hz(samples, rate) == pytest.approx(220.0, abs=1.0)


def test_tts_without_a_voice_draws_one_by_its_seed(api: httpx.Client) -> None:
    def made(seed: int) -> bytes:
        return api.post("/v1/tts", json={"text": TEXT, "seed": seed}).content

    assert made(1) == made(1)
    assert made(1) != made(2)


def test_references_are_refused_clearly(api: httpx.Client) -> None:
    answer = api.post("/v1/tts", json={"text": TEXT, "references": [{"audio": "AAAA", "text": "x"}]})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] == "NoCloning"
    assert "reference_id" in error["fix"]
