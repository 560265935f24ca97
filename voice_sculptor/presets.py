"""Presets: named voices with a sample text, one YAML file each.

A file is a plain mapping with `group`, `name`, `description`, `controls` and `text`, each text in `zh` and
`en`; the id is the file's name. Controls are written as a person writes them: `pitch: low`, `age: 70`,
`emotion: happy:0.6`.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from voice_sculptor.config import PROJECT_DIR
from voice_sculptor.controls import CONTROL_NAMES, Controls, Emotion, canonical_name, parse_control
from voice_sculptor.domain import MAX_DESCRIPTION_CHARS, PRESET_GROUPS, Bilingual, Preset
from voice_sculptor.errors import OutputError, PresetError, UnknownPreset, UnsupportedControl
from voice_sculptor.faults import said
from voice_sculptor.plain_yaml import load_plain_yaml

MAX_FILE_BYTES = 32 * 1024
_MAX_QUERY_CHARS = 100


@dataclass(frozen=True)
class PresetBook(Sequence[Preset]):
    """Presets by group, then by id."""

    presets: tuple[Preset, ...]

    def __len__(self) -> int:
        return len(self.presets)

    def __getitem__(self, index: Any) -> Any:
        return self.presets[index]

    def get(self, preset_id: str) -> Preset:
        """The preset of an id.

        Raises:
            UnknownPreset: There is none; the sentence names the nearest.
        """
        for preset in self.presets:
            if preset.id == preset_id:
                return preset
        shown = preset_id[:_MAX_QUERY_CHARS]
        near = self._nearest(shown.casefold())
        listing = "`voice-sculptor presets`"
        raise UnknownPreset(
            f"There is no preset named {shown!r}.",
            f"没有名为 {shown!r} 的预设。",
            fix_en=(f"Did you mean {', '.join(near)}? " if near else "") + f"{listing} lists them all.",
            fix_zh=(f"您要找的是 {'、'.join(near)} 吗？" if near else "") + f"运行 {listing} 查看全部。",
        )

    def _nearest(self, query: str) -> list[str]:
        names = {name.casefold(): p.id for p in self.presets for name in (p.id, p.name.en, p.name.zh)}
        return list(dict.fromkeys(names[name] for name in difflib.get_close_matches(query, names, n=3)))


def shipped_presets_dir() -> Path:
    """The presets that come with the program: package data of an installed one, `presets/` in a checkout."""
    installed = Path(__file__).with_name("_presets")
    return installed if installed.is_dir() else PROJECT_DIR / "presets"


def load_presets(*dirs: Path) -> PresetBook:
    """Load every `*.yaml` of some folders; a later folder replaces presets of the same id.

    Args:
        dirs: Folders; none means the shipped one.

    Raises:
        PresetError: A folder or file cannot be read, or a file is not a valid preset.
    """
    found: dict[str, Preset] = {}
    for folder in dirs or (shipped_presets_dir(),):
        if not folder.is_dir():
            raise PresetError(f"There is no presets folder {folder}.", f"预设文件夹 {folder} 不存在。")
        for path in folder.glob("*.yaml"):
            preset = load_preset(path)
            found[preset.id] = preset
    return PresetBook(tuple(sorted(found.values(), key=lambda p: (PRESET_GROUPS.index(p.group), p.id))))


def load_preset(path: Path) -> Preset:
    """Load one file.

    Raises:
        PresetError: It cannot be read or is not a valid preset; the sentence names file and field.
    """
    data = _read_yaml(path)
    if data.setdefault("id", path.stem) != path.stem:
        raise _error(
            path, "id", f"must be {path.stem!r}, as the file is named", f"须与文件名一致：{path.stem!r}"
        )
    data["controls"] = _read_controls(path, data.get("controls", {}))
    try:
        preset = Preset.model_validate(data)
    except ValidationError as error:
        raise _schema_error(path, error) from error
    for language in ("zh", "en"):
        if len(preset.description.get(language)) > MAX_DESCRIPTION_CHARS:
            limit = f"{MAX_DESCRIPTION_CHARS:,}"
            field = f"description.{language}"
            raise _error(path, field, f"is longer than {limit} characters", f"超过 {limit} 个字符")
    return preset


def save_preset(preset: Preset, folder: Path, *, replace: bool = False) -> Path:
    """Write a preset as `folder/<id>.yaml`, whole or not at all.

    Args:
        preset: What to write; checked again, so that its id cannot name a place outside the folder.
        folder: Made where missing.
        replace: Write over a preset of the same id.

    Returns:
        The file.

    Raises:
        PresetError: The preset is not valid.
        OutputError: The file exists already or cannot be written.
    """
    try:
        Preset.model_validate(preset.model_dump())
    except ValidationError as error:
        raise _schema_error(Path(f"{preset.id!r}"), error) from error
    path = folder / f"{preset.id}.yaml"
    data = preset.model_dump(exclude={"id", "controls"})
    data["controls"] = {name: _written(value) for name, value in preset.controls.asked().items()}
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=110)
    temporary = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists() and not replace:
            raise OutputError(
                f"{path} exists already.",
                f"{path} 已存在。",
                fix_en="Choose another id.",
                fix_zh="请换一个名称。",
            )
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, delete=False) as file:
            temporary = Path(file.name)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise OutputError(
            f"The preset cannot be written to {path}: {error.strerror}.",
            f"预设无法写入 {path}：{error.strerror}。",
            fix_en="Check the folder's permissions and the free space.",
            fix_zh="请检查文件夹权限和剩余空间。",
        ) from error
    return path


def _written(value: Any) -> str:
    """A control's value as `parse_control` reads it."""
    if isinstance(value, Emotion):
        return f"{value.name}:{_written(value.intensity)}"
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _error(path, "", f"cannot be read: {error.strerror}", f"无法读取：{error.strerror}") from error
    if len(content) > MAX_FILE_BYTES:
        size = f"{MAX_FILE_BYTES // 1024} KiB"
        raise _error(path, "", f"is larger than {size}", f"超过 {size}")
    try:
        data = load_plain_yaml(content)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        where, where_zh = (f" (line {line})", f"（第 {line} 行）") if mark else ("", "")
        raise _error(path, "", f"is not valid{where}: {problem}", f"无效{where_zh}：{problem}") from error
    if not isinstance(data, dict):
        keys = ", ".join(_valid_keys(""))
        raise _error(path, "", f"must be a mapping with the keys {keys}", f"须为包含下列键的映射：{keys}")
    return data


