"""`voice-sculptor bench soak`: many mixed requests, some of them cancelled, bad, or out of memory.

Every request has to be answered, every clip has to be its own, and memory must not grow. The fake engine's audio
encodes its request; another engine's is compared with what the same few requests sounded like before, alone.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import logging
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import psutil

from voice_sculptor.bench.own_clips import Asked, Echoes, Marks, OwnClips
from voice_sculptor.config import load_settings
from voice_sculptor.domain import VoiceSpec
from voice_sculptor.engines.base import Engine
from voice_sculptor.engines.fake import FakeCosts, FakeEngine
from voice_sculptor.errors import (
    Cancelled,
    DeadlineExceeded,
    InvalidRequest,
    OutOfMemory,
    QueueFull,
    VoiceSculptorError,
)
from voice_sculptor.events import Failed, Ready, StudioEvent
from voice_sculptor.scheduling.worker import CancelToken
from voice_sculptor.studio import Studio
from voice_sculptor.takes import warm_measuring

MAX_GROWTH = 0.05
"""Of the process's memory, from a tenth of the requests to the end."""
CANCELLED_SHARE = 0.10
BAD_SHARE = 0.05
_PATIENCE_S = 300.0


@dataclass
class Outcome:
    """What became of the requests.

    Attributes:
        requests: Asked.
        answers: By kind: `done`, `cancelled` and so on.
        clips: Heard and compared.
        crossed: Of them, those that were not what was asked.
        wrong: Answers that do not fit to what was asked, as sentences.
        busy: Times that the queue was full and the request was made again.
        shortages: Injected.
        began_bytes: Memory after a tenth of the requests.
        ended_bytes: Memory at the end.
        wall_s: What it took.
    """

    requests: int
    answers: Counter[str] = field(default_factory=Counter)
    clips: int = 0
    crossed: int = 0
    wrong: list[str] = field(default_factory=list)
    busy: int = 0
    shortages: int = 0
    began_bytes: int = 0
    ended_bytes: int = 0
    wall_s: float = 0.0

    @property
    def growth(self) -> float:
        """Memory gained, as a share."""
        return self.ended_bytes / self.began_bytes - 1.0 if self.began_bytes else 0.0

    def faults(self) -> list[str]:
        """What was promised and is not so."""
        said = list(self.wrong)
        if (lost := self.requests - sum(self.answers.values())) != 0:
            said.append(f"{lost} requests were not answered")
        if self.crossed:
            said.append(f"{self.crossed} clips were not what was asked")
        if self.growth > MAX_GROWTH:
            said.append(f"memory grew by {self.growth:.1%}, more than {MAX_GROWTH:.0%}")
        return said


class _Asker:
    """One request after the other, each made from its number alone."""

    def __init__(self, studio: Studio, clips: OwnClips, outcome: Outcome, lock: threading.Lock) -> None:
        self._studio = studio
        self._clips = clips
        self._outcome = outcome
        self._lock = lock

    def ask(self, number: int) -> None:
        chance = random.Random(number)
        kind = chance.random()
        if kind < BAD_SHARE:
            answer, expected = self._bad(chance), {"refused"}
        elif kind < BAD_SHARE + CANCELLED_SHARE:
            # It may have been done before it was cancelled.
            answer, expected = self._leave(chance, number), {"cancelled", "deadline", "done", "out of memory"}
        else:
            answer, expected = self._stay(chance, number), {"done", "out of memory"}
        with self._lock:
            self._outcome.answers[answer] += 1
            if answer not in expected:
                self._outcome.wrong.append(f"request {number} was answered {answer!r}")

    def _bad(self, chance: random.Random) -> str:
        requests: list[dict[str, Any]] = [
            {"text": "。！"},
            {"text": "a" * 30_000},
            {"num_candidates": 99},
            {"seed": -1},
            {"options": {"no_engine_has_this": 1}},
        ]
        arguments: dict[str, Any] = {"text": "hello", "spec": VoiceSpec()} | chance.choice(requests)
        try:
            self._studio.design(**arguments)
        except InvalidRequest:
            return "refused"
        return "taken"

    def _leave(self, chance: random.Random, number: int) -> str:
        how = chance.choice(("token", "close", "deadline"))
        token = CancelToken()
        timeout_s = chance.uniform(0.0, 0.1) if how == "deadline" else None
        events = self._begin(self._clips.draw(chance, number), number, token=token, timeout_s=timeout_s)
        timer = threading.Timer(chance.uniform(0.0, 0.1), token.cancel) if how == "token" else None
        if timer:
            timer.start()
        try:
            with closing(cast(Any, events)):
                num_read = chance.randint(0, 4) if how == "close" else None
                for _ in itertools.islice(events, num_read):
                    pass
            return "cancelled" if how == "close" else "done"
        except VoiceSculptorError as error:
            return _kind(error)
        finally:
            if timer:
                timer.cancel()
                timer.join()

    def _stay(self, chance: random.Random, number: int) -> str:
        asked = self._clips.draw(chance, number)
        events = self._begin(asked, number, token=None, timeout_s=_PATIENCE_S)
        answer = "nothing"
        try:
            for event in events:
                if isinstance(event, Ready):
                    is_own = self._clips.is_own(asked, event.candidate)
                    answer = "done"
                    with self._lock:
                        self._outcome.clips += 1
                        self._outcome.crossed += not is_own
                elif isinstance(event, Failed):
                    answer = _kind(event.error)
        except VoiceSculptorError as error:
            return _kind(error)
        return answer

    def _begin(self, asked: Asked, number: int, **rest: Any) -> Iterator[StudioEvent]:
        """Where the queue is full, the request is made again, as its error asks."""
        while True:
            try:
                return asked.begin(self._studio, self._clips.options, client=f"client {number % 5}", **rest)
            except QueueFull as busy:
                with self._lock:
                    self._outcome.busy += 1
                time.sleep(min(0.1, busy.retry_after_s))


