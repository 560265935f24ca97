"""Settings from a file, in the sections that operators of other speech servers know; and the profiles that ship."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voice_sculptor.errors import ConfigError
from voice_sculptor.plain_yaml import load_plain_yaml

NAME = "optimization.yaml"
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "model_optimization": {
        "engine": "engine",
        "device": "device",
        "gpu_id": "gpu_id",
        "dtype": "dtype",
        "half_precision": "half",
        "use_cuda_graph": "cuda_graph",
    },
    "memory_management": {
        "max_concurrent_requests": "max_concurrent_requests",
        "max_queue": "max_queue",
        "max_batch_size": "max_batch_size",
        "batch_window_ms": "batch_window_ms",
        "slots": "slots",
        "preallocate_memory": "preload",
        "expandable_segments": "expandable_segments",
        "idle_unload_s": "idle_unload_s",
        "warning_percent": "memory_warning_percent",
        "critical_percent": "memory_critical_percent",
        "recovery_percent": "memory_recovery_percent",
    },
    "inference_params": {
        "max_new_tokens": "max_new_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "repetition_penalty": "repetition_penalty",
    },
}
"""Key to setting. A fourth section, `server`, takes every other setting by its own name."""
SERVER = "server"
PROFILE_SIZES_GB = (6, 8, 12, 16, 24, 48)
"""Cards for which settings are recommended, by how they are sold; the last one is for larger ones, too."""

_MAX_BYTES = 64_000
_NOT_GIVEN = ("", "auto", "null", "~")

_TRAINING = ("it is a setting of training, and nothing is trained here", "它是训练用的设置，这里不做训练")
_ATTENTION = (
    "torch's attention takes the fastest kernel that the device has by itself",
    "torch 的注意力实现会自动选用设备上最快的内核",
)
_COMPILE = (
    "nothing is compiled at run time; on a graphics card use_cuda_graph does away with the launches",
    "运行时不做编译；在显卡上由 use_cuda_graph 省去内核启动开销",
)
_QUANTIZED = (
    "the numbers of a model are those of its checkpoint; the embedded engine's are int8 already",
    "模型的数值精度由检查点决定；内置引擎的权重已经是 int8",
)
_POOL = (
    "torch's caching allocator is the pool; it gives memory back when there is too little",
    "torch 的缓存分配器就是内存池，显存不足时会自动归还",
)
_OFFLOAD = (
    "an engine is on one device as a whole; idle_unload_s frees it while nobody speaks",
    "引擎整体放在一个设备上；idle_unload_s 会在空闲时释放它",
)
_REQUEST = ("it belongs to a request, not to the server", "它属于单次请求，而不是服务设置")
_MEANINGLESS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        (
            "gradient_checkpointing",
            "gradient_accumulation_steps",
            "learning_rate",
            "weight_decay",
            "warmup_steps",
            "max_grad_norm",
            "num_epochs",
            "optimizer",
            "num_workers",
        ),
        _TRAINING,
    ),
    **dict.fromkeys(("use_flash_attention", "flash_attention", "use_xformers"), _ATTENTION),
    **dict.fromkeys(("compile", "use_compile", "torch_compile", "use_torch_compile"), _COMPILE),
    **dict.fromkeys(("quantization", "load_in_8bit", "load_in_4bit", "use_int8"), _QUANTIZED),
    **dict.fromkeys(("memory_pool", "memory_pool_size", "clear_cache_interval", "empty_cache"), _POOL),
    **dict.fromkeys(("cpu_offload", "offload_to_cpu"), _OFFLOAD),
    **dict.fromkeys(("seed", "text", "references", "reference_id", "chunk_length", "format"), _REQUEST),
}


@dataclass(frozen=True)
class Entry:
    """A value as it stands in a file.

    Attributes:
        value: Text, or a list of texts.
        place: Section and key.
    """

    value: Any
    place: str


def profile_names() -> tuple[str, ...]:
    """Names of the profiles that ship, smallest card first."""
    return tuple(f"{size}gb" for size in PROFILE_SIZES_GB)


def recommended_profile(total_bytes: int) -> str | None:
    """The profile for a card; `None` for one that is smaller than all.

    Args:
        total_bytes: Its memory as the driver tells it, which is not quite what it is sold as.
    """
    fitting = [size for size in PROFILE_SIZES_GB if total_bytes >= size * 0.95e9]
    return f"{fitting[-1]}gb" if fitting else None


def profile_path(name: str, folder: Path) -> Path:
    """The file of a profile.

    Args:
        name: One of `profile_names`.
        folder: Of the settings files that ship.

    Raises:
        ConfigError: There is no such profile; the sentence lists those there are.
    """
    if name not in profile_names():
        raise ConfigError(
            f"There is no profile {name!r}.",
            f"没有名为 {name!r} 的配置方案。",
            fix_en=f"Profiles: auto, {', '.join(profile_names())}.",
            fix_zh=f"可用的方案：auto、{'、'.join(profile_names())}。",
        )
    return folder / "profiles" / f"{name}.yaml"


def read(path: Path, fields: Collection[str]) -> dict[str, Entry]:
    """The settings that a file gives, by field; not yet checked for their values.

    Args:
        path: Of the file.
        fields: Of `Settings`.

    Raises:
        ConfigError: It cannot be read, or has a section or key that does not exist or means nothing here.
    """
    import yaml

    try:
        content = _head(path)
        if len(content) > _MAX_BYTES:
            raise ValueError(f"over {_MAX_BYTES:,} bytes")
        import yaml

        document = load_plain_yaml(content)
    except OSError as error:
        raise _unreadable(path, error.strerror or repr(error)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise _unreadable(path, " ".join(str(error).split())) from error
    document = {} if document in (None, "") else document
    if not isinstance(document, dict):
        raise _unreadable(path, "sections are missing")
    sections = _sections(fields)
    found: dict[str, Entry] = {}
    for section, values in document.items():
        if section not in sections:
            raise _unknown(path, f"section {section!r}", f"部分 {section!r}", section, sections)
        if not isinstance(values, dict | str) or (isinstance(values, str) and values not in _NOT_GIVEN):
            raise _unreadable(path, f"{section} has no keys")
        for key, value in (values if isinstance(values, dict) else {}).items():
            place = f"{section}.{key}"
            if key not in sections[section]:
                if key in _MEANINGLESS:
                    raise _meaningless(path, place, *_MEANINGLESS[key])
                raise _unknown(path, f"key {place!r}", f"键 {place!r}", key, sections[section])
            if value not in _NOT_GIVEN:
                found[sections[section][key]] = Entry(value, place)
    return found


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_BYTES + 1)


def _sections(fields: Collection[str]) -> dict[str, Mapping[str, str]]:
    placed = {field for keys in SECTIONS.values() for field in keys.values()}
    return {**SECTIONS, SERVER: {field: field for field in fields if field not in placed}}


def _unreadable(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"The settings file {path} cannot be used: {why}.",
        f"配置文件 {path} 无法使用：{why}。",
        fix_en=f"config/{NAME} shows how one is written.",
        fix_zh=f"写法请参考 config/{NAME}。",
    )


def _unknown(path: Path, what_en: str, what_zh: str, name: str, valid: Collection[str]) -> ConfigError:
    near = difflib.get_close_matches(name, valid, n=1)
    return ConfigError(
        f"{path}: there is no {what_en}.",
        f"{path}：没有{what_zh}。",
        fix_en=(f"Did you mean {near[0]}? " if near else "") + f"Valid ones: {', '.join(valid)}.",
        fix_zh=(f"您是不是想写 {near[0]}？" if near else "") + f"可用的有：{'、'.join(valid)}。",
    )


def _meaningless(path: Path, place: str, why_en: str, why_zh: str) -> ConfigError:
    return ConfigError(
        f"{path}: {place} has no meaning here: {why_en}.",
        f"{path}：{place} 在这里没有意义：{why_zh}。",
        fix_en="Take it out of the file.",
        fix_zh="请从文件中删除它。",
    )
