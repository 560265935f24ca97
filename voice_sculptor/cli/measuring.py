"""`measure`: what is heard in audio files, in numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voice_sculptor.cli import options as opt
from voice_sculptor.cli.session import Session, print_json, print_table

if TYPE_CHECKING:
    from voice_sculptor.audio.measure import Measurements
    from voice_sculptor.domain import AudioClip

# Field of `Measurements`: English name, Chinese name, unit, digits after the point.
_ROWS: dict[str, tuple[str, str, str, int]] = {
    "duration_s": ("length", "总时长", "s", 2),
    "speech_s": ("speech without pauses", "语音时长（不含停顿）", "s", 2),
    "f0_hz": ("pitch (median F0)", "音高（基频中位数）", "Hz", 1),
    "f0_sd_st": ("pitch variation (spread of F0)", "音调变化（基频离散度）", "st", 2),
    "voiced_share": ("voiced share", "浊音占比", "%", 0),
    "syllables_per_s": ("speaking rate, syllables", "语速（音节）", "/s", 2),
    "loudness_lufs": ("loudness", "响度", "LUFS", 1),
    "true_peak_dbtp": ("true peak", "真峰值", "dBTP", 1),
    "hnr_db": ("clearness (harmonics to noise)", "清亮度（谐噪比）", "dB", 1),
    "jitter": ("roughness (irregularity of F0)", "粗糙度（基频不规则度）", "%", 2),
    "tilt_db": ("brightness (1–5 kHz to lower)", "明亮度（1–5 kHz 与低频之比）", "dB", 1),
    "tract_cm": ("vocal-tract length", "声道长度", "cm", 1),
}


def measure(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="WAV, FLAC, MP3 or Ogg.")],
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            "-t",
            metavar="TEXT",
            help="What is spoken in each file, to count its syllables; else they are counted in the sound.",
        ),
    ] = None,
    lang: opt.TextLang = "auto",
    as_json: opt.Json = False,
) -> None:
    """Measure voices in audio files: pitch, rate, loudness, timbre."""
    from voice_sculptor.audio.io import decode
    from voice_sculptor.audio.measure import measure as measure_clip
    from voice_sculptor.language.syllables import count_syllables

    session: Session = ctx.obj
    count = count_syllables(text, lang) if text is not None else None
    measured: list[tuple[AudioClip, Measurements]] = []
    with session.progress() as show:
        for number, path in enumerate(files):
            show(path.name, number / len(files))
            clip = decode(path)
            measured.append((clip, measure_clip(clip, count)))
    if as_json:
        print_json(
            {
                "files": [
                    {"path": str(path), "sample_rate": clip.sample_rate, "measured": values.as_json()}
                    for path, (clip, values) in zip(files, measured, strict=True)
                ]
            }
        )
        return
    rows = [
        (
            session.pick(en, zh),
            *(_figure(getattr(values, field), digits, unit) for _, values in measured),
            unit,
        )
        for field, (en, zh, unit, digits) in _ROWS.items()
    ]
    print_table((session.pick("measure", "项目"), *map(str, files), session.pick("unit", "单位")), rows)


def _figure(value: float | None, digits: int, unit: str) -> str:
    if value is None or not math.isfinite(value):
        return "–"
    # A share is shown as a percentage; jitter is one already.
    return f"{value:.{digits}%}".rstrip("%") if unit == "%" and digits == 0 else f"{value:.{digits}f}"
