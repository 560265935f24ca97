"""The voice atlas: the 54 stock voices of Kokoro-82M in one small file, with what was measured of them.

A voice is 510 style vectors of 256 numbers, one per length of text: a sentence of n phonemes takes row n − 1, as in
hexgrad's `kokoro` and in `kokoro-onnx` (`kokoro-js` takes row n; neighbouring rows differ by 0.1 to 2 %, by more below
30 phonemes). The first 128 numbers are timbre and go to the decoder, the last 128 are prosody.

All 54 × 510 rows move along the same few curves as the length grows: with a shared basis B `[510, rank]` and
coefficients C `[rank, 256]` per voice, the table B·C equals the published one to five digits at 3 % of its size.
"""

from __future__ import annotations

import difflib
import functools
import json
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voice_sculptor.errors import CheckpointMismatch, InvalidVoiceFile, UnknownVoice

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUM_ROWS = 510
STYLE_SIZE = 256
TIMBRE_SIZE = 128
FORMAT = "voice-sculptor/kokoro-atlas@2"
DEFAULT_PATH = Path(__file__).with_name("atlas.safetensors")

_LANGUAGES = {
    "a": "en",
    "b": "en",
    "e": "es",
    "f": "fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt",
    "z": "zh",
}


@dataclass(frozen=True)
class VoiceInfo:
    """What is known of a stock voice.

    Attributes:
        name: Letter of the accent (`a` American, `b` British …), `f` or `m`, and the name: `zf_xiaobei`.
        language: Language it was recorded in, ISO 639-1.
        gender: `male` or `female`.
        measurements: By language spoken, `en` and `zh`, as in `audio.measure`. As the voice speaks by itself: `f0_hz`,
            `f0_sd_st`, `syllables_per_s`, `loudness_lufs`. Shifted to 165 Hz, so that voices can be compared: `hnr_db`,
            `jitter`, `tilt_db`, `tract_cm`.
    """

    name: str
    language: str
    gender: str
    measurements: Mapping[str, Mapping[str, float]]

    @property
    def f0_hz(self) -> float:
        """Median F0, Hz, geometric mean over the languages measured."""
        return math.exp(statistics.fmean(math.log(each["f0_hz"]) for each in self.measurements.values()))

    @property
    def tract_cm(self) -> float:
        """Estimated vocal-tract length, cm, mean over the languages measured."""
        return statistics.fmean(each["tract_cm"] for each in self.measurements.values())


