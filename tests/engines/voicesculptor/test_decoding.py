"""The decoding loop against `generate`, and one row against itself in other company."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from voice_sculptor.engines.voicesculptor.decoding import Decoder, Row
from voice_sculptor.engines.voicesculptor.prompt import PromptBuilder
from voice_sculptor.engines.voicesculptor.sampling import RowSampler, Sampling
from voice_sculptor.engines.voicesculptor.vocabulary import NUM_SPEECH_TOKENS, Vocabulary

USUAL, GREEDY = Sampling(), Sampling(top_k=1)


@pytest.fixture(scope="module", params=["fp32", "bf16"])
def parts(request, language_model):
    import copy

    model, tokenizer = language_model
    if request.param == "bf16":
        model = copy.deepcopy(model).to(torch.bfloat16)
    vocabulary = Vocabulary.of(tokenizer.backend_tokenizer)
    return model, vocabulary, PromptBuilder(tokenizer, vocabulary)


@pytest.fixture(scope="module")
def decoder(parts) -> Decoder:
    model, vocabulary, _ = parts
    return Decoder(model, vocabulary, num_slots=4, max_prompt_tokens=768, max_new_tokens=512)


def run(decoder: Decoder, *rows: tuple[Row, tuple[int, ...]], late: int = 0) -> list[list[int]]:
    """Speak rows together; `late` steps pass between one and the next."""
    waiting = list(rows)
    while waiting or decoder.num_free < len(decoder.rows):
        if waiting and decoder.num_free:
            row, prompt = waiting.pop(0)
            decoder.admit(row, decoder.prefill(prompt))
            for _ in range(late):
                decoder.step()
        else:
            decoder.step()
    return [row.tokens for row, _ in rows]


def row(seed: int, sampling: Sampling = USUAL, most: int = 60, said: tuple[int, ...] = ()) -> Row:
    return Row((seed,), sampling, most, said)


def test_greedy_equals_generate(language_model) -> None:
    model, tokenizer = language_model
    vocabulary = Vocabulary.of(tokenizer.backend_tokenizer)
    builder = PromptBuilder(tokenizer, vocabulary)
    decoder = Decoder(model, vocabulary, num_slots=2, max_prompt_tokens=256, max_new_tokens=128)
    prompt = builder.build("温柔的女声", ("女性",), "你好，世界。")
    ours = row(0, GREEDY, most=128)
    run(decoder, (ours, prompt))
    allowed = [
        *range(vocabulary.first_speech_id, vocabulary.first_speech_id + NUM_SPEECH_TOKENS),
        vocabulary.end_id,
    ]
    theirs = model.generate(
        torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        do_sample=False,
        repetition_penalty=1.05,
        max_new_tokens=128,
        eos_token_id=vocabulary.end_id,
        pad_token_id=vocabulary.end_id,
        prefix_allowed_tokens_fn=lambda *_: allowed,
    )[0, len(prompt) :].tolist()
    assert ours.has_ended == (theirs[-1] == vocabulary.end_id)
    said = theirs[:-1] if ours.has_ended else theirs
    assert ours.tokens == [token - vocabulary.first_speech_id for token in said]


def test_a_row_is_the_same_alone_and_among_others(decoder, parts) -> None:
    _, _, builder = parts
    mine = builder.build("", (), "早上好。")
    others = [builder.build("低沉的男声", ("男性",), "今天的天气很好。" * length) for length in (1, 5, 25)]
    (alone,) = run(decoder, (row(5), mine))
    assert len(alone) > 20
    assert len(set(alone)) > 10
    last = [(row(seed, most=200), other) for seed, other in enumerate(others)]
    assert run(decoder, *last, (row(5), mine), late=9)[-1] == alone
    assert run(decoder, (row(5), mine), *last, late=3)[0] == alone
    greedy = [(row(seed, GREEDY), other) for seed, other in enumerate(others)]
    assert run(decoder, *greedy, (row(5), mine))[-1] == alone
    wide = [(row(seed, Sampling(top_k=0)), other) for seed, other in enumerate(others)]
    assert run(decoder, *wide, (row(5), mine))[-1] == alone


def test_another_seed_is_another_row(decoder, parts) -> None:
    prompt = parts[2].build("", (), "早上好。")
    one, two, again = run(decoder, *((row(seed), prompt) for seed in (1, 2, 1)))
    assert one == again
    assert one != two


def test_a_freed_slot_takes_the_next_row(decoder, parts) -> None:
    prompt = parts[2].build("", (), "早上好。")
    rows = [(row(seed, most=20 + seed), prompt) for seed in range(9)]
    together = run(decoder, *rows)
    assert together == [run(decoder, (row(seed, most=20 + seed), prompt))[0] for seed in range(9)]


def test_a_dropped_row_frees_its_slot(decoder, parts) -> None:
    prompt = parts[2].build("", (), "早上好。")
    (alone,) = run(decoder, (row(3), prompt))
    gone, stays = row(1), row(3)
    prefilled = decoder.prefill(prompt)
    decoder.admit(gone, prefilled)
    decoder.admit(stays, prefilled)
    for _ in range(5):
        decoder.step()
    decoder.drop(gone)
    assert decoder.num_free == 3
    while stays in decoder.rows:
        decoder.step()
    assert stays.tokens == alone


def test_a_prompt_out_of_bounds_is_refused(decoder) -> None:
    with pytest.raises(ValueError, match="769"):
        decoder.prefill((1,) * 769)
    with pytest.raises(ValueError, match="1 tokens"):
        decoder.prefill((1,))


def test_the_cut_head_is_the_whole_heads_rows(parts, decoder) -> None:
    model, vocabulary, _ = parts
    hidden = torch.randn(4, model.config.hidden_size).to(model.dtype)
    whole = model.lm_head(hidden)
    first = vocabulary.first_speech_id
    torch.testing.assert_close(
        decoder.logits(hidden),
        torch.cat((whole[:, first : first + NUM_SPEECH_TOKENS], whole[:, vocabulary.end_id, None]), -1),
    )


@pytest.mark.parametrize(
    "sampling",
    [Sampling(), Sampling(1.3, 0.7, 5, 0.5), Sampling(1.0, 1.5, 0, 0.9), Sampling(1.1, 1.0, 200, 1.0)],
    ids=["usual", "narrow", "all", "wide"],
)
def test_draws_follow_the_distribution_of_transformers(sampling: Sampling) -> None:
    from transformers import (
        LogitsProcessorList,
        RepetitionPenaltyLogitsProcessor,
        TemperatureLogitsWarper,
        TopKLogitsWarper,
        TopPLogitsWarper,
    )

    size, num_rows, said = 300, 20_000, torch.tensor([3, 5, 299])
    logits = 2.5 * torch.randn(size, generator=torch.Generator().manual_seed(1))
    steps = [
        RepetitionPenaltyLogitsProcessor(sampling.repetition_penalty),
        TemperatureLogitsWarper(sampling.temperature),
    ]
    steps += [TopKLogitsWarper(sampling.top_k)] if sampling.top_k else []
    steps += [TopPLogitsWarper(sampling.top_p)] if sampling.top_p < 1 else []
    expected = LogitsProcessorList(steps)(said[None], logits[None].clone()).softmax(-1)[0]
    sampler = RowSampler(num_rows, size, 1, "cpu")
    for index in range(num_rows):
        sampler.start(index, sampling, (index,), said)
    drawn = sampler.draw(logits.expand(num_rows, size), has_wide=True)
    counts = torch.bincount(drawn, minlength=size).double()
    assert counts[expected == 0].sum() == 0, "a token was drawn that transformers rules out"
    likely = expected * num_rows >= 5
    away = (counts - expected * num_rows)[likely] / (expected * num_rows)[likely].sqrt()
    # Chi-square of the draws; six standard deviations of that statistic.
    freedom = int(likely.sum()) - 1
    assert float(away.square().sum()) < freedom + 6 * np.sqrt(2 * freedom) + 1
