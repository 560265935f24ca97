"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

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
CheckpointsDir = Annotated[
    Path | None, typer.Option("--checkpoints-dir", metavar="DIR", help="Where the model weights are.")
]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", metavar="DIR", help="Where kept voices and the history are.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else on stdout.")]


EngineSettings = dict[str, Any]
"""Stands in a command's parameters for the flags below, which it gets by name for `load_settings`."""

_ENGINE_FLAGS: dict[str, Any] = {
    "config": Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings in YAML.")],
    "profile": Annotated[
        str | None,
        typer.Option(
            "--profile", metavar="NAME", help="Settings for a card: 6gb, 8gb, 12gb, 16gb, 24gb, 48gb or auto."
        ),
    ],
    "engine": EngineId,
    "device": Annotated[
        str | None, typer.Option("--device", metavar="NAME", help="auto, cpu, mps, cuda or cuda:N.")
    ],
    "gpu_id": Annotated[int | None, typer.Option("--gpu-id", metavar="N", help="The same as cuda:N.")],
    "dtype": Annotated[str | None, typer.Option("--dtype", metavar="NAME", help="auto, fp32, bf16 or fp16.")],
    # `None` where it is not given, so that the environment counts.
    "half": Annotated[bool | None, typer.Option("--half", help="The same as --dtype fp16.")],
    "checkpoints_dir": CheckpointsDir,
    "model_dir": Annotated[
        Path | None,
        typer.Option("--model-dir", metavar="DIR", help="Where the engine's model is, if elsewhere."),
    ],
    "codec_dir": Annotated[
        Path | None,
        typer.Option("--codec-dir", metavar="DIR", help="Where its audio codec is, if elsewhere."),
    ],
    "max_new_tokens": Annotated[
        int | None, typer.Option("--max-new-tokens", metavar="N", help="Most tokens of a pass, 64 to 4096.")
    ],
    "temperature": Annotated[
        float | None, typer.Option("--temperature", metavar="X", help="Of sampling, over 0 to 2.")
    ],
    "top_p": Annotated[
        float | None, typer.Option("--top-p", metavar="X", help="Share sampled from, over 0 to 1.")
    ],
    "top_k": Annotated[
        int | None, typer.Option("--top-k", metavar="N", help="Tokens sampled from, 0 to 1000; 0 is all.")
    ],
    "repetition_penalty": Annotated[
        float | None, typer.Option("--repetition-penalty", metavar="X", help="1 to 2; 1 is none.")
    ],
    "slots": Annotated[
        int | None, typer.Option("--slots", metavar="N", help="Candidates made side by side, 1 to 64.")
    ],
    # No engine's, but of the same commands.
    "data_dir": DataDir,
}


def takes_engine_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the flags of engines in place of its parameter annotated `EngineSettings`."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    place = next(number for number, each in enumerate(own) if each.annotation == EngineSettings)
    flags = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _ENGINE_FLAGS.items()
    ]
    shown = [*own[:place], *flags, *own[place + 1 :]]

    @wraps(command)
    def with_flags(**values: Any) -> None:
        given = {name: values.pop(name) for name in _ENGINE_FLAGS}
        command(**{own[place].name: given}, **values)

    # What typer reads.
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in shown]
    with_flags.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_flags.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_flags
