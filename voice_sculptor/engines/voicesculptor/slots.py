"""Keys and values of the rows that are spoken at a time, each row at its own place in its own text."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import StaticCache


class SlotCache(StaticCache):
    """A static cache whose rows are written at different positions.

    transformers' own writes all rows at one position. With one position per row a row that has ended gives its slot to
    the next one at once, and what a row reads does not depend on its neighbours' lengths.

    Args:
        config: Of the model.
        num_slots: Rows.
        length: Most tokens of a row, prompt included.
        dtype: Of the model.
        device: Of the model.
    """

    def __init__(self, config: Any, num_slots: int, length: int, dtype: torch.dtype, device: str) -> None:
        super().__init__(config, max_cache_len=length)
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.early_initialization(
            num_slots, config.num_key_value_heads, head_dim, dtype, torch.device(device)
        )
        self.positions = torch.zeros(num_slots, dtype=torch.long, device=device)
        self.length = self.window = length
        self._rows = torch.arange(num_slots, device=device)
        self._places = torch.arange(length, device=device)

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Write one token in every row at the row's position; what lies beyond `window` is not read."""
        layer: Any = self.layers[layer_idx]
        layer.keys[self._rows, :, self.positions] = key_states[:, :, 0]
        layer.values[self._rows, :, self.positions] = value_states[:, :, 0]
        return layer.keys[:, :, : self.window], layer.values[:, :, : self.window]

    def mask(self) -> Tensor:
        """Bool `[num_slots, 1, 1, window]`: what each row may read, its own current token included."""
        return (self._places[: self.window] <= self.positions[:, None])[:, None, None]

    def put(self, slot: int, prefilled: Any, length: int) -> None:
        """Copy the first `length` tokens of a one-row cache into a slot."""
        mine: Any
        for mine, theirs in zip(self.layers, prefilled.layers, strict=True):
            mine.keys[slot, :, :length] = theirs.keys[0, :, :length]
            mine.values[slot, :, :length] = theirs.values[0, :, :length]
        self.positions[slot] = length

    @property
    def num_bytes(self) -> int:
        """Memory held, bytes."""
        layers: Any = self.layers
        return sum(int(layer.keys.nbytes + layer.values.nbytes) for layer in layers)
