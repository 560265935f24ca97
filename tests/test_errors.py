"""The error tree: drawn as it is, in two languages, with an exit code for each branch."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import pytest

from voice_sculptor import errors
from voice_sculptor.errors import (
    Cancelled,
    DeadlineExceeded,
    EmptyText,
    OutOfMemory,
    QueueFull,
    ShuttingDown,
    TextTooLong,
    VoiceSculptorError,
)

READY_MADE = [
    EmptyText(),
    TextTooLong(100_000, 20_000),
    QueueFull(3, 12.4),
    DeadlineExceeded(),
    ShuttingDown(),
    Cancelled(),
]


def tree(root: type[VoiceSculptorError], depth: int = 0) -> Iterator[tuple[int, str]]:
    yield depth, root.__name__
    for branch in root.__subclasses__():
        if branch.__module__ == errors.__name__:
            yield from tree(branch, depth + 1)


def drawn() -> list[tuple[int, str]]:
    lines = re.findall(r"^    ((?:[│├└─ ]{4})*)([A-Z]\w+)", errors.__doc__ or "", re.MULTILINE)
    return [(len(indent) // 4, name) for indent, name in lines]


def test_the_drawing_is_the_tree() -> None:
    assert drawn() == list(tree(VoiceSculptorError))


def test_all_errors_are_in_the_tree() -> None:
    defined = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert {name for _, name in drawn()} == defined


@pytest.mark.parametrize("error", READY_MADE, ids=lambda error: error.kind)
def test_each_says_what_happened_in_both_languages(error: VoiceSculptorError) -> None:
    assert error.message().isascii()
    assert error.message() == error.message("fr")
    assert re.search("[\u4e00-\u9fff]", error.message("zh"))
    assert str(error) == error.en


def test_the_remedy_follows_the_sentence() -> None:
    error = VoiceSculptorError("It broke.", "坏了。", fix_en="Mend it.", fix_zh="修好它。")
    assert error.message() == "It broke. Mend it."
    assert error.message("zh") == "坏了。修好它。"
    assert VoiceSculptorError("It broke.", "坏了。").message() == "It broke."


def test_a_full_queue_says_when_to_come_back() -> None:
    error = QueueFull(3, 12.4)
    assert error.retry_after_s == 12.4
    assert "about 12 s" in error.message()
    assert "约 12 秒" in error.message("zh")
    assert "about 1 s" in QueueFull(1, 0.01).message()


def test_what_lacks_memory_may_say_how_much() -> None:
    assert (OutOfMemory("Full.", "满了。").needed_bytes, OutOfMemory("Full.", "满了。").free_bytes) == (
        None,
        None,
    )
    error = OutOfMemory("Full.", "满了。", fix_en="Wait.", needed_bytes=2, free_bytes=1)
    assert (error.needed_bytes, error.free_bytes, error.message()) == (2, 1, "Full. Wait.")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("VoiceSculptorError", 1),
        ("EmptyText", 2),
        ("UnsupportedControl", 2),
        ("InvalidVoiceFile", 2),
        ("PresetError", 2),
        ("ConfigError", 2),
        ("UnknownVoice", 3),
        ("UnknownPreset", 3),
        ("UnknownEngine", 3),
        ("OutputError", 4),
        ("WeightsNotFound", 5),
        ("SynthesisFailed", 5),
        ("QueueFull", 6),
        ("OutOfMemory", 6),
        ("DeadlineExceeded", 6),
        ("Cancelled", 130),
    ],
)
def test_exit_codes_are_a_promise(name: str, code: int) -> None:
    assert getattr(errors, name).exit_code == code
