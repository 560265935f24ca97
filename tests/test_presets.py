import re
from collections import Counter
from pathlib import Path

import pytest

from voice_sculptor import presets
from voice_sculptor.controls import EMOTIONS, Controls, Emotion, level_of
from voice_sculptor.domain import PRESET_GROUPS, Bilingual, Preset, VoiceSpec
from voice_sculptor.errors import OutputError, PresetError, UnknownPreset
from voice_sculptor.language.conflicts import merge
from voice_sculptor.language.description import understand
from voice_sculptor.presets import (
    MAX_FILE_BYTES,
    load_preset,
    load_presets,
    save_preset,
    shipped_presets_dir,
)

BOOK = load_presets()
GOOD = """\
group: role
name: {zh: 老船长, en: Old captain}
description: {zh: 老年男声。, en: An elderly male voice.}
controls:
  age: 70
  pitch: low
  speed: 0.9
  emotion: happy:0.6
text: {zh: 起航吧。, en: Set sail.}
"""


def write(folder: Path, content: str | bytes, name: str = "old-captain.yaml") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# -- what ships


def test_there_are_enough_in_balance() -> None:
    groups = Counter(preset.group for preset in BOOK)
    assert all(groups[group] >= 10 for group in PRESET_GROUPS)
    genders = Counter(preset.controls.gender for preset in BOOK)
    assert min(genders["male"], genders["female"]) >= 0.4 * len(BOOK)
    ages = Counter(level_of("age", preset.controls.age) for preset in BOOK if preset.controls.age)
    assert set(ages) == {"child", "young", "middle-aged", "elderly"}
    assert {preset.controls.emotion.name for preset in BOOK if preset.controls.emotion} == set(EMOTIONS)


def test_they_are_sorted_by_group_and_id() -> None:
    keys = [(PRESET_GROUPS.index(preset.group), preset.id) for preset in BOOK]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(BOOK) == len(list(shipped_presets_dir().glob("*.yaml")))


@pytest.mark.parametrize("preset", BOOK, ids=lambda preset: preset.id)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_description_and_controls_agree(preset: Preset, language: str) -> None:
    understood = understand(preset.description.get(language))
    merged, _, notices = merge(VoiceSpec(controls=preset.controls), understood)
    assert [notice.en for notice in notices] == []
    assert merged == preset.controls
    assert set(understood.controls.asked()) == set(preset.controls.asked()), "each control is said in words"
    assert {"age", "gender", "pitch", "volume", "speed", "emotion"} <= set(understood.words)


@pytest.mark.parametrize("preset", BOOK, ids=lambda preset: preset.id)
def test_sample_texts_have_a_good_length(preset: Preset) -> None:
    assert 20 <= len(re.findall(r"[\u4e00-\u9fff]", preset.text.zh)) <= 60
    assert 15 <= len(preset.text.en.split()) <= 35
    assert not re.search(r"[\u4e00-\u9fff]", preset.text.en + preset.description.en + preset.name.en)
    assert preset.controls.speed is not None
    assert 0.6 <= preset.controls.speed <= 1.5


def test_names_and_texts_are_not_repeated() -> None:
    for field in ("name", "description", "text"):
        for language in ("zh", "en"):
            values = [getattr(preset, field).get(language) for preset in BOOK]
            assert len(set(values)) == len(values)


def test_an_installed_package_has_its_own_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped_presets_dir() == Path(presets.__file__).parent.parent / "presets"
    monkeypatch.setattr(presets, "__file__", str(tmp_path / "presets.py"))
    (tmp_path / "_presets").mkdir()
    assert shipped_presets_dir() == tmp_path / "_presets"


# -- loading


def test_a_preset_is_read_as_a_person_writes_it(tmp_path: Path) -> None:
    preset = load_preset(write(tmp_path, GOOD))
    assert (preset.id, preset.name.zh) == ("old-captain", "老船长")
    assert preset.controls == Controls(
        age=70, pitch=-1, speed=0.9, emotion=Emotion(name="happy", intensity=0.6)
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("emotion: {name: happy, intensity: 0.6}", Controls(emotion=Emotion(name="happy", intensity=0.6))),
        ("emotion: {name: 难过}", Controls(emotion=Emotion(name="sad"))),
        ("gender: 女", Controls(gender="female")),
        ("pitch-variation: very lively", Controls(pitch_variation=2)),
        ("volume: unspecified", Controls()),
        ("pitch: -0.5", Controls(pitch=-0.5)),
    ],
)
def test_controls(tmp_path: Path, line: str, expected: Controls) -> None:
    content = re.sub(r"controls:\n(  .*\n)+", f"controls:\n  {line}\n", GOOD)
    assert load_preset(write(tmp_path, content)).controls == expected


