"""From the values of the page's widgets to what the studio takes, and back."""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

from voice_sculptor.controls import DEFAULT_INTENSITY, Controls, Emotion
from voice_sculptor.domain import MAX_DESCRIPTION_CHARS, MAX_SEED, VoiceSpec
from voice_sculptor.errors import InvalidRequest
from voice_sculptor.ui.strings import say

AUTO = "auto"
"""Value of a widget whose control is unspecified."""

LEVELS = ("pitch", "pitch_variation", "volume")
"""The controls that are chosen by level."""

RESTING_AGE = 35
RESTING_SPEED = 1.0


class VoiceFields(NamedTuple):
    """Values of the widgets that describe a voice, in the order of the page's events.

    Attributes:
        description: Free words.
        gender: `male`, `female` or `AUTO`.
        is_age_auto: Whether age is unspecified; `age` then has no meaning.
        age: Years.
        pitch: −2 … +2 or `AUTO`; so are `pitch_variation` and `volume`.
        is_speed_auto: Whether speed is unspecified; `speed` then has no meaning.
        speed: Factor.
        emotion: Name or `AUTO`.
        intensity: 0–1.
    """

    description: str = ""
    gender: str = AUTO
    is_age_auto: bool = True
    age: float = RESTING_AGE
    pitch: float | str = AUTO
    pitch_variation: float | str = AUTO
    volume: float | str = AUTO
    is_speed_auto: bool = True
    speed: float = RESTING_SPEED
    emotion: str = AUTO
    intensity: float = DEFAULT_INTENSITY

    @classmethod
    def of(cls, description: str, controls: Controls) -> VoiceFields:
        """The widgets' values for a spec."""
        emotion = controls.emotion
        return cls(
            description=description,
            gender=controls.gender or AUTO,
            is_age_auto=controls.age is None,
            age=RESTING_AGE if controls.age is None else controls.age,
            **{name: _level(getattr(controls, name)) for name in LEVELS},
            is_speed_auto=controls.speed is None,
            speed=RESTING_SPEED if controls.speed is None else controls.speed,
            emotion=emotion.name if emotion else AUTO,
            intensity=emotion.intensity if emotion else DEFAULT_INTENSITY,
        )

    def spec(self) -> VoiceSpec:
        """What the widgets ask for.

        Raises:
            InvalidRequest: The description is too long.
        """
        description = self.description or ""
        if len(description) > MAX_DESCRIPTION_CHARS:
            values = {"count": len(description), "limit": MAX_DESCRIPTION_CHARS}
            raise refused("long_description", **values)
        asked: dict[str, Any] = {
            "gender": _asked(self.gender),
            "age": None if self.is_age_auto else round(self.age),
            "pitch": _asked(self.pitch),
            "pitch_variation": _asked(self.pitch_variation),
            "volume": _asked(self.volume),
            "speed": None if self.is_speed_auto else self.speed,
        }
        if name := _asked(self.emotion):
            asked["emotion"] = Emotion(name=name, intensity=self.intensity)
        return VoiceSpec(description=description, controls=Controls(**asked))


def read_seed(written: str | None) -> int | None:
    """The seed in a text field; empty and −1 ask for a random one.

    Raises:
        InvalidRequest: Neither a whole number nor empty. Its range is the studio's to check.
    """
    word = unicodedata.normalize("NFKC", written or "").strip().replace("−", "-")
    if word in ("", "-1"):
        return None
    # Python refuses to read thousands of digits; no seed has more than ten.
    if not word.removeprefix("-").isdecimal() or len(word) > 20:
        shown = word if len(word) <= 20 else word[:20] + "…"
        raise refused("bad_seed", value=repr(shown), limit=MAX_SEED)
    return int(word)


def refused(key: str, **values: object) -> InvalidRequest:
    """An error whose sentences are strings of the page: `key`, and `key_fix` for what to do.

    Args:
        key: One of `STRINGS`.
        values: Fill the placeholders.
    """
    return InvalidRequest(
        say(key, "en", **values),
        say(key, "zh", **values),
        fix_en=say(f"{key}_fix", "en", **values),
        fix_zh=say(f"{key}_fix", "zh", **values),
    )


def _asked(value: Any) -> Any:
    return None if value in (AUTO, None) else value


def _level(value: float | None) -> float | str:
    return AUTO if value is None else float(value)
