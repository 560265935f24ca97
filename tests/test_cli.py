"""The command line: results on stdout, sentences on stderr, documented exit codes, nothing half-written."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
import soundfile

from voice_sculptor import __version__, domain, errors
from voice_sculptor.cli import main, options
from voice_sculptor.cli.session import language_of
from voice_sculptor.engines.kokoro import weights
from voice_sculptor.errors import VoiceSculptorError
from voice_sculptor.library import voice_files

COMMAND = [sys.executable, "-m", "voice_sculptor"]
DESIGN = ("design", "--engine", "fake", "--text", "hello", "--seed", "7")
LONG_TEXT = "word " * 400
HELP_PAGES = [
    (),
    ("design",),
    ("speak",),
    ("understand",),
    ("measure",),
    ("presets",),
    ("presets", "show"),
    ("voices",),
    ("engines",),
    ("serve",),
    ("setup",),
    ("download",),
    ("bench",),
]


@dataclass
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """stdout as one JSON document."""
        document: dict[str, Any] = json.loads(self.out)
        return document


Cli = Callable[..., Result]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command in this process, in English unless the test says otherwise."""
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("COLUMNS", "100")

    def run(*args: str | Path, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return run


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def documented_json(root: Path) -> list[dict[str, Any]]:
    """The JSON documents shown in docs/cli.md."""
    return [
        json.loads(block)
        for block in re.findall(r"```json\n(.*?)```", (root / "docs/cli.md").read_text("utf-8"), re.DOTALL)
    ]


def refused(result: Result, code: int, *parts: str) -> None:
    assert result.code == code, result.err
    assert result.out == ""
    assert len(result.err.strip().splitlines()) == 1, "an error is one line"
    assert "Traceback" not in result.err
    for part in parts:
        assert part in result.err


# Making


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


# Bad input


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


# Listings and the rest


def test_presets(cli: Cli) -> None:
    everything = cli("presets", "--json").document["presets"]
    assert len(everything) >= 24
    scenes = cli("presets", "--group", "scene", "--json").document["presets"]
    assert scenes == [preset for preset in everything if preset["group"] == "scene"]
    header, *rows = [line.split("\t") for line in cli("presets").out.splitlines()]
    assert header == ["id", "group", "name", "controls"]
    assert [row[0] for row in rows] == [preset["id"] for preset in everything]
    shown = cli("--ui-lang", "zh", "presets", "show", everything[0]["id"])
    assert everything[0]["text"]["zh"] in shown.out
    refused(cli("presets", "show", "nobody"), 3, "nobody")
    refused(cli("presets", "--group", "songs"), 2, "--group")


def test_presets_of_the_user(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_SCULPTOR_PRESETS_DIR", str(tmp_path))
    (tmp_path / "mine.yaml").write_text(
        "group: role\nname: {zh: 我, en: Me}\ndescription: {zh: 低, en: low}\ntext: {zh: 好, en: Good}\n"
    )
    ids = [preset["id"] for preset in cli("presets", "--json").document["presets"]]
    assert {"mine", "news-anchor"} <= set(ids)
    (tmp_path / "bad.yaml").write_text("group: role\n")
    refused(cli("presets"), 2, "bad.yaml")


def test_voices(cli: Cli) -> None:
    document = cli("voices", "--engine", "fake", "--json").document
    assert document["engine"] == "fake"
    assert document["voices"][0] == {
        "name": "fake_low",
        "language": "en",
        "gender": "male",
        "measurements": {"f0_hz": 110.0},
    }
    assert cli("voices", "--engine", "fake").out.splitlines()[:2] == [
        "name\tlanguage\tgender\tf0_hz",
        "fake_low\ten\tmale\t110",
    ]
    refused(cli("voices", "--engine", "nobody"), 3, "nobody")


def test_engines(cli: Cli) -> None:
    listed = {engine["id"]: engine for engine in cli("engines", "--json").document["engines"]}
    assert {"kokoro", "fake"} <= set(listed)
    fake = listed["fake"]
    assert fake["languages"] == ["zh", "en"]
    assert fake["capabilities"]["design"] is True
    assert fake["capabilities"]["controls"] == sorted(fake["capabilities"]["controls"])
    assert (fake["code_licence"], fake["weights_licence"], fake["weights_ready"]) == (
        "Apache-2.0",
        "Apache-2.0",
        True,
    )
    assert "fake\t" in cli("engines").out


def test_engines_shows_what_auto_takes_and_why(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from voice_sculptor import device

    monkeypatch.setattr(device, "gpus", lambda: ())
    monkeypatch.setenv("VOICE_SCULPTOR_ENGINE", "fake")
    assert cli("engines", "--json").document["auto"] == {"engine": "kokoro", "reason": "auto: no CUDA device"}
    header, *rows = [line.split("\t") for line in cli("engines").out.splitlines()]
    assert header[-1] == "auto"
    assert {row[0]: row[-1] for row in rows if row[-1]} == {"kokoro": "auto: no CUDA device"}
    assert "没有 CUDA 设备" in cli("--ui-lang", "zh", "engines").out
    # A checkpoint that is wrong is said, and hides nothing.
    card = device.Gpu("Card", "GPU-1", 10**11, 10**11)
    monkeypatch.setattr(device, "gpus", lambda: (card,))
    monkeypatch.setattr("voice_sculptor.engines.registry._torch_has_cuda", lambda: True)
    monkeypatch.setenv("VOICE_SCULPTOR_MODEL_DIR", str(tmp_path))
    listed = cli("engines", "--json")
    assert listed.code == 0
    assert listed.document["auto"] == {}
    assert "--model-dir" in listed.err


def test_settings_that_the_engine_does_not_use_are_said(cli: Cli, tmp_path: Path) -> None:
    flags = ("--slots", "2", "--top-k", "0", "--model-dir", tmp_path, "--json", "--out", tmp_path)
    made = cli(*DESIGN, "--n", "1", *flags)
    assert made.code == 0
    assert made.err == "Fake (tones, for tests) does not use: model_dir, top_k, slots.\n"
    made.document  # noqa: B018  # stdout is JSON alone
    speak = ("speak", "--engine", "fake", "--voice", "fake_low", "--text", "a", "--out", tmp_path / "a.wav")
    assert (
        cli("--ui-lang", "zh", *speak, "--temperature", "0.5").err
        == "Fake (tones, for tests) 不使用这些设置：temperature。\n"
    )


def test_an_engine_that_cannot_be_imported_hides_no_other(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from voice_sculptor.engines import registry

    broken = registry.EntryPoint("broken", "voice_sculptor.no_such_module:Engine", registry.GROUP)
    monkeypatch.setattr(registry, "_found", lambda: {"fake": registry._BUILT_IN[-1], "broken": broken})
    listed = cli("engines", "--json").document["engines"]
    assert [engine["id"] for engine in listed] == ["broken", "fake"]
    assert "no_such_module" in listed[0]["error"]
    assert "no_such_module" in cli("engines").out


def test_serve_passes_its_flags(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from voice_sculptor.ui import server

    calls: list[tuple[Any, bool]] = []
    monkeypatch.setattr(
        server, "serve", lambda settings, open_browser: calls.append((settings, open_browser))
    )
    flags = "--port 8080 --host 0.0.0.0 --engine fake --device cpu --dtype fp32 --max-queue 3 --concurrency 4 --open"
    assert cli("serve", *flags.split()).code == 0
    settings, open_browser = calls[0]
    assert open_browser
    assert (settings.port, settings.host, settings.engine, settings.device) == (
        8080,
        "0.0.0.0",
        "fake",
        "cpu",
    )
    assert (settings.dtype, settings.max_queue, settings.concurrency) == ("fp32", 3, 4)
    assert cli("serve").code == 0
    assert calls[1][0].port is None
    assert calls[1][0].preload is None
    flags = (
        "--gpu-id 1 --half --model-dir m --codec-dir c --max-new-tokens 100 --temperature 0.5 --top-p 0.5 --top-k 7"
        " --repetition-penalty 1.1 --slots 3 --preload"
    )
    assert cli("serve", *flags.split()).code == 0
    settings = calls[2][0]
    assert (settings.device, settings.dtype) == ("cuda:1", "fp16")
    assert (settings.model_dir, settings.codec_dir) == (Path("m"), Path("c"))
    assert (settings.max_new_tokens, settings.temperature, settings.top_p) == (100, 0.5, 0.5)
    assert (settings.top_k, settings.repetition_penalty, settings.slots) == (7, 1.1, 3)
    assert settings.preload is True
    assert cli("serve", "--no-preload").code == 0
    assert calls[3][0].preload is False
    refused(cli("serve", "--port", "99999"), 2, "port")


def test_setup_says_where_the_weights_are(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "prepare", lambda folder, progress: progress(1.0) or folder / "made")
    assert cli("setup", "--checkpoints-dir", tmp_path).out == f"{tmp_path / 'made'}\n"


@pytest.mark.parametrize("name", ["speed", "quality"])
def test_bench_passes_everything_on(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    seen: list[list[str]] = []
    module = types.ModuleType(f"voice_sculptor.bench.{name}")
    module.main = lambda args: seen.append(args)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "voice_sculptor.bench", types.ModuleType("voice_sculptor.bench"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert cli("bench", name, "--runs", "2", "--help", "x").code == 0
    assert seen == [["--runs", "2", "--help", "x"]]


def test_version(cli: Cli) -> None:
    assert cli("--version").out == f"voice-sculptor {__version__}\n"


def test_usage_errors(cli: Cli) -> None:
    refused(cli("desing"), 2, "'desing'", "'design'")
    refused(cli("design", "--text", "a"), 2, "--out", "`voice-sculptor design --help`")
    refused(cli("--ui-lang", "fr", "voices"), 2, "--ui-lang")
    chinese = cli("--ui-lang", "zh", "desing")
    refused(chinese, 2, "命令写法有误", "'design'")
    assert cli().out == cli("--help").out


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
    ],
    ids=str,
)
def test_the_language_of_the_environment(environ: dict[str, str], language: str) -> None:
    assert language_of(environ) == language


def test_messages_follow_the_environment_and_the_flag(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    speak = ("speak", "--engine", "fake", "--voice", "nobody", "--text", "a")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    refused(cli(*speak), 3, "没有名为")
    refused(cli("--ui-lang", "en", *speak), 3, "There is no voice")
    monkeypatch.setenv("VOICE_SCULPTOR_UI_LANG", "en")
    refused(cli(*speak), 3, "There is no voice")


def test_a_fault_of_ours_is_a_sentence_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from voice_sculptor.engines import registry

    def broken() -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(registry, "engine_ids", broken)
    refused(cli("engines"), 1, "boom", "VOICE_SCULPTOR_DEBUG=1")
    monkeypatch.setenv("VOICE_SCULPTOR_DEBUG", "1")
    shown = cli("engines")
    assert (shown.code, shown.out) == (1, "")
    assert "Traceback" in shown.err


# As a process


def test_ctrl_c_cancels(tmp_path: Path) -> None:
    command = [
        *COMMAND,
        "design",
        "--engine",
        "fake",
        "--text",
        LONG_TEXT,
        "--n",
        "6",
        "--out",
        str(tmp_path),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        first = process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1
    assert Path(first).is_file()
    written = sorted(path.name for path in tmp_path.iterdir())
    assert all(name.endswith((".wav", ".voice.json")) for name in written)
    assert len(written) % 2 == 0
    assert len(written) < 12


def test_a_reader_that_leaves_is_no_error_message() -> None:
    with subprocess.Popen(
        [*COMMAND, "presets", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


class Terminal(io.StringIO):
    """A stderr that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_on_a_terminal(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    made = cli(*DESIGN, "--json", "--out", tmp_path)
    assert len(made.document["candidates"]) == 3
    assert "Candidate 3/3" in sys.stderr.getvalue()


def test_help_is_quick() -> None:
    script = (
        "import sys, time; began_s = time.process_time(); from voice_sculptor.cli import main; code = main(['--help']);"
        "slow = {'torch', 'gradio', 'transformers', 'scipy', 'numpy', 'pydantic', 'rich', 'onnx'} & set(sys.modules);"
        "print(code, slow, time.process_time() - began_s, file=sys.stderr)"
    )
    lines = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
        for _ in range(3)
    ]
    assert all(line.startswith("0 set() ") for line in lines), lines
    # Processor time, so that a busy machine does not fail it; alone, the command takes about 0.2 s.
    assert min(float(line.split()[-1]) for line in lines) < 0.5


# Documentation


@pytest.mark.parametrize("path", HELP_PAGES, ids=lambda path: " ".join(path) or "voice-sculptor")
def test_the_documented_help_is_the_real_one(cli: Cli, root: Path, path: tuple[str, ...]) -> None:
    real = cli(*path, "--help").out
    command = " ".join(("voice-sculptor", *path))
    assert f"```console\n$ {command} --help\n{real}```" in (root / "docs/cli.md").read_text("utf-8")


def test_every_command_is_documented(cli: Cli) -> None:
    listed = re.findall(r"^  ([a-z]+) ", cli("--help").out.split("Commands:")[1], re.MULTILINE)
    assert set(listed) == {path[0] for path in HELP_PAGES if path}


def test_the_documented_exit_codes_are_the_real_ones(root: Path) -> None:
    rows = re.findall(r"^\| (\d+) \| (.*?) ?\| ", (root / "docs/cli.md").read_text("utf-8"), re.MULTILINE)
    documented = {int(code): set(re.findall(r"`(\w+)`", names)) for code, names in rows}
    assert documented.pop(0) == set()
    real: dict[int, set[str]] = {}
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, VoiceSculptorError):
            real.setdefault(value.exit_code, set()).add(value.__name__)
    assert documented == real


def test_choices_are_those_of_the_domain() -> None:
    optional = get_args(options.Format)[0]
    assert get_args(get_args(optional)[0]) == domain.AUDIO_FORMATS
    assert get_args(get_args(options.TextLang)[0]) == get_args(domain.TextLanguage)
