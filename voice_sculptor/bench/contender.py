"""One side of the speed benchmark, in a process of its own: `python -m voice_sculptor.bench.contender NAME …`.

Speaks JSON lines: one object `{"text", "voice"}` in, one object of figures out; the first line out is about loading.
A process for each side makes peak memory and cold starts its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from voice_sculptor.config import load_settings
from voice_sculptor.scheduling.memory import peak_bytes

Speak = Callable[[str, str], tuple[float, float]]
"""Text and voice to seconds until the first audio and seconds of audio."""


def ours(checkpoints_dir: Path, threads: int, is_warm: bool) -> Speak:
    """This project's engine through its studio, as the page uses it; warmed up, or used as soon as it is loaded."""
    import torch

    from voice_sculptor.events import Preview, Ready
    from voice_sculptor.studio import Studio

    torch.set_num_threads(threads)
    studio = Studio(load_settings(engine="kokoro", device="cpu", checkpoints_dir=checkpoints_dir))
    studio.preload()
    while not (studio.worker.has_preloaded or (studio.worker.is_loaded and not is_warm)):
        time.sleep(0.005)

    def speak(text: str, voice: str) -> tuple[float, float]:
        began = time.perf_counter()
        first_s = duration_s = 0.0
        for event in studio.speak(studio.find_voice(voice), text, seed=0):
            if isinstance(event, Preview) and not first_s:
                first_s = time.perf_counter() - began
            elif isinstance(event, Ready):
                duration_s = event.candidate.audio.duration_s
        return first_s, duration_s

    return speak


def peer(model: Path, voices: Path, threads: int) -> Speak:
    """kokoro-onnx with the published int8 weights, streaming as its users do."""
    import kokoro_onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    kokoro = kokoro_onnx.Kokoro.from_session(session, str(voices))

    async def stream(text: str, voice: str) -> tuple[float, float]:
        began = time.perf_counter()
        first_s = duration_s = 0.0
        async for samples, sample_rate in kokoro.create_stream(text, voice):
            first_s = first_s or time.perf_counter() - began
            duration_s += len(samples) / sample_rate
        return first_s, duration_s

    return lambda text, voice: asyncio.run(stream(text, voice))


def main() -> None:
    """Load, say so, then answer requests until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=["ours", "peer"])
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--checkpoints", type=Path)
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--voices", type=Path)
    options = parser.parse_args()
    began = time.perf_counter()
    if options.side == "ours":
        speak = ours(options.checkpoints, options.threads, options.warm)
    else:
        speak = peer(options.model, options.voices, options.threads)
    _answer({"load_s": time.perf_counter() - began})
    for line in sys.stdin:
        request = json.loads(line)
        began = time.perf_counter()
        first_s, duration_s = speak(request["text"], request["voice"])
        wall_s = time.perf_counter() - began
        _answer(
            {"wall_s": wall_s, "first_s": first_s, "duration_s": duration_s, "peak_bytes": peak_bytes("cpu")}
        )


def _answer(figures: dict[str, float]) -> None:
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
