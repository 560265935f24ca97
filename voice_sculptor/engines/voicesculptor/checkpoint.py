"""Reading the language model and its tokenizer from a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

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
    from safetensors import SafetensorError
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast
    from transformers.utils import logging

    quiet: Any = logging
    quiet.disable_progress_bar()
    try:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
        factory: Any = LlamaForCausalLM
        model, report = factory.from_pretrained(
            folder, dtype=dtype, local_files_only=True, attn_implementation="sdpa", output_loading_info=True
        )
    except (
        OSError,
        ValueError,
        RuntimeError,
        KeyError,
        TypeError,
        json.JSONDecodeError,
        SafetensorError,
    ) as error:
        raise _mismatch(
            folder, str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        ) from error
    for what, keys in report.items():
        if keys:
            first = sorted(map(str, keys))[0]
            raise _mismatch(folder, f"{what.replace('_', ' ')}: {first} ({len(keys)} in all)")
    needed = max(tokenizer.get_vocab().values()) + 1
    if model.config.vocab_size < needed:
        raise _mismatch(folder, f"the tokenizer has {needed} tokens, the model {model.config.vocab_size}")
    return model.eval().requires_grad_(False).to(device), tokenizer


def _mismatch(folder: Path, why: str) -> CheckpointMismatch:
    return CheckpointMismatch(
        f"The language model in {folder} cannot be read: {why}.",
        f"无法读取 {folder} 中的语言模型：{why}。",
        fix_en="Run `voice-sculptor download voicesculptor` again, or give another folder to --model-dir.",
        fix_zh="请重新运行 `voice-sculptor download voicesculptor`，或用 --model-dir 指定其他文件夹。",
    )
