"""The linear layers that look at how many rows they get."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from voice_sculptor.engines.voicesculptor import few_rows


@pytest.fixture
def prepared(language_model):
    plain = copy.deepcopy(language_model[0])
    for module in plain.model.modules():
        if isinstance(module, nn.Linear):
            module.__class__ = nn.Linear
    return plain, few_rows.prepare(copy.deepcopy(plain))


@pytest.mark.parametrize("num_tokens", [1, few_rows.MAX_ROWS, few_rows.MAX_ROWS + 1])
def test_same_numbers_as_the_plain_layers(prepared, num_tokens: int) -> None:
    plain, ours = prepared
    ids = torch.arange(num_tokens)[None]
    with torch.inference_mode():
        torch.testing.assert_close(
            ours(input_ids=ids).logits, plain(input_ids=ids).logits, rtol=1e-4, atol=1e-4
        )


def test_the_engine_loads_it_so_and_other_types_stay_plain(language_model, prepared) -> None:
    def kinds(model) -> set[type]:
        return {type(module) for module in model.model.modules() if isinstance(module, nn.Linear)}

    assert nn.Linear not in kinds(language_model[0])
    assert kinds(few_rows.prepare(copy.deepcopy(prepared[0]).to(torch.bfloat16))) == {nn.Linear}


def test_a_row_does_not_depend_on_the_others() -> None:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(300, 64, generator=generator)
    rows = torch.randn(4, 64, generator=generator)
    others = rows.clone()
    others[1:] = torch.randn(3, 64, generator=generator)
    assert torch.equal(few_rows.multiply(rows, weight)[0], few_rows.multiply(others, weight)[0])
