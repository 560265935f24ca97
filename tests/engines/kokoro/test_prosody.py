import math

import numpy as np
import pytest
import torch

from voice_sculptor.audio.measure import spread
from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.engines.kokoro.edits import Edit, edit_for
from voice_sculptor.engines.kokoro.prosody import edit_durations, edit_energy, edit_f0, within_reach
from voice_sculptor.targets import PITCH_STEP_ST

DURATIONS = torch.tensor([14.2, 3.4, 1.7, 6.1, 2.2, 0.4, 5.5, 3.0, 1.0])
IS_PAUSE = torch.tensor([True, False, False, False, True, False, False, False, True])
F0_HZ = torch.cat([torch.zeros(10), torch.linspace(150.0, 250.0, 40), torch.full((5,), -3.0)])
VOICED = F0_HZ > 40.0


def test_no_edit_changes_nothing():
    edit = Edit()
    assert edit_for(Controls()) == edit
    assert edit_durations(DURATIONS, IS_PAUSE, edit).tolist() == [14, 3, 2, 6, 2, 1, 6, 3, 1]
    assert edit_f0(F0_HZ, edit, VOICED) is F0_HZ
    assert edit_energy(F0_HZ, edit) is F0_HZ


@pytest.mark.parametrize("speed", [0.5, 0.77, 1.3, 2.0])
def test_speech_takes_its_time_to_within_a_frame(speed):
    none = torch.zeros_like(IS_PAUSE)
    long = DURATIONS.repeat(40) + 2.0
    plain = edit_durations(long, none.repeat(40), Edit()).sum().item()
    edited = edit_durations(long, none.repeat(40), Edit(speed=speed)).sum().item()
    assert edited == pytest.approx(plain / speed, abs=1.0)


def test_pauses_change_less_than_speech_and_no_phoneme_vanishes():
    edited = edit_durations(DURATIONS, IS_PAUSE, Edit(speed=2.0))
    assert edited.min() >= 1
    assert edited[0] == round(14 * 0.5**0.6)


def test_pauses_alone_can_be_scaled():
    edited = edit_durations(DURATIONS, IS_PAUSE, Edit(pause_scale=2.0))
    assert edited[0] == 28
    assert edited[3] == 6


def test_a_shift_moves_voiced_frames_by_its_semitones_and_no_others():
    edited = edit_f0(F0_HZ, Edit(pitch_st=-6.0), VOICED)
    assert torch.allclose(12.0 * torch.log2(edited[VOICED] / F0_HZ[VOICED]), torch.tensor(-6.0), atol=1e-4)
    assert torch.equal(edited[~VOICED], F0_HZ[~VOICED])


def test_range_stretches_around_the_median():
    edited = edit_f0(F0_HZ, Edit(pitch_range=2.0), VOICED)
    before, after = (x[VOICED].double().log2().numpy() for x in (F0_HZ, edited))
    assert np.median(after) == pytest.approx(np.median(before), abs=1e-4)
    assert spread(after) == pytest.approx(2.0 * spread(before), rel=1e-3)


@pytest.mark.parametrize("hz", [70.0, 90.0, 130.0, 220.0, 330.0])
def test_a_livelier_voice_stays_within_what_a_voice_can_reach(hz):
    wide = torch.where(VOICED, hz * torch.exp2(0.7 * torch.linspace(-3.0, 3.0, len(F0_HZ)).sin()), F0_HZ)
    edited = edit_f0(wide, Edit(pitch_range=2.0), VOICED)[VOICED]
    assert edited.min() > min(52.0, 0.7 * hz)
    assert edited.max() < max(580.0, 1.42 * hz)
    middles = [float(np.median(x.double().log2().numpy())) for x in (wide[VOICED], edited)]
    assert middles[1] == pytest.approx(middles[0], abs=0.02)


def test_what_lies_near_the_middle_is_not_bent():
    middle = math.log2(200.0)
    contour = middle + np.linspace(-0.5, 0.6, 12)
    assert np.allclose(within_reach(contour, middle), contour)
    assert np.all(np.diff(within_reach(middle + np.linspace(-4.0, 4.0, 99), middle)) > 0.0)


