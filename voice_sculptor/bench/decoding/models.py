"""Language models of random weights with the real vocabulary, and a decoder around them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from voice_sculptor.engines.voicesculptor import few_rows
from voice_sculptor.engines.voicesculptor.decoding import Decoder, Row
from voice_sculptor.engines.voicesculptor.sampling import Sampling
from voice_sculptor.engines.voicesculptor.vocabulary import NUM_SPEECH_TOKENS, Vocabulary

_NUM_TEXT_TOKENS = 128_256
_NUM_TOKENS = 193_856
VOCABULARY = Vocabulary(_NUM_TEXT_TOKENS + 8, _NUM_TEXT_TOKENS + 7, frozenset())
"""128,256 tokens of text, the control tokens, 65,536 of speech and what else comes behind, as in the real model."""
PROMPT_TOKENS = 160
"""Of a description of 80 and a text of 40 Chinese characters, tags and template."""


@dataclass(frozen=True)
class Size:
    """Of a Llama.

    Attributes:
        hidden_size: Width.
        num_layers: Depth.
        num_heads: Of queries.
        num_key_value_heads: Of keys and values.
        intermediate_size: Width of the feed-forward part.
    """

    hidden_size: int
    num_layers: int
    num_heads: int
    num_key_value_heads: int
    intermediate_size: int


SIZES = {
    "small": Size(256, 2, 4, 2, 512),
    "middle": Size(1024, 12, 16, 4, 4096),
    "1b": Size(2048, 16, 32, 8, 8192),
    "3b": Size(3072, 28, 24, 8, 8192),
}
"""`1b` and `3b` are those of Llama 3.2."""


def random_model(size: str, device: str, dtype: torch.dtype) -> Any:
    """A model of random weights, made on its device in its type.

    Args:
        size: One of `SIZES`.
        device: `cpu`, `cuda:0` ….
        dtype: Of the weights.
    """
    from transformers import LlamaConfig, LlamaForCausalLM

    chosen = SIZES[size]
    config = LlamaConfig(
        vocab_size=_NUM_TOKENS,
        hidden_size=chosen.hidden_size,
        intermediate_size=chosen.intermediate_size,
        num_hidden_layers=chosen.num_layers,
        num_attention_heads=chosen.num_heads,
        num_key_value_heads=chosen.num_key_value_heads,
        max_position_embeddings=131_072,
        rope_parameters={"rope_type": "default", "rope_theta": 500_000.0},
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=None,
        pad_token_id=0,
    )
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device), torch.random.fork_rng():
            torch.manual_seed(0)
            factory: Any = LlamaForCausalLM
            model = factory._from_config(config, attn_implementation="sdpa")
    finally:
        torch.set_default_dtype(before)
    return model.eval().requires_grad_(False)


def prepared(model: Any) -> Any:
    """As the engine loads it, beside the plain one: another object with the same weights."""
    return few_rows.prepare(copy.deepcopy(model, {id(each): each for each in model.parameters()}))


def prompt(number: int, num_tokens: int = PROMPT_TOKENS) -> tuple[int, ...]:
    """Ids of text, other ones for each number."""
    generator = torch.Generator().manual_seed(number)
    return tuple(torch.randint(_NUM_TEXT_TOKENS, (num_tokens,), generator=generator).tolist())


def make_decoder(model: Any, num_slots: int, max_new_tokens: int, kind: type[Decoder] = Decoder) -> Decoder:
    """A decoder for prompts of twice `PROMPT_TOKENS`, of a model as the engine loads it."""
    return kind(prepared(model), VOCABULARY, num_slots, 2 * PROMPT_TOKENS, max_new_tokens)


def speak(decoder: Decoder, prompts: Sequence[Sequence[int]], num_tokens: int) -> None:
    """Say `num_tokens` to each prompt, side by side; equal neighbours are read once."""
    read = None
    for number, ids in enumerate(prompts):
        if read is None or read[0] != ids:
            read = (ids, decoder.prefill(ids))
        decoder.admit(Row((number,), Sampling(), num_tokens), read[1])
    step_out(decoder)


def step_out(decoder: Decoder) -> None:
    """Step until every row has ended."""
    while any(decoder.rows):
        decoder.step()


def synchronize(device: str) -> None:
    """Wait until a card has done what it was told."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def num_read_bytes(model: Any) -> int:
    """Bytes of weights that one step reads: all layers, and of the head the speech tokens and the end."""
    layers = sum(parameter.nbytes for parameter in model.model.layers.parameters())
    head = model.lm_head.weight
    return int(layers + head[0].nbytes * (NUM_SPEECH_TOKENS + 1))
