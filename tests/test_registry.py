"""Which engine is taken, and why."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engines.voicesculptor.local_hub import CODEC_FILES, MODEL_FILES
from voice_sculptor import device
from voice_sculptor.config import Settings, load_settings
from voice_sculptor.engines import registry
from voice_sculptor.engines.base import EngineInfo
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.engines.registry import (
    DEFAULT_ENGINE,
    GPU_ENGINE,
    Choice,
    choose_engine,
    create_engine,
    engine_with_voice,
    unused_settings,
)
from voice_sculptor.errors import MissingDependency, UnknownEngine, WeightsNotFound

CARD = device.Gpu("Test Card", "GPU-1", 24_000_000_000, 20_000_000_000)


class Cards(list[device.Gpu]):
    """The CUDA devices of this machine."""


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> Cards:
    """One card with room, and a torch that can use it."""
    found = Cards([CARD])
    monkeypatch.setattr(device, "gpus", lambda: tuple(found))
    monkeypatch.setattr(registry, "_torch_has_cuda", lambda: True)
    return found


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    """A folder with both checkpoints."""
    for folder, files in (("VoiceSculptor-VD", MODEL_FILES), ("xcodec2-hf", CODEC_FILES)):
        for name, data in files.items():
            path = tmp_path / "checkpoints" / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return tmp_path / "checkpoints"


def chosen(folder: Path, **given: Any) -> Choice:
    return choose_engine(load_settings(checkpoints_dir=folder, **given))


def test_a_card_and_a_checkpoint_make_the_gpu_engine(cards: Cards, checkpoints: Path) -> None:
    choice = chosen(checkpoints)
    assert choice.engine_id == GPU_ENGINE
    assert choice.reason("en").startswith("auto: ")
    assert choice.reason("zh").startswith("自动：")


@pytest.mark.parametrize("engine", ["fake", "kokoro", "voicesculptor", "nobody"])
def test_what_is_asked_for_is_taken(cards: Cards, tmp_path: Path, engine: str) -> None:
    assert chosen(tmp_path, engine=engine) == Choice(engine, "asked for", "按指定")


def falls_back(choice: Choice, en: str, zh: str) -> None:
    assert choice == Choice(DEFAULT_ENGINE, f"auto: {en}", f"自动：{zh}")


def test_no_card(cards: Cards, checkpoints: Path) -> None:
    cards.clear()
    falls_back(chosen(checkpoints), "no CUDA device", "没有 CUDA 设备")


def test_an_old_python(cards: Cards, checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def without_transformers(name: str) -> object:
        return None if name == "transformers" else real(name)

    for module in ("voice_sculptor.engines.registry", "voice_sculptor.engines.voicesculptor.engine"):
        monkeypatch.setattr(f"{module}.find_spec", without_transformers)
    falls_back(chosen(checkpoints), "transformers needs Python 3.11", "transformers 需要 Python 3.11")
    engine = create_engine(GPU_ENGINE, load_settings(checkpoints_dir=checkpoints))
    with pytest.raises(MissingDependency, match=r"Python 3\.11"):
        engine.load("cpu", None, lambda _fraction: None)


@pytest.mark.parametrize("name", ["cpu", "mps"])
def test_another_device_is_asked_for(cards: Cards, checkpoints: Path, name: str) -> None:
    falls_back(chosen(checkpoints, device=name), f"the device is {name}", f"设备为 {name}")


def test_a_torch_that_cannot_use_the_card(
    cards: Cards, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_torch_has_cuda", lambda: False)
    falls_back(chosen(checkpoints), "torch is installed without CUDA", "安装的 torch 不支持 CUDA")


@pytest.mark.parametrize("name", ["VoiceSculptor-VD", "xcodec2-hf"])
def test_no_checkpoint(cards: Cards, checkpoints: Path, name: str) -> None:
    (checkpoints / name / "config.json").unlink()
    where = f"checkpoints/{name}"
    falls_back(chosen(checkpoints), f"checkpoint not found in {where}", f"{where} 中没有找到检查点")


def test_given_folders_count(cards: Cards, checkpoints: Path, tmp_path: Path) -> None:
    folders = {"model_dir": checkpoints / "VoiceSculptor-VD", "codec_dir": checkpoints / "xcodec2-hf"}
    assert chosen(tmp_path / "empty", **folders).engine_id == GPU_ENGINE
    with pytest.raises(WeightsNotFound, match="--model-dir"):
        chosen(checkpoints, model_dir=tmp_path)
    cards.clear()
    assert chosen(checkpoints, model_dir=tmp_path).engine_id == DEFAULT_ENGINE, "nobody looks there"


def test_too_little_memory(cards: Cards, checkpoints: Path) -> None:
    needed_bytes = 3_000_300_000
    cards[0] = replace(CARD, free_bytes=needed_bytes)
    assert chosen(checkpoints).engine_id == GPU_ENGINE
    cards[0] = replace(CARD, free_bytes=needed_bytes - 1)
    falls_back(
        chosen(checkpoints),
        "3.0 GB of GPU memory are free, 3.0 GB are needed",
        "显存剩余 3.0 GB，需要 3.0 GB",
    )


def test_the_card_that_is_named_has_to_have_the_memory(cards: Cards, checkpoints: Path) -> None:
    cards[:] = [replace(CARD, free_bytes=0), CARD]
    assert chosen(checkpoints).engine_id == GPU_ENGINE
    for given, engine_id in (
        ({"device": "cuda"}, DEFAULT_ENGINE),
        ({"device": "cuda:0"}, DEFAULT_ENGINE),
        ({"device": "cuda:1"}, GPU_ENGINE),
        ({"gpu_id": 0}, DEFAULT_ENGINE),
        ({"gpu_id": 1}, GPU_ENGINE),
    ):
        assert chosen(checkpoints, **given).engine_id == engine_id, given


@pytest.mark.parametrize(
    ("line", "has_cuda"),
    [
        ("cuda: Optional[str] = None", False),
        ("cuda: Optional[str] = '12.8'", True),
        ("cuda = None", False),
        ("cuda = '11.8'", True),
        ("nothing = 1", True),
    ],
)
def test_a_torch_is_known_by_its_files(tmp_path: Path, root: Path, line: str, has_cuda: bool) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("raise SystemExit('imported')")
    (tmp_path / "torch/version.py").write_text(f"__version__ = '9'\n{line}\nhip: Optional[str] = None\n")
    code = "from voice_sculptor.engines import registry; print(registry._torch_has_cuda())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tmp_path)},
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{has_cuda}\n"


def test_this_torch_is_known_by_its_files() -> None:
    import torch

    assert registry._torch_has_cuda() is (torch.version.cuda is not None)


def test_choosing_imports_nothing_heavy(checkpoints: Path, root: Path) -> None:
    code = (
        "import sys; from voice_sculptor import device; from voice_sculptor.config import load_settings\n"
        "from voice_sculptor.engines import registry\n"
        f"device.gpus = lambda: (device.Gpu('a', 'b', 10**11, 10**11),); registry._torch_has_cuda = lambda: True\n"
        f"print(registry.choose_engine(load_settings(checkpoints_dir={str(checkpoints)!r})).engine_id)\n"
        "assert not {'torch', 'transformers', 'huggingface_hub', 'gradio', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == GPU_ENGINE


# Creating


@pytest.fixture
def silent_gpu_engine(cards: Cards, checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Under `auto` an engine without stock voices is taken; the settings that lead to it."""

    class Silent(FakeEngine):
        info = replace(FakeEngine.info, id=GPU_ENGINE, settings=frozenset({"slots"}))

        def stock_voices(self) -> tuple[Any, ...]:
            return ()

    class Point:
        def load(self) -> Any:
            return Silent

    found = {**registry._found(), GPU_ENGINE: Point()}
    monkeypatch.setattr(registry, "_found", lambda: found)
    return load_settings(checkpoints_dir=checkpoints)


