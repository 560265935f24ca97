"""What is asked of a voice, in the model's own words: tags where it has them, Chinese words for the rest."""

from __future__ import annotations

from collections.abc import Iterator

from voice_sculptor.controls import Controls, level_of
from voice_sculptor.domain import SynthesisRequest, VoiceSpec
from voice_sculptor.engines.voicesculptor.vocabulary import TAGS
from voice_sculptor.errors import InvalidRequest
from voice_sculptor.language.cleaning import clean
from voice_sculptor.language.describe import describe
from voice_sculptor.language.description import understand
from voice_sculptor.language.script import has_han
from voice_sculptor.timbre import Timbre

MAX_DESCRIPTION_CHARS = 200
"""The longest description that the model was trained on."""

_AGES = dict(zip(("child", "young", "middle-aged", "elderly"), TAGS["age"], strict=True))
_SPEEDS = dict(zip(("very slow", "slow", "medium", "fast", "very fast"), TAGS["speed"], strict=True))
_EMOTIONS = dict(
    zip(("happy", "angry", "sad", "surprised", "disgusted", "afraid", "other"), TAGS["emotion"], strict=True)
)
_SLIGHT, _STRONG = 0.4, 0.8


def tags(controls: Controls) -> tuple[str, ...]:
    """Words of the tags for the controls that are set, in the model's order.

    Levels are rounded to the model's five. A neutral emotion has no tag: the model's "other" means any emotion beside
    its six.
    """
    return tuple(_tags(controls))


def description(request: SynthesisRequest) -> str:
    """The description for the model: the user's own Chinese words, and words for what has no tag.

    A description without a Chinese character, which the model does not read, is written anew from what was understood
    of it.

    Args:
        request: Its `description`, `controls` and `timbre`.

    Raises:
        InvalidRequest: It is longer than the model can read.
    """
    words = " ".join(clean(request.description).split())
    if not has_han(words):
        return describe(VoiceSpec(controls=request.controls, timbre=request.timbre), "zh")
    if len(words) > MAX_DESCRIPTION_CHARS:
        raise InvalidRequest(
            f"The description has {len(words)} characters; this engine reads at most {MAX_DESCRIPTION_CHARS}.",
            f"描述有 {len(words)} 个字符，该引擎最多读 {MAX_DESCRIPTION_CHARS} 个。",
            fix_en="Shorten it; put levels into the controls.",
            fix_zh="请缩短描述，把音高、语速等放到控制项里。",
        )
    said = understand(request.description)
    added = _untagged(request.controls)
    controls = Controls(
        **{name: value for name, value in added.items() if said.controls.asked().get(name) != value}
    )
    unsaid = {
        name: value
        for name, value in request.timbre.asked().items()
        if said.timbre.asked().get(name) != value
    }
    more = describe(VoiceSpec(controls=controls, timbre=Timbre(**unsaid)), "zh")
    if not more or len(words) + len(more) > MAX_DESCRIPTION_CHARS:
        return words
    return words.rstrip("。.，, ") + "，" + more


def _tags(controls: Controls) -> Iterator[str]:
    if controls.gender is not None:
        yield TAGS["gender"][controls.gender == "female"]
    if controls.age is not None:
        yield _AGES[level_of("age", controls.age)]
    if controls.speed is not None:
        yield _SPEEDS[level_of("speed", controls.speed)]
    for name in ("volume", "pitch", "pitch_variation"):
        value = getattr(controls, name)
        if value is not None:
            yield TAGS[name][2 + max(-2, min(2, round(value)))]
    if controls.emotion is not None and controls.emotion.name != "neutral":
        yield _EMOTIONS[controls.emotion.name]


def _untagged(controls: Controls) -> dict[str, object]:
    """The controls whose tag says less than was asked: exact years, a weak or strong emotion, none at all."""
    added: dict[str, object] = {}
    if controls.age is not None:
        added["age"] = controls.age
    if (emotion := controls.emotion) is not None and (
        emotion.name == "neutral" or not _SLIGHT < emotion.intensity < _STRONG
    ):
        added["emotion"] = emotion
    return added
