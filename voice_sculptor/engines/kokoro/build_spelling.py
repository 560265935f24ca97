"""Train the network that reads words no lexicon has, and write it beside this module.

    python -m voice_sculptor.engines.kokoro.build_spelling

Letters and symbols of every lexicon word are aligned by expectation maximisation; then a small convolutional network
learns the symbols of each letter from the letters around it, for both accents at once. A few minutes on two cores.
"""

from __future__ import annotations

import logging
import math
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn

from voice_sculptor.engines.kokoro.lexicon import Lexicon
from voice_sculptor.engines.kokoro.vocabulary import VOWELS

LETTERS = "abcdefghijklmnopqrstuvwxyz'"
_CHANNELS, _DILATIONS, _MOST_UNITS = 112, (1, 2, 4, 1, 2, 4), 3
_log = logging.getLogger(__name__)
_UNIT = re.compile(r"[ˈˌ]?.ː?")

Pair = tuple[str, tuple[str, ...]]
Example = tuple[list[int], int, list[str]]  # letter ids, accent, chunks


def pairs(*, british: bool) -> list[Pair]:
    """Words in lower case with the units of their pronunciation; a unit is a sound with its stress mark."""
    found: dict[str, tuple[str, ...]] = {}
    words = Lexicon(british=british)
    for spelling in words.spellings():
        entry = words.get(spelling)
        said = entry if isinstance(entry, str) else entry["DEFAULT"] if entry else None
        word = spelling.lower()
        if said and len(word) > 1 and set(word) <= set(LETTERS) and not re.search("[A-Z].*[A-Z]", spelling):
            found[word] = tuple(_UNIT.findall(said))
    return sorted(found.items())


def align(data: list[Pair], num_rounds: int = 4, sample_size: int = 15_000) -> list[list[str]]:
    """For each word the symbols that each of its letters makes; a word that cannot be aligned comes back empty."""
    cost: dict[tuple[str, str], float] = {}
    sample = random.Random(0).sample(data, min(sample_size, len(data)))
    for _ in range(num_rounds):
        counts: Counter[tuple[str, str]] = Counter()
        for word, units in sample:
            counts.update(zip(word, _viterbi(word, units, cost), strict=False))
        totals: Counter[str] = Counter()
        for (letter, _chunk), count in counts.items():
            totals[letter] += count
        cost = {pair: -math.log(count / totals[pair[0]]) for pair, count in counts.items()}
    return [_viterbi(word, units, cost) for word, units in data]


def _viterbi(word: str, units: tuple[str, ...], cost: dict[tuple[str, str], float]) -> list[str]:
    best: dict[int, tuple[float, tuple[str, ...]]] = {0: (0.0, ())}
    for letter in word:
        after: dict[int, tuple[float, tuple[str, ...]]] = {}
        for start, (total, chunks) in best.items():
            for size in range(_MOST_UNITS + 1):
                if start + size > len(units):
                    break
                chunk = "".join(units[start : start + size])
                # Before anything is known: one sound a letter, vowels to vowels.
                step = cost.get((letter, chunk), 12.0 + size) if cost else _guess(letter, chunk, size)
                if start + size not in after or total + step < after[start + size][0]:
                    after[start + size] = (total + step, (*chunks, chunk))
        best = after
    return list(best[len(units)][1]) if len(units) in best else []


def _guess(letter: str, chunk: str, size: int) -> float:
    if size != 1:
        return 2.0 * size if size else 1.5
    return 0.5 if (letter in "aeiouy") == (chunk.strip("ˈˌː") in VOWELS) else 2.0


class Net(nn.Module):
    """Letters and an accent to the chunk of each letter.

    Args:
        num_chunks: Number of different chunks.
    """

    def __init__(self, num_chunks: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS) + 1, _CHANNELS, padding_idx=0)
        self.accents = nn.Embedding(2, _CHANNELS)
        self.layers = nn.ModuleList(nn.Linear(3 * _CHANNELS, _CHANNELS) for _ in _DILATIONS)
        self.head = nn.Linear(_CHANNELS, num_chunks)

    def forward(self, letters: torch.Tensor, accents: torch.Tensor) -> torch.Tensor:
        """Logits `[B, L, num_chunks]` from letter ids `[B, L]` (0 is padding) and accents `[B]`."""
        inside = (letters > 0)[:, :, None]
        x = (self.letters(letters) + self.accents(accents)[:, None, :]) * inside
        for dilation, layer in zip(_DILATIONS, self.layers, strict=True):
            # Each letter with its neighbours `dilation` to the left and right: a convolution of width 3.
            padded = nn.functional.pad(x, (0, 0, dilation, dilation))
            taps = torch.cat([padded[:, k * dilation : k * dilation + x.shape[1]] for k in range(3)], dim=2)
            x = (x + nn.functional.relu(layer(taps))) * inside
        scores: torch.Tensor = self.head(x)
        return scores


