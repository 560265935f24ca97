"""The clients of a load test over HTTP, in a process of their own: `python -m voice_sculptor.bench.callers URL TEXT …`.

One line in, `CLIENTS COUNT`, one line out: for each request the seconds until its end and until its first audio, and
the seconds of audio.
"""

from __future__ import annotations

import json
import sys
import threading
import time

import httpx

_TIMEOUT_S = 600.0


class _Caller(threading.Thread):
    """Asks so many times, one after the other, each time for new sound."""

    def __init__(self, url: str, texts: list[str], number: int, count: int) -> None:
        super().__init__(name=f"caller-{number}")
        self._url = url
        self._texts = texts
        self._number = number
        self._count = count
        self.waits: list[tuple[float, float, float]] = []
        self.fault: Exception | None = None

    def run(self) -> None:
        try:
            with httpx.Client(base_url=self._url, timeout=_TIMEOUT_S, trust_env=False) as client:
                for number in range(self._count):
                    self.waits.append(self._ask(client, number))
        except Exception as fault:  # noqa: BLE001  # Raised again where they are joined.
            self.fault = fault

    def _ask(self, client: httpx.Client, number: int) -> tuple[float, float, float]:
        text = self._texts[(self._number + number) % len(self._texts)]
        asked = {"text": text, "seed": number, "format": "pcm", "streaming": True}
        began_s = time.perf_counter()
        first_s, num_bytes = 0.0, 0
        with client.stream("POST", "/v1/tts", json=asked) as answer:
            if answer.status_code != 200:
                raise RuntimeError(f"{answer.status_code}: {answer.read().decode()}")
            sample_rate = int(answer.headers["x-sample-rate"])
            for part in answer.iter_raw():
                first_s = first_s or time.perf_counter() - began_s
                num_bytes += len(part)
        return time.perf_counter() - began_s, first_s, num_bytes / 2 / sample_rate


def main() -> None:
    """Answer lines until standard input ends."""
    url, *texts = sys.argv[1:]
    for line in sys.stdin:
        num_clients, count = map(int, line.split())
        callers = [_Caller(url, texts, number, count) for number in range(num_clients)]
        began_s = time.perf_counter()
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        for caller in callers:
            if caller.fault is not None:
                raise caller.fault
        waits = [wait for caller in callers for wait in caller.waits]
        sys.stdout.write(json.dumps({"wall_s": time.perf_counter() - began_s, "waits": waits}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
