"""`kept`, and speaking with what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import DESIGN, Cli, documented_json, refused
from voice_sculptor.library.voice_files import load_voice


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of this test's own."""
    monkeypatch.setenv("VOICE_SCULPTOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@pytest.fixture
def file(cli: Cli, tmp_path: Path) -> Path:
    """A voice that was designed."""
    assert cli(*DESIGN, "--n", "1", "-d", "a low man", "--out", tmp_path / "out").code == 0
    return tmp_path / "out" / "a-low-man-7.voice.json"


def names(cli: Cli, *flags: str) -> list[str]:
    return [voice["name"] for voice in cli("kept", *flags, "--json").document["voices"]]


def test_a_kept_voice_speaks_as_its_file_does(cli: Cli, file: Path, tmp_path: Path) -> None:
    assert cli("kept", "add", file, "--name", "老 王").out == "老 王\n"
    (kept,) = cli("kept", "--json").document["voices"]
    clips = []
    for number, voice in enumerate((str(file), "老 王", kept["id"])):
        # Its engine is known by the voice.
        made = cli("speak", "--voice", voice, "--text", "hello again", "--out", tmp_path / f"{number}.wav")
        assert (made.code, made.err) == (0, "")
        clips.append((tmp_path / f"{number}.wav").read_bytes())
    assert clips[0] == clips[1] == clips[2]
    refused(cli("speak", "--voice", "老 李", "--text", "a", "--engine", "fake"), 3, "老 李", "老 王")


def test_the_list(cli: Cli, file: Path, root: Path) -> None:
    assert cli("kept").out == "name\tengine\tkept\tid\n"
    assert names(cli) == []
    cli("kept", "add", file)
    cli("kept", "add", file, "--name", "Ann")
    rows = [line.split("\t") for line in cli("kept").out.splitlines()[1:]]
    assert [row[:2] for row in rows] == [["Ann", "fake"], ["a-low-man-7", "fake"]]
    document = cli("kept", "--json").document
    (example,) = (one for one in documented_json(root) if "voices" in one)
    assert [list(each) for each in document["voices"]] == [list(example["voices"][0])] * 2
    assert document["voices"][1]["description"] == "a low man"


def test_rename_delete_restore(cli: Cli, file: Path) -> None:
    id = cli("kept", "add", file, "--name", "Ann", "--json").document["id"]
    assert cli("kept", "rename", "ann", "Bea").out == "Bea\n"
    deleted = cli("kept", "delete", "Bea")
    assert (deleted.code, deleted.out) == (0, "")
    assert f"kept restore {id}" in deleted.err
    assert names(cli) == []
    assert names(cli, "--deleted") == ["Bea"]
    assert cli("kept", "restore", "bea").out == "Bea\n"
    cli("kept", "delete", id)
    assert cli("kept", "restore", id, "--json").document["id"] == id
    assert names(cli) == ["Bea"]
    assert "已删除" in cli("--ui-lang", "zh", "kept", "delete", "Bea").err


def test_names_of_stock_voices_are_not_given_away(cli: Cli, file: Path) -> None:
    assert cli("kept", "add", file, "--name", "fake_low").out == "fake_low (2)\n"
    assert cli("kept", "rename", "fake_low (2)", "FAKE_HIGH").out == "FAKE_HIGH (2)\n"


def test_export_gives_the_file_back(cli: Cli, file: Path, tmp_path: Path) -> None:
    cli("kept", "add", file, "--name", "../../Ann: <b>")
    made = cli("kept", "export", "../../Ann: <b>")
    assert made.out == "ann-b.voice.json\n"
    exported = load_voice(tmp_path / "ann-b.voice.json")
    assert exported == load_voice(file).model_copy(update={"name": "../../Ann: <b>"})
    assert cli("kept", "export", "../../ann: <b>", "--out", "x/y.voice.json").out == "x/y.voice.json\n"
    assert json.loads(Path("x/y.voice.json").read_bytes())["name"] == "../../Ann: <b>"
    assert "Replaced" in cli("kept", "export", "../../ann: <b>", "--out", "x/y.voice.json").err
    assert cli("kept", "export", "../../ann: <b>", "--out", "x").out == "x/ann-b.voice.json\n"


@pytest.mark.parametrize("command", ["rename", "delete", "restore", "export"])
def test_unknown_ones(cli: Cli, file: Path, command: str) -> None:
    cli("kept", "add", file, "--name", "Ann")
    more = ("x",) if command == "rename" else ()
    for voice in ("../../etc/passwd", "0" * 32, ""):
        refused(cli("kept", command, voice, *more), 3, "no voice named")


def test_what_is_no_voice_or_no_name_is_not_kept(cli: Cli, file: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.voice.json").write_text("{}")
    refused(cli("kept", "add", tmp_path / "bad.voice.json"), 2, "bad.voice.json")
    refused(cli("kept", "add", tmp_path / "none.voice.json"), 3, "none.voice.json")
    refused(cli("kept", "add", file, "--name", " "), 2, "needs a name")
    assert names(cli) == []


def test_the_folder_can_be_named(cli: Cli, file: Path, tmp_path: Path, data_dir: Path) -> None:
    other = tmp_path / "other"
    cli("kept", "add", file, "--name", "Ann", "--data-dir", other)
    assert names(cli) == []
    assert names(cli, "--data-dir", str(other)) == ["Ann"]
    assert cli("kept", "--data-dir", other, "rename", "Ann", "Bea").out == "Bea\n"
    speak = ("speak", "--voice", "Bea", "--text", "a", "--out", tmp_path / "a.wav")
    assert cli(*speak, "--data-dir", other).code == 0
    refused(cli(*speak, "--engine", "fake"), 3, "Bea")
    (tmp_path / "file").write_bytes(b"")
    refused(cli("kept", "--data-dir", tmp_path / "file"), 4, "cannot be used", "--data-dir")


def test_a_library_that_cannot_be_used_stops_no_work(cli: Cli, tmp_path: Path, file: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    made = cli(*DESIGN, "--n", "2", "--out", tmp_path / "b", "--data-dir", tmp_path / "file")
    assert made.code == 0
    assert len(made.out.splitlines()) == 2
    assert made.err.count("not written into the history") == 1
    speak = ("--text", "a", "--out", tmp_path / "a.wav", "--data-dir", tmp_path / "file")
    assert cli("speak", "--voice", file, *speak).code == 0
    assert cli("speak", "--voice", "fake_low", "--engine", "fake", *speak).code == 0
