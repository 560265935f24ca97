"""What is spoken and by whom, and how it is made: common to all parts."""

from __future__ import annotations

from voice_sculptor.controls import Controls
from voice_sculptor.domain import Candidate, Language, Voice, VoiceSpec
from voice_sculptor.errors import SynthesisFailed
from voice_sculptor.events import Failed, Ready
from voice_sculptor.obedience import Check
from voice_sculptor.studio import Studio

TEXTS: dict[Language, tuple[str, ...]] = {
    "en": (
        "The ferry leaves at seven, so please be on the pier by half past six.",
        "Nobody remembered who had planted the old apple tree behind the school.",
        "Turn left at the second light and keep going until you see the river.",
        "Rain had fallen all night, and the road to the village was under water.",
        "She opened the letter slowly and read every line of it twice.",
        "Most of the work is done, but the last part will take us a while.",
        "My brother keeps eleven bees in a glass box on his kitchen table.",
        "We walked along the beach and talked about nothing in particular.",
    ),
    "zh": (
        "渡船七点钟出发，请大家六点半以前到码头集合。",
        "没有人记得学校后面那棵老苹果树是谁种下的。",
        "请在第二个路口左转，然后一直走到河边为止。",
        "雨下了整整一夜，通往村子的路已经被水淹没了。",
        "她慢慢地打开那封信，把每一行字都读了两遍。",
        "大部分工作已经做完，剩下的部分还需要一些时间。",
        "我弟弟在厨房的桌子上养了一小盒蜜蜂。",
        "我们沿着海滩慢慢散步，聊了许多家常话。",
    ),
}
PRESETS = ("wise-grandfather", "kindergarten-teacher", "news-anchor", "lonely-knight")
SPEED_BAND = 0.08
"""How far a rate may be off, as a share of it: that of `voice_sculptor.targets`."""


def make(studio: Studio, spec: VoiceSpec, text: str, seed: int, count: int = 1) -> list[Candidate]:
    """Candidates of one request, in order of their seeds.

    Raises:
        VoiceSculptorError: It, or one of them, cannot be made.
    """
    made = []
    for event in studio.design(text, spec, num_candidates=count, seed=seed):
        if isinstance(event, Failed):
            raise event.error
        if isinstance(event, Ready):
            made.append(event.candidate)
    return made


def say(studio: Studio, voice: Voice, text: str, controls: Controls | None = None) -> Candidate:
    """A text spoken by a kept or stock voice.

    Args:
        studio: Whose engine has the voice.
        voice: Who speaks, with the voice's own seed.
        text: What is spoken.
        controls: Over the voice's own.

    Raises:
        VoiceSculptorError: It cannot be made.
    """
    for event in studio.speak(voice, text, controls=controls):
        if isinstance(event, Failed):
            raise event.error
        if isinstance(event, Ready):
            return event.candidate
    raise SynthesisFailed(f"The engine made nothing of {text!r}.", f"引擎没有为 {text!r} 生成任何内容。")


def cues(check: Check) -> str:
    """What a check aimed at and what was measured, in a line."""
    return ", ".join(f"{cue.measure} {cue.target:.4g} > {cue.measured:.4g}" for cue in check.cues)
