"""Marks in the fake engine's tones: each piece of audio says whose it is, so that crossed audio is noticed."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUM_BITS = 32
_BIT_SAMPLES = 12
_AMPLITUDE = 0.1

NUM_SAMPLES = _NUM_BITS * _BIT_SAMPLES
"""A piece must be at least that long to hold a mark."""

_WAVE = np.sin(2.0 * np.pi * np.arange(_BIT_SAMPLES) / _BIT_SAMPLES)


def code(text: str, seed: int, number: int) -> int:
    """The mark of one piece: 32 bits.

    Args:
        text: Of the request.
        seed: Of the candidate.
        number: Of the piece, from 0.
    """
    return zlib.crc32(f"{seed} {number} {text}".encode())


def write(samples: NDArray[np.float32], mark: int) -> None:
    """Put a mark at the beginning of a piece: one wave per bit, upright or upside down.

    Args:
        samples: float32 `[num_samples]`, at least `NUM_SAMPLES`, changed in place.
        mark: 32 bits.
    """
    signs = 1.0 - 2.0 * np.array([mark >> bit & 1 for bit in range(_NUM_BITS)])
    samples[:NUM_SAMPLES] = _AMPLITUDE * np.outer(signs, _WAVE).ravel()


def read(samples: NDArray[np.float32]) -> int:
    """The mark at the beginning of a piece, at whatever level it is played."""
    waves = samples[:NUM_SAMPLES].reshape(_NUM_BITS, _BIT_SAMPLES) @ _WAVE
    return sum(1 << bit for bit in range(_NUM_BITS) if waves[bit] < 0.0)
