"""Imports point one way, and nothing heavy is imported early. The layers are drawn in docs/architecture.md."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = "voice_sculptor"

LAYERS = (
    ("__init__", "domain", "errors", "faults", "controls", "emotions", "timbre", "plain_yaml", "config_file"),
    ("access", "config", "metrics", "language", "audio", "device", "pid_files", "targets"),
    ("engines",),
    ("scheduling",),
    ("library", "presets", "events", "takes", "documents", "studio", "doctor", "obedience"),
    ("ui", "api", "cli", "bench", "__main__"),
)
"""Each unit imports from its own layer and those before it."""

HEAVY = ("torch", "transformers", "gradio", "fastapi", "onnx", "onnxruntime", "scipy", "kokoro_onnx")
"""Never imported by importing a module of the package, but inside the functions that use them …"""
ALLOWED_AT_TOP = {
    "torch": ("engines/kokoro/", "engines/voicesculptor/", "bench/"),
    "transformers": ("engines/voicesculptor/",),
    "gradio": ("ui/",),
    "fastapi": ("ui/", "api/"),
}
"""… save in these folders, whose modules are themselves imported late."""
ALLOWED_ANYWHERE = {"torch": ("engines/", "scheduling/memory.py", "bench/")}
"""Where such a package may be imported at all, if not everywhere."""
NOT_IN_ENGINES = ("gradio", "fastapi", "uvicorn", "typer", f"{PACKAGE}.scheduling")


@dataclass(frozen=True)
class Import:
    file: str
    line: int
    module: str
    is_at_top: bool


def _imports(source: str, file: str) -> Iterator[Import]:
    """Imports of a module: absolute names; those for type checkers only are left out."""

    def walk(node: ast.AST, is_at_top: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for name in child.names:
                    yield Import(file, child.lineno, name.name, is_at_top)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{file}:{child.lineno}: relative import"
                for name in child.names:
                    yield Import(file, child.lineno, f"{child.module}.{name.name}", is_at_top)
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                for other in child.orelse:
                    yield from walk(other, is_at_top)
            else:
                is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from walk(child, is_at_top and not is_function)

    return walk(ast.parse(source), is_at_top=True)


def _is_in(module: str, packages: tuple[str, ...] | str) -> bool:
    names = (packages,) if isinstance(packages, str) else packages
    return any(module == name or module.startswith(f"{name}.") for name in names)


def _unit(path: str) -> str:
    return path.split("/")[0].removesuffix(".py")


def _layer(unit: str) -> int:
    found = [number for number, units in enumerate(LAYERS) if unit in units]
    assert found, f"{unit} has no place in the layers; give it one in this file and in docs/architecture.md"
    return found[0]


def faults(imports: list[Import]) -> list[str]:
    """What is wrong with these imports, one sentence each."""
    said = []
    for i in imports:
        where = f"{i.file}:{i.line} imports {i.module}"
        if i.module.startswith(f"{PACKAGE}."):
            unit = i.module.split(".")[1]
            if unit != "__version__" and _layer(unit) > _layer(_unit(i.file)):
                said.append(f"{where}, from a layer above")
        if i.file.startswith("engines/") and _is_in(i.module, NOT_IN_ENGINES):
            said.append(f"{where}: engines know no skin and no scheduler")
        for package in HEAVY:
            if not _is_in(i.module, package):
                continue
            if i.is_at_top and not i.file.startswith(ALLOWED_AT_TOP.get(package, ())):
                said.append(f"{where} at module level")
            if package in ALLOWED_ANYWHERE and not i.file.startswith(ALLOWED_ANYWHERE[package]):
                said.append(f"{where}, which only engines do")
    return said


def _package_imports(root: Path) -> list[Import]:
    package = root / PACKAGE
    return [
        found
        for path in sorted(package.rglob("*.py"))
        for found in _imports(path.read_text("utf-8"), path.relative_to(package).as_posix())
    ]


def test_imports_point_one_way(root: Path) -> None:
    imports = _package_imports(root)
    assert len(imports) > 100
    assert faults(imports) == []


@pytest.mark.parametrize(
    ("file", "source", "fault"),
    [
        ("domain.py", "from voice_sculptor import studio", "layer above"),
        ("audio/io.py", "def f():\n    import voice_sculptor.engines.base", "layer above"),
        ("studio.py", "from voice_sculptor.ui.page import build", "layer above"),
        ("engines/base.py", "from voice_sculptor.scheduling.worker import Worker", "no scheduler"),
        ("engines/x.py", "def f():\n    import gradio", "no skin"),
        ("engines/x.py", "import torch", "at module level"),
        ("engines/kokoro/x.py", "import onnx", "at module level"),
        ("audio/io.py", "try:\n    from scipy import signal\nfinally:\n    pass", "at module level"),
        ("studio.py", "def f():\n    import torch", "only engines"),
        ("scheduling/memory.py", "import torch.cuda", "at module level"),
    ],
)
def test_a_wrong_import_is_noticed(file: str, source: str, fault: str) -> None:
    assert any(fault in said for said in faults(list(_imports(source, file))))


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("engines/kokoro/x.py", "import torch"),
        ("scheduling/memory.py", "def f():\n    import torch"),
        ("ui/page.py", "import gradio as gr\nfrom voice_sculptor.studio import Studio"),
        ("studio.py", "from voice_sculptor import __version__"),
        ("domain.py", "if TYPE_CHECKING:\n    import torch\n    from voice_sculptor.studio import Studio"),
    ],
)
def test_a_right_import_passes(file: str, source: str) -> None:
    assert faults(list(_imports(source, file))) == []


@pytest.mark.parametrize(
    "module", ["voice_sculptor.cli", "voice_sculptor.studio", "voice_sculptor.engines.kokoro.engine", "app"]
)
def test_importing_pulls_in_nothing_heavy(root: Path, module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert module in loaded
    assert loaded.isdisjoint({*HEAVY, "jieba", "wetext", "pandas", "rich"})
