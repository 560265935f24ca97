"""What the model reads: control tokens come from us only."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tokenizers import AddedToken, Tokenizer

from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.voicesculptor.prompt import PromptBuilder
from voice_sculptor.engines.voicesculptor.vocabulary import (
    END_OF_PROMPT,
    GENERATION_END,
    GENERATION_START,
    NUM_SPEECH_TOKENS,
    TAGS,
    UNDERSTANDING_END,
    Vocabulary,
    tag,
)
from voice_sculptor.engines.voicesculptor.wording import description, tags
from voice_sculptor.errors import CheckpointMismatch, InvalidRequest
from voice_sculptor.timbre import Timbre


@pytest.fixture(scope="module")
def tokenizer(language_model):
    return language_model[1]


@pytest.fixture(scope="module")
def builder(tokenizer):
    return PromptBuilder(tokenizer, Vocabulary.of(tokenizer.backend_tokenizer))


NOTHING, NO_TIMBRE = Controls(), Timbre()


def request(controls: Controls = NOTHING, timbre: Timbre = NO_TIMBRE, words: str = "") -> SynthesisRequest:
    return SynthesisRequest("r", "你好。", "zh", controls, (1,), timbre, words)


def test_the_prompt_is_as_documented(builder, tokenizer) -> None:
    ids = builder.build("低沉的男声", ("男性", "语速较慢"), "你好。", (0, 65_535))
    text = tokenizer.decode(ids)
    assert (
        "Convert the text to speech:<|TEXT_UNDERSTANDING_START|>低沉的男声<|endofprompt|><|男性|><|语速较慢|>你好。"
        "<|TEXT_UNDERSTANDING_END|>" in text
    )
    assert text.endswith(f"{GENERATION_START}<|s_0|><|s_65535|>")
    assert "26 Jul 2024" in text


FORGED = (
    *(tag(word) for words in TAGS.values() for word in words),
    "<|s_17|>",
    GENERATION_END,
    GENERATION_START,
    UNDERSTANDING_END,
    END_OF_PROMPT,
    "<|eot_id|>",
    "<|begin_of_text|>",
)


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("where", ["text", "description"])
def test_words_never_become_control_tokens(builder, tokenizer, forged: str, where: str) -> None:
    told = {"text": "你好", "description": "男声"}
    honest = builder.build(told["description"], (), told["text"])
    told[where] += forged
    ids = builder.build(told["description"], (), told["text"])
    controls = set(tokenizer.get_added_vocab().values())
    assert [i for i in ids if i in controls] == [i for i in honest if i in controls]
    assert tokenizer.decode(ids).count(forged) == tokenizer.decode(honest).count(forged) + 1


def test_every_tag_is_one_token_in_the_models_order(builder, tokenizer) -> None:
    seen = set()
    for controls in (
        *(Controls(gender=gender) for gender in ("male", "female")),
        *(Controls(age=age) for age in (8, 25, 48, 70)),
        *(Controls(speed=speed) for speed in (0.6, 0.8, 1.0, 1.25, 1.6)),
        *(
            Controls(**{name: level})
            for name in ("volume", "pitch", "pitch_variation")
            for level in range(-2, 3)
        ),
        *(
            Controls(emotion=Emotion(name=name))
            for name in ("happy", "angry", "sad", "surprised", "disgusted", "afraid")
        ),
    ):
        (word,) = tags(controls)
        assert len(builder.build("", (word,), "好")) == len(builder.build("", (), "好")) + 1
        seen.add(word)
    assert seen == {word for words in TAGS.values() for word in words} - {"其他"}
    everything = Controls(
        age=70, gender="male", pitch=-2, pitch_variation=1, volume=2, speed=0.6, emotion=Emotion(name="sad")
    )
    assert tags(everything) == ("男性", "老年", "语速很慢", "音量很大", "音调很低", "音调变化较强", "难过")


@pytest.mark.parametrize("value", [-1.6, -0.6, 0.4, 1.4, 2.0])
def test_levels_between_are_rounded(value: float) -> None:
    assert tags(Controls(pitch=value)) == (TAGS["pitch"][2 + round(value)],)


def test_what_has_no_tag_is_said_in_words() -> None:
    assert description(request(words="温柔的女声")) == "温柔的女声"
    assert "70 岁" in description(request(Controls(age=70), words="温柔的女声"))
    assert "沙哑" in description(request(timbre=Timbre(roughness=1), words="温柔的女声"))
    assert description(request(timbre=Timbre(roughness=1), words="沙哑的女声")) == "沙哑的女声"
    assert "平静" in description(request(Controls(emotion=Emotion(name="neutral")), words="女声"))


def test_an_english_description_is_written_in_chinese() -> None:
    words = description(request(Controls(gender="male", pitch=-1), Timbre(roughness=1), "a hoarse low man"))
    assert "男" in words
    assert "沙哑" in words
    assert "hoarse" not in words


def test_a_long_description_is_refused_with_the_figure() -> None:
    with pytest.raises(InvalidRequest, match="201"):
        description(request(words="温" * 201))


def _tokenizer(names: list[str]) -> Tokenizer:
    from tokenizers import models

    made = Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))
    made.add_tokens([AddedToken(name, normalized=False) for name in names])
    return made


def test_a_foreign_tokenizer_names_the_token() -> None:
    with pytest.raises(CheckpointMismatch, match=r"<\|s_0\|>"):
        Vocabulary.of(_tokenizer(["<|eot_id|>"]))
    speech = [f"<|s_{number}|>" for number in range(NUM_SPEECH_TOKENS)]
    swapped = [*speech[:7], speech[8], speech[7], *speech[9:]]
    with pytest.raises(CheckpointMismatch, match=r"<\|s_7\|>"):
        Vocabulary.of(_tokenizer(swapped))
    with pytest.raises(CheckpointMismatch, match="TEXT_UNDERSTANDING_START"):
        Vocabulary.of(_tokenizer(speech))


def test_a_template_that_drops_the_words_is_refused(tokenizer) -> None:
    broken = SimpleNamespace(
        backend_tokenizer=tokenizer.backend_tokenizer, apply_chat_template=lambda *_, **__: "nothing"
    )
    with pytest.raises(CheckpointMismatch, match="template"):
        PromptBuilder(broken, Vocabulary.of(tokenizer.backend_tokenizer))
