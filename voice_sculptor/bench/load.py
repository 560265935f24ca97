"""`voice-sculptor bench load`: throughput and latency for more and more clients, with batches and without.

Each client is a thread that asks the studio, reads all of the answer, and asks again; with `--http` it is one of
another process, and asks the API over the loopback. Both modes are measured in one run on one loaded engine, in turn
for each number of clients.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean, median
from typing import cast

from voice_sculptor.bench.timed import TimedEngine
from voice_sculptor.config import Settings, load_settings
from voice_sculptor.device import cpu_name
from voice_sculptor.domain import VoiceSpec
from voice_sculptor.engines.base import Engine
from voice_sculptor.engines.fake import FakeCosts, FakeEngine
from voice_sculptor.engines.registry import create_engine
from voice_sculptor.errors import SynthesisFailed
from voice_sculptor.events import Preview, Ready
from voice_sculptor.studio import Studio
from voice_sculptor.takes import warm_measuring

MAX_OVERHEAD = 0.03
"""Goal at saturation: time of the service over time of the engine."""
CLIENTS = (1, 2, 4, 8, 16)
_SENTENCE = "the lake lay silent under the first snow and nobody had seen the ferry since noon"
_WORDS = tuple(_SENTENCE.split())
_CHINESE = "湖面在初雪下静静地躺着，从中午起就没有人看见渡船。"


Wait = tuple[float, float, float]
"""Seconds of a request until its end and until its first audio, and seconds of audio."""
Ask = Callable[[int, int], tuple[float, list[Wait]]]
"""Number of clients and requests of each, to the seconds that it took and what each request waited."""
_HOST = "127.0.0.1"


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
        self.waits: list[Wait] = []
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
    engine: Engine,
    settings: Settings,
    clients: Sequence[int] = CLIENTS,
    requests: int = 4,
    over_http: bool = False,
) -> list[Row]:
    """Every number of clients, without batches and with.

    Args:
        engine: Not loaded.
        settings: Of the studio.
        clients: Numbers of them.
        requests: Of each client; of few clients more, so that all runs are about as long.
        over_http: Ask the API from another process.
    """
    timed = TimedEngine(engine)
    settings = settings.model_copy(
        # All callers from one address are one client, which is not given every place.
        update={"max_queue": max(2 * max(clients), settings.max_queue), "history_bytes": 0}
    )
    with ExitStack() as stack:
        studio = stack.enter_context(Studio(settings, cast(Engine, timed)))
        ask = stack.enter_context(_over_http(studio, settings)) if over_http else partial(_in_threads, studio)
        warm_measuring()
        _run(studio, timed, ask, 1, 1)
        largest = studio.worker.max_batch_size
        rows = []
        for number in clients:
            count = max(1, round(requests * max(1.0, 4 / number)))
            for size in (1, largest) if largest > 1 else (1,):
                studio.worker.max_batch_size = size
                rows.append(_run(studio, timed, ask, number, count))
    return rows


def _in_threads(studio: Studio, num_clients: int, count: int) -> tuple[float, list[Wait]]:
    start = threading.Barrier(num_clients + 1)
    clients = [_Client(studio, number, count, start) for number in range(num_clients)]
    for client in clients:
        client.start()
    start.wait()
    began_s = time.perf_counter()
    for client in clients:
        client.join()
    wall_s = time.perf_counter() - began_s
    for client in clients:
        if client.fault is not None:
            raise client.fault
    return wall_s, [wait for client in clients for wait in client.waits]


@contextmanager
def _over_http(studio: Studio, settings: Settings) -> Iterator[Ask]:
    from voice_sculptor.api.app import create_app
    from voice_sculptor.api.serving import listening
    from voice_sculptor.ui.server import choose_port

    draw = random.Random(0)
    speaks_english = "en" in studio.engine.info.languages
    texts = [" ".join(draw.sample(_WORDS, draw.randint(8, 12))) for _ in range(20)]
    port = choose_port(_HOST, None).number
    command = [
        sys.executable,
        "-m",
        "voice_sculptor.bench.callers",
        f"http://{_HOST}:{port}",
        *(texts if speaks_english else [_CHINESE]),
    ]
    with (
        listening(create_app(studio, settings), settings.model_copy(update={"host": _HOST}), port),
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as callers,
    ):

        def ask(num_clients: int, count: int) -> tuple[float, list[Wait]]:
            assert callers.stdin is not None
            assert callers.stdout is not None
            callers.stdin.write(f"{num_clients} {count}\n")
            callers.stdin.flush()
            line = callers.stdout.readline()
            if not line:
                raise SynthesisFailed(
                    "The callers ended in the middle of the load test.",
                    "压测客户端在测试途中退出。",
                    fix_en="Their own message is above.",
                    fix_zh="原因见上方输出。",
                )
            answer = json.loads(line)
            return answer["wall_s"], [tuple(wait) for wait in answer["waits"]]

        try:
            yield ask
        finally:
            assert callers.stdin is not None
            callers.stdin.close()


def _run(studio: Studio, timed: TimedEngine, ask: Ask, num_clients: int, count: int) -> Row:
    timed.sizes.clear()
    work_s = timed.work_s
    wall_s, waits = ask(num_clients, count)
    work_s = timed.work_s - work_s
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
    parser.add_argument(
        "--http", action="store_true", help="ask the HTTP API from another process, over the loopback"
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
    rows = measure(engine, settings, clients, max(1, options.requests), options.http)
    said = (
        json.dumps([asdict(row) for row in rows], indent=2) if options.json else report(rows, engine.info.id)
    )
    sys.stdout.write(said + "\n")


if __name__ == "__main__":
    main()
