"""What only a CUDA device can show: the step as a graph, in 16 bit. Skips itself elsewhere."""

from __future__ import annotations

import copy

import pytest
import torch

from voice_sculptor.config import Settings
from voice_sculptor.controls import Controls
from voice_sculptor.domain import SynthesisRequest
from voice_sculptor.engines.base import AudioChunk, CandidateDone
from voice_sculptor.engines.voicesculptor.decoding import Decoder, Row
from voice_sculptor.engines.voicesculptor.engine import VoiceSculptorEngine
from voice_sculptor.engines.voicesculptor.prompt import PromptBuilder
from voice_sculptor.engines.voicesculptor.sampling import Sampling
from voice_sculptor.engines.voicesculptor.vocabulary import Vocabulary

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


@pytest.fixture(scope="module", params=[torch.float32, torch.float16, torch.bfloat16], ids=str)
def decoder(request, language_model) -> tuple[Decoder, PromptBuilder]:
    model = copy.deepcopy(language_model[0]).to("cuda:0", request.param)
    vocabulary = Vocabulary.of(language_model[1].backend_tokenizer)
    return Decoder(model, vocabulary, 4, 768, 512), PromptBuilder(language_model[1], vocabulary)


def said(
    decoder: Decoder, prompts: list[tuple[int, ...]], seeds: list[int], sampling: Sampling
) -> list[list[int]]:
    rows = [Row((seed,), sampling, 100) for seed in seeds]
    for row, prompt in zip(rows, prompts, strict=True):
        decoder.admit(row, decoder.prefill(prompt))
    while any(decoder.rows):
        decoder.step()
    return [row.tokens for row in rows]


@pytest.mark.parametrize(
    "sampling", [Sampling(), Sampling(top_k=1), Sampling(top_k=0)], ids=["usual", "greedy", "wide"]
)
def test_a_row_is_the_same_alone_and_among_others(decoder, sampling: Sampling) -> None:
    loop, builder = decoder
    prompts = [builder.build("", (), "今天的天气很好。" * length) for length in (1, 3, 9, 20)]
    (alone,) = said(loop, prompts[:1], [5], sampling)
    assert len(alone) > 10
    assert said(loop, prompts, [5, 1, 2, 3], sampling)[0] == alone
    assert said(loop, prompts[:1], [5], sampling)[0] == alone


def test_a_graph_says_what_the_step_without_it_says(decoder) -> None:
    loop, builder = decoder
    prompt = builder.build("", (), "早上好。")
    with_graph = said(loop, [prompt], [7], Sampling())
    assert loop._graphs
    loop._replay, replay = lambda key: loop._forward(key[1]), loop._replay
    try:
        assert said(loop, [prompt], [7], Sampling()) == with_graph
    finally:
        loop._replay = replay


@pytest.mark.parametrize("dtype", [None, "fp16", "fp32"])
def test_the_engine_speaks_and_gives_its_memory_back(settings: Settings, dtype: str | None) -> None:
    before = torch.cuda.memory_allocated()
    engine = VoiceSculptorEngine(settings)
    engine.load("cuda:0", dtype, lambda _fraction: None)
    try:
        for _ in engine.warm_up():
            pass
        request = SynthesisRequest("r", "你好。", "zh", Controls(), (1, 2, 3))
        events = list(engine.synthesize([request], lambda _: False))
        assert sum(isinstance(event, CandidateDone) for event in events) == 3
        again = list(engine.synthesize([request], lambda _: False))
        sound, repeated = (
            {event.index: event.samples.tobytes() for event in made if isinstance(event, AudioChunk)}
            for made in (events, again)
        )
        assert sound == repeated
    finally:
        engine.unload()
    assert torch.cuda.memory_allocated() <= before + 32_000_000