def test_controls_may_be_left_out(tmp_path: Path) -> None:
    content = re.sub(r"controls:\n(  .*\n)+", "", GOOD)
    assert load_preset(write(tmp_path, content)).controls == Controls()


def bomb() -> str:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "a0: &a0 [x, x]\n" + "\n".join(levels)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (GOOD + "name: {zh: 甲, en: A}\n", ["duplicate key 'name'", "line 10"]),
        (GOOD.replace("  age: 70", "  age: 70\n  age: 71"), ["duplicate key 'age'"]),
        (GOOD + "colour: blue\n", ["colour", "group, name, description, controls, text"]),
        (GOOD.replace("en: Old captain", "fr: Vieux"), ["name", "missing"]),
        (GOOD.replace("en: Set sail.", "en: Go., fr: Va."), ["text.fr", "Valid: zh, en"]),
        (GOOD.replace("group: role\n", ""), ["group", "missing"]),
        (GOOD.replace("group: role", "group: roles"), ["group", "role, profession, scene"]),
        (GOOD.replace("pitch: low", "pitch: lowish"), ["controls.pitch", "very low, low, medium"]),
        (GOOD.replace("pitch: low", "pitch: 7"), ["controls.pitch", "from -2 to 2"]),
        (GOOD.replace("pitch: low", "picth: low"), ["controls.picth", "pitch_variation"]),
        (GOOD.replace("pitch: low", "pitch: [low]"), ["controls.pitch", "one word or number"]),
        (GOOD.replace("happy:0.6", "happy:6"), ["controls.emotion", "0 to 1"]),
        (GOOD.replace("happy:0.6", "{name: joyish}"), ["controls.emotion", "happy, angry"]),
        (GOOD.replace("happy:0.6", "{name: sad, amount: 1}"), ["controls.emotion"]),
        (re.sub(r"controls:\n(  .*\n)+", "controls: low\n", GOOD), ["controls", "age, gender"]),
        (GOOD + "id: someone-else\n", ["id", "'old-captain'"]),
        (GOOD.replace("en: Set sail.", "en: ''"), ["text.en"]),
        (GOOD.replace("An elderly male voice.", "low " * 600), ["description.en", "2,000"]),
        ("", ["mapping", "group, name"]),
        ("- a\n- b\n", ["mapping"]),
        ("just words", ["mapping"]),
        ("group: [role", ["line 1"]),
        ("{a: {b: {c: {d: {e: f}}}}}", ["nested too deeply"]),
        ("[" * 20_000, ["nested too deeply"]),
        ("? [a, b]\n: c\n", ["not plain text"]),
        (bomb(), ["anchors and aliases are not allowed"]),
        ("group: *nowhere\n", ["anchors and aliases"]),
        (GOOD.replace("role", "!!python/object/apply:os.getcwd []"), ["tags are not allowed"]),
        (GOOD.replace("role", "!mine role"), ["tags are not allowed"]),
        (GOOD.replace("Set sail.", "2001-99-99") + "%", ["line"]),
        (GOOD + GOOD.replace("group", "---\ngroup", 1), ["another document"]),
        (b"\xff\xfe\x00", ["old-captain.yaml"]),
        (b"group: \x00\n", ["old-captain.yaml"]),
        (b"x" * 10_000_000, ["32 KiB"]),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, content: str | bytes, parts: list[str]) -> None:
    path = write(tmp_path, content)
    with pytest.raises(PresetError) as caught:
        load_presets(tmp_path)
    for language in ("en", "zh"):
        assert str(path) in caught.value.message(language)
    assert all(part in caught.value.message("en") for part in parts), caught.value.message("en")
    assert re.search(r"[\u4e00-\u9fff]", caught.value.message("zh"))


