"""Things to keep, and a look at a library's folder from outside."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from voice_sculptor.audio.measure import measure
from voice_sculptor.controls import Controls
from voice_sculptor.domain import AudioClip, Candidate, SynthesisRequest, Voice
from voice_sculptor.library.schema import DATABASE
from voice_sculptor.obedience import judge
from voice_sculptor.timbre import Timbre

RATE_HZ = 16_000


def voice(name: str = "mine", f0_hz: float = 110.0) -> Voice:
    return Voice(name=name, engine="fake", state={"f0_hz": f0_hz}, description="a low voice", seed=3)


def clip(number: int = 0, duration_s: float = 0.2) -> AudioClip:
    t_s = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    return AudioClip((0.1 * np.sin(2 * np.pi * (200 + number) * t_s)).astype(np.float32), RATE_HZ)


def made(number: int = 0, duration_s: float = 0.2) -> tuple[SynthesisRequest, Candidate]:
    """A request and what came of it; each number sounds differently."""
    controls = Controls(pitch=-1.0)
    request = SynthesisRequest("r", f"Text {number}.", "en", controls, (number,), description="low")
    audio = clip(number, duration_s)
    measured = measure(audio)
    obedience = judge(controls, Timbre(), measured, "en", {}, is_given=False)
    return request, Candidate(0, number, audio, voice(), measured, obedience, rtf=0.1, ttfa_s=0.1)


def files(folder: Path) -> set[str]:
    """Digests of the clips that are on the disk."""
    return {path.stem for path in (folder / "audio").glob("*/*.flac")}


def faults(folder: Path) -> list[str]:
    """What is inconsistent in a library that nobody has open; its words are not this project's code but SQL."""
    found = []
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        found += [row[0] for row in database.execute("PRAGMA integrity_check") if row[0] != "ok"]
        found += [f"foreign key {row}" for row in database.execute("PRAGMA foreign_key_check")]
        known = {digest for (digest,) in database.execute("SELECT digest FROM audio")}
        used = {digest for (digest,) in database.execute("SELECT audio FROM recordings")}
        used |= {d for (d,) in database.execute("SELECT sample FROM voices WHERE sample IS NOT NULL")}
    found += [f"row without use: {digest}" for digest in known - used]
    for digest in known:
        path = folder / "audio" / digest[:2] / f"{digest}.flac"
        if not path.is_file():
            found.append(f"row without file: {digest}")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            found.append(f"file with other content: {digest}")
    return found
