"""What the model reads before it speaks, as token ids. A user's words never become a control token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voice_sculptor.engines.voicesculptor.vocabulary import (
    END_OF_PROMPT,
    GENERATION_START,
    UNDERSTANDING_END,
    UNDERSTANDING_START,
    Vocabulary,
    plain_tokenizer,
    tag,
)
from voice_sculptor.errors import CheckpointMismatch

_DATE = "26 Jul 2024"
"""A stock template of this family writes today's date into the prompt: pinned, so that a seed stays what it is."""

_DESCRIPTION, _TAGS, _TEXT = "@@DESCRIPTION@@", "@@TAGS@@", "@@TEXT@@"
_USER = (
    f"Convert the text to speech:{UNDERSTANDING_START}{_DESCRIPTION}{END_OF_PROMPT}"
    f"{_TAGS}{_TEXT}{UNDERSTANDING_END}"
)


class PromptBuilder:
    """Writes prompts for one checkpoint.

    Args:
        tokenizer: The checkpoint's transformers tokenizer, with its chat template.
        vocabulary: Of the same checkpoint.

    Raises:
        CheckpointMismatch: The template is missing, or does not keep what it is given.
    """

    def __init__(self, tokenizer: Any, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._tokenizer = tokenizer.backend_tokenizer
        self._plain = plain_tokenizer(self._tokenizer)
        head, between, _, tail = _fixed_parts(tokenizer)
        self._head, self._between, self._tail = map(self._control, (head, between, tail))

    def build(
        self, description: str, tags: Sequence[str], text: str, spoken: Sequence[int] = ()
    ) -> tuple[int, ...]:
        """Token ids up to where the model goes on.

        Args:
            description: The voice in words.
            tags: As from `wording.tags`.
            text: What to speak; with `spoken`, the text of those tokens and then what follows.
            spoken: Speech tokens, 0 … 65,535, that the model has said already and goes on from.
        """
        first = self._vocabulary.first_speech_id
        return (
            *self._head,
            *self._user(description),
            *self._between,
            *self._control("".join(map(tag, tags))),
            *self._user(text),
            *self._tail,
            *(first + token for token in spoken),
        )

    def _control(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _user(self, text: str) -> list[int]:
        ids = list(self._plain.encode(text, add_special_tokens=False).ids)
        if not self._vocabulary.control_ids.isdisjoint(ids):
            raise RuntimeError("the plain tokenizer made a control token")
        return ids


def _fixed_parts(tokenizer: Any) -> tuple[str, str, str, str]:
    """The template around description, tags and text."""
    messages = [{"role": "user", "content": _USER}, {"role": "assistant", "content": GENERATION_START}]
    try:
        rendered = tokenizer.apply_chat_template(
            messages, tokenize=False, continue_final_message=True, date_string=_DATE
        )
    except Exception as error:  # Jinja and transformers raise what they like on a template that is not one.
        raise _bad_template(repr(error)) from error
    head, found, rest = rendered.partition(_DESCRIPTION)
    between, found_tags, rest = rest.partition(_TAGS)
    nothing, found_text, tail = rest.partition(_TEXT)
    if not (found and found_tags and found_text) or nothing or not tail.endswith(GENERATION_START):
        raise _bad_template(f"it makes {rendered!r}")
    return head, between, nothing, tail


def _bad_template(why: str) -> CheckpointMismatch:
    return CheckpointMismatch(
        f"The chat template of this checkpoint cannot be used: {why}.",
        f"该模型的对话模板无法使用：{why}。",
        fix_en="Give the folder of ASLP-lab/VoiceSculptor-VD, with its tokenizer_config.json, to --model-dir.",
        fix_zh="请用 --model-dir 指定含 tokenizer_config.json 的 ASLP-lab/VoiceSculptor-VD 文件夹。",
    )
