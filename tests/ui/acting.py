"""A fake engine that acts on words of the text, so that a test of the page can bring about what it is about."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from voice_sculptor.controls import Controls
from voice_sculptor.domain import Bilingual, Preset, SynthesisRequest
from voice_sculptor.engines.base import AudioChunk, CandidateFailed, EngineEvent
from voice_sculptor.engines.fake import FakeEngine
from voice_sculptor.errors import SynthesisFailed

STEP_S = 0.05

GRANNY = Preset(
    id="granny",
    group="role",
    name=Bilingual(en="Granny", zh="奶奶"),
    description=Bilingual(en="A kind old woman.", zh="一位慈祥的老奶奶。"),
    controls=Controls(age=75, gender="female", pitch=-1, speed=0.85),
    text=Bilingual(en="Come in, dear.", zh="快进来，孩子。"),
)


class ActingEngine(FakeEngine):
    """`slow` takes its time, `broken` loses the second candidate, `explode` breaks like a bug would."""

    def synthesize(
        self, batch: Sequence[SynthesisRequest], is_cancelled: Callable[[str], bool]
    ) -> Iterator[EngineEvent]:
        text = batch[0].text
        if "explode" in text:
            raise RuntimeError("<b>boom</b>")
        for event in super().synthesize(batch, is_cancelled):
            if "broken" in text and event.index == 1:
                if isinstance(event, AudioChunk):
                    continue
                event = CandidateFailed(
                    event.request_id, 1, SynthesisFailed("The second one <i>broke</i>.", "第二个坏了。")
                )
            if "slow" in text:
                time.sleep(STEP_S)
            yield event
