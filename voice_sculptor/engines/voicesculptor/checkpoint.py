"""Reading the language model and its tokenizer from a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from voice_sculptor.engines.voicesculptor import few_rows
from voice_sculptor.errors import CheckpointMismatch


def load_language_model(folder: Path, device: str, dtype: torch.dtype) -> tuple[Any, Any]:
    """The model, ready to speak, and its tokenizer.

    Args:
        folder: With `config.json`, the tokenizer's files and the weights; nothing in it is executed.
        device: `cpu`, `cuda:0` ….
        dtype: Of the weights.

    Raises:
        CheckpointMismatch: A file is damaged, or of another model; the sentence names what is wrong.
    """
    from transformers import LlamaForCausalLM
    from transformers.utils import logging

    quiet: Any = logging
    quiet.disable_progress_bar()
    tokenizer = load_tokenizer(folder)
    factory: Any = LlamaForCausalLM
    with _told(folder):
        model, report = factory.from_pretrained(
            folder, dtype=dtype, local_files_only=True, attn_implementation="sdpa", output_loading_info=True
        )
    for what, keys in report.items():
        if keys:
            first = sorted(map(str, keys))[0]
            raise _mismatch(folder, f"{what.replace('_', ' ')}: {first} ({len(keys)} in all)")
    needed = max(tokenizer.get_vocab().values()) + 1
    if model.config.vocab_size < needed:
        raise _mismatch(folder, f"the tokenizer has {needed} tokens, the model {model.config.vocab_size}")
    return few_rows.prepare(model.eval().requires_grad_(False).to(device)), tokenizer


def load_tokenizer(folder: Path) -> Any:
    """The transformers tokenizer of a checkpoint, with its chat template.

    Raises:
        CheckpointMismatch: A file is damaged.
    """
    from transformers import PreTrainedTokenizerFast

    with _told(folder):
        return PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Maps what transformers raises on a damaged file to words."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, SafetensorError) as error:
        lines = str(error).strip().splitlines()
        raise _mismatch(folder, lines[0] if lines else repr(error)) from error


def _mismatch(folder: Path, why: str) -> CheckpointMismatch:
    return CheckpointMismatch(
        f"The language model in {folder} cannot be read: {why}.",
        f"无法读取 {folder} 中的语言模型：{why}。",
        fix_en="Run `voice-sculptor download voicesculptor` again, or give another folder to --model-dir.",
        fix_zh="请重新运行 `voice-sculptor download voicesculptor`，或用 --model-dir 指定其他文件夹。",
    )