def measure(
    num_requests: int, num_clients: int = 12, shortage_rate: float = 0.01, engine_id: str = "fake"
) -> Outcome:
    """Ask, and look at each answer.

    Args:
        num_requests: In all.
        num_clients: Threads that ask.
        shortage_rate: Probability that a step of the fake engine runs out of memory.
        engine_id: As in `--engine`.
    """
    fake = FakeEngine(costs=FakeCosts(step_s=0.002, shortage_rate=shortage_rate, seed=1))
    settings = load_settings(engine=engine_id, max_queue=8, history_bytes=0)
    engine = cast(Engine, fake) if engine_id == "fake" else None
    outcome, lock, numbers = Outcome(num_requests), threading.Lock(), itertools.count()
    warm_measuring()
    with Studio(settings, engine) as studio:
        clips: OwnClips = Marks() if engine else Echoes(studio)

        def work() -> None:
            asker = _Asker(studio, clips, outcome, lock)
            while (number := next(numbers)) < num_requests:
                if number == num_requests // 10:
                    outcome.began_bytes = _memory_bytes()
                try:
                    asker.ask(number)
                except Exception as fault:  # noqa: BLE001  # Anything else is a fault that is looked for.
                    with lock:
                        outcome.wrong.append(f"request {number} raised {fault!r}")

        began_s = time.perf_counter()
        threads = [
            threading.Thread(target=work, name=f"asker-{each}", daemon=True) for each in range(num_clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        outcome.wall_s = time.perf_counter() - began_s
        outcome.ended_bytes = _memory_bytes()
        deadline_s = time.monotonic() + _PATIENCE_S
        while studio.worker.num_running and time.monotonic() < deadline_s:
            time.sleep(0.01)
        if studio.worker.num_waiting or studio.worker.num_running:
            outcome.wrong.append("requests were left on the device")
    outcome.shortages = fake.num_shortages
    return outcome


def report(outcome: Outcome) -> str:
    """The figures as a Markdown table, and what is wrong."""
    rows = [("requests", f"{outcome.requests:,}")]
    rows += [(f"answered: {kind}", f"{count:,}") for kind, count in sorted(outcome.answers.items())]
    rows += [
        ("made again because the queue was full", f"{outcome.busy:,}"),
        ("out of memory, injected", f"{outcome.shortages:,}"),
        ("clips compared", f"{outcome.clips:,}"),
        ("crossed", f"{outcome.crossed:,}"),
        ("memory after a tenth, MB", f"{outcome.began_bytes / 1e6:.0f}"),
        ("memory at the end, MB", f"{outcome.ended_bytes / 1e6:.0f}"),
        ("growth", f"{outcome.growth:.1%}"),
        ("time, s", f"{outcome.wall_s:.0f}"),
    ]
    faults = outcome.faults()
    lines = ["| | |", "|---|---|", *(f"| {name} | {figure} |" for name, figure in rows), ""]
    lines += [f"WRONG: {fault}" for fault in faults[:20]] if faults else ["All promises kept."]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> bool:
    """Measure and print; whether all promises were kept."""
    parser = argparse.ArgumentParser(prog="voice-sculptor bench soak", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument(
        "--engine", default="fake", help="any engine; requests run out of memory on the fake one only"
    )
    parser.add_argument("--clients", type=int, default=12, help="threads that ask")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    # Each shortage is a warning, and here there are hundreds.
    logging.getLogger("voice_sculptor.scheduling.batch").setLevel(logging.ERROR)
    outcome = measure(max(10, options.requests), max(1, options.clients), engine_id=options.engine)
    said = json.dumps(asdict(outcome), indent=2) if options.json else report(outcome)
    sys.stdout.write(said + "\n")
    return not outcome.faults()


def _kind(error: VoiceSculptorError) -> str:
    names = {Cancelled: "cancelled", DeadlineExceeded: "deadline", OutOfMemory: "out of memory"}
    return names.get(type(error), error.kind)


def _memory_bytes() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


if __name__ == "__main__":
    sys.exit(not main())
