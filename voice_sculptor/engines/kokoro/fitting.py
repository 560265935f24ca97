"""A designed voice made to measure: it speaks the beginning of its text, is measured, and corrected.

F0 and its spread are first set by the predicted contour of the text, which costs a tenth of speaking it. Then the text
is spoken, up to six seconds of it are measured, and the exact edits take up what was missed; at most twice. What has
been spoken as it should be is used, so a voice that fits at once costs nothing more. An emotion is told against the
same words with nothing asked, and enlarged once where too little of it is heard.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from voice_sculptor.audio.measure import measure, spread
from voice_sculptor.controls import Controls, Emotion
from voice_sculptor.domain import AudioClip
from voice_sculptor.emotions import Move, emotion_moves
from voice_sculptor.engines.kokoro.design import corrected
from voice_sculptor.engines.kokoro.edits import SHELF_DB_PER_TILT_DB, Edit
from voice_sculptor.engines.kokoro.joining import SAMPLE_RATE
from voice_sculptor.engines.kokoro.reading import Reading
from voice_sculptor.engines.kokoro.speech import FRAME_S, Pace, Piece, Speaker
from voice_sculptor.engines.kokoro.state import Manner, VoiceState
from voice_sculptor.targets import Target

_REHEARSED_S = 6.0
_PLANNED_S = 12.0
_MAX_CORRECTIONS = 2
_GOOD, _FAIR = 0.5, 0.85
"""Deviations, in bands, up to which a measure is left as it is, and up to which none needs another try."""
_RESPONSES = (0.5, 2.5)
"""What a correction may be found to have done, as a share of what it should have."""
_MEASURES = ("f0_hz", "f0_sd_st", "tract_cm", "tilt_db", "hnr_db", "jitter")
_EXACT = frozenset({"f0_hz"})
"""Measures that follow their edit one to one: what seems another response is the median of a wide contour jumping."""
_LEVELS = frozenset({"hnr_db", "tilt_db"})
"""Measures that may be zero or less."""
_UNVOICED = frozenset({"tilt_db"})
_LEVERS = frozenset({"f0_hz", "f0_sd_st", "tilt_db"})
"""Measures that an emotion moves and a correction can move further."""
_HEARD = 0.65
"""Of the profile's move, from which on it is left as it is: more than counts, because parts differ from the whole."""
_MOST_LACKING = 1.5
"""Of the profile's move; what seems to have gone farther the wrong way is taken for an error of measuring."""
_MIN_VOICED = 8
_WIDEST_ST = 5.0
"""F0 spread that an emotion may widen a voice's own to. Beyond it the contour meets the ends of what can be spoken."""
_LIKELY = {"f0_hz": 4.0, "tract_cm": math.log(1.25)}
"""Misses as `corrected` takes them; larger ones are taken for errors of measuring, and limited."""


