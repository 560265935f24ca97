"""How a voice sounds beyond the seven controls: engine-neutral dimensions of timbre.

| dimension | −2 … +2 | what is measured |
|---|---|---|
| breathiness | clear … breathy | harmonicity, dB |
| roughness | smooth … hoarse | irregularity of the periods |
| brightness | dark … bright | spectral tilt, dB |
| body | thin … full | vocal-tract length, cm |
| nasality | open … nasal | nothing yet |
| whisper | | share of voiced frames |

Each may be unspecified (`None`). The dimensions are those on which listeners agree best when they describe voices in
their own words (Kreiman & Sidtis 2011, *Foundations of Voice Studies*, ch. 1).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from voice_sculptor.controls import LevelValue


class Timbre(BaseModel):
    """What is asked of a voice's sound; `None` means unspecified.

    Attributes:
        breathiness: −2 (very clear) to +2 (very breathy).
        roughness: −2 (very smooth) to +2 (very hoarse).
        brightness: −2 (very dark) to +2 (very bright).
        body: −2 (very thin) to +2 (very full).
        nasality: −2 (very open) to +2 (very nasal).
        whisper: Spoken without voice.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    breathiness: LevelValue | None = None
    roughness: LevelValue | None = None
    brightness: LevelValue | None = None
    body: LevelValue | None = None
    nasality: LevelValue | None = None
    whisper: Literal[True] | None = None

    def asked(self) -> dict[str, Any]:
        """The dimensions that are specified, by name."""
        return {name: value for name in TIMBRE_NAMES if (value := getattr(self, name)) is not None}


TIMBRE_NAMES: tuple[str, ...] = tuple(Timbre.model_fields)
LEVEL_TIMBRE_NAMES: tuple[str, ...] = tuple(name for name in TIMBRE_NAMES if name != "whisper")

TIMBRE_WORDS: dict[str, dict[float, tuple[str, str]]] = {
    "breathiness": {-2: ("very clear", "很清澈"), -1: ("clear", "清澈"), 0: ("neither clear nor breathy", "气息适中"),
                    1: ("breathy", "有气息感"), 2: ("very breathy", "气息感很强")},
    "roughness": {-2: ("very smooth", "很圆润"), -1: ("smooth", "圆润"), 0: ("neither smooth nor hoarse", "沙哑适中"),
                  1: ("hoarse", "沙哑"), 2: ("very hoarse", "很沙哑")},
    "brightness": {-2: ("very dark", "很暗"), -1: ("dark", "偏暗"), 0: ("neither dark nor bright", "明暗适中"),
                   1: ("bright", "明亮"), 2: ("very bright", "很明亮")},
    "body": {-2: ("very thin", "很单薄"), -1: ("thin", "单薄"), 0: ("neither thin nor full", "厚薄适中"),
             1: ("full", "浑厚"), 2: ("very full", "很浑厚")},
    "nasality": {-2: ("not nasal at all", "毫无鼻音"), -1: ("open", "鼻音很少"),
                 0: ("neither open nor nasal", "鼻音适中"), 1: ("nasal", "有鼻音"), 2: ("very nasal", "鼻音很重")},
}  # fmt: skip
"""English and Chinese words of the levels, weakest first; the ones shown."""


def timbre_label(name: str, value: float | bool, language: str = "en") -> str:
    """A dimension's value for people: the nearest level's words.

    Args:
        name: One of `TIMBRE_NAMES`.
        value: As in `Timbre`.
        language: `en` or `zh`.
    """
    if name == "whisper":
        return "耳语" if language == "zh" else "whisper"
    words = TIMBRE_WORDS[name]
    return words[min(words, key=lambda level: abs(level - value))][language == "zh"]
