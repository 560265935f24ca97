"""Making voices and speech: what is written where, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import soundfile

from tests.cli.commands import DESIGN, Cli, documented_json, files
from voice_sculptor import domain


def test_design_writes_a_clip_and_a_voice_for_each_seed(cli: Cli, tmp_path: Path) -> None:
    made = cli(*DESIGN, "--description", "A low, old man", "--n", "2", "--out", tmp_path)
    stems = ["a-low-old-man-7", "a-low-old-man-8"]
    assert made.code == 0
    assert made.err == "", "progress is quiet in a pipe"
    assert made.out.splitlines() == [str(tmp_path / f"{stem}.wav") for stem in stems]
    assert sorted(files(tmp_path)) == sorted(
        f"{s}{suffix}" for s in stems for suffix in (".wav", ".voice.json")
    )
    assert soundfile.info(tmp_path / f"{stems[0]}.wav").subtype == "PCM_16"
    voice = json.loads((tmp_path / f"{stems[1]}.voice.json").read_text("utf-8"))
    assert (voice["name"], voice["seed"], voice["engine"]) == (stems[1], 8, "fake")


def test_the_json_is_as_documented(cli: Cli, tmp_path: Path, root: Path) -> None:
    made = cli(
        *DESIGN, "--description", "deep old man, gibbery voice", "--set", "gender=female", "--json", "--out", tmp_path
    )  # fmt: skip
    (example,) = (one for one in documented_json(root) if "candidates" in one)
    assert list(made.document) == list(example)
    assert [list(one) for one in made.document["candidates"]] == [list(example["candidates"][0])] * 3
    assert list(made.document["understood"]) == list(example["understood"])
    assert list(made.document["understood"]["controls"]["age"]) == list(
        example["understood"]["controls"]["age"]
    )
    assert made.document["understood"]["controls"]["age"]["value"] == 70
    assert [warning["kind"] for warning in made.document["warnings"]] == ["conflict", "unknown"]
    for one in made.document["candidates"]:
        assert soundfile.info(one["path"]).duration == pytest.approx(one["duration_s"], abs=1e-3)
        assert Path(one["voice"]).is_file()
        assert one["rtf"] > 0
    assert [one["seed"] for one in made.document["candidates"]] == [7, 8, 9]


def test_the_same_again_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    first = cli(*DESIGN, "--out", tmp_path)
    before = files(tmp_path)
    second = cli(*DESIGN, "--out", tmp_path)
    assert second.out == first.out
    assert files(tmp_path) == before


def test_other_content_never_replaces_a_file(cli: Cli, tmp_path: Path) -> None:
    cli(*DESIGN, "--n", "1", "--out", tmp_path)
    before = files(tmp_path)
    for number in (2, 3):
        other = cli(
            "design", "--engine", "fake", "--text", "x" * number, "--n", "1", "--seed", "7", "--out", tmp_path
        )
        assert other.out.strip() == str(tmp_path / f"voice-7-{number}.wav")
    after = files(tmp_path)
    assert {name: after[name] for name in before} == before
    assert json.loads(after["voice-7-3.voice.json"])["name"] == "voice-7-3"


@pytest.mark.parametrize("kind", domain.AUDIO_FORMATS)
def test_formats(cli: Cli, tmp_path: Path, kind: str) -> None:
    one, two = (cli(*DESIGN, "--n", "1", "--format", kind, "--out", tmp_path / name) for name in "ab")
    assert Path(one.out.strip()).suffix == f".{kind}"
    assert soundfile.info(one.out.strip()).frames > 0
    assert Path(one.out.strip()).read_bytes() == Path(two.out.strip()).read_bytes()


def test_a_preset_brings_its_text_and_can_be_changed(cli: Cli, tmp_path: Path) -> None:
    listed = cli("presets", "show", "kind-grandmother", "--json").document
    made = {
        lang: cli(
            "design", "--engine", "fake", "--preset", "kind-grandmother", "--set", "pitch=very high", "--set",
            "age=unspecified", "--lang", lang, "--n", "1", "--seed", "1", "--json", "--out", tmp_path / lang,
        ).document["candidates"][0]
        for lang in ("zh", "en")
    }  # fmt: skip
    for lang, one in made.items():
        assert Path(one["path"]).name == "kind-grandmother-1.wav"
        voice = json.loads(Path(one["voice"]).read_text("utf-8"))
        assert voice["description"] == listed["description"][lang]
        assert voice["controls"]["pitch"] == 2.0
    assert made["zh"]["duration_s"] != made["en"]["duration_s"]


def test_the_language_of_messages_chooses_the_sample_text(cli: Cli, tmp_path: Path) -> None:
    for lang in ("zh", "en"):
        made = cli(
            "--ui-lang",
            lang,
            "design",
            "--engine",
            "fake",
            "--preset",
            "news-anchor",
            "--out",
            tmp_path / lang,
        )
        assert made.code == 0
        assert made.out
    assert (
        json.loads(next((tmp_path / "zh").glob("*.json")).read_text("utf-8"))["description"]
        != json.loads(next((tmp_path / "en").glob("*.json")).read_text("utf-8"))["description"]
    )


def test_speaking_with_a_kept_voice_sounds_as_it_was_designed(cli: Cli, tmp_path: Path) -> None:
    made = cli(*DESIGN, "--description", "slow man", "--n", "1", "--json", "--out", tmp_path).document
    voice = made["candidates"][0]["voice"]
    again = cli(
        "speak", "--voice", voice, "--text", "hello", "--out", tmp_path / "again.wav", "--json"
    ).document
    assert (tmp_path / "again.wav").read_bytes() == Path(made["candidates"][0]["path"]).read_bytes()
    assert (again["engine"], again["candidates"][0]["seed"]) == ("fake", 7)
    fast = cli(
        "speak", "--voice", voice, "--text", "hello", "--set", "speed=2", "--out", tmp_path, "--json"
    ).document
    assert Path(fast["candidates"][0]["path"]).name == "slow-man-7-7.wav"
    assert fast["candidates"][0]["duration_s"] < again["candidates"][0]["duration_s"]


def test_speaking_into_a_named_file_replaces_it_and_says_so(cli: Cli, tmp_path: Path) -> None:
    speak = ("speak", "--engine", "fake", "--voice", "fake_low", "--out", tmp_path / "a.flac", "--text")
    assert cli(*speak, "one").err == ""
    before = files(tmp_path)
    assert cli(*speak, "two and more").err == f"Replaced {tmp_path / 'a.flac'}.\n"
    assert list(files(tmp_path)) == list(before)
    assert files(tmp_path) != before


def test_speaking_without_a_place_writes_here(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = cli(
        "speak", "--engine", "fake", "--voice", "fake_low", "--text", "a", "--seed", "3", "--format", "mp3"
    )
    assert made.out == "fake_low-3.mp3\n"
    assert list(files(tmp_path)) == ["fake_low-3.mp3"]


@pytest.mark.parametrize(
    "content",
    ["今天天气不错。".encode(), "\ufeffhello".encode(), b"line one\r\nline two\n"],
    ids=["utf-8", "byte order mark", "windows lines"],
)
def test_text_from_a_file_or_stdin(cli: Cli, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "text.txt").write_bytes(content)
    made = [
        cli(
            "design",
            "--engine",
            "fake",
            *source,
            "--n",
            "1",
            "--seed",
            "1",
            "--out",
            tmp_path / "out",
            stdin=content,
        )
        for source in (("--file", tmp_path / "text.txt"), ("--text", "-"), ("--file", "-"))
    ]
    assert [one.code for one in made] == [0, 0, 0]
    assert len({one.out for one in made}) == 1, "the three are the same text"


def test_understand(cli: Cli) -> None:
    read = cli("understand", "--description", "温柔的老奶奶，语速慢", "--set", "speed=fast")
    assert "gender: female" in read.out
    assert "speed: 1.25×" in read.out
    assert "the control wins" in read.err
    document = cli("understand", "-d", "温柔的老奶奶", "--json").document
    assert list(document) == ["controls", "timbre", "unknown", "warnings"]
    assert document["controls"]["gender"] == {"value": "female", "level": "female", "words": ["老奶奶"]}


def test_understand_prints_what_is_documented(cli: Cli, root: Path) -> None:
    docs = (root / "docs/cli.md").read_text("utf-8")
    words = "an old man, slightly hoarse, gibbery"
    assert f'-d "{words}" -s pitch=low' in docs
    (example,) = (one for one in documented_json(root) if "timbre" in one)
    assert cli("understand", "-d", words, "-s", "pitch=low", "--json").document == example


def test_understand_shows_each_value_with_its_level_and_words(cli: Cli) -> None:
    words = "an old man, slightly hoarse, 70% happy, gibbery voice"
    read = cli("understand", "-d", words, "--set", "pitch=low", "--set", "age=20", "--json").document
    assert read["controls"] == {
        "age": {"value": 20, "level": "young", "words": []},
        "gender": {"value": "male", "level": "male", "words": ["old man"]},
        "pitch": {"value": -1.0, "level": "low", "words": []},
        "emotion": {"value": {"name": "happy", "intensity": 0.7}, "level": "happy", "words": ["70% happy"]},
    }
    assert read["timbre"] == {
        "roughness": {"value": 0.5, "level": "slightly hoarse", "words": ["slightly hoarse"]}
    }
    assert read["unknown"] == ["gibbery"]
    assert [warning["kind"] for warning in read["warnings"]] == ["conflict", "unknown"]
    assert cli("understand", "-d", "velvety whisper").out.splitlines() == [
        "volume: very soft  (whisper)",
        "roughness: smooth  (velvety)",
        "whisper: whisper  (whisper)",
    ]
