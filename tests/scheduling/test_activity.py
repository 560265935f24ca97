"""What was done in the last minute."""

from __future__ import annotations

import pytest

from voice_sculptor import metrics
from voice_sculptor.scheduling.activity import Activity, ActivityMeter


def test_only_what_happened_lately_counts() -> None:
    metrics.REQUESTS.labels("one of these", "done").inc(7)
    metrics.RTF.labels("one of these").observe(9.0)
    meter = ActivityMeter("one of these")
    assert meter.read(0.0) == Activity()
    metrics.REQUESTS.labels("one of these", "done").inc(2)
    metrics.REQUESTS.labels("one of these", "failed").inc(2)
    metrics.REQUESTS.labels("another", "done").inc(2)
    metrics.RTF.labels("one of these").observe(0.5)
    metrics.RTF.labels("one of these").observe(0.7)
    found = meter.read(30.0)
    assert found.requests_per_min == 2
    assert found.rtf == pytest.approx(0.6)
    metrics.REQUESTS.labels("one of these", "done").inc()
    assert meter.read(59.0).requests_per_min == 3
    assert meter.read(95.0).requests_per_min == 1
    assert meter.read(95.0).rtf is None
    assert meter.read(200.0) == Activity()


def test_what_is_done_before_the_first_look_counts() -> None:
    """The first reading of the memory may take longer than the first request."""
    metrics.REQUESTS.labels("early", "done").inc(4)
    meter = ActivityMeter("early")
    metrics.REQUESTS.labels("early", "done").inc(2)
    assert meter.read(1000.0).requests_per_min == 2
    assert meter.read(1059.0).requests_per_min == 2
    assert meter.read(1061.0) == Activity()