def train(num_epochs: int = 4, batch_size: int = 256, num_words: int = 60_000, held_out: int = 2000) -> None:
    """Align, train on `num_words` of each accent, and write `spelling.safetensors` after each epoch.

    The share of held-out words that are read exactly is logged.
    """
    torch.manual_seed(0)
    rng = random.Random(0)
    examples: list[Example] = []
    for british in (False, True):
        data = pairs(british=british)
        data = rng.sample(data, min(num_words, len(data)))
        for (word, _units), chunks in zip(data, align(data), strict=True):
            if chunks:
                examples.append(([LETTERS.index(letter) + 1 for letter in word], int(british), chunks))
    counts = Counter(chunk for _, _, chunks in examples for chunk in chunks)
    names = [chunk for chunk, count in counts.most_common() if count >= 10]
    index = {chunk: i for i, chunk in enumerate(names)}
    examples = [example for example in examples if all(chunk in index for chunk in example[2])]
    rng.shuffle(examples)
    held = {tuple(example[0]) for example in examples[:held_out]}
    test = examples[:held_out]
    kept = [example for example in examples if tuple(example[0]) not in held]
    _log.info("%d words, %d chunks", len(kept), len(names))
    net = Net(len(names))
    num_steps = num_epochs * (len(kept) // batch_size)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=num_steps + 1)
    for epoch in range(num_epochs):
        rng.shuffle(kept)
        # Words of like length together: less padding.
        kept.sort(key=lambda example: len(example[0]) + rng.random() * 2)
        starts = list(range(0, len(kept) - batch_size + 1, batch_size))
        rng.shuffle(starts)
        total = 0.0
        for start in starts:
            letters, accents, targets = _batch(kept[start : start + batch_size], index)
            loss = nn.functional.cross_entropy(
                net(letters, accents).flatten(0, 1), targets.flatten(), ignore_index=-1
            )
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
            total += loss.item()
        exact = _exact(net, test, index, names)
        _log.info("epoch %d: loss %.3f, read exactly %.3f", epoch, total / len(starts), exact)
        _save(net, names)


def _batch(examples: list[Example], index: dict[str, int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    longest = max(len(letters) for letters, _, _ in examples)
    letters = torch.zeros(len(examples), longest, dtype=torch.long)
    targets = torch.full((len(examples), longest), -1)
    for row, (ids, _, chunks) in enumerate(examples):
        letters[row, : len(ids)] = torch.tensor(ids)
        targets[row, : len(ids)] = torch.tensor([index[chunk] for chunk in chunks])
    return letters, torch.tensor([accent for _, accent, _ in examples]), targets


def _exact(net: Net, test: list[Example], index: dict[str, int], names: list[str]) -> float:
    right = 0
    with torch.no_grad():
        for start in range(0, len(test), 512):
            part = test[start : start + 512]
            letters, accents, _ = _batch(part, index)
            said = net(letters, accents).argmax(-1)
            for row, (ids, _, chunks) in enumerate(part):
                right += "".join(names[i] for i in said[row, : len(ids)]) == "".join(chunks)
    return right / len(test)


def _save(net: Net, names: list[str]) -> None:
    """Weights as int8 with one scale per output channel; the chunks as UTF-8 text."""
    tensors: dict[str, np.ndarray] = {"chunks": np.frombuffer("\n".join(names).encode(), dtype=np.uint8)}
    for name, value in net.state_dict().items():
        array = value.numpy()
        if array.ndim == 1:
            tensors[name] = array.astype(np.float16)
            continue
        scale = np.abs(array).max(axis=tuple(range(1, array.ndim)), keepdims=True) / 127 + 1e-12
        tensors[name] = np.round(array / scale).astype(np.int8)
        tensors[f"{name}.scale"] = scale.astype(np.float32)
    save_file(tensors, Path(__file__).with_name("spelling.safetensors"))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    train()
