"""Voices as files: one small versioned JSON each, checked on load."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from voice_sculptor.audio.io import write_bytes
from voice_sculptor.domain import Voice
from voice_sculptor.errors import InvalidVoiceFile, UnknownVoice
from voice_sculptor.faults import first_said

SUFFIX = ".voice.json"
_MAX_BYTES = 4_000_000


def voice_bytes(voice: Voice) -> bytes:
    """A voice as the content of its file; equal voices give equal bytes."""
    data = json.dumps(voice.model_dump(mode="json"), ensure_ascii=False, indent=2, allow_nan=False)
    return (data + "\n").encode()


def save_voice(voice: Voice, path: Path) -> None:
    """Write a voice; the file is whole or not there.

    Args:
        voice: What to write.
        path: Target; by convention it ends in `.voice.json`.

    Raises:
        OutputError: The folder cannot be written or the disk is full.
    """
    write_bytes(voice_bytes(voice), path)


def load_voice(path: Path) -> Voice:
    """Read a voice file.

    Args:
        path: A file that `save_voice` wrote.

    Raises:
        UnknownVoice: No such file.
        InvalidVoiceFile: Not readable, too large, not JSON, or of another layout.
    """
    try:
        if not path.is_file():
            raise UnknownVoice(
                f"There is no voice file {path}.",
                f"找不到声音文件 {path}。",
                fix_en="`voice-sculptor voices` lists the voices that come with the engine.",
                fix_zh="用 `voice-sculptor voices` 查看引擎自带的声音。",
            )
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        why = error.strerror or str(error)
        raise _invalid(str(path), why, why) from error
    return parse_voice(raw, str(path))


def parse_voice(raw: bytes, source: str) -> Voice:
    """Read a voice from the content of its file.

    Args:
        raw: As `voice_bytes` gives it.
        source: Where it is from, for the sentence.

    Raises:
        InvalidVoiceFile: Too large, not JSON, or of another layout.
    """
    if len(raw) > _MAX_BYTES:
        raise _invalid(source, f"more than {_MAX_BYTES:,} bytes", f"超过 {_MAX_BYTES:,} 字节")
    try:
        return Voice.model_validate(json.loads(raw))
    except ValidationError as error:
        raise _invalid(source, *first_said(error)) from error
    except (ValueError, RecursionError) as error:
        raise _invalid(source, "not JSON", "不是 JSON") from error


def _invalid(source: str, en: str, zh: str) -> InvalidVoiceFile:
    return InvalidVoiceFile(
        f"{source} is not a voice file ({en}).",
        f"{source} 不是有效的声音文件（{zh}）。",
        fix_en="Voice files are made by `voice-sculptor design` and end in .voice.json.",
        fix_zh="声音文件由 `voice-sculptor design` 生成，以 .voice.json 结尾。",
    )
