"""Requests made up from the OpenAPI document: whatever is sent, the answer is one that the document knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings

from tests.api.conftest import serving
from voice_sculptor.api.app import create_app
from voice_sculptor.config import Settings
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.studio import Studio

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


schema = schemathesis.pytest.from_fixture("document")


def answered(case: Any, server: httpx.Client, session: requests.Session) -> None:
    response = case.call(base_url=str(server.base_url), session=session)
    status = response.status_code
    assert status < 500 or status in BUSY, response.text
    assert str(status) in case.operation.definition.raw["responses"], (status, response.text)
    if status >= 400:
        assert set(response.json()["error"]) == {"type", "message", "fix", "request_id"}


@schema.parametrize()
@SHORT
def test_no_request_breaks_the_server(case: Any, server: httpx.Client, session: requests.Session) -> None:
    answered(case, server, session)


@pytest.mark.slow
@schema.parametrize()
@LONG
def test_no_request_of_many_breaks_the_server(
    case: Any, server: httpx.Client, session: requests.Session
) -> None:
    answered(case, server, session)
