"""The text to speak, from the command line, a file or stdin."""

from __future__ import annotations

import sys
from pathlib import Path

from voice_sculptor.errors import InvalidRequest

_MAX_BYTES = 4_000_000  # The longest text that any setting admits, in UTF-8.


def read_text(text: str | None, file: Path | None) -> str | None:
    """The text that was asked for; `None` where neither option is given.

    Raises:
        InvalidRequest: Both are given, or the file cannot be read as UTF-8 text.
    """
    if text is not None and file is not None:
        raise InvalidRequest(
            "Both --text and --file are given.",
            "同时给出了 --text 和 --file。",
            fix_en="Give one of them.",
            fix_zh="请只给其中一个。",
        )
    if text == "-" or (file is not None and str(file) == "-"):
        return _decoded(sys.stdin.buffer.read(_MAX_BYTES + 1), "stdin")
    if file is None:
        return text
    try:
        with file.open("rb") as stream:
            return _decoded(stream.read(_MAX_BYTES + 1), str(file))
    except OSError as error:
        raise _unreadable(str(file), error.strerror or str(error)) from error


def needed(text: str | None) -> str:
    """The text, where there has to be one.

    Raises:
        InvalidRequest: There is none.
    """
    if text is None:
        raise InvalidRequest(
            "There is no text to speak.",
            "没有给出要朗读的文本。",
            fix_en="Give --text TEXT or --file FILE.",
            fix_zh="请用 --text 或 --file 给出文本。",
        )
    return text


def _decoded(raw: bytes, name: str) -> str:
    if len(raw) > _MAX_BYTES:
        raise _unreadable(name, f"more than {_MAX_BYTES:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(name, "not UTF-8 text") from error
    if "\0" in text:
        raise _unreadable(name, "binary data")
    return text


def _unreadable(name: str, why: str) -> InvalidRequest:
    return InvalidRequest(
        f"The text cannot be read from {name} ({why}).",
        f"无法从 {name} 读取文本（{why}）。",
        fix_en="Give a plain text file saved as UTF-8.",
        fix_zh="请提供以 UTF-8 保存的纯文本文件。",
    )
