"""A small checkpoint of the real layout, to run the whole engine, page included, without the real weights.

`python -m voice_sculptor.engines.voicesculptor.tiny DIR` writes `DIR/VoiceSculptor-VD` and `DIR/xcodec2-hf`. It makes
noise, not speech: its weights are random, save a few that are set so that it comes to an end in a time that suits the
text. One head finds where the prompt's text begins; one weighs speech tokens against those of the text, and when their
share is large enough the end becomes likelier than any sound; the tag of speed moves that point.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from voice_sculptor.engines.voicesculptor.tiny_codec import write_tiny_codec
from voice_sculptor.engines.voicesculptor.vocabulary import (
    END_OF_PROMPT,
    GENERATION_END,
    GENERATION_START,
    NUM_SPEECH_TOKENS,
    TAGS,
    UNDERSTANDING_END,
    UNDERSTANDING_START,
    tag,
)
from voice_sculptor.engines.voicesculptor.weights import CODEC, MODEL

_HIDDEN, _HEADS, _KV_HEADS, _HEAD_DIM = 64, 4, 2, 16
_ONE, _SPEECH, _PROMPT_END, _IN_TEXT, _SHARE, _SPEED_TAG, _SPEED, _RANDOM = range(8)
"""What the dimensions of the hidden state mean; the last and all after it are random."""
_SHARE_AT_END = 0.67
_SHARE_OF_SPEED = 0.1
_STEEPNESS = 3000.0
_SURE = 80.0
_SPECIAL = ("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
_TEMPLATE = (
    "{{ bos_token }}<|start_header_id|>system<|end_header_id|>\n\nToday: {{ date_string }}<|eot_id|>"
    "{% for message in messages %}<|start_header_id|>{{ message.role }}<|end_header_id|>\n\n"
    "{{ message.content }}<|eot_id|>{% endfor %}"
)


def write_tiny(folder: Path, seed: int = 0, comes_to_an_end: bool = True) -> tuple[Path, Path]:
    """Writes both checkpoints.

    Args:
        folder: Made if need be.
        seed: Of the random weights.
        comes_to_an_end: Whether the model ever says the end; one that does not is what a runaway looks like.

    Returns:
        Folder of the language model, folder of the codec.
    """
    model_dir, codec_dir = folder / MODEL.folder, folder / CODEC.folder
    write_tiny_codec(codec_dir, seed)
    _write_language_model(model_dir, seed, comes_to_an_end)
    return model_dir, codec_dir


def _write_language_model(folder: Path, seed: int, comes_to_an_end: bool) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    ids = _write_tokenizer(folder)
    config = LlamaConfig(
        vocab_size=len(ids),
        hidden_size=_HIDDEN,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=_HEADS,
        num_key_value_heads=_KV_HEADS,
        head_dim=_HEAD_DIM,
        max_position_embeddings=131_072,
        rope_parameters={"rope_type": "default", "rope_theta": 500_000.0},
        tie_word_embeddings=False,
        bos_token_id=ids["<|begin_of_text|>"],
        eos_token_id=ids["<|eot_id|>"],
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model: Any = LlamaForCausalLM(config)
    model.generation_config.do_sample = False
    with torch.no_grad():
        _set(model, ids, torch.Generator().manual_seed(seed), comes_to_an_end)
    model.to(torch.bfloat16).save_pretrained(folder)


def _write_tokenizer(folder: Path) -> dict[str, int]:
    """A byte-level tokenizer without merges, and every token of the real one beyond text; name to id."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={char: number for number, char in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in _SPECIAL])
    controls = (UNDERSTANDING_START, UNDERSTANDING_END, GENERATION_START, GENERATION_END, END_OF_PROMPT)
    added = (
        *controls,
        *(f"<|s_{number}|>" for number in range(NUM_SPEECH_TOKENS)),
        *(tag(word) for words in TAGS.values() for word in words),
    )
    # Not marked as special, as tokens that come to a model later often are.
    backend.add_tokens([AddedToken(name, special=False, normalized=False) for name in added])
    folder.mkdir(parents=True, exist_ok=True)
    factory: Any = PreTrainedTokenizerFast
    factory(
        tokenizer_object=backend,
        bos_token="<|begin_of_text|>",
        eos_token="<|eot_id|>",
        chat_template=_TEMPLATE,
    ).save_pretrained(folder)
    written = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    return {
        **written["model"]["vocab"],
        **{token["content"]: token["id"] for token in written["added_tokens"]},
    }


