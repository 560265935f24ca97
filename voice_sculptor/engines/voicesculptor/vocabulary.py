"""The tokens that the model speaks in and listens to, found by name in its tokenizer."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from voice_sculptor.errors import CheckpointMismatch

NUM_SPEECH_TOKENS = 65_536
UNDERSTANDING_START, UNDERSTANDING_END = "<|TEXT_UNDERSTANDING_START|>", "<|TEXT_UNDERSTANDING_END|>"
GENERATION_START, GENERATION_END = "<|SPEECH_GENERATION_START|>", "<|SPEECH_GENERATION_END|>"
END_OF_PROMPT = "<|endofprompt|>"

TAGS: dict[str, tuple[str, ...]] = {
    "gender": ("男性", "女性"),
    "age": ("小孩", "青年", "中年", "老年"),
    "speed": tuple(f"语速{degree}" for degree in ("很慢", "较慢", "中等", "较快", "很快")),
    "volume": tuple(f"音量{degree}" for degree in ("很小", "较小", "中等", "较大", "很大")),
    "pitch": tuple(f"音调{degree}" for degree in ("很低", "较低", "中等", "较高", "很高")),
    "pitch_variation": tuple(f"音调变化{degree}" for degree in ("很弱", "较弱", "一般", "较强", "很强")),
    "emotion": ("开心", "生气", "难过", "惊讶", "厌恶", "害怕", "其他"),
}
"""What the model was trained to obey, by control, in the order in which it expects them; lowest level first."""


def tag(word: str) -> str:
    """The token of a tag's word, e.g. `<|语速较快|>`."""
    return f"<|{word}|>"


class Vocabulary(NamedTuple):
    """Ids of the tokens that carry meaning beyond text.

    Attributes:
        first_speech_id: Id of `<|s_0|>`; speech token n is `first_speech_id + n`, n < 65,536.
        end_id: Id of `<|SPEECH_GENERATION_END|>`.
        control_ids: Ids of all tokens that steer the model; none of them may come from a user's text.
    """

    first_speech_id: int
    end_id: int
    control_ids: frozenset[int]

    @classmethod
    def of(cls, tokenizer: Any) -> Vocabulary:
        """Find and check the tokens of a `tokenizers.Tokenizer`.

        Raises:
            CheckpointMismatch: A token is missing, or the speech tokens are not one contiguous range; the sentence
                names the token.
        """
        added = {token.content: token_id for token_id, token in tokenizer.get_added_tokens_decoder().items()}

        def token_id(name: str) -> int:
            found = added.get(name)
            if found is None:
                raise _mismatch(f"no token {name}", f"没有标记 {name}")
            return int(found)

        first = token_id("<|s_0|>")
        for number in range(NUM_SPEECH_TOKENS):
            name = f"<|s_{number}|>"
            if token_id(name) != first + number:
                raise _mismatch(
                    f"{name} is not at id {first + number}", f"{name} 的编号不是 {first + number}"
                )
        for name in (UNDERSTANDING_START, UNDERSTANDING_END, GENERATION_START, END_OF_PROMPT):
            token_id(name)
        for words in TAGS.values():
            for word in words:
                token_id(tag(word))
        return cls(first, token_id(GENERATION_END), frozenset(added.values()))


def plain_tokenizer(tokenizer: Any) -> Any:
    """The same `tokenizers.Tokenizer` without a single control token: what it reads stays text.

    Turning off *special* tokens is not enough: tokens that were added to a model later often are not marked as such,
    and would still be matched inside a user's text.
    """
    from tokenizers import Tokenizer

    layout = json.loads(tokenizer.to_str())
    layout["added_tokens"] = []
    layout["post_processor"] = None
    return Tokenizer.from_str(json.dumps(layout))


def _mismatch(what_en: str, what_zh: str) -> CheckpointMismatch:
    return CheckpointMismatch(
        f"This is not the tokenizer of Voice Sculptor: it has {what_en}."
        if what_en.startswith("no ")
        else f"This is not the tokenizer of Voice Sculptor: {what_en}.",
        f"这不是 Voice Sculptor 的分词器：{what_zh}。",
        fix_en="Give the folder of ASLP-lab/VoiceSculptor-VD to --model-dir.",
        fix_zh="请用 --model-dir 指定 ASLP-lab/VoiceSculptor-VD 的文件夹。",
    )
