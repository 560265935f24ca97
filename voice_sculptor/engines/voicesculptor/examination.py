"""A close look at the checkpoints on this machine, part by part, for a report that can be sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch

from voice_sculptor.config import Settings
from voice_sculptor.engines.base import Finding
from voice_sculptor.engines.voicesculptor import hub, weights
from voice_sculptor.engines.voicesculptor.codec import Codec
from voice_sculptor.engines.voicesculptor.folders import weight_files
from voice_sculptor.engines.voicesculptor.prompt import PromptBuilder
from voice_sculptor.engines.voicesculptor.vocabulary import NUM_SPEECH_TOKENS, TAGS, Vocabulary
from voice_sculptor.errors import CheckpointMismatch, WeightsNotFound

_CONFIG_KEYS = (
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
    "tie_word_embeddings",
)


def examine(settings: Settings, language_type: torch.dtype, codec_type: torch.dtype) -> Iterator[Finding]:
    """Each part on its own, so that one fault does not hide the next.

    Args:
        settings: Where the checkpoints are.
        language_type: Into which the language model would be loaded.
        codec_type: Into which the codec would be loaded.

    Yields:
        Folders, tensors against what the configuration asks for, tokens, template, codec, types, memory.
    """
    look = _Looks(settings, language_type, codec_type)
    parts: tuple[tuple[str, str, Callable[[], str]], ...] = (
        ("Language model", "语言模型", look.model),
        ("Its tensors", "语言模型张量", look.tensors),
        ("Speech tokens and tags", "语音标记与控制标签", look.tokens),
        ("Chat template", "对话模板", look.template),
        ("Codec", "编解码器", look.codec),
        ("Types", "精度", look.types),
        ("Memory in 16 bit, estimated", "16 位内存估计", look.memory),
    )
    for en, zh, do in parts:
        yield Finding.of(en, zh, do)


class _Looks:
    def __init__(self, settings: Settings, language_type: torch.dtype, codec_type: torch.dtype) -> None:
        self._settings = settings
        self._types = {"language model": language_type, "codec": codec_type}
        self._codec_type = codec_type
        self.tokenizer = cache(self._tokenizer)

    def model(self) -> str:
        folder, config = self._model_dir(), self._config()
        sizes = ", ".join(f"{key} {config[key]}" for key in _CONFIG_KEYS if key in config)
        return f"{_shown(folder)}; {sizes}"

    def tensors(self) -> str:
        """Names and shapes against those of the model that the configuration describes."""
        from transformers import LlamaConfig, LlamaForCausalLM

        folder = self._model_dir()
        there, kinds, num_bytes = self._stored()
        with torch.device("meta"):
            factory: Any = LlamaForCausalLM
            model = factory(LlamaConfig.from_pretrained(folder, local_files_only=True))
        wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
        if model.config.tie_word_embeddings:
            there.setdefault("lm_head.weight", wanted["lm_head.weight"])
        wrong = {
            "missing": sorted(wanted.keys() - there.keys()),
            "unexpected": sorted(there.keys() - wanted.keys()),
            "of another shape": sorted(
                name for name in wanted.keys() & there.keys() if wanted[name] != there[name]
            ),
        }
        faults = "; ".join(
            f"{what}: {names[0]} ({len(names)} in all)" for what, names in wrong.items() if names
        )
        if faults:
            raise _mismatch(faults)
        types = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        return f"{sum(kinds.values())} tensors ({types}), {num_bytes / 1e9:.2f} GB"

    def tokens(self) -> str:
        """The vocabulary by name, and that the model has a row for each."""
        tokenizer = self.tokenizer()
        found = Vocabulary.of(tokenizer.backend_tokenizer)
        size, rows = max(tokenizer.get_vocab().values()) + 1, int(self._config().get("vocab_size", 0))
        if size > rows:
            raise _mismatch(f"the tokenizer has {size} tokens, the model {rows}")
        return (
            f"{NUM_SPEECH_TOKENS} speech tokens from id {found.first_speech_id}, end {found.end_id}, "
            f"{sum(map(len, TAGS.values()))} tags, {size} tokens for {rows} rows"
        )

    def template(self) -> str:
        """That a prompt can be made, and how long one is."""
        tokenizer = self.tokenizer()
        builder = PromptBuilder(tokenizer, Vocabulary.of(tokenizer.backend_tokenizer))
        ids = builder.build("温柔的年轻女性。", ("女性", "语速中等"), "今天天气很好。")
        return f"{len(ids)} tokens for a short prompt"

    def codec(self) -> str:
        """Loaded as the engine would, and asked for a fifth of a second."""
        folder = weights.locate(self._settings).codec_dir
        if folder is None:
            raise _absent()
        codec = Codec.load(folder, "cpu", self._codec_type, lambda _fraction: None)
        detail = f"{_shown(folder)}; {codec.num_bytes / 1e9:.2f} GB loaded"
        if self._codec_type == torch.float32:
            codec.decode([list(range(10))])
        return detail

    def types(self) -> str:
        """What it would be loaded into."""
        return ", ".join(f"{part} {str(kind).removeprefix('torch.')}" for part, kind in self._types.items())

    def memory(self) -> str:
        """Of the weights, the slots and what is needed beside them."""
        return f"{weights.memory_bytes(self._model_dir()) / 1e9:.1f} GB"

    def _stored(self) -> tuple[dict[str, tuple[int, ...]], Counter[str], int]:
        from safetensors import SafetensorError, safe_open

        shapes: dict[str, tuple[int, ...]] = {}
        kinds: Counter[str] = Counter()
        num_bytes = 0
        for path in weight_files(self._model_dir()):
            if path.suffix != ".safetensors":
                raise _mismatch(f"{path.name} is not of safetensors, and is read only while loading")
            try:
                with safe_open(path, framework="pt") as file:
                    for key in file.keys():  # noqa: SIM118
                        part: Any = file.get_slice(key)
                        shapes[key] = tuple(part.get_shape())
                        kinds[str(part.get_dtype())] += 1
            except (SafetensorError, OSError) as error:
                raise _mismatch(f"{path.name}: {error}") from error
            num_bytes += path.stat().st_size
        return shapes, kinds, num_bytes

    def _tokenizer(self) -> Any:
        from voice_sculptor.engines.voicesculptor.checkpoint import load_tokenizer

        return load_tokenizer(self._model_dir())

    def _model_dir(self) -> Path:
        folder = weights.locate(self._settings).model_dir
        if folder is None:
            raise _absent()
        return folder

    def _config(self) -> dict[str, Any]:
        config: dict[str, Any] = json.loads((self._model_dir() / "config.json").read_text("utf-8"))
        return config


def _shown(folder: Path) -> str:
    """Its name and, where it was downloaded, the commit; a report tells nothing of the folders above."""
    record = hub.read_record(folder)
    return folder.name if record is None else f"{folder.name} at {record.commit[:12]}"


def _absent() -> WeightsNotFound:
    return WeightsNotFound(
        "It is not on this machine.",
        "这台机器上没有。",
        fix_en=f"Run `{weights.COMMAND}`, or give its folder with --model-dir or --codec-dir.",
        fix_zh=f"请运行 `{weights.COMMAND}`，或用 --model-dir、--codec-dir 指定文件夹。",
    )


def _mismatch(why: str) -> CheckpointMismatch:
    return CheckpointMismatch(
        f"The checkpoint is not the one that is expected: {why}.",
        f"检查点与预期不符：{why}。",
        fix_en=f"Run `{weights.COMMAND}` again, or give another folder to --model-dir.",
        fix_zh=f"请重新运行 `{weights.COMMAND}`，或用 --model-dir 指定其他文件夹。",
    )
