import math

import numpy as np
import pytest

from voice_sculptor.controls import Controls
from voice_sculptor.domain import Language
from voice_sculptor.engines.kokoro.atlas import Atlas
from voice_sculptor.engines.kokoro.design import corrected, design
from voice_sculptor.engines.kokoro.space import ATTRIBUTES, StyleSpace
from voice_sculptor.engines.kokoro.state import VoiceState, read_state
from voice_sculptor.errors import InvalidVoiceFile
from voice_sculptor.timbre import Timbre

ATLAS = Atlas.load()


SPACE = StyleSpace.load()


def made(controls: Controls, language: Language, seed: int, timbre: Timbre | None = None) -> VoiceState:
    return design(controls, timbre or Timbre(), language, seed, ATLAS, SPACE)[0]


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
        states = [made(Controls(gender=gender), language, seed + i) for i in range(3)]
        mains = {main_voice(state) for state in states}
        assert len(mains) == 3
        for name in (name for state in states for name in state.blend):
            assert ATLAS.info(name).gender == gender
        assert {ATLAS.info(name).language for name in mains} == {language}


@pytest.mark.parametrize("gender", ["male", "female"])
def test_a_childs_voice_leads_no_elderly_speaker_and_may_lead_a_child(gender):
    old = {main_voice(made(Controls(gender=gender, age=70), "zh", seed)) for seed in range(8)}
    child = {main_voice(made(Controls(gender=gender, age=7), "zh", seed)) for seed in range(8)}
    assert len(old) == 3
    assert not old & {"zm_yunxia", "zf_xiaoyi"}
    assert {"zm_yunxia", "zf_xiaoyi"} <= child


def test_the_same_seed_is_the_same_voice_and_weights_are_shares():
    for seed in range(40):
        state = made(Controls(), "en", seed)
        assert state == made(Controls(), "en", seed)
        assert sum(state.blend.values()) == pytest.approx(1.0, abs=0.02)


def test_many_seeds_reach_many_voices():
    assert len({main_voice(made(Controls(), "en", seed)) for seed in range(28)}) == 28


@pytest.mark.parametrize(("younger", "older"), [(7, 25), (25, 70)])
def test_a_womans_pitch_falls_with_age(younger, older):
    for seed in range(6):
        young = made(Controls(gender="female", age=younger), "en", seed)
        old = made(Controls(gender="female", age=older), "en", seed)
        assert f0_hz(young) > f0_hz(old)


def test_pitch_is_left_alone_where_nothing_asks_for_it():
    assert made(Controls(gender="male"), "en", 3).pitch_st == 0.0


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
        {"format": "kokoro/voice@4", "blend": {"af_heart": 1.0}},
        {"blend": {"af_heart": 1.0}, "manner": {"emotion": "bored"}},
        {"blend": {"af_heart": 1.0}, "manner": {"emotion": "sad", "pitch_st": 40.0}},
        {"blend": {"af_heart": 1.0}, "timbre": [0.1] * 127},
        {"blend": {"af_heart": 1.0}, "timbre": [40.0] * 128},
        {"blend": {"af_heart": 1.0}, "timbre": ["x"] * 128},
        {"blend": {"af_heart": 1.0}, "roughness": 2.0},
        {"blend": "af_heart"},
    ],
)
def test_a_foreign_state_is_refused(state):
    with pytest.raises(InvalidVoiceFile):
        read_state(state, ATLAS)


def test_a_state_of_the_first_version_is_read():
    state = read_state({"format": "kokoro/voice@1", "blend": {"af_heart": 1.0}, "pitch_st": 2.0}, ATLAS)
    assert state.edit().pitch_st == 2.0
    assert np.array_equal(state.style(ATLAS, 40), ATLAS.style("af_heart", 40))


def test_a_state_survives_being_written_down():
    state = made(Controls(age=70, pitch=-1), "zh", 5, Timbre(breathiness=1))
    assert read_state(state.model_dump(mode="json"), ATLAS) == state
    assert np.array_equal(
        read_state(state.model_dump(mode="json"), ATLAS).style(ATLAS, 30), state.style(ATLAS, 30)
    )


def test_the_level_of_pitch_does_not_change_who_speaks():
    for seed in range(4):
        states = [made(Controls(gender="female", pitch=level), "en", seed) for level in (-2, 0, 2)]
        assert len({(tuple(state.blend), state.timbre) for state in states}) == 1


