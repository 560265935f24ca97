"""Requests made up from the OpenAPI document: whatever is sent, the answer is one that the document knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from tests.api.conftest import serving
from voice_sculptor.api.app import create_app
from voice_sculptor.config import Settings
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.studio import Studio

WORK = (
    ("POST", "/v1/design"),
    ("POST", "/v1/audio/speech"),
    ("POST", "/v1/tts"),
    ("POST", "/v1/voices"),
    ("GET", "/v1/voices/{id}"),
    ("DELETE", "/v1/voices/{id}"),
)
BUSY = (503, 504, 507)
SHORT = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
LONG = settings(SHORT, max_examples=500, derandomize=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with serving(max_text_chars=300, data_dir=tmp_path_factory.mktemp("data")) as client:
        yield client


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as each:
        each.trust_env = False
        yield each


@pytest.fixture(scope="module")
def document() -> Any:
    with Studio(Settings(engine="fake"), FakeEngine()) as studio:
        return schemathesis.openapi.from_dict(create_app(studio).openapi())


def fuzz(
    operation: Any, mode: GenerationMode, server: httpx.Client, session: requests.Session, extent: settings
) -> int:
    """Number of requests that were answered as the document says."""
    known = operation.definition.raw["responses"]
    num_answered = 0

    @extent
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        nonlocal num_answered
        response = case.call(base_url=str(server.base_url), session=session)
        status = response.status_code
        assert status < 500 or status in BUSY, response.text
        assert str(status) in known, (status, response.text)
        if status >= 400:
            error = response.json()["error"]
            assert set(error) == {"type", "message", "fix", "request_id"}
            assert error["fix"], error
        num_answered += 1

    ask()
    return num_answered


@pytest.mark.parametrize(("method", "path"), WORK)
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize(
    "effort",
    [
        pytest.param(SHORT, id="short"),
        pytest.param(LONG, id="long", marks=[pytest.mark.slow, pytest.mark.timeout(1200)]),
    ],
)
def test_no_request_breaks_the_server(
    document: Any,
    server: httpx.Client,
    session: requests.Session,
    method: str,
    path: str,
    mode: GenerationMode,
    effort: Any,
) -> None:
    assert fuzz(document[path][method], mode, server, session, effort) >= 3


def test_all_that_takes_anything_is_tried(document: Any) -> None:
    listed = {
        (method.upper(), path)
        for path, methods in document.raw_schema["paths"].items()
        for method, operation in methods.items()
        if "requestBody" in operation or "parameters" in operation
    }
    assert listed == set(WORK)
