"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Text = Annotated[
    str | None, typer.Option("--text", "-t", metavar="TEXT", help="What to speak; `-` reads stdin.")
]
File = Annotated[
    Path | None,
    typer.Option("--file", "-f", metavar="FILE", help="Read the text from a UTF-8 file; `-` is stdin."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="NAME=VALUE",
        help="Set a control: age, gender, pitch, pitch_variation, volume, speed, emotion. Repeat for more,"
        " e.g. --set pitch=low --set age=70 --set emotion=happy:0.6; NAME=unspecified clears one.",
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="0 to 4294967295.")]
TextLang = Annotated[Literal["auto", "zh", "en"], typer.Option("--lang", help="Language of the text.")]
# The same names as `domain.AUDIO_FORMATS`, which is not imported for its weight; a test compares them.
Format = Annotated[
    Literal["wav", "mp3", "flac", "opus"] | None, typer.Option("--format", help="Kind of audio file.")
]
EngineId = Annotated[
    str | None, typer.Option("--engine", metavar="ID", help="`voice-sculptor engines` lists them.")
]
Device = Annotated[
    str | None, typer.Option("--device", metavar="NAME", help="auto, cpu, mps, cuda or cuda:N.")
]
Dtype = Annotated[str | None, typer.Option("--dtype", metavar="NAME", help="auto, fp32, bf16 or fp16.")]
CheckpointsDir = Annotated[
    Path | None, typer.Option("--checkpoints-dir", metavar="DIR", help="Where the model weights are.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else on stdout.")]
