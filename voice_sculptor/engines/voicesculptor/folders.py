"""What is in a checkpoint's folder, seen from outside: names, sizes, a line of JSON. The loaders check the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from voice_sculptor.engines.voicesculptor import hub

Lack = tuple[str, str]
"""What a folder lacks, in English and Chinese."""


def lack_of_model(folder: Path) -> Lack | None:
    """What keeps a folder from being a checkpoint of the language model; `None` where nothing does."""
    config = _json(folder / "config.json")
    if config is None:
        return _missing(folder, "config.json")
    if config.get("model_type") != "llama":
        kind = config.get("model_type")
        return (
            f"its config.json is of a {kind!r}, not of a 'llama'",
            f"其 config.json 的类型是 {kind!r}，不是 'llama'",
        )
    if not (folder / "tokenizer.json").is_file():
        return _missing(folder, "tokenizer.json")
    if (name := hub.unfinished(folder)) is not None:
        return _missing(folder, name)
    files = weight_files(folder)
    if not files:
        return _missing(folder, "*.safetensors")
    return next((_missing(folder, path.name) for path in files if not _has_content(path)), None)


def lack_of_codec(folder: Path) -> Lack | None:
    """What keeps a folder from being a checkpoint of the codec, in either format; `None` where nothing does."""
    if any(_has_content(path) for path in folder.glob("ckpt/*.ckpt")):
        return None
    config = _json(folder / "config.json")
    if config is None:
        return _missing(folder, "config.json")
    names = (config.get("model_type"), *(config.get("architectures") or ()))
    if not any("xcodec2" in str(name).lower() for name in names):
        return "its config.json is not of XCodec2", "其 config.json 不是 XCodec2 的"
    if (name := hub.unfinished(folder)) is not None:
        return _missing(folder, name)
    is_there = any(_has_content(folder / name) for name in ("model.safetensors", "pytorch_model.bin"))
    return None if is_there else _missing(folder, "model.safetensors")


def weight_files(folder: Path) -> list[Path]:
    """The files that are loaded, there or not: those an index lists, else all; safetensors before pickles."""
    for index, pattern in (
        ("model.safetensors.index.json", "*.safetensors"),
        ("pytorch_model.bin.index.json", "pytorch_model*.bin"),
    ):
        listed = (_json(folder / index) or {}).get("weight_map")
        if isinstance(listed, dict):
            return [folder / name for name in sorted({Path(str(name)).name for name in listed.values()})]
        if files := sorted(folder.glob(pattern)):
            return files
    return []


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _json(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _missing(folder: Path, name: str) -> Lack:
    if not folder.is_dir():
        return "there is no such folder", "没有这个文件夹"
    return f"{name} is missing or incomplete", f"缺少 {name}，或该文件不完整"