def test_the_reach_is_that_of_what_will_be_heard():
    contour = math.log2(120.0) + np.linspace(-2.0, 2.0, 33)
    scaled = within_reach(contour + math.log2(1.2), math.log2(144.0), scale=1.2)
    assert np.allclose(scaled - math.log2(1.2), within_reach(contour, math.log2(120.0)))


def test_range_is_stretched_around_what_is_heard():
    heard = VOICED & (F0_HZ > 200.0)
    edited = edit_f0(F0_HZ, Edit(pitch_range=2.0), heard)
    assert np.median(edited[heard].numpy()) == pytest.approx(np.median(F0_HZ[heard].numpy()), rel=1e-3)


def test_a_smoother_voice_has_fewer_bends_and_the_same_pitch():
    wavy = torch.where(VOICED, F0_HZ * (1.0 + 0.05 * torch.arange(len(F0_HZ)).sin()), F0_HZ)
    smooth = edit_f0(wavy, Edit(roughness=-1.0), VOICED)
    bends = [x[VOICED].log().diff(n=2).abs().median().item() for x in (wavy, smooth)]
    assert bends[1] < 0.3 * bends[0]
    assert smooth[VOICED].median().item() == pytest.approx(wavy[VOICED].median().item(), rel=0.03)
    assert torch.equal(smooth[~VOICED], wavy[~VOICED])


def test_a_whisper_has_no_f0_and_silence_has_no_pivot():
    assert edit_f0(F0_HZ, Edit(voicing=0.0), VOICED).abs().max() == 0.0
    silence = torch.zeros(8)
    assert torch.equal(edit_f0(silence, Edit(pitch_st=3.0), silence > 0.0), silence)


def test_emphasis_widens_energy_around_its_mean():
    energy = torch.tensor([1.0, 2.0, 3.0])
    assert edit_energy(energy, Edit(emphasis=1.5)).tolist() == [0.5, 2.0, 3.5]


def test_controls_are_ordered():
    shifts = [edit_for(Controls(pitch=level)).pitch_st for level in (-2, -1, 0, 1, 2)]
    assert shifts == [level * PITCH_STEP_ST for level in (-2, -1, 0, 1, 2)]
    ranges = [edit_for(Controls(pitch_variation=level)).pitch_range for level in (-2, -1, 0, 1, 2)]
    assert ranges == sorted(ranges)
    assert ranges[2] == 1.0
    assert edit_for(Controls(speed=1.4)).speed == 1.4


def test_an_emotion_acts_with_its_intensity_on_top_of_the_voice():
    base = Edit(speed=0.9, pitch_st=1.0)
    half = edit_for(Controls(emotion=Emotion(name="sad", intensity=0.5)), base)
    full = edit_for(Controls(emotion=Emotion(name="sad", intensity=1.0)), base)
    assert edit_for(Controls(emotion=Emotion(name="sad", intensity=0.0)), base) == base
    assert full.speed < half.speed < base.speed
    assert full.pitch_st < half.pitch_st < base.pitch_st
    assert math.isclose(half.speed / base.speed, math.sqrt(full.speed / base.speed))


def test_an_emotion_leaves_the_range_to_who_sets_it():
    angry = Emotion(name="angry", intensity=1.0)
    assert edit_for(Controls(emotion=angry)).pitch_range > 1.3
    assert edit_for(Controls(emotion=angry, pitch_variation=0)).pitch_range == 1.0


def test_a_slope_tilts_the_contour_and_leaves_its_median_and_spread():
    wavy = torch.where(VOICED, 200.0 * torch.exp2(0.2 * torch.arange(len(F0_HZ)).sin()), F0_HZ)
    edited = edit_f0(wavy, Edit(slope_st=3.0), VOICED)
    slopes = [
        12.0 * np.polyfit(np.linspace(0.0, 1.0, 40), x[VOICED].log2().numpy(), 1)[0] for x in (wavy, edited)
    ]
    assert slopes[1] - slopes[0] == pytest.approx(3.0, abs=0.1)
    before, after = (x[VOICED].double().log2().numpy() for x in (wavy, edited))
    assert np.median(after) == pytest.approx(np.median(before), abs=1e-3)
    assert spread(after) == pytest.approx(spread(before), rel=1e-3)
    assert torch.equal(edited[~VOICED], wavy[~VOICED])
