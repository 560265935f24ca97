"""Bad input: one sentence, a documented exit code, nothing half-written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.commands import DESIGN, Cli, files, refused
from voice_sculptor import errors
from voice_sculptor.engines.kokoro import weights
from voice_sculptor.library import voice_files


@pytest.mark.parametrize(
    ("change", "code", "parts"),
    [
        (("--text", ""), 2, ["nothing to speak"]),
        (("--text", "  \n "), 2, ["nothing to speak"]),
        (("--text", "。！？…—"), 2, ["nothing to speak"]),
        (("--text", "🎵🎶"), 2, ["nothing to speak"]),
        (("--text", "\u200b\u200d\ufeff"), 2, ["nothing to speak"]),
        (("--text", "\x01\x07\x1b"), 2, ["nothing to speak"]),
        (("--text", "a" * 100_000), 2, ["100,000", "at most"]),
        (("--description", "a" * 2001), 2, ["2,001", "2,000"]),
        (("--n", "0"), 2, ["0 candidates", "1 to 6"]),
        (("--n", "7"), 2, ["7 candidates", "1 to 6"]),
        (("--n", "-3"), 2, ["-3 candidates"]),
        (("--n", "two"), 2, ["--n", "integer", "design --help"]),
        (("--seed", "-1"), 2, ["-1", "4294967295"]),
        (("--seed", str(2**40)), 2, [str(2**40)]),
        (("--set", "pitch"), 2, ["NAME=VALUE"]),
        (("--set", "pitch=lowish"), 2, ["'lowish'", "very low"]),
        (("--set", "pitsch=low"), 2, ["'pitsch'", "pitch_variation"]),
        (("--set", "age=200"), 2, ["age=200", "3 to 100"]),
        (("--set", "emotion=happy:2"), 2, ["'2'", "0 to 1"]),
        (("--preset", "kind-grandmather"), 3, ["kind-grandmather", "kind-grandmother"]),
        (("--preset", "../../etc/passwd"), 3, ["no preset"]),
        (("--preset", "news-anchor", "--description", "warm"), 2, ["Both --description and --preset"]),
        (("--file", "text.txt"), 2, ["Both --text and --file"]),
        (("--engine", "kokoros"), 3, ["'kokoros'", "kokoro", "fake"]),
        (("--device", "gpu"), 2, ["device", "'gpu'"]),
        (("--dtype", "int4"), 2, ["dtype", "'int4'"]),
        (("--gpu-id", "1", "--device", "cpu"), 2, ["gpu_id=1", "device=cpu"]),
        (("--half", "--dtype", "bf16"), 2, ["half", "dtype=bf16"]),
        (("--half", "--device", "cpu"), 2, ["half", "CPU"]),
        (("--slots", "0"), 2, ["slots", "0"]),
        (("--top-p", "much"), 2, ["--top-p", "design --help"]),
        (("--format", "m4a"), 2, ["--format", "'mp3'"]),
        (("--lang", "fr"), 2, ["--lang"]),
        (("--sett", "a"), 2, ["--sett", "--set", "design --help"]),
        (("extra",), 2, ["extra"]),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else None,
)  # fmt: skip
def test_bad_input_is_one_sentence(
    cli: Cli, tmp_path: Path, change: Sequence[str], code: int, parts: list[str]
) -> None:
    result = cli(*DESIGN, "--out", tmp_path / "out", *change)
    refused(result, code, *parts)
    assert files(tmp_path) == {}
    chinese = cli("--ui-lang", "zh", *DESIGN, "--out", tmp_path / "out", *change)
    refused(chinese, code)
    assert re.search("[\u4e00-\u9fff]", chinese.err)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("温柔".encode("gbk"), "not UTF-8"),
        ("hello".encode("utf-16"), "not UTF-8"),
        (bytes(range(128)), "binary"),
        (b"a" * 4_000_001, "4,000,000 bytes"),
        (b"", "nothing to speak"),
        (b"\xef\xbb\xbf", "nothing to speak"),
    ],
    ids=["gbk", "utf-16", "binary", "huge", "empty", "only a byte order mark"],
)
def test_files_that_are_no_text(cli: Cli, tmp_path: Path, content: bytes, part: str) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    refused(cli("design", "--engine", "fake", "--file", path, "--out", tmp_path / "out"), 2, part)
    refused(cli("speak", "--engine", "fake", "--voice", "fake_low", "--text", "-", stdin=content), 2, part)
    assert list(files(tmp_path)) == ["text.txt"]


def test_files_that_cannot_be_read(cli: Cli, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.txt", tmp_path / ("a" * 300)):
        refused(cli("design", "--engine", "fake", "--file", path, "--out", tmp_path / "out"), 2, str(path))


def test_there_has_to_be_a_text(cli: Cli, tmp_path: Path) -> None:
    refused(cli("design", "--engine", "fake", "--out", tmp_path / "out"), 2, "--text")
    refused(cli("speak", "--engine", "fake", "--voice", "fake_low"), 2, "--text")


@pytest.mark.parametrize("voice", ["fake_lo", "../../etc/passwd", "nowhere.voice.json", ""])
def test_unknown_voices(cli: Cli, voice: str) -> None:
    refused(cli("speak", "--engine", "fake", "--voice", voice, "--text", "a"), 3, f"{voice}")


def test_voices_that_are_damaged_or_foreign(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.voice.json"
    good = {"name": "a", "engine": "fake", "state": {"f0_hz": 100.0}}
    speak = ("speak", "--voice", path, "--text", "a", "--out", tmp_path / "a.wav")
    for content, code, part in (
        ("{", 2, "not JSON"),
        (json.dumps({**good, "pitch": 1}), 2, "pitch"),
        (json.dumps({**good, "engine": "nobody"}), 3, "nobody"),
        (json.dumps({**good, "state": {}}), 2, "f0_hz"),
    ):
        path.write_text(content)
        refused(cli(*speak), code, part)
    path.write_text(json.dumps({**good, "engine": "kokoro"}))
    refused(cli(*speak, "--engine", "fake"), 2, "--engine kokoro")
    assert list(files(tmp_path)) == ["a.voice.json"]


@pytest.mark.parametrize(
    ("out", "part"),
    [
        ("file", "Not a directory"),
        ("file/below", "Not a directory"),
        ("a" * 300, "too long"),
        ("/proc/here", "/proc/here"),
    ],
    ids=["a file", "below a file", "too long", "/proc"],
)
def test_folders_that_cannot_be_written(cli: Cli, tmp_path: Path, out: str, part: str) -> None:
    (tmp_path / "file").write_text("kept")
    refused(cli(*DESIGN, "--out", tmp_path / out), 4, part)
    refused(
        cli("speak", "--engine", "fake", "--voice", "fake_low", "--text", "a", "--out", tmp_path / out),
        4,
        part,
    )
    assert files(tmp_path) == {"file": b"kept"}


def test_names_that_are_no_audio_file(cli: Cli, tmp_path: Path) -> None:
    speak = ("speak", "--engine", "fake", "--voice", "fake_low", "--text", "a", "--out")
    refused(cli(*speak, tmp_path / "a.txt"), 4, "a.txt", ".wav")
    refused(cli(*speak, tmp_path / "a.wav", "--format", "mp3"), 2, "--format mp3", "a.wav")
    assert files(tmp_path) == {}
    (tmp_path / "v1.2").mkdir()
    assert cli(*speak, tmp_path / "v1.2").code == 0


@contextmanager
def full_disk(num_bytes: int) -> Iterator[None]:
    """A limit on the size of files stands in for the room on a disk.

    It holds for this whole process, so it ends before anyone else writes: what the tests print may go to a file.
    """
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_said_before_the_work(cli: Cli, tmp_path: Path) -> None:
    with full_disk(32_000):
        ran = cli(*DESIGN, "--out", tmp_path / "out")
    refused(ran, 4, "File too large")
    assert files(tmp_path) == {}


def test_a_disk_that_fills_up_leaves_nothing_half_written(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli(*DESIGN, "--n", "1", "--out", tmp_path)
    before = files(tmp_path)
    # 7 seconds of 16-bit audio are more than that.
    with full_disk(100_000):
        ran = cli(*DESIGN, "--text", "a" * 120, "--out", tmp_path)
    refused(ran, 4, "voice-7-2.wav")
    assert files(tmp_path) == before
    # The clip fits, its voice file does not: the clip goes again.
    monkeypatch.setattr(voice_files, "voice_bytes", lambda voice: bytes(200_000))
    with full_disk(100_000):
        ran = cli(*DESIGN, "--text", "other", "--out", tmp_path)
    refused(ran, 4, "voice-7-2.voice.json")
    assert files(tmp_path) == before


def test_missing_and_damaged_weights(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = tmp_path / "checkpoints"
    design = ("design", "--text", "hello", "--checkpoints-dir", checkpoints, "--out", tmp_path / "out")

    def none_installed(name: str) -> None:
        raise weights.PackageNotFoundError(name)

    monkeypatch.setattr(weights, "distribution", none_installed)
    for command in (design, ("setup", "--checkpoints-dir", checkpoints)):
        refused(cli(*command), errors.WeightsNotFound.exit_code)
    (checkpoints / weights.FOLDER).mkdir(parents=True, exist_ok=True)
    (checkpoints / weights.FOLDER / weights.OFFICIAL[0]).write_bytes(b"damaged")
    for command in (design, ("setup", "--checkpoints-dir", checkpoints)):
        refused(cli(*command), errors.CheckpointMismatch.exit_code, weights.OFFICIAL[0])
    assert not (tmp_path / "out").exists()