@dataclass(frozen=True)
class Take:
    """A voice and what it has begun to say.

    Attributes:
        state: The voice.
        edit: How it speaks.
        pieces: All of the text, some of it spoken already.
        pace: Of the pieces that have been taken.
        heard: What the beginning measured, carried over to the whole; empty where nothing has been spoken.
        plain: The same of the voice with nothing asked, where that is known.
    """

    state: VoiceState
    edit: Edit
    pieces: Iterator[Piece]
    pace: Pace
    heard: Mapping[str, float] = field(default_factory=dict)
    plain: Mapping[str, float] | None = None


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

    def fit(self, state: VoiceState, controls: Controls, wanted: Mapping[str, Target]) -> Take:
        """The voice corrected to what it should measure, and speaking.

        Args:
            state: As designed.
            controls: How it will be spoken.
            wanted: By measure.
        """
        aims = {measure: wanted[measure] for measure in _MEASURES if measure in wanted}
        if state.voicing <= 0.0:
            aims = {measure: aim for measure, aim in aims.items() if measure in _UNVOICED}
        if not self._has_words(state) or not (aims or controls.emotion):
            return self.speak(state, controls)
        edit = state.edit_as(controls)
        contours = self._contours(state, edit)
        natural = np.concatenate(contours)
        if len(natural) >= _MIN_VOICED:
            state = self._planned(state, edit, aims, natural)
        best = take = self._rehearsed(state, state.edit_as(controls), contours)
        before: dict[str, float] = {}
        made: dict[str, float] = {}
        for _ in range(_MAX_CORRECTIONS):
            outside = [name for name, aim in aims.items() if _excess({name: aim}, take.heard) > 0.0]
            misses = _misses(aims, take.heard)
            made = {
                name: miss if name in _EXACT else _response(miss, before.get(name), made.get(name))
                for name, miss in misses.items()
            }
            before = misses
            needed = {name: change if name in outside else 0.0 for name, change in made.items()}
            if corrected(take.state, needed) == take.state:
                break
            state = corrected(take.state, made)
            take = self._rehearsed(state, state.edit_as(controls), contours)
            best = min(best, take, key=lambda each: _excess(aims, each.heard))
        return best

    def speak(self, state: VoiceState, controls: Controls) -> Take:
        """The voice as it is."""
        return self._spoken(state, state.edit_as(controls))

    def express(self, take: Take, controls: Controls, wanted: Mapping[str, Target]) -> Take:
        """The take with its emotion enlarged where the voice is not heard to move as it should from its own way.

        Args:
            take: As fitted.
            controls: How it is spoken.
            wanted: What it should measure for other reasons, by measure.
        """
        state, emotion = take.state, controls.emotion
        aims = {measure: wanted[measure] for measure in _MEASURES if measure in wanted}
        free = _LEVERS if state.voicing > 0.0 else _UNVOICED
        if "tilt_db" in aims:
            free = free - {"tilt_db"}
        moves = [move for move in emotion_moves(controls) if move.measure in free and move.expected]
        if emotion is None or not moves or not take.heard:
            return take
        plain = self.reference(take)
        take = replace(take, plain=plain)
        lacks = _lacks(moves, plain, take.heard)
        if not lacks:
            return take
        state = state.model_copy(update={"manner": _manner(emotion, lacks)})
        edit = state.edit_as(controls)
        again = replace(self._rehearsed(state, edit, self._contours(state, edit)), plain=plain)
        return min(take, again, key=lambda each: _excess(aims, each.heard) + _lack(moves, plain, each.heard))

    def _spoken(self, state: VoiceState, edit: Edit) -> Take:
        pace = Pace()
        pieces = self._speaker.speak(self._reading, state, edit, self._seed, self._check, pace)
        return Take(state, edit, pieces, pace)

    def _planned(
        self, state: VoiceState, edit: Edit, aims: Mapping[str, Target], natural: NDArray[np.float64]
    ) -> VoiceState:
        """The voice with F0 and its spread set by the predicted contour.

        A voice that is as lively as can be with nothing asked could not become livelier when it is surprised: where
        nobody asked how lively, its own spread leaves room for the emotion's.
        """
        misses = {}
        if "f0_hz" in aims:
            goal_octaves = math.log2(aims["f0_hz"].value)
            misses["f0_hz"] = 12.0 * (goal_octaves - float(np.median(natural))) - edit.pitch_st
        spread_st = 12.0 * max(spread(natural), 1e-3) * edit.pitch_range
        if "f0_sd_st" in aims:
            misses["f0_sd_st"] = math.log(aims["f0_sd_st"].value / spread_st)
        elif edit.pitch_range > state.pitch_range:
            misses["f0_sd_st"] = min(0.0, math.log(_WIDEST_ST / spread_st))
        return corrected(state, misses)

    def _rehearsed(self, state: VoiceState, edit: Edit, contours: list[NDArray[np.float64]]) -> Take:
        """The voice after its first seconds, which are measured."""
        take = self._spoken(state, edit)
        spoken: list[Piece] = []
        num_samples = 0
        for piece in take.pieces:
            spoken.append(piece)
            num_samples += len(piece.samples)
            if num_samples >= _REHEARSED_S * SAMPLE_RATE:
                break
        heard = _measured(np.concatenate([piece.samples for piece in spoken]))
        if spoken[-1].fraction < 1.0:
            _carry_over(heard, np.concatenate(contours[: len(spoken)]), np.concatenate(contours))
        return replace(take, pieces=chain(spoken, take.pieces), heard=heard)

    def reference(self, take: Take) -> dict[str, float]:
        """`f0_hz`, `f0_sd_st` and `tilt_db` of the voice with nothing asked, as far as it has them.

        The first words are spoken with nothing asked, and carried over to the whole by the predicted contour.
        """
        state, plain = take.state, take.plain
        if plain is None and take.heard and take.edit == state.edit():
            plain = take.heard
        if plain is None:
            if not self._has_words(state):
                return {}
            edit = state.edit()
            plain = self._rehearsed(state, edit, self._contours(state, edit)).heard
        return {name: plain[name] for name in ("f0_hz", "f0_sd_st", "tilt_db") if name in plain}

    def _has_words(self, state: VoiceState) -> bool:
        """Whether there is anything to speak: a text may be all in a script that has no reading."""
        lines = self._reading.lines(british=self._speaker.is_british(state))
        return next(lines, None) is not None

    def _contours(self, state: VoiceState, edit: Edit) -> list[NDArray[np.float64]]:
        """Natural F0 of the first lines, up to twelve seconds, octaves above 1 Hz."""
        voiced, planned_s = [], 0.0
        for line, _ in self._reading.lines(british=self._speaker.is_british(state)):
            plan = self._speaker.plan(self._reading, line, state, edit, self._check)
            voiced.append(plan.log2_f0())
            planned_s += float(plan.durations.sum()) * FRAME_S * edit.tract_scale
            if planned_s > _PLANNED_S:
                break
        return voiced


