"""`voice-sculptor bench quality`: is it intelligible, is it clean?

Word error rate by a recogniser that never saw the voice (whisper tiny.en), and DNSMOS P.835 overall (Reddy et al. 2022,
ICASSP), over stock voices, blends of them and designed voices, English, the same sentences for all. The recogniser is
small: its own errors are in every row, so rows are to be compared with each other, not with zero.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from voice_sculptor.bench.judges import Ear, Judges
from voice_sculptor.bench.obedience.renderings import say
from voice_sculptor.bench.speakers import KINDS, Kind, speakers
from voice_sculptor.config import load_settings
from voice_sculptor.studio import Studio

MAX_WER_OVER_STOCK = 0.02
"""Goal: how much the mean word error rate of designed voices may be over that of the stock voices."""
MIN_DNSMOS_OVER_STOCK = -0.10
"""Goal, alike."""
SENTENCES = (
    "The lake lay silent under the first snow, and nobody had seen the ferry since noon.",
    "Please bring three fresh lemons, a loaf of bread and some butter from the market.",
    "Our train leaves at a quarter past nine, so we should be at the station by nine.",
    "She had never believed in ghosts until the piano began to play on its own.",
    "Every morning the old baker opens his shop before the sun comes up.",
    "Turn left at the bridge, then follow the river for about two miles.",
)


@dataclass(frozen=True)
class Row:
    """Means of one voice over all sentences.

    Attributes:
        voice: Its name, its blend or its design.
        kind: How it came to be.
        wer: Word error rate, 0 is perfect.
        dnsmos: Overall, 1–5.
        pace: Factor on the rate that was asked of it.
    """

    voice: str
    kind: Kind
    wer: float
    dnsmos: float
    pace: float = 1.0


@dataclass(frozen=True)
class Comparison:
    """Designed voices over stock voices, whispers left out.

    Attributes:
        measure: What is compared.
        difference: Mean of the designed ones less mean of the stock ones.
        goal: In words.
        is_met: Whether it is reached.
    """

    measure: str
    difference: float
    goal: str
    is_met: bool


def plain_words(text: str) -> list[str]:
    """Lower-case words without punctuation, as both sides of the comparison are brought to."""
    return re.findall(r"[a-z0-9']+", text.casefold())


def measure(studio: Studio, judges: Ear, sentences: Sequence[str], kinds: Sequence[str] = KINDS) -> list[Row]:
    """Let every voice speak every sentence and judge it.

    Args:
        studio: With the embedded engine.
        judges: Recogniser and cleanliness.
        sentences: English.
        kinds: Of `KINDS`.
    """
    import jiwer

    rows = []
    said = [" ".join(plain_words(sentence)) for sentence in sentences]
    for speaker in speakers(studio, kinds, sentences[0]):
        clips = [say(studio, speaker.voice, sentence).audio for sentence in sentences]
        heard = [" ".join(plain_words(judges.transcribe(clip))) for clip in clips]
        clean = fmean(judges.cleanliness(clip) for clip in clips)
        rows.append(Row(speaker.name, speaker.kind, float(jiwer.wer(said, heard)), clean, speaker.pace))
        sys.stderr.write(f"{speaker.name}: WER {rows[-1].wer:.3f}, DNSMOS {rows[-1].dnsmos:.2f}\n")
    return rows


def compare(rows: Sequence[Row]) -> list[Comparison]:
    """The goals of designed voices; empty unless there are rows of both kinds."""
    stock = [row for row in rows if row.kind == "stock"]
    designed = [row for row in rows if row.kind == "designed"]
    if not stock or not designed:
        return []
    found = [_comparison("WER", designed, stock), _comparison("DNSMOS", designed, stock)]
    if fast := [row for row in rows if row.kind == "fast"]:
        found.insert(1, _comparison("WER, each at its own pace,", designed, stock, fast))
    return found


def _comparison(
    measure: str, designed: Sequence[Row], stock: Sequence[Row], fast: Sequence[Row] = ()
) -> Comparison:
    """Of designed with stock voices; where fast ones are given, what is as fast is compared with them."""
    field = "dnsmos" if measure == "DNSMOS" else "wer"

    def usual(pace: float) -> float:
        return fmean(getattr(row, field) for row in [each for each in fast if each.pace == pace] or stock)

    # Rounded, so that a difference of just what is allowed is allowed.
    difference = round(fmean(getattr(row, field) - usual(row.pace) for row in designed), 6)
    if field == "dnsmos":
        return Comparison(
            measure, difference, f"≥ {MIN_DNSMOS_OVER_STOCK:+.2f}", difference >= MIN_DNSMOS_OVER_STOCK
        )
    return Comparison(measure, difference, f"≤ {MAX_WER_OVER_STOCK:+.2f}", difference <= MAX_WER_OVER_STOCK)


def report(rows: Sequence[Row]) -> str:
    """The figures as a Markdown table, with the means of each kind, and whether the goals are met."""
    lines = ["| voice | kind | WER | DNSMOS overall |", "|---|---|---|---|"]
    lines += [f"| {row.voice} | {row.kind} | {row.wer:.3f} | {row.dnsmos:.2f} |" for row in rows]
    for kind in dict.fromkeys(row.kind for row in rows):
        some = [row for row in rows if row.kind == kind]
        wer, clean = fmean(row.wer for row in some), fmean(row.dnsmos for row in some)
        lines.append(f"| **mean of {len(some)}** | {kind} | **{wer:.3f}** | **{clean:.2f}** |")
    lines += [
        f"\n{found.measure} of designed over stock voices: {found.difference:+.3f}, goal {found.goal}: "
        + ("met" if found.is_met else "not met")
        for found in compare(rows)
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="voice-sculptor bench quality",
        description="Is it intelligible, is it clean? Word error rate (whisper tiny.en) and DNSMOS, in English; the "
        "recogniser's own errors are in every row, so compare rows with each other, not with zero.",
    )
    parser.add_argument(
        "--kind",
        choices=KINDS,
        action="append",
        help="whose voices: stock, stock 1.6 times as fast, blends of them, or designed for this; may be "
        "repeated, by default all. Stock and designed together are compared.",
    )
    parser.add_argument("--sentences", type=int, default=len(SENTENCES), help="how many of the sentences")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    if not 1 <= options.sentences <= len(SENTENCES):
        parser.error(f"--sentences must be 1 to {len(SENTENCES)}")
    judges = Judges()
    with Studio(load_settings(engine="kokoro", history_bytes=0)) as studio:
        rows = measure(studio, judges, SENTENCES[: options.sentences], options.kind or KINDS)
    if options.json:
        figures = {
            "voices": [asdict(row) for row in rows],
            "comparisons": [asdict(found) for found in compare(rows)],
        }
        sys.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(report(rows) + "\n")


if __name__ == "__main__":
    main()
