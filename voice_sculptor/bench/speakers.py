"""Whose quality is measured: stock voices, blends of them, and designed voices that cover what can be asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from voice_sculptor.bench.obedience.renderings import make
from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.domain import Voice, VoiceSpec
from voice_sculptor.studio import Studio
from voice_sculptor.timbre import Timbre

Kind = Literal["stock", "fast", "blend", "designed", "whisper"]

STOCK = (
    "af_heart", "af_bella", "af_nicole", "af_sarah", "am_michael", "am_fenrir", "am_puck", "bf_emma", "bm_george",
    "zf_xiaobei",
)  # fmt: skip
BLENDS: tuple[dict[str, float], ...] = (
    {"af_heart": 0.6, "af_bella": 0.4},
    {"af_heart": 0.5, "am_michael": 0.5},
    {"am_fenrir": 0.7, "am_puck": 0.3},
    {"bf_emma": 0.5, "af_sarah": 0.5},
    {"bm_george": 0.6, "am_michael": 0.4},
    {"zf_xiaobei": 0.5, "af_heart": 0.5},
    {"zm_yunxi": 0.6, "am_michael": 0.4},
    {"af_nicole": 0.4, "af_bella": 0.6},
    {"am_onyx": 0.4, "bm_lewis": 0.3, "af_bella": 0.3},
    {"bf_isabella": 0.34, "af_kore": 0.33, "zf_xiaoxiao": 0.33},
)
DESIGNED: dict[str, VoiceSpec] = {
    "child": VoiceSpec(controls=Controls(age=7)),
    "elderly man": VoiceSpec(controls=Controls(age=75, gender="male")),
    "elderly woman": VoiceSpec(controls=Controls(age=75, gender="female")),
    "very low man": VoiceSpec(controls=Controls(gender="male", pitch=-2)),
    "very high woman": VoiceSpec(controls=Controls(gender="female", pitch=2)),
    "breathy woman": VoiceSpec(controls=Controls(gender="female"), timbre=Timbre(breathiness=2)),
    "hoarse man": VoiceSpec(controls=Controls(gender="male"), timbre=Timbre(roughness=2)),
    "bright, lively woman": VoiceSpec(
        controls=Controls(gender="female", pitch_variation=2), timbre=Timbre(brightness=2)
    ),
    "dark, flat man": VoiceSpec(
        controls=Controls(gender="male", pitch_variation=-2), timbre=Timbre(brightness=-2)
    ),
    "full, slow man": VoiceSpec(controls=Controls(gender="male", speed=0.6), timbre=Timbre(body=2)),
    "thin, fast woman": VoiceSpec(controls=Controls(gender="female", speed=1.6), timbre=Timbre(body=-2)),
    "happy woman": VoiceSpec(
        controls=Controls(gender="female", emotion=Emotion(name="happy", intensity=0.8))
    ),
    "sad man": VoiceSpec(controls=Controls(gender="male", emotion=Emotion(name="sad", intensity=0.8))),
    "whispering woman": VoiceSpec(controls=Controls(gender="female"), timbre=Timbre(whisper=True)),
}
"""Each is designed once; whispers are a kind of their own, because DNSMOS falls for real ones too."""
KINDS: tuple[Kind, ...] = ("stock", "fast", "blend", "designed")
"""What can be chosen; whispers come with the designed voices. `fast` are the stock voices as fast as the fastest of the
designed ones: what the pace alone costs."""
FAST = Controls(speed=1.6)
_SEED = 0


@dataclass(frozen=True)
class Speaker:
    """A voice to be heard.

    Attributes:
        name: What the table calls it.
        kind: How it came to be.
        voice: Who speaks.
    """

    name: str
    kind: Kind
    voice: Voice

    @property
    def pace(self) -> float:
        """Factor on the rate that was asked of it."""
        return self.voice.controls.speed or 1.0


def speakers(studio: Studio, kinds: Sequence[str], first_text: str) -> Iterator[Speaker]:
    """The voices of some kinds; a designed one is made when it is its turn.

    Args:
        studio: With the embedded engine.
        kinds: Of `KINDS`.
        first_text: What a designed voice speaks when it is made.
    """
    if "stock" in kinds:
        for name in STOCK:
            yield Speaker(name, "stock", studio.find_voice(name))
    if "fast" in kinds:
        for name in STOCK:
            voice = studio.find_voice(name).model_copy(update={"controls": FAST})
            yield Speaker(f"{name}, {FAST.speed} times as fast", "fast", voice)
    if "blend" in kinds:
        for blend in BLENDS:
            name = " + ".join(f"{name} {weight:g}" for name, weight in blend.items())
            state = {"blend": blend}
            yield Speaker(name, "blend", Voice(name="blend", engine=studio.engine.info.id, state=state))
    if "designed" in kinds:
        for name, spec in DESIGNED.items():
            (candidate,) = make(studio, spec, first_text, _SEED)
            yield Speaker(name, "whisper" if spec.timbre.whisper else "designed", candidate.voice)