def _measured(samples: NDArray[np.float32]) -> dict[str, float]:
    found = measure(AudioClip(samples, SAMPLE_RATE))
    heard = {name: value for name in _MEASURES if (value := getattr(found, name)) is not None}
    return {name: value for name, value in heard.items() if name in _LEVELS or value > 0.0}


def _carry_over(heard: dict[str, float], spoken: NDArray[np.float64], natural: NDArray[np.float64]) -> None:
    """Turn F0 and its spread as measured on a part into those of the whole, by what was predicted for both."""
    if len(spoken) < _MIN_VOICED or len(natural) < _MIN_VOICED:
        return
    if "f0_hz" in heard:
        heard["f0_hz"] *= 2.0 ** float(np.median(natural) - np.median(spoken))
    if "f0_sd_st" in heard and spread(spoken) > 0.0:
        heard["f0_sd_st"] *= min(2.0, max(0.5, spread(natural) / spread(spoken)))


def _excess(aims: Mapping[str, Target], heard: Mapping[str, float]) -> float:
    """How far all of them together are outside their bands."""
    return sum(
        max(0.0, abs(aim.deviation(heard[name])) - _FAIR) for name, aim in aims.items() if name in heard
    )


def _misses(aims: Mapping[str, Target], heard: Mapping[str, float]) -> dict[str, float]:
    """What measured values miss, as `corrected` takes it; what is well inside its band misses nothing."""
    return {
        name: _miss(name, aim, heard[name]) if abs(aim.deviation(heard[name])) > _GOOD else 0.0
        for name, aim in aims.items()
        if name in heard
    }


def _lacks(moves: Sequence[Move], plain: Mapping[str, float], heard: Mapping[str, float]) -> dict[str, float]:
    """What is missing of the moves that an emotion should make, as far as it is missed; as in `Move`."""
    lacks = {}
    for move in moves:
        if move.measure in plain and move.measure in heard:
            made = move.made(plain[move.measure], heard[move.measure])
            if made is not None and (share := made / move.expected) < _HEARD:
                lacks[move.measure] = move.expected * min(_MOST_LACKING, 1.0 - share)
    return lacks


def _lack(moves: Sequence[Move], plain: Mapping[str, float], heard: Mapping[str, float]) -> float:
    """How much of the moves is missing, in shares of them."""
    lacks = _lacks(moves, plain, heard)
    return sum(lacks[move.measure] / move.expected for move in moves if move.measure in lacks)


def _manner(emotion: Emotion, lacks: Mapping[str, float]) -> Manner:
    """What makes up for what is missing of an emotion."""
    whole = {name: lack / emotion.intensity for name, lack in lacks.items()}
    return Manner(
        emotion=emotion.name,
        pitch_st=round(whole.get("f0_hz", 0.0) * 12.0 / math.log(2.0), 4),
        pitch_range=round(math.exp(whole.get("f0_sd_st", 0.0)), 4),
        tilt_db=round(SHELF_DB_PER_TILT_DB * whole.get("tilt_db", 0.0), 4),
    )


def _response(miss: float, before: float | None, made: float | None) -> float:
    """The change to make for a miss, when a change was made before for a miss that was larger or smaller (secant).

    Args:
        miss: Now.
        before: The miss before.
        made: The change that was made for it.
    """
    if not before or not made:
        return miss
    low, high = _RESPONSES
    return miss / min(high, max(low, (before - miss) / made))


def _miss(name: str, aim: Target, value: float) -> float:
    """What a measured value misses, as `corrected` takes it."""
    if aim.scale == "difference":
        return aim.value - value
    miss = math.log(aim.value / value) * (12.0 / math.log(2.0) if name == "f0_hz" else 1.0)
    likely = _LIKELY.get(name, math.inf)
    return max(-likely, min(likely, miss))
