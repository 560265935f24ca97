"""A designed voice made to measure: it speaks the beginning of its text, is measured, and corrected.

F0 and its spread are first set by the predicted contour of the text, which costs a tenth of speaking it. Then up to
two and a half seconds are spoken and measured, once or twice, and the exact edits take up what was missed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from voice_sculptor.audio.measure import measure, spread
from voice_sculptor.controls import Controls
from voice_sculptor.domain import AudioClip
from voice_sculptor.engines.kokoro.design import VoiceState, corrected
from voice_sculptor.engines.kokoro.edits import SPREAD_EXPONENT, Edit, edit_for
from voice_sculptor.engines.kokoro.joining import SAMPLE_RATE, trim_edges
from voice_sculptor.engines.kokoro.reading import Reading
from voice_sculptor.engines.kokoro.speech import FRAME_S, Speaker
from voice_sculptor.targets import Target

_PROBE_S = 2.4
_SHARE = 0.4
"""Of the text that one probe may cost, so that two and their measuring cost less than speaking it."""
_LEAST_PROBE_S = 1.0
_PLANNED_S = 12.0
_GOOD, _FAIR = 0.4, 1.5
"""Deviations, in bands, up to which nothing is corrected, and up to which a correction is not measured again."""
_MEASURES = ("f0_hz", "f0_sd_st", "tract_cm", "tilt_db", "hnr_db", "jitter")
_LEVELS = frozenset({"hnr_db", "tilt_db"})
"""Measures that may be zero or less."""
_UNVOICED = frozenset({"tilt_db"})
_MIN_VOICED = 8


class Fitting:
    """One text and what is known of it while voices are fitted to it.

    Args:
        speaker: Who speaks.
        reading: The text.
        seed: Of the noise, as it will be spoken with.
        check: Called at each step; what it raises ends the work.
    """

    def __init__(self, speaker: Speaker, reading: Reading, seed: int, check: Callable[[], None]) -> None:
        self._speaker = speaker
        self._reading = reading
        self._seed = seed
        self._check = check

    def fit(
        self, state: VoiceState, controls: Controls, wanted: Mapping[str, Target], max_probes: int
    ) -> VoiceState:
        """The voice corrected to what it should measure.

        Args:
            state: As designed.
            controls: How it will be spoken.
            wanted: By measure.
            max_probes: How often it may be spoken and measured.
        """
        aims = {measure: wanted[measure] for measure in _MEASURES if measure in wanted}
        if state.voicing <= 0.0:
            aims = {measure: aim for measure, aim in aims.items() if measure in _UNVOICED}
        if not aims or not self._has_words(state):
            return state
        natural, planned_s = self._contour(state, controls)
        if len(natural) >= _MIN_VOICED:
            edit = edit_for(controls, state.edit())
            misses = {}
            if "f0_hz" in aims:
                goal_octaves = math.log2(aims["f0_hz"].value)
                misses["f0_hz"] = 12.0 * (goal_octaves - float(np.median(natural))) - edit.pitch_st
            if "f0_sd_st" in aims:
                spread_st = 12.0 * max(spread(natural), 1e-3) * edit.pitch_range
                misses["f0_sd_st"] = math.log(aims["f0_sd_st"].value / spread_st)
            state = corrected(state, misses)
        for _ in range(max_probes):
            heard = self._probe(state, edit_for(controls, state.edit()), natural, planned_s)
            deviations = [abs(aim.deviation(heard[name])) for name, aim in aims.items() if name in heard]
            worst = max(deviations, default=0.0)
            if worst <= _GOOD:
                break
            state = corrected(
                state, {name: _miss(name, aims[name], heard[name]) for name in aims if name in heard}
            )
            if worst <= _FAIR:
                break
        return state

    def reference(self, state: VoiceState) -> dict[str, float]:
        """`f0_hz`, `f0_sd_st` and `tilt_db` of the voice with nothing asked, as far as it has them."""
        if not self._has_words(state):
            return {}
        natural, planned_s = self._contour(state, Controls())
        heard = self._probe(state, state.edit(), natural, planned_s)
        return {name: heard[name] for name in ("f0_hz", "f0_sd_st", "tilt_db") if name in heard}

    def _has_words(self, state: VoiceState) -> bool:
        """Whether there is anything to speak: a text may be all in a script that has no reading."""
        lines = self._reading.lines(british=self._speaker.is_british(state))
        return next(lines, None) is not None

    def _contour(self, state: VoiceState, controls: Controls) -> tuple[NDArray[np.float64], float]:
        """Natural F0 of up to twelve seconds, octaves above 1 Hz, and how long they take."""
        edit = edit_for(controls, state.edit())
        voiced, planned_s = [], 0.0
        for line, _ in self._reading.lines(british=self._speaker.is_british(state)):
            plan = self._speaker.plan(self._reading, line, state, edit, self._check)
            voiced.append(plan.log2_f0())
            planned_s += float(plan.durations.sum()) * FRAME_S * edit.tract_scale
            if planned_s > _PLANNED_S:
                break
        return np.concatenate(voiced), planned_s

    def _probe(
        self, state: VoiceState, edit: Edit, natural: NDArray[np.float64], planned_s: float
    ) -> dict[str, float]:
        """What the beginning measures; F0 and its spread carried over to the whole by the predicted contour."""
        line = next(line for line, _ in self._reading.lines(british=self._speaker.is_british(state)))
        plan = self._speaker.plan(self._reading, line, state, edit, self._check)
        probe_s = max(_LEAST_PROBE_S, min(_PROBE_S, _SHARE * planned_s))
        part = plan.beginning(round(probe_s / edit.tract_scale / FRAME_S))
        generator = torch.Generator(part.f0_hz.device).manual_seed(self._seed)
        samples = trim_edges(self._speaker.render(part, edit, generator, self._check))
        found = measure(AudioClip(samples, SAMPLE_RATE))
        heard = {name: getattr(found, name) for name in _MEASURES if getattr(found, name) is not None}
        spoken = part.log2_f0()
        if len(spoken) >= _MIN_VOICED and len(natural) >= _MIN_VOICED:
            if "f0_hz" in heard:
                heard["f0_hz"] *= 2.0 ** float(np.median(natural) - np.median(spoken))
            if "f0_sd_st" in heard and spread(spoken) > 0.0:
                heard["f0_sd_st"] *= min(2.0, max(0.5, spread(natural) / spread(spoken)))
        return {name: value for name, value in heard.items() if name in _LEVELS or value > 0.0}


def _miss(name: str, aim: Target, value: float) -> float:
    """What a measured value misses, as `corrected` takes it."""
    if name == "f0_hz":
        return 12.0 * math.log2(aim.value / value)
    if aim.scale == "difference":
        return aim.value - value
    return math.log(aim.value / value) * (SPREAD_EXPONENT if name == "f0_sd_st" else 1.0)
