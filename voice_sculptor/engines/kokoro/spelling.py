"""How a word that no lexicon has is said, from its letters alone."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from voice_sculptor.engines.kokoro.vocabulary import VOWELS

_LETTERS = "abcdefghijklmnopqrstuvwxyz'"
_DILATIONS = (1, 2, 4, 1, 2, 4)
_LONGEST = 40


class _Speller:
    """The network of `build_spelling`: letters and accent to the symbols of each letter."""

    def __init__(self) -> None:
        from safetensors.numpy import load_file

        with as_file(files(__package__).joinpath("spelling.safetensors")) as path:
            tensors = load_file(path)
        self.chunks = tensors.pop("chunks").tobytes().decode().split("\n")
        self.weights: dict[str, NDArray[np.float32]] = {
            name: value.astype(np.float32) * tensors.get(f"{name}.scale", np.float32(1.0))
            for name, value in tensors.items()
            if not name.endswith(".scale")
        }

    def __call__(self, letters: list[int], british: bool) -> list[str]:
        weights = self.weights
        x = weights["letters.weight"][letters] + weights["accents.weight"][int(british)]
        for i, dilation in enumerate(_DILATIONS):
            padded = np.pad(x, ((dilation, dilation), (0, 0)))
            taps = np.concatenate([padded[k * dilation : k * dilation + len(x)] for k in range(3)], axis=1)
            x = x + np.maximum(taps @ weights[f"layers.{i}.weight"].T + weights[f"layers.{i}.bias"], 0.0)
        scores = x @ weights["head.weight"].T + weights["head.bias"]
        return [self.chunks[i] for i in scores.argmax(axis=1)]


@lru_cache(maxsize=1)
def _speller() -> _Speller:
    return _Speller()


@lru_cache(maxsize=8192)
def spell_out(word: str, *, british: bool) -> str:
    """Symbols of a word that is in no lexicon.

    Args:
        word: Latin letters and apostrophes.
        british: British instead of American English.
    """
    letters = [_LETTERS.index(char) + 1 for char in word.lower() if char in _LETTERS]
    pieces = (letters[start : start + _LONGEST] for start in range(0, len(letters), _LONGEST))
    return "".join(_one_main_stress("".join(_speller()(piece, british))) for piece in pieces)


def _one_main_stress(symbols: str) -> str:
    head, mark, tail = symbols.partition("ˈ")
    if mark:
        return head + mark + tail.replace("ˈ", "ˌ")
    if "ˌ" in symbols:
        return symbols.replace("ˌ", "ˈ", 1)
    place = next((i for i, symbol in enumerate(symbols) if symbol in VOWELS), None)
    return symbols if place is None else f"{symbols[:place]}ˈ{symbols[place:]}"