def test_auto_creates_what_is_chosen(silent_gpu_engine: Settings) -> None:
    assert create_engine("auto", silent_gpu_engine).info.id == GPU_ENGINE
    assert create_engine("fake", silent_gpu_engine).info.id == "fake"
    with pytest.raises(UnknownEngine, match="nobody"):
        create_engine("nobody", silent_gpu_engine)


def test_a_stock_voice_leads_to_the_engine_that_has_it(silent_gpu_engine: Settings) -> None:
    def led_to(name: str | None, **change: str) -> str:
        return engine_with_voice(name, silent_gpu_engine.model_copy(update=change)).info.id

    assert led_to("af_heart") == DEFAULT_ENGINE
    assert led_to(None) == DEFAULT_ENGINE
    assert led_to("nobody") == GPU_ENGINE
    assert led_to("af_heart", engine=GPU_ENGINE) == GPU_ENGINE
    assert led_to("fake_low", engine="fake") == "fake"


def test_unused_settings_are_said_of_the_engine(silent_gpu_engine: Settings) -> None:
    def said(info: EngineInfo, **given: Any) -> str:
        notice = unused_settings(load_settings(**given), info)
        return "" if notice is None else f"{notice.message('en')} {notice.message('zh')}"

    reads_slots = create_engine("auto", silent_gpu_engine).info
    assert said(reads_slots, slots=2) == ""
    assert said(FakeEngine.info) == ""
    both = said(FakeEngine.info, slots=2, top_p=0.5)
    assert both.count("top_p, slots") + both.count("top_p、slots") == 2
    assert FakeEngine.info.title in both
