"""`voice-sculptor bench load`: throughput and latency for more and more clients, with batches and without.

Each client is a thread that asks the studio, reads all of the answer, and asks again. Both modes are measured in one
run on one loaded engine, in turn for each number of clients.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import cast

from voice_sculptor.bench.timed import TimedEngine
from voice_sculptor.config import Settings, load_settings
from voice_sculptor.device import cpu_name
from voice_sculptor.domain import VoiceSpec
from voice_sculptor.engines.base import Engine
from voice_sculptor.engines.fake import FakeCosts, FakeEngine
from voice_sculptor.engines.registry import create_engine
from voice_sculptor.events import Preview, Ready
from voice_sculptor.studio import Studio
from voice_sculptor.takes import warm_measuring

MAX_OVERHEAD = 0.03
"""Goal at saturation: time of the service over time of the engine."""
CLIENTS = (1, 2, 4, 8, 16)
_SENTENCE = "the lake lay silent under the first snow and nobody had seen the ferry since noon"
_WORDS = tuple(_SENTENCE.split())
_CHINESE = "湖面在初雪下静静地躺着，从中午起就没有人看见渡船。"


@dataclass(frozen=True)
class Row:
    """One number of clients in one mode.

    Attributes:
        clients: Asking at once.
        max_batch_size: 1 without dynamic batching.
        requests_per_s: Answered.
        audio_s_per_s: Seconds of audio made per second.
        latency_s: From asking to the last candidate, median.
        latency_p95_s: The same, of which 95 % are no slower.
        first_s: From asking to the first audio, median.
        mean_batch: Requests per call of the engine.
        overhead: Wall time over the engine's time, less 1.
    """

    clients: int
    max_batch_size: int
    requests_per_s: float
    audio_s_per_s: float
    latency_s: float
    latency_p95_s: float
    first_s: float
    mean_batch: float
    overhead: float


class _Client(threading.Thread):
    """Asks so many times, one after the other."""

    def __init__(self, studio: Studio, number: int, count: int, start: threading.Barrier) -> None:
        super().__init__(name=f"client-{number}")
        self._studio = studio
        self._count = count
        self._start = start
        self._random = random.Random(number)
        self.waits: list[tuple[float, float, float]] = []
        self.fault: Exception | None = None

    def run(self) -> None:
        self._start.wait()
        try:
            for number in range(self._count):
                self._ask(number)
        except Exception as fault:  # noqa: BLE001  # Raised again where the clients are joined.
            self.fault = fault

    def _ask(self, number: int) -> None:
        speaks_english = "en" in self._studio.engine.info.languages
        words = self._random.sample(_WORDS, self._random.randint(8, 12))
        began_s = time.perf_counter()
        first_s, audio_s = 0.0, 0.0
        events = self._studio.design(
            " ".join(words) if speaks_english else _CHINESE,
            VoiceSpec(),
            num_candidates=1,
            seed=number,
            client=self.name,
        )
        for event in events:
            if isinstance(event, Preview) and not first_s:
                first_s = time.perf_counter() - began_s
            elif isinstance(event, Ready):
                audio_s += event.candidate.audio.duration_s
        self.waits.append((time.perf_counter() - began_s, first_s, audio_s))


def measure(
    engine: Engine, settings: Settings, clients: Sequence[int] = CLIENTS, requests: int = 4
) -> list[Row]:
    """Every number of clients, without batches and with.

    Args:
        engine: Not loaded.
        settings: Of the studio.
        clients: Numbers of them.
        requests: Of each client; of few clients more, so that all runs are about as long.
    """
    timed = TimedEngine(engine)
    settings = settings.model_copy(
        update={"max_queue": max(*clients, settings.max_queue), "history_bytes": 0}
    )
    with Studio(settings, cast(Engine, timed)) as studio:
        warm_measuring()
        _run(studio, timed, 1, 1)
        largest = studio.worker.max_batch_size
        rows = []
        for number in clients:
            count = max(1, round(requests * max(1.0, 4 / number)))
            for size in (1, largest) if largest > 1 else (1,):
                studio.worker.max_batch_size = size
                rows.append(_run(studio, timed, number, count))
    return rows


def _run(studio: Studio, timed: TimedEngine, num_clients: int, count: int) -> Row:
    start = threading.Barrier(num_clients + 1)
    clients = [_Client(studio, number, count, start) for number in range(num_clients)]
    for client in clients:
        client.start()
    timed.sizes.clear()
    work_s = timed.work_s
    start.wait()
    began_s = time.perf_counter()
    for client in clients:
        client.join()
    wall_s = time.perf_counter() - began_s
    for client in clients:
        if client.fault is not None:
            raise client.fault
    work_s = timed.work_s - work_s
    waits = [wait for client in clients for wait in client.waits]
    latencies_s = sorted(latency_s for latency_s, _, _ in waits)
    return Row(
        clients=num_clients,
        max_batch_size=studio.worker.max_batch_size,
        requests_per_s=len(waits) / wall_s,
        audio_s_per_s=sum(audio_s for _, _, audio_s in waits) / wall_s,
        latency_s=median(latencies_s),
        latency_p95_s=latencies_s[min(len(latencies_s) - 1, int(0.95 * len(latencies_s)))],
        first_s=median(first_s for _, first_s, _ in waits),
        mean_batch=fmean(timed.sizes),
        overhead=wall_s / work_s - 1.0 if work_s else 0.0,
    )


def report(rows: Sequence[Row], engine_id: str) -> str:
    """The figures as a Markdown table."""
    lines = [
        f"Engine {engine_id}; {cpu_name()}; clients are threads that ask again as soon as they are answered.",
        "",
        "| clients | largest batch | requests/s | audio s/s | gain | latency s | 95 % | first audio s | mean batch "
        "| overhead |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    alone = {row.clients: row for row in rows if row.max_batch_size == 1}
    for row in rows:
        gain = row.requests_per_s / alone[row.clients].requests_per_s
        lines.append(
            f"| {row.clients} | {row.max_batch_size} | {row.requests_per_s:.2f} | {row.audio_s_per_s:.2f} "
            f"| **{gain:.2f}** | {row.latency_s:.2f} | {row.latency_p95_s:.2f} | {row.first_s:.2f} "
            f"| {row.mean_batch:.2f} | {row.overhead:.1%} |"
        )
    fullest = saturated(rows)
    said = "met" if fullest.overhead <= MAX_OVERHEAD else "not met"
    lines += [
        "",
        f"Overhead of the service at saturation ({fullest.clients} clients, batches up to {fullest.max_batch_size}): "
        f"{fullest.overhead:.1%} of the engine's time, goal {MAX_OVERHEAD:.0%}, {said}.",
    ]
    return "\n".join(lines)


def saturated(rows: Sequence[Row]) -> Row:
    """The run with most clients and the largest batches."""
    return max(rows, key=lambda row: (row.clients, row.max_batch_size))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="voice-sculptor bench load", description=__doc__)
    parser.add_argument(
        "--engine", default="fake", help="any engine; by default the fake one, a stand-in for a device"
    )
    parser.add_argument(
        "--clients", default=",".join(map(str, CLIENTS)), help="numbers of clients, with commas between"
    )
    parser.add_argument(
        "--requests", type=int, default=8, help="requests of each client, more where they are few"
    )
    parser.add_argument(
        "--step-ms", type=float, default=100.0, help="fake engine: work for 0.7 s of audio of one request"
    )
    parser.add_argument(
        "--row-share", type=float, default=0.25, help="fake engine: what each further request adds"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    try:
        clients = [max(1, int(number)) for number in options.clients.split(",")]
    except ValueError:
        parser.error(f"--clients takes numbers with commas between, not {options.clients!r}")
    settings = load_settings(engine=options.engine)
    costs = FakeCosts(step_s=options.step_ms / 1000.0, row_share=options.row_share)
    is_fake = options.engine == "fake"
    engine = cast(Engine, FakeEngine(costs=costs)) if is_fake else create_engine(options.engine, settings)
    rows = measure(engine, settings, clients, max(1, options.requests))
    said = (
        json.dumps([asdict(row) for row in rows], indent=2) if options.json else report(rows, engine.info.id)
    )
    sys.stdout.write(said + "\n")


if __name__ == "__main__":
    main()
