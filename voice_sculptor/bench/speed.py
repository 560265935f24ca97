"""`voice-sculptor bench speed`: the embedded engine against kokoro-onnx, same weights, same threads, A B A B."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psutil

from voice_sculptor.config import load_settings
from voice_sculptor.device import cpu_name
from voice_sculptor.engines.kokoro import weights
from voice_sculptor.engines.kokoro.atlas import Atlas
from voice_sculptor.errors import MissingDependency, SynthesisFailed

VOICE = "af_heart"
TEXTS = {
    20: "The lake lay silent.",
    100: "The lake lay silent under the first snow, and nobody in the village had seen the ferry since noon.",
    200: (
        "The lake lay silent under the first snow, and nobody in the village had seen the ferry since noon. "
        "Old Martha lit the lamp in the window, put the kettle on, and told the children that it would come."
    ),
    400: (
        "The lake lay silent under the first snow, and nobody in the village had seen the ferry since noon. "
        "Old Martha lit the lamp in the window, put the kettle on, and told the children that it would come. "
        "Toward evening the wind turned, the clouds broke open above the hills, and far out on the dark water a "
        "small yellow light began to swing from side to side. They ran down to the pier, all of them, shouting."
    ),
}
COLD_CHARS = 100


class _Contender:
    """A side of the benchmark, running."""

    def __init__(self, name: str, arguments: Sequence[str], stack: ExitStack) -> None:
        self.name = name
        command = [sys.executable, "-m", "voice_sculptor.bench.contender", *arguments]
        self._process = stack.enter_context(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
        stack.callback(self._process.kill)
        self.load_s = float(self._read()["load_s"])

    def say(self, num_chars: int) -> dict[str, float]:
        if self._process.stdin is None:
            raise SynthesisFailed(f"{self.name} has no input.", f"{self.name} 没有输入。")
        self._process.stdin.write(json.dumps({"text": TEXTS[num_chars], "voice": VOICE}) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, float]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SynthesisFailed(
                f"{self.name} ended in the middle of the benchmark.",
                f"{self.name} 在测试途中退出。",
                fix_en="Its own message is above.",
                fix_zh="原因见上方输出。",
            )
        figures: dict[str, float] = json.loads(line)
        return figures


def measure(rounds: int, threads: int, checkpoints_dir: Path) -> dict[str, Any]:
    """Run both sides in turn.

    Args:
        rounds: Repetitions of each text, and of the first request, each time in new processes.
        threads: For both sides.
        checkpoints_dir: Where this project's weights are.

    Returns:
        Medians per side and text, and the ratios ours / peer.

    Raises:
        MissingDependency: kokoro-onnx is not installed.
    """
    _need_peer()
    weights.prepare(checkpoints_dir)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        model, voices = Path(folder, "kokoro.onnx"), Path(folder, "voices.npz")
        model.write_bytes(weights.read_export())
        with voices.open("wb") as file:
            np.savez(file, allow_pickle=False, **{VOICE: Atlas.load().table(VOICE)[:, None, :]})
        common = ["--threads", str(threads)]
        sides = {
            "voice-sculptor": ["ours", "--checkpoints", str(checkpoints_dir), *common],
            "voice-sculptor, warmed up": ["ours", "--warm", "--checkpoints", str(checkpoints_dir), *common],
            "kokoro-onnx": ["peer", "--model", str(model), "--voices", str(voices), *common],
        }
        cold: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
        for _ in range(rounds):
            for name, arguments in sides.items():
                with ExitStack() as alone:
                    side = _Contender(name, arguments, alone)
                    cold[name].append(side.say(COLD_CHARS) | {"load_s": side.load_s})
        at_once, warmed, cold_peer = cold.values()
        ours, peer = (_Contender(name, sides[name], stack) for name in ("voice-sculptor", "kokoro-onnx"))
        warm: dict[int, tuple[list[dict[str, float]], list[dict[str, float]]]] = {}
        for num_chars in TEXTS:
            pair = warm[num_chars] = ([], [])
            for _ in range(rounds + 1):
                pair[0].append(ours.say(num_chars))
                pair[1].append(peer.say(num_chars))
        rows = [
            _row(f"first request at once, {COLD_CHARS} chars", at_once, cold_peer),
            _row(f"first request after the warm-up, {COLD_CHARS} chars", warmed, cold_peer),
        ]
        # The first of each is dropped: a new length is planned and allocated once.
        rows += [_row(f"warm, {n} chars", a[1:], b[1:]) for n, (a, b) in warm.items()]
        return {
            "threads": threads,
            "rounds": rounds,
            "cpu": cpu_name(),
            "rows": rows,
            "load_s": tuple(median(each["load_s"] for each in side) for side in (at_once, warmed, cold_peer)),
            "peak_bytes": tuple(
                max(int(each["peak_bytes"]) for pair in warm.values() for each in pair[side])
                for side in (0, 1)
            ),
        }


def _row(name: str, ours: list[dict[str, float]], peer: list[dict[str, float]]) -> dict[str, Any]:
    rtf = [[each["wall_s"] / each["duration_s"] for each in side] for side in (ours, peer)]
    first = [[each["first_s"] for each in side] for side in (ours, peer)]
    return {
        "name": name,
        "rtf": [median(side) for side in rtf],
        "rtf_ratio": median(a / b for a, b in zip(*rtf, strict=True)),
        "first_s": [median(side) for side in first],
        "first_ratio": median(a / b for a, b in zip(*first, strict=True)),
        "duration_s": [ours[0]["duration_s"], peer[0]["duration_s"]],
    }


def report(result: dict[str, Any]) -> str:
    """The figures as a Markdown table."""
    lines = [
        f"CPU: {result['cpu']}; {result['threads']} threads; median of {result['rounds']} rounds, A B A B; "
        f"voice {VOICE}. Ratios are ours / kokoro-onnx, pair by pair.",
        "",
        "| run | audio s | RTF | kokoro-onnx RTF | ratio | first audio s | kokoro-onnx s | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        lines.append(
            f"| {row['name']} | {row['duration_s'][0]:.2f} / {row['duration_s'][1]:.2f} "
            f"| {row['rtf'][0]:.3f} | {row['rtf'][1]:.3f} | **{row['rtf_ratio']:.2f}** "
            f"| {row['first_s'][0]:.2f} | {row['first_s'][1]:.2f} | **{row['first_ratio']:.2f}** |"
        )
    (load_s, warm_s, peer_s), peak = result["load_s"], result["peak_bytes"]
    lines += [
        "",
        "| | voice-sculptor | kokoro-onnx | ratio |",
        "|---|---|---|---|",
        f"| load, imports included, s | {load_s:.2f} | {peer_s:.2f} | {load_s / peer_s:.2f} |",
        f"| load and warm-up, s | {warm_s:.2f} | {peer_s:.2f} | {warm_s / peer_s:.2f} |",
        f"| peak memory, MB | {peak[0] / 1e6:.0f} | {peak[1] / 1e6:.0f} | {peak[0] / peak[1]:.2f} |",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="voice-sculptor bench speed", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=5, help="repetitions of each text and of the first request"
    )
    parser.add_argument("--threads", type=int, default=psutil.cpu_count(logical=False) or 1)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    result = measure(max(1, options.rounds), options.threads, load_settings().checkpoints_dir)
    sys.stdout.write((json.dumps(result, indent=2) if options.json else report(result)) + "\n")


def _need_peer() -> None:
    try:
        import kokoro_onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise MissingDependency(
            f"The benchmark compares with kokoro-onnx, which is not installed ({error}).",
            f"性能对比需要 kokoro-onnx，但尚未安装（{error}）。",
            fix_en="Install it: pip install -r requirements-bench.txt",
            fix_zh="请安装：pip install -r requirements-bench.txt",
        ) from error


if __name__ == "__main__":
    main()
