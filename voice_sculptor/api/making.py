"""Requests of the API as the studio's work."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from voice_sculptor.api.errors import NoCloning
from voice_sculptor.audio.io import encode
from voice_sculptor.audio.streams import PCM_RATE, StreamEncoder, pcm_bytes
from voice_sculptor.controls import Controls
from voice_sculptor.documents import candidate_json, design_json, notices_json, understood_json
from voice_sculptor.domain import Notice, Voice, VoiceSpec
from voice_sculptor.errors import SynthesisFailed, UnknownEngine
from voice_sculptor.events import Failed, Planned, Preview, Ready, StudioEvent
from voice_sculptor.language.conflicts import Merged
from voice_sculptor.obedience import by_obedience

if TYPE_CHECKING:
    from voice_sculptor.api.caller import Caller
    from voice_sculptor.api.schemas import DesignRequest, OutputFormat, SpeechRequest, TtsRequest
    from voice_sculptor.scheduling.worker import CancelToken
    from voice_sculptor.studio import Studio

OPENAI_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
"""Names that many clients cannot change: they mean the engine that runs."""
_MANNER = ("pitch", "pitch_variation", "volume", "speed", "emotion")
"""Controls that say how a given voice speaks, not whose it is."""


def design(studio: Studio, asked: DesignRequest, caller: Caller, token: CancelToken) -> dict[str, Any]:
    """All candidates, best first, each with its audio and its voice."""
    spec = VoiceSpec(description=asked.description, controls=asked.controls, timbre=asked.timbre)
    events = studio.design(
        asked.text,
        spec,
        language=asked.language,
        num_candidates=asked.n,
        seed=asked.seed,
        options=asked.options,
        token=token,
        client=caller.client,
        timeout_s=asked.timeout_s,
    )
    planned: Planned | None = None
    made: list[Ready] = []
    failed: list[Failed] = []
    with closing(events):  # type: ignore[type-var]
        for event in events:
            if isinstance(event, Planned):
                planned = event
            elif isinstance(event, Ready):
                made.append(event)
            elif isinstance(event, Failed):
                failed.append(event)
    assert planned is not None
    if not made and failed:
        raise failed[0].error
    candidates = [
        {
            **candidate_json(candidate, ""),
            "voice": candidate.voice.model_dump(mode="json"),
            "format": asked.response_format,
            "audio": base64.b64encode(encode(candidate.audio, asked.response_format)).decode(),
        }
        for candidate in by_obedience(ready.candidate for ready in made)
    ]
    notices: list[Notice] = [*planned.notices, *(notice for ready in made for notice in ready.notices)]
    merged = Merged(planned.controls, planned.timbre, planned.notices)
    return {
        **design_json(
            studio.engine.info,
            candidates,
            understood_json(planned.understood, merged),
            notices_json(dict.fromkeys(notices), caller.language),
        ),
        "failed": [
            {
                "seed": planned.seeds[each.index],
                "type": each.error.kind,
                "message": each.error.message(caller.language),
            }
            for each in failed
        ],
    }


def speech(studio: Studio, asked: SpeechRequest, caller: Caller, token: CancelToken) -> Iterator[StudioEvent]:
    """The events of OpenAI's request."""
    check_model(studio, asked.model)
    voice = asked.voice if isinstance(asked.voice, Voice) else studio.voice_named(asked.voice)
    read = (
        studio.read(VoiceSpec(description=asked.instructions)).controls.asked() if asked.instructions else {}
    )
    controls = Controls(**{name: value for name, value in read.items() if name in _MANNER})
    if asked.speed is not None:
        controls = controls.changed_by(Controls(speed=asked.speed))
    return studio.speak(
        voice,
        asked.input,
        controls=controls,
        language=asked.language,
        seed=asked.seed,
        token=token,
        client=caller.client,
        timeout_s=asked.timeout_s,
    )


def tts(studio: Studio, asked: TtsRequest, caller: Caller, token: CancelToken) -> Iterator[StudioEvent]:
    """The events of Fish Speech's request."""
    if asked.references:
        raise NoCloning(studio.engine.info.title)
    options = {name: value for name, value in asked.sampling().items() if name in known_options(studio)}
    if asked.reference_id is None:
        return studio.design(
            asked.text,
            VoiceSpec(),
            num_candidates=1,
            seed=asked.seed,
            options=options,
            token=token,
            client=caller.client,
        )
    voice = studio.voice_named(asked.reference_id)
    return studio.speak(
        voice, asked.text, seed=asked.seed, options=options, token=token, client=caller.client
    )


def known_options(studio: Studio) -> frozenset[str]:
    """Names of the running engine's own options."""
    return frozenset(studio.engine.Options.model_fields)


def check_model(studio: Studio, name: str) -> None:
    """Make sure that a model's name means the engine that runs.

    Raises:
        UnknownEngine: It does not.
    """
    here = studio.engine.info.id
    if name not in (here, "auto", *OPENAI_MODELS):
        raise UnknownEngine(
            f"There is no model {name!r} here.",
            f"这里没有模型 {name!r}。",
            fix_en=f"Use {here!r} or 'auto'.",
            fix_zh=f"请使用 {here!r} 或 'auto'。",
        )


def nothing_made() -> SynthesisFailed:
    """The error where an engine ends without audio and without an error: never an empty answer."""
    return SynthesisFailed(
        "The engine returned no audio for this text.",
        "引擎没有为这段文本生成音频。",
        fix_en="Change the text, or try another seed.",
        fix_zh="请修改文本，或换一个种子。",
    )


def whole(events: Iterator[StudioEvent], format: OutputFormat) -> tuple[bytes, int]:
    """The one candidate as a whole file with true lengths, at its final level; and its seed."""
    with closing(events):  # type: ignore[type-var]
        for event in events:
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, Ready):
                candidate = event.candidate
                if format != "pcm":
                    return encode(candidate.audio, format), candidate.seed
                from voice_sculptor.audio.io import resample

                return pcm_bytes(resample(candidate.audio, PCM_RATE).samples), candidate.seed
    raise nothing_made()


def pieces(events: Iterator[StudioEvent], format: OutputFormat) -> Iterator[bytes]:
    """The one candidate as bytes of one stream while it is made; FLAC whole, at the end."""
    if format == "flac":
        yield whole(events, format)[0]
        return
    encoder: StreamEncoder | None = None
    try:
        with closing(events):  # type: ignore[type-var]
            for event in events:
                if isinstance(event, Failed):
                    raise event.error
                if isinstance(event, Preview):
                    encoder = encoder or StreamEncoder(format, event.clip.sample_rate)
                    if data := encoder.add(event.clip.samples):
                        yield data
        if encoder is not None and (data := encoder.finish()):
            yield data
    finally:
        if encoder is not None:
            encoder.close()