def test_scalars_stay_text(tmp_path: Path) -> None:
    preset = load_preset(write(tmp_path, GOOD.replace("Set sail.", "no").replace("起航吧。", "2001-99-99")))
    assert preset.text == Bilingual(zh="2001-99-99", en="no")


@pytest.mark.parametrize("name", ["Old Captain.yaml", "-.yaml", "老船长.yaml", "..yaml", "a--b.yaml"])
def test_a_file_name_that_is_no_id_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, GOOD, name)
    with pytest.raises(PresetError, match=r"lower-case letters"):
        load_presets(tmp_path)


def test_a_folder_in_place_of_a_file_and_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(PresetError, match="no presets folder"):
        load_presets(tmp_path / "none")
    (tmp_path / "a.yaml").mkdir()
    with pytest.raises(PresetError, match="cannot be read"):
        load_presets(tmp_path)


def test_a_later_folder_replaces_a_preset(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "wise-grandfather.yaml")
    write(tmp_path, GOOD)
    book = load_presets(shipped_presets_dir(), tmp_path)
    assert len(book) == len(BOOK) + 1
    assert book.get("wise-grandfather").name.en == "Old captain"


# -- finding


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [("wise-grandfathr", "wise-grandfather"), ("News Anchor", "news-anchor"), ("新闻主播员", "news-anchor")],
)
def test_an_unknown_preset_names_the_nearest(asked: str, nearest: str) -> None:
    with pytest.raises(UnknownPreset) as caught:
        BOOK.get(asked)
    for language in ("en", "zh"):
        assert nearest in caught.value.message(language)
        assert "voice-sculptor presets" in caught.value.message(language)


@pytest.mark.parametrize("asked", ["", "../../etc/passwd", "\x00", "x" * 1_000_000])
def test_nonsense_is_an_unknown_preset(asked: str) -> None:
    with pytest.raises(UnknownPreset) as caught:
        BOOK.get(asked)
    assert len(caught.value.message("en")) < 500


# -- saving


@pytest.mark.parametrize("preset", BOOK[::6], ids=lambda preset: preset.id)
def test_a_saved_preset_comes_back_the_same(tmp_path: Path, preset: Preset) -> None:
    path = save_preset(preset, tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / f"{preset.id}.yaml"
    assert load_preset(path) == preset
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "text", ["a: b # c", "no", "'\"", "- x", "line\n\nline ", "\t", "*a &b !c", "null", "🙂", "\x07"]
)
def test_any_text_survives_saving(tmp_path: Path, text: str) -> None:
    preset = BOOK[0].model_copy(update={"text": Bilingual(zh=text, en=text)})
    assert load_preset(save_preset(preset, tmp_path)) == preset


@pytest.mark.parametrize("preset_id", ["../escape", "/tmp/escape", "a/b", "..", "", "A", "a\n", "con.yaml"])
def test_an_id_cannot_leave_the_folder(tmp_path: Path, preset_id: str) -> None:
    folder = tmp_path / "presets"
    folder.mkdir()
    with pytest.raises(PresetError):
        save_preset(BOOK[0].model_copy(update={"id": preset_id}), folder)
    assert list(tmp_path.rglob("*")) == [folder]


def test_a_preset_is_not_written_over_unasked(tmp_path: Path) -> None:
    path = save_preset(BOOK[0], tmp_path)
    before = path.read_bytes()
    changed = BOOK[0].model_copy(update={"controls": Controls(pitch=1.5)})
    with pytest.raises(OutputError, match="exists already"):
        save_preset(changed, tmp_path)
    assert path.read_bytes() == before
    save_preset(changed, tmp_path, replace=True)
    assert load_preset(path).controls == Controls(pitch=1.5)


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OutputError, match="No space left") as caught:
        save_preset(BOOK[0], tmp_path)
    assert "剩余空间" in caught.value.message("zh")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, "x", "file")
    with pytest.raises(OutputError):
        save_preset(BOOK[0], tmp_path / "file")


def test_the_size_bound_leaves_room() -> None:
    assert all(path.stat().st_size * 8 < MAX_FILE_BYTES for path in shipped_presets_dir().glob("*.yaml"))
