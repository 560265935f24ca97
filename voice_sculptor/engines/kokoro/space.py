"""The style space: how timbre is measured in it, and the move that changes what is asked and holds the rest.

The timbre half of a style, 128 numbers, is mapped to four attributes at one F0 by ridge regression over the stock
voices (left out one by one, it explains 83 % of the variance of harmonicity, 68 % of tilt, 88 % of tract length and
66 % of irregularity). A move is the regularised least-squares answer: it weighs what it misses against how unlike a
stock voice it makes the timbre (Mahalanobis distance), so that designed voices stay among real ones.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voice_sculptor.engines.kokoro.atlas import TIMBRE_SIZE, Atlas

COMMON_F0_HZ = 165.0
"""F0 at which the timbre of voices is compared: between women's and men's."""

ATTRIBUTES = ("hnr_db", "jitter", "tilt_db", "tract_cm")
"""What a move can aim at, as in `audio.measure`."""

LOGARITHMIC = frozenset({"jitter", "tract_cm"})
"""Attributes of which factors, not differences, are alike."""
_STEP = {"hnr_db": 1.5, "jitter": math.log(1.4), "tilt_db": 2.0, "tract_cm": math.log(1.05)}
_HNR_DB_PER_OCTAVE = 2.4
"""How harmonicity grows with F0 in one voice, mean over the stock voices; the others change by less than is audible."""
_RIDGE = 0.2
_SPREAD_RIDGE = 0.05
_REGULARISATION = 0.08
NUM_ASIDE = 8
"""Directions in which voices of consecutive seeds are moved aside."""
_MAX_DISTANCE = 4.5
"""Longest move, in standard deviations of the stock voices along it; the voices themselves lie at 5 to 9."""


class StyleSpace:
    """The stock voices' timbres and their attributes. Read-only.

    Args:
        atlas: The stock voices.
        leave_out: A voice to fit without, for validation.
    """

    def __init__(self, atlas: Atlas, leave_out: str | None = None) -> None:
        names = [name for name in atlas.names if name != leave_out]
        timbres = np.stack([atlas.mean(name)[:TIMBRE_SIZE] for name in names]).astype(np.float64)
        attributes = np.stack([_attributes(atlas, name) for name in names])
        self._mean, self._mean_attributes = timbres.mean(axis=0), attributes.mean(axis=0)
        centred = timbres - self._mean
        gram = centred @ centred.T
        scale = float(np.trace(gram)) / len(names)
        weights = np.linalg.solve(
            gram + _RIDGE * scale * np.eye(len(names)), attributes - self._mean_attributes
        )
        self._jacobian = centred.T @ weights  # [128, num_attributes]
        spread = centred.T @ centred / len(names)
        self._covariance = spread + _SPREAD_RIDGE * np.trace(spread) / TIMBRE_SIZE * np.eye(TIMBRE_SIZE)
        self._root = np.linalg.cholesky(self._covariance)
        variances, axes = np.linalg.eigh(spread)
        self._components = axes[:, -NUM_ASIDE:].T * np.sqrt(variances[-NUM_ASIDE:, None])

    @classmethod
    def load(cls) -> StyleSpace:
        """The space of the shipped atlas; fitted once, in milliseconds."""
        return _load()

    def attributes(self, timbre: NDArray[np.floating[Any]], f0_hz: float = COMMON_F0_HZ) -> dict[str, float]:
        """Predicted attributes of a timbre, in the units of `audio.measure`.

        Args:
            timbre: float32 `[128]`.
            f0_hz: At which it speaks.
        """
        values = self._mean_attributes + (timbre - self._mean) @ self._jacobian
        found = {
            name: math.exp(value) if name in LOGARITHMIC else float(value)
            for name, value in zip(ATTRIBUTES, values, strict=True)
        }
        found["hnr_db"] += _HNR_DB_PER_OCTAVE * math.log2(f0_hz / COMMON_F0_HZ)
        return found

    def move(self, changes: Mapping[str, float]) -> NDArray[np.float64]:
        """The move of a timbre that makes changes to attributes and holds the others.

        Args:
            changes: By attribute: dB, or the natural logarithm of a factor for `jitter` and `tract_cm`. What is not
                named is held where it is.

        Returns:
            float64 `[128]`, at most 4.5 standard deviations long.
        """
        steps = np.array([_STEP[name] for name in ATTRIBUTES])
        wanted = np.array([changes.get(name, 0.0) for name in ATTRIBUTES]) / steps
        scaled = self._jacobian / steps
        spread = scaled.T @ self._covariance @ scaled
        move: NDArray[np.float64] = (
            self._covariance
            @ scaled
            @ np.linalg.solve(spread + _REGULARISATION * np.eye(len(ATTRIBUTES)), wanted)
        )
        return move * min(1.0, _MAX_DISTANCE / max(self.distance(move), 1e-9))

    def effect(self, move: NDArray[np.float64]) -> dict[str, float]:
        """Predicted changes of a move, as `move` takes them."""
        return dict(zip(ATTRIBUTES, map(float, move @ self._jacobian), strict=True))

    def aside(self, rng: np.random.Generator, distance: float) -> NDArray[np.float64]:
        """Moves in unlike directions that leave all attributes as they are.

        They lie in what tells the stock voices apart most. A move of the same length in any direction at all would
        spread over 128 of them and hardly be heard.

        Args:
            rng: Where they come from.
            distance: Length of each in standard deviations of the stock voices.

        Returns:
            float64 `[8, 128]`; before the attributes are restored, each is at a right angle to the others.
        """
        turned, _ = np.linalg.qr(rng.standard_normal((NUM_ASIDE, NUM_ASIDE)))
        moves = turned @ self._components
        across = self._covariance @ self._jacobian
        moves = moves - np.linalg.solve(self._jacobian.T @ across, self._jacobian.T @ moves.T).T @ across.T
        lengths = np.array([self.distance(move) for move in moves])
        found: NDArray[np.float64] = moves * (distance / lengths)[:, None]
        return found

    def distance(self, move: NDArray[np.float64]) -> float:
        """Mahalanobis length of a move: how many standard deviations of the stock voices."""
        return float(np.linalg.norm(np.linalg.solve(self._root, move)))


def _attributes(atlas: Atlas, name: str) -> NDArray[np.float64]:
    measured = atlas.info(name).measurements.values()
    return np.array(
        [
            fmean(math.log(each[key]) if key in LOGARITHMIC else each[key] for each in measured)
            for key in ATTRIBUTES
        ]
    )


@functools.cache
def _load() -> StyleSpace:
    return StyleSpace(Atlas.load())
