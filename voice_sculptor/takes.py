"""A candidate in the making: its pieces as they come, and what is made of them at the end."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voice_sculptor.domain import AudioClip, Candidate, SynthesisRequest, Voice
from voice_sculptor.engines.base import AudioChunk, CandidateDone
from voice_sculptor.errors import RunawayOutput, SynthesisFailed
from voice_sculptor.events import Failed, Preview, Ready
from voice_sculptor.language.script import has_han
from voice_sculptor.language.syllables import count_syllables
from voice_sculptor.obedience import judge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_SILENT_DBFS = -70.0


@dataclass
class Take:
    """A candidate in the making.

    Attributes:
        engine_id: Who makes it.
        sample_rate: Of its pieces, Hz.
        request: What was asked.
        began_s: When the device was free for it, on the clock of `time.perf_counter`.
        chunks: Its pieces so far.
        first_s: When the first of them was ready.
        gain_db: What previews are raised by.
    """

    engine_id: str
    sample_rate: int
    request: SynthesisRequest
    began_s: float
    chunks: list[NDArray[np.float32]] = field(default_factory=list)
    first_s: float | None = None
    gain_db: float = 0.0

    def add(self, chunk: AudioChunk) -> Preview:
        """Take the next piece, to be heard at about the level of the whole."""
        from voice_sculptor.audio.loudness import apply_gain, gain_db_for

        clip = AudioClip(chunk.samples, self.sample_rate)
        if self.first_s is None:
            self.first_s = chunk.at_s
            self.gain_db = gain_db_for(clip, self.request.controls.volume)
        self.chunks.append(chunk.samples)
        return Preview(chunk.index, apply_gain(clip, self.gain_db), chunk.fraction)

    def finish(self, done: CandidateDone) -> Ready | Failed:
        """Level, measure and judge the whole; what cannot be heard is not delivered as good."""
        import numpy as np

        from voice_sculptor.audio.loudness import rms_dbfs

        if not any(map(len, self.chunks)):
            return Failed(done.index, _no_audio())
        natural = AudioClip(np.concatenate(self.chunks), self.sample_rate)
        if rms_dbfs(natural) < _SILENT_DBFS:
            return Failed(done.index, _silent())
        return Ready(self._candidate(done, natural), done.notices)

    def _candidate(self, done: CandidateDone, natural: AudioClip) -> Candidate:
        from voice_sculptor.audio.loudness import level
        from voice_sculptor.audio.measure import measure

        request = self.request
        seed = request.seeds[done.index]
        voice = request.voice or Voice(
            name=f"voice-{seed}",
            engine=self.engine_id,
            state=dict(done.voice_state),
            controls=request.controls,
            description=request.description,
            seed=seed,
        )
        audio = level(natural, request.controls.volume)
        measured = measure(audio, count_syllables(request.text, request.language))
        reference = dict(done.reference)
        if "speed" in reference and measured.syllables_per_s:
            reference["syllables_per_s"] = measured.syllables_per_s / reference["speed"]
        return Candidate(
            index=done.index,
            seed=seed,
            audio=audio,
            voice=voice,
            measured=measured,
            obedience=judge(
                request.controls,
                request.timbre,
                measured,
                "zh" if has_han(request.text) else "en",
                reference,
                is_given=request.voice is not None,
            ),
            rtf=(done.at_s - self.began_s) / natural.duration_s,
            ttfa_s=(self.first_s or done.at_s) - self.began_s,
        )


@functools.cache
def warm_measuring() -> None:
    """Loudness and F0 take seconds to import: beside the engine's work, not after its first piece."""
    import numpy as np

    from voice_sculptor.audio.loudness import level
    from voice_sculptor.audio.measure import measure

    measure(level(AudioClip(np.full(16_000, 0.1, np.float32), 16_000)))


def _no_audio() -> SynthesisFailed:
    return SynthesisFailed(
        "The engine returned no audio for this text.",
        "引擎没有为这段文本生成音频。",
        fix_en="Change the text, or try another seed.",
        fix_zh="请修改文本，或换一个种子。",
    )


def _silent() -> RunawayOutput:
    return RunawayOutput("it made nothing but silence", "只生成了静音")
