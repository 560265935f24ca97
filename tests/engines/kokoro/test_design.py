import pytest

from voice_sculptor.controls import Controls
from voice_sculptor.engines.kokoro.atlas import Atlas
from voice_sculptor.engines.kokoro.design import VoiceState, design, read_state
from voice_sculptor.errors import InvalidVoiceFile

ATLAS = Atlas.load()


def main_voice(state: VoiceState) -> str:
    return max(state.blend, key=lambda name: state.blend[name])


def f0_hz(state: VoiceState) -> float:
    shares = ATLAS.shares(state.blend)
    product = 1.0
    for name, share in shares.items():
        product *= ATLAS.info(name).f0_hz ** share
    return product * 2.0 ** (state.pitch_st / 12.0)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("gender", ["male", "female"])
def test_a_native_voice_of_the_asked_gender_leads_and_three_in_a_row_differ(language, gender):
    for seed in (0, 7, 2**32 - 3):
        states = [design(Controls(gender=gender), language, seed + i, ATLAS) for i in range(3)]
        mains = {main_voice(state) for state in states}
        assert len(mains) == 3 or seed % 4 > 1  # a block of four native voices may end between two seeds
        for name in (name for state in states for name in state.blend):
            assert ATLAS.info(name).gender == gender
        assert {ATLAS.info(name).language for name in mains} == {language}


def test_the_same_seed_is_the_same_voice_and_weights_are_shares():
    for seed in range(40):
        state = design(Controls(), "en", seed, ATLAS)
        assert state == design(Controls(), "en", seed, ATLAS)
        assert sum(state.blend.values()) == pytest.approx(1.0, abs=0.02)


def test_many_seeds_reach_many_voices():
    assert len({main_voice(design(Controls(), "en", seed, ATLAS)) for seed in range(28)}) == 28


@pytest.mark.parametrize(("younger", "older"), [(7, 25), (25, 70)])
def test_a_womans_pitch_falls_with_age(younger, older):
    for seed in range(6):
        young = design(Controls(gender="female", age=younger), "en", seed, ATLAS)
        old = design(Controls(gender="female", age=older), "en", seed, ATLAS)
        assert f0_hz(young) > f0_hz(old)


def test_pitch_is_left_alone_where_nothing_asks_for_it():
    assert design(Controls(gender="male"), "en", 3, ATLAS).pitch_st == 0.0


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"blend": {}},
        {"blend": {"nobody": 1.0}},
        {"blend": {"af_heart": 0.0}},
        {"blend": {"af_heart": float("nan")}},
        {"blend": {"af_heart": 1.0}, "pitch_st": 40},
        {"blend": {"af_heart": 1.0}, "extra": 1},
        {"format": "kokoro/voice@2", "blend": {"af_heart": 1.0}},
        {"blend": "af_heart"},
    ],
)
def test_a_foreign_state_is_refused(state):
    with pytest.raises(InvalidVoiceFile):
        read_state(state, ATLAS)
