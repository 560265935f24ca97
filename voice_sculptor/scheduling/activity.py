"""What the device has been doing lately, out of the series that serving counts."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from voice_sculptor import metrics

WINDOW_S = 60.0


@dataclass(frozen=True)
class Activity:
    """Over the last minute.

    Attributes:
        rtf: Wall time / audio duration of the candidates that were made; `None` where none was.
        requests_per_min: Requests that were done.
    """

    rtf: float | None = None
    requests_per_min: float = 0.0


@dataclass(frozen=True)
class _Counts:
    at_s: float
    num_done: float
    rtf_sum: float
    rtf_count: float


class ActivityMeter:
    """Looks at the counters from time to time.

    What was counted before it was made is not its own; what was counted between that and its first look is.

    Args:
        engine_id: Whose.
    """

    def __init__(self, engine_id: str) -> None:
        self._labels = {"engine": engine_id}
        self._counts = deque([self._count(-math.inf)])

    def read(self, now_s: float) -> Activity:
        """What was done since a minute ago, or since this was made.

        Args:
            now_s: On the clock of `time.monotonic`.
        """
        latest = self._count(now_s)
        self._counts.append(latest)
        while len(self._counts) > 1 and self._counts[1].at_s <= now_s - WINDOW_S:
            self._counts.popleft()
        first = self._counts[0]
        num_made = latest.rtf_count - first.rtf_count
        return Activity(
            (latest.rtf_sum - first.rtf_sum) / num_made if num_made else None,
            latest.num_done - first.num_done,
        )

    def _count(self, at_s: float) -> _Counts:
        return _Counts(
            at_s,
            _value("voice_sculptor_requests_total", {**self._labels, "outcome": "done"}),
            _value("voice_sculptor_rtf_sum", self._labels),
            _value("voice_sculptor_rtf_count", self._labels),
        )


def _value(name: str, labels: dict[str, str]) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0