def _set(
    model: torch.nn.Module, ids: dict[str, int], generator: torch.Generator, comes_to_an_end: bool
) -> None:
    weights: dict[str, Tensor] = dict(model.named_parameters())
    first, end = ids["<|s_0|>"], ids[GENERATION_END]
    speech = slice(first, first + NUM_SPEECH_TOKENS)
    embedding = weights["model.embed_tokens.weight"]
    embedding.normal_(generator=generator)
    embedding[:, :_RANDOM] = 0.0
    embedding[:, _ONE] = 1.0
    embedding[speech, _SPEECH] = 1.0
    embedding[ids[END_OF_PROMPT], _PROMPT_END] = 1.0
    for level, word in zip((-1.0, -0.5, 0.0, 0.5, 1.0), TAGS["speed"], strict=True):
        embedding[ids[tag(word)], _SPEED_TAG] = 1.0
        embedding[ids[tag(word)], _SPEED] = level
    # One length for all, so that the norm before each layer scales every token alike.
    size = embedding[:, _RANDOM:].norm(dim=1, keepdim=True)
    rest = _HIDDEN - embedding[:, :_RANDOM].square().sum(1, keepdim=True)
    embedding[:, _RANDOM:] *= rest.sqrt() / size
    for layer in range(2):
        name = f"model.layers.{layer}"
        for part in (
            "self_attn.q_proj",
            "self_attn.k_proj",
            "self_attn.v_proj",
            "self_attn.o_proj",
            "mlp.down_proj",
        ):
            weights[f"{name}.{part}.weight"].normal_(std=0.03, generator=generator)
        for part in ("self_attn.o_proj", "mlp.down_proj"):
            weights[f"{name}.{part}.weight"][:_RANDOM] = 0.0
    # What is written in one place stays what it is.
    embedding[:, _IN_TEXT] = embedding[:, _SHARE] = 0.0
    _head(weights, 0, head=0, key=_PROMPT_END, value=_PROMPT_END, to=_IN_TEXT)
    _head(weights, 0, head=2, key=_SPEED_TAG, value=_SPEED, to=_SPEED)
    _head(weights, 1, head=0, key=_IN_TEXT, value=_SPEECH, to=_SHARE)
    head = weights["lm_head.weight"]
    head.normal_(std=0.25, generator=generator)
    head[:, :_RANDOM] = 0.0
    head[end] = 0.0
    if comes_to_an_end:
        head[end, _SHARE] = _STEEPNESS
        head[end, _ONE] = -_STEEPNESS * _SHARE_AT_END
        head[end, _SPEED] = _STEEPNESS * _SHARE_OF_SPEED
    else:
        head[end, _ONE] = -_STEEPNESS


def _head(weights: dict[str, Tensor], layer: int, head: int, key: int, value: int, to: int) -> None:
    """Let a head look at the tokens whose dimension `key` is set, and write the mean of their `value` to `to`.

    It looks along the pair of dimensions that the rotary position turns least: wherever a token is, it is found.
    """
    group = head // (_HEADS // _KV_HEADS)
    query, own, last = head * _HEAD_DIM, group * _HEAD_DIM, _HEAD_DIM // 2 - 1
    name = f"model.layers.{layer}.self_attn"
    for part, start in (("q_proj", query), ("k_proj", own), ("v_proj", own)):
        weights[f"{name}.{part}.weight"][start : start + _HEAD_DIM] = 0.0
    weights[f"{name}.q_proj.weight"][query + last, _ONE] = 1.0
    weights[f"{name}.k_proj.weight"][own + last, key] = _SURE
    weights[f"{name}.v_proj.weight"][own, value] = 1.0
    weights[f"{name}.o_proj.weight"][:, query : query + _HEAD_DIM] = 0.0
    weights[f"{name}.o_proj.weight"][to, query] = 1.0


def main(arguments: list[str]) -> None:
    """Write to the folder that the command line names."""
    if len(arguments) != 1:
        sys.exit("usage: python -m voice_sculptor.engines.voicesculptor.tiny DIR")
    for path in write_tiny(Path(arguments[0])):
        print(path)  # noqa: T201  # Its result.


if __name__ == "__main__":
    main(sys.argv[1:])
