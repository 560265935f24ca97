"""The codec's decoding half alone against the whole codec, each loaded in a process of its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import psutil
import torch

from voice_sculptor.bench.decoding.timing import table

_TYPES = {"fp32": torch.float32, "fp16": torch.float16}
_SIDES = ("decoder", "whole")


def measure(rounds: int) -> str:
    """The report, of a full-size codec of random weights; it takes 2.5 GB of disk for a while.

    Args:
        rounds: Processes of each side.
    """
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder))
        figures = {
            (side, dtype): [_run(side, dtype, folder) for _ in range(rounds)]
            for dtype in _TYPES
            for side in _SIDES
        }
    rows = []
    for dtype in _TYPES:
        ours, whole = (
            {name: median(each[name] for each in figures[side, dtype]) for name in figures[side, dtype][0]}
            for side in _SIDES
        )
        rows += [
            [
                f"{title}, {dtype}",
                f"{ours[name] / unit:.2f}",
                f"{whole[name] / unit:.2f}",
                f"{ours[name] / whole[name]:.2f}",
            ]
            for title, name, unit in (
                ("load, s", "load_s", 1.0),
                ("parameters, GB", "parameter_bytes", 1e9),
                ("peak memory while loading, GB", "peak_bytes", 1e9),
            )
        ]
    return table(("codec, on the CPU", "decoding half", "whole", "ratio"), rows)


def _write(folder: Path) -> None:
    from transformers.models.xcodec2 import Xcodec2Config, Xcodec2Model
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    Xcodec2Model(Xcodec2Config()).save_pretrained(folder)


def _run(side: str, dtype: str, folder: str) -> dict[str, float]:
    command = [sys.executable, "-m", "voice_sculptor.bench.decoding.codec", side, dtype, folder]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _load(side: str, dtype: str, folder: Path) -> dict[str, float]:
    from transformers.models.xcodec2 import Xcodec2Model
    from transformers.utils import logging

    from voice_sculptor.engines.voicesculptor.codec import Codec

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    process = psutil.Process()
    before = peak = process.memory_info().rss
    is_over = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not is_over.wait(0.002):
            peak = max(peak, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    if side == "decoder":
        codec = Codec.load(folder, "cpu", _TYPES[dtype], lambda _: None)
        num_bytes = codec.num_bytes
    else:
        model = Xcodec2Model.from_pretrained(folder, dtype=_TYPES[dtype])
        num_bytes = sum(parameter.nbytes for parameter in model.parameters())
    load_s = time.perf_counter() - began
    is_over.set()
    watcher.join()
    return {"load_s": load_s, "parameter_bytes": num_bytes, "peak_bytes": peak - before}


def main() -> None:
    """One side, in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=_SIDES)
    parser.add_argument("dtype", choices=tuple(_TYPES))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    sys.stdout.write(json.dumps(_load(options.side, options.dtype, options.folder)))


if __name__ == "__main__":
    main()
