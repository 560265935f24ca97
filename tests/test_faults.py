"""What pydantic finds wrong is said in both languages."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from voice_sculptor.faults import first_said, said


class Inner(BaseModel):
    level: float = 0.0


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")

    count: Annotated[int, Field(ge=1, le=6)] = 1
    share: Annotated[float, Field(gt=0.0, lt=1.0, allow_inf_nan=False)] = 0.5
    name: Annotated[str, Field(min_length=1, max_length=3, pattern="^[a-z]*$")] = "a"
    kind: Literal["a", "b"] = "a"
    flag: bool = False
    many: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]
    weights: dict[str, float] = {}
    inner: Inner = Inner()

    @field_validator("flag")
    @classmethod
    def _only_false(cls, flag: bool) -> bool:
        if flag:
            raise ValueError("flags are down.")
        return flag


@pytest.mark.parametrize(
    ("given", "en", "zh"),
    [
        ({"count": "abc"}, "count must be a whole number", "count 须为整数"),
        ({"count": 1.5}, "count must be a whole number", "count 须为整数"),
        ({"count": 0}, "count must be at least 1", "count 不得小于 1"),
        ({"count": 7}, "count may be at most 6", "count 不得大于 6"),
        ({"share": 0}, "share must be over 0.0", "share 须大于 0.0"),
        ({"share": 1}, "share must be below 1.0", "share 须小于 1.0"),
        ({"share": float("nan")}, "share must be a finite number", "share 须为有限的数"),
        ({"share": []}, "share must be a number", "share 须为数字"),
        ({"name": ""}, "name must have at least 1 characters", "name 至少 1 个字符"),
        ({"name": "A"}, "name must match ^[a-z]*$", "name 须匹配 ^[a-z]*$"),
        ({"name": 1}, "name must be a string", "name 须为字符串"),
        ({"kind": "c"}, "kind must be one of 'a' or 'b'", "kind 须为 'a' or 'b' 之一"),
        ({"flag": "perhaps"}, "flag must be true or false", "flag 须为 true 或 false"),
        ({"many": []}, "many must have at least 1 entries", "many 至少 1 项"),
        ({"many": [1, 2, 3]}, "many may have at most 2 entries", "many 最多 2 项"),
        ({"many": "x"}, "many must be a list", "many 须为列表"),
        ({"weights": {"x": "y"}}, "weights.x must be a number", "weights.x 须为数字"),
        ({"inner": 1}, "inner must be an object", "inner 须为对象"),
        ({"other": 1}, "other is unknown", "other 未知"),
        ({"flag": True}, "flag is wrong: flags are down", "flag 有误：flags are down"),
    ],
)
def test_a_fault_is_said_in_both_languages(given: dict[str, Any], en: str, zh: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Model(**given)
    assert first_said(caught.value) == (en, zh)


def test_a_fault_of_the_whole_has_a_name_where_one_is_given() -> None:
    with pytest.raises(ValidationError) as caught:
        Model.model_validate([])
    assert first_said(caught.value, "state") == ("state must be an object", "state 须为对象")
    assert first_said(caught.value) == ("must be an object", "须为对象")


def test_a_fault_without_words_of_ours_is_told_in_pydantics() -> None:
    en, zh = said({"type": "url_scheme", "msg": "URL scheme should be 'http'"})
    assert en == "is wrong: URL scheme should be 'http'"
    assert re.match("有误：", zh)