@pytest.mark.parametrize(
    ("timbre", "attribute", "sign"),
    [
        (Timbre(breathiness=2), "hnr_db", -1), (Timbre(breathiness=-2), "hnr_db", 1),
        (Timbre(brightness=2), "tilt_db", 1), (Timbre(brightness=-2), "tilt_db", -1),
        (Timbre(body=2), "tract_cm", 1), (Timbre(body=-2), "tract_cm", -1),
        (Timbre(roughness=2), "jitter", 1), (Timbre(roughness=-2), "jitter", -1),
    ],
)  # fmt: skip
def test_the_timbre_goes_where_it_is_asked(timbre, attribute, sign):
    for seed in range(4):
        plain, asked = (made(Controls(gender="male"), "en", seed, each) for each in (Timbre(), timbre))
        one, other = (SPACE.attributes(state.style(ATLAS, 60)[:128])[attribute] for state in (plain, asked))
        exact = {
            "hnr_db": -asked.breath, "tilt_db": asked.tilt_db, "jitter": asked.roughness,
            "tract_cm": math.log(asked.tract_scale),
        }[attribute]  # fmt: skip
        assert sign * (other - one) > 0 or sign * exact > 0


def test_a_smoother_voice_takes_more_than_a_rougher_one_and_then_less_noise():
    plain = VoiceState(blend={"af_heart": 1.0}, breath=0.01)
    rougher, smoother = (corrected(plain, {"jitter": change}) for change in (0.1, -0.1))
    assert smoother.roughness == pytest.approx(-0.5)
    assert rougher.roughness == pytest.approx(0.12)
    for state in (rougher, smoother):  # There and back.
        back = -state.roughness / (1.2 if state is rougher else 5.0)
        assert corrected(state, {"jitter": back}).roughness == pytest.approx(0.0, abs=1e-6)
    smoothest = corrected(smoother, {"jitter": -0.2})
    assert (smoothest.roughness, smoothest.breath) == (-1.0, -0.022)
    # Whoever asked how breathy the voice is, or how rough, has it so.
    assert corrected(smoother, {"jitter": -0.2, "hnr_db": 0.0}).breath == plain.breath
    clear = VoiceState(blend={"af_heart": 1.0}, breath=-0.04)
    assert corrected(clear, {"hnr_db": 2.0}).roughness < 0.0
    assert corrected(clear, {"hnr_db": 2.0, "jitter": 0.0}).roughness == 0.0
    assert smoother.breath == rougher.breath == plain.breath


def test_a_whisper_has_no_voice():
    assert made(Controls(), "en", 0, Timbre(whisper=True)).voicing == 0.0


def test_a_move_changes_what_it_should_and_holds_the_rest():
    for name, change in (("hnr_db", -3.0), ("tilt_db", 3.0), ("tract_cm", 0.08)):
        effect = SPACE.effect(SPACE.move({name: change}))
        assert effect.pop(name) == pytest.approx(change, rel=0.35)
        steps = {"hnr_db": 1.5, "tilt_db": 2.0, "tract_cm": 0.05, "jitter": 0.34}
        assert all(abs(value) < 0.4 * steps[other] for other, value in effect.items())


def test_a_step_aside_leaves_all_attributes_and_a_move_stays_among_real_voices():
    moves = SPACE.aside(np.random.default_rng(1), 2.5)
    for move in moves:
        assert all(abs(value) < 1e-9 for value in SPACE.effect(move).values())
        assert SPACE.distance(move) == pytest.approx(2.5)
    assert min(SPACE.distance(a - b) for i, a in enumerate(moves) for b in moves[:i]) > 2.5
    assert SPACE.distance(SPACE.move({"hnr_db": -80.0})) <= 4.51


def test_voices_that_were_left_out_are_predicted():
    """The figures that docs/embedded-engine.md states."""
    measured = {name: [] for name in ATTRIBUTES}
    predicted = {name: [] for name in ATTRIBUTES}
    for voice in ATLAS.names:
        found = StyleSpace(ATLAS, leave_out=voice).attributes(ATLAS.mean(voice)[:128])
        for name in ATTRIBUTES:
            of = math.log if name in ("jitter", "tract_cm") else float
            own = ATLAS.info(voice).measurements.values()
            measured[name].append(np.mean([of(each[name]) for each in own]))
            predicted[name].append(of(found[name]))
    explained = {
        name: 1.0 - np.mean(np.square(np.subtract(predicted[name], measured[name]))) / np.var(measured[name])
        for name in ATTRIBUTES
    }
    least = {"hnr_db": 0.80, "jitter": 0.62, "tilt_db": 0.65, "tract_cm": 0.84}
    assert all(explained[name] > low for name, low in least.items()), explained