class Atlas:
    """The stock voices. Read-only and safe to share between threads.

    Args:
        names: One per voice.
        basis: float32 `[510, rank]`, how styles change with the number of phonemes.
        coefficients: float32 `[num_voices, rank, 256]`.
        measurements: By voice and language, as in `VoiceInfo`.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        basis: NDArray[np.float32],
        coefficients: NDArray[np.float32],
        measurements: Mapping[str, Mapping[str, Mapping[str, float]]],
    ) -> None:
        self.names = names
        self._basis = basis
        self._coefficients = coefficients
        self._measurements = measurements
        self._index = {name: index for index, name in enumerate(names)}

    @classmethod
    def load(cls, path: Path | None = None) -> Atlas:
        """The atlas in a file; read once per process and path.

        Args:
            path: `None` for the one that ships.

        Raises:
            CheckpointMismatch: Missing, damaged or of another format.
        """
        return _load(path or DEFAULT_PATH)

    @classmethod
    def read(cls, path: Path) -> Atlas:
        """As `load`, but from the file as it is now."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="numpy") as file:
                about = json.loads((file.metadata() or {})["atlas"])
                basis, coefficients = file.get_tensor("basis"), file.get_tensor("coefficients")
            names, measurements = tuple(about["names"]), about["measurements"]
            is_whole = (
                about["format"] == FORMAT
                and basis.shape == (NUM_ROWS, basis.shape[-1])
                and coefficients.shape == (len(names), basis.shape[-1], STYLE_SIZE)
                and set(measurements) == set(names)
            )
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise _mismatch(path) from error
        if not is_whole:
            raise _mismatch(path)
        for shared in (basis, coefficients):
            shared.setflags(write=False)
        return cls(names, basis, coefficients, measurements)

    def info(self, name: str) -> VoiceInfo:
        """What is known of a voice.

        Raises:
            UnknownVoice: With the nearest names.
        """
        self._find(name)
        gender = "female" if name[1] == "f" else "male"
        return VoiceInfo(name, _LANGUAGES[name[0]], gender, self._measurements[name])

    def style(self, name: str, num_phonemes: int) -> NDArray[np.float32]:
        """Style for a text, float32 `[256]`.

        Args:
            name: One of `names`.
            num_phonemes: Length of the text without padding; beyond 1 … 510 the nearest row is taken.

        Raises:
            UnknownVoice: With the nearest names.
        """
        return self.blend({name: 1.0}, num_phonemes)

    def table(self, name: str) -> NDArray[np.float32]:
        """All styles of a voice, float32 `[510, 256]`; row n − 1 is for n phonemes.

        Raises:
            UnknownVoice: With the nearest names.
        """
        table: NDArray[np.float32] = self._basis @ self._coefficients[self._find(name)]
        return table

    def mean(self, name: str) -> NDArray[np.float32]:
        """Mean style of a voice over all lengths, float32 `[256]`.

        Raises:
            UnknownVoice: With the nearest names.
        """
        mean: NDArray[np.float32] = self._basis.mean(axis=0) @ self._coefficients[self._find(name)]
        return mean

    def blend(self, weights: Mapping[str, float], num_phonemes: int) -> NDArray[np.float32]:
        """Weighted mean of voices for a text, float32 `[256]`.

        Args:
            weights: By voice, ≥ 0 and not all 0; only their ratio counts.
            num_phonemes: As for `style`.

        Raises:
            UnknownVoice: With the nearest names.
            InvalidVoiceFile: A weight that is negative or no number, or none above 0.
        """
        row = self._basis[min(max(num_phonemes, 1), NUM_ROWS) - 1]
        mixed = np.zeros(self._coefficients.shape[1:], np.float32)
        for name, share in self.shares(weights).items():
            mixed += np.float32(share) * self._coefficients[self._index[name]]
        style: NDArray[np.float32] = row @ mixed
        return style

    def shares(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Checked weights, by voice in order of `names`, that sum to 1; voices of weight 0 are left out.

        Args:
            weights: As for `blend`.

        Raises:
            UnknownVoice: With the nearest names.
            InvalidVoiceFile: A weight that is negative or no number, or none above 0.
        """
        for name, weight in weights.items():
            self._find(name)
            if isinstance(weight, bool) or not isinstance(weight, (int, float)):
                raise _bad_weights(name, weight)
            if not math.isfinite(weight) or weight < 0:
                raise _bad_weights(name, weight)
        # Dividing by the largest first keeps the sum finite and the ratios exact for weights of any size.
        largest = max(weights.values(), default=0)
        if largest <= 0:
            raise InvalidVoiceFile(
                "A blend needs at least one voice with a weight above 0.",
                "混合声音至少需要一个权重大于 0 的声音。",
                fix_en="Give weights such as af_heart=0.7, am_onyx=0.3.",
                fix_zh="请给出权重，例如 af_heart=0.7、am_onyx=0.3。",
            )
        scaled = {name: weights[name] / largest for name in sorted(weights, key=self._find)}
        total = sum(scaled.values())
        return {name: weight / total for name, weight in scaled.items() if weight > 0}

    def _find(self, name: str) -> int:
        if name in self._index:
            return self._index[name]
        near = difflib.get_close_matches(name.casefold(), self.names, n=3, cutoff=0.5)
        hint = ", ".join(near) or f"{self.names[0]} … {self.names[-1]}"
        raise UnknownVoice(
            f"There is no voice {name!r}.",
            f"没有名为 {name!r} 的声音。",
            fix_en=f"Near to it: {hint}; `voice-sculptor voices` lists all.",
            fix_zh=f"相近的有：{hint}；用 `voice-sculptor voices` 查看全部。",
        )


@functools.lru_cache(maxsize=4)
def _load(path: Path) -> Atlas:
    return Atlas.read(path)


def _mismatch(path: Path) -> CheckpointMismatch:
    return CheckpointMismatch(
        f"The voice atlas {path.name} is missing, damaged or of another version.",
        f"声音图谱 {path.name} 缺失、损坏或版本不符。",
        fix_en="Install Voice Sculptor again, or rebuild it: python -m voice_sculptor.engines.kokoro.build_atlas.",
        fix_zh="请重新安装 Voice Sculptor，或重建：python -m voice_sculptor.engines.kokoro.build_atlas。",
    )


def _bad_weights(name: str, weight: object) -> InvalidVoiceFile:
    return InvalidVoiceFile(
        f"The weight of {name} in the blend is {weight!r}.",
        f"混合声音中 {name} 的权重为 {weight!r}。",
        fix_en="Give numbers from 0 up.",
        fix_zh="请给出不小于 0 的数。",
    )
