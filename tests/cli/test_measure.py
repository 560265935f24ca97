"""`voice-sculptor measure`: any audio file in, figures out, in words for people and as JSON."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from tests.audio.tube import RATE, vowel
from voice_sculptor.audio.io import write
from voice_sculptor.audio.measure import Measurements
from voice_sculptor.cli import main, measuring
from voice_sculptor.domain import AUDIO_FORMATS, AudioClip

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs `measure` in this process, in English unless asked otherwise; exit code, stdout and stderr."""
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")

    def run(*args: str | Path, lang: str = "en") -> tuple[int, str, str]:
        code = main(["--ui-lang", lang, "measure", *map(str, args)])
        return (code, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def low(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("voices") / "low voice.wav"
    write(vowel(110.0, 16.0, seconds=2.0), path)
    return path


def documents(out: str) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = json.loads(out)["files"]
    return files


@pytest.mark.parametrize("kind", AUDIO_FORMATS)
def test_any_format(cli: Cli, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"voice.{kind}"
    write(vowel(150.0, 15.0), path)
    code, out, err = cli(path, "--json")
    assert (code, err) == (0, "")
    (document,) = documents(out)
    assert document["path"] == str(path)
    assert document["measured"]["f0_hz"] == pytest.approx(150.0, rel=0.02)
    assert document["measured"]["tract_cm"] == pytest.approx(15.0, rel=0.05)
    assert document["measured"]["duration_s"] == pytest.approx(2.0, abs=0.1)


def test_channels_and_rates(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "stereo.flac"
    clip = vowel(200.0, 14.0, rate=44_100)
    soundfile.write(path, np.stack([clip.samples, clip.samples], axis=1), clip.sample_rate)
    (document,) = documents(cli(path, "--json")[1])
    assert document["sample_rate"] == 44_100
    assert document["measured"]["f0_hz"] == pytest.approx(200.0, rel=0.02)


def test_the_json_holds_every_documented_field(cli: Cli, low: Path, root: Path) -> None:
    section = (root / "docs/cli.md").read_text("utf-8").split("## measure\n")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    (document,) = documents(cli(low, "--json")[1])
    assert list(document) == ["path", "sample_rate", "measured"]
    assert sorted(document["measured"]) == sorted(documented)
    assert sorted(documented) == sorted(field.name for field in fields(Measurements))
    assert set(measuring._ROWS) == set(documented) - {"syllables_from"}


def test_the_text_gives_the_syllables(cli: Cli, low: Path) -> None:
    heard, english, chinese, number = (
        documents(cli(low, *more, "--json")[1])[0]["measured"]
        for more in (
            (),
            ("--text", "Water under the bridge"),
            ("--text", "小桥流水人家"),
            ("-t", "12", "--lang", "zh"),
        )
    )
    assert heard["syllables_from"] == "audio"
    for measured, count in ((english, 6), (chinese, 6), (number, 2)):
        assert measured["syllables_from"] == "text"
        assert measured["syllables_per_s"] * measured["speech_s"] == pytest.approx(count, rel=0.01)


def test_a_table_has_a_column_for_each_file(cli: Cli, low: Path, tmp_path: Path) -> None:
    high = tmp_path / "high.wav"
    write(vowel(220.0, 13.0), high)
    code, out, err = cli(low, high)
    rows = [line.split("\t") for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert rows[0] == ["measure", str(low), str(high), "unit"]
    assert len(rows) == 1 + len(measuring._ROWS)
    (pitch,) = (row for row in rows if row[0].startswith("pitch (median"))
    assert float(pitch[1]) == pytest.approx(110.0, rel=0.02)
    assert float(pitch[2]) == pytest.approx(220.0, rel=0.02)
    assert pitch[3] == "Hz"
    (share,) = (row for row in rows if row[0] == "voiced share")
    assert 80 <= int(share[1]) <= 100


def test_the_table_speaks_chinese(cli: Cli, low: Path) -> None:
    rows = [line.split("\t") for line in cli(low, lang="zh")[1].splitlines()]
    assert rows[0] == ["项目", str(low), "单位"]
    assert all(re.search(r"[\u4e00-\u9fff]", row[0]) for row in rows)


def test_silence_has_nothing_to_measure(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "silence.wav"
    write(AudioClip(np.zeros(RATE, np.float32), RATE), path)
    (document,) = documents(cli(path, "--json")[1])
    kept = {name: value for name, value in document["measured"].items() if value is not None}
    assert kept == {"duration_s": 1.0, "speech_s": 0.0, "voiced_share": 0.0}
    code, out, _ = cli(path)
    assert code == 0
    assert "pitch (median F0)\t–\tHz" in out.splitlines()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.wav", b"", "not an audio file"),
        ("words.mp3", b"no sound in here", "not an audio file"),
        ("nothing.flac", None, "cannot be read"),
    ],
)
def test_what_is_no_audio_is_said(
    cli: Cli, low: Path, tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    for more in ((), ("--json",)):
        code, out, err = cli(low, path, *more)
        assert (code, out) == (2, "")
        assert name in err
        assert said in err
        assert len(err.splitlines()) == 1
    assert re.search(r"[\u4e00-\u9fff]", cli(path, lang="zh")[2])


def test_a_header_without_samples_is_said(cli: Cli, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    soundfile.write(buffer, np.zeros(0, np.float32), RATE, format="WAV")
    path = tmp_path / "bare.wav"
    path.write_bytes(buffer.getvalue())
    code, out, err = cli(path)
    assert (code, out) == (2, "")
    assert "holds no audio" in err


def test_a_file_has_to_be_given(cli: Cli) -> None:
    code, out, err = cli()
    assert (code, out) == (2, "")
    assert "FILE" in err