def _read_controls(path: Path, given: Any) -> Controls:
    if not isinstance(given, dict):
        names = ", ".join(CONTROL_NAMES)
        raise _error(path, "controls", f"must be a mapping of {names}", f"须为映射，键为 {names}")
    values: dict[str, Any] = {}
    for key, value in given.items():
        written = value
        if isinstance(value, dict) and "name" in value and set(value) <= {"name", "intensity"}:
            written = ":".join(str(value[part]) for part in ("name", "intensity") if part in value)
        if not isinstance(written, str):
            raise _error(path, f"controls.{key}", "must be one word or number", "须为一个词或数字")
        try:
            name = canonical_name(key)
            values[name] = parse_control(name, written)
        except UnsupportedControl as error:
            message, message_zh = error.message("en").rstrip("."), error.message("zh").rstrip("。")
            raise _error(path, f"controls.{key}", message, message_zh) from error
    return Controls(**values)


def _schema_error(path: Path, error: ValidationError) -> PresetError:
    first = error.errors()[0]
    loc = [str(part) for part in first["loc"]]
    field = ".".join(loc)
    keys = ", ".join(_valid_keys(loc[0] if len(loc) > 1 else ""))
    if first["type"] == "extra_forbidden":
        return _error(path, field, f"is not a known key. Valid: {keys}", f"不是有效的键。可用：{keys}")
    if first["type"] == "missing":
        return _error(path, field, "is missing", "缺失")
    if field == "group":
        groups = ", ".join(PRESET_GROUPS)
        return _error(path, field, f"must be one of {groups}", f"须为 {groups} 之一")
    if field == "id":
        return _error(
            path,
            field,
            "(the file's name) must be lower-case letters, digits and single hyphens",
            "（即文件名）只能用小写字母、数字和单个连字符",
        )
    return _error(path, field, *said(first))


def _valid_keys(field: str) -> Iterator[str]:
    model = Preset if field == "" else Controls if field == "controls" else Bilingual
    return (name for name in model.model_fields if field or name != "id")


def _error(path: Path, field: str, en: str, zh: str) -> PresetError:
    where = f"{path}: {field}" if field else f"{path}"
    return PresetError(
        f"Preset {where} {en}.",
        f"预设 {where} {zh}。",
        fix_en="Correct the file or remove it.",
        fix_zh="请修改或移除该文件。",
    )
