"""`/v1/design`, `/v1/audio/speech`, `/v1/tts`: what is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fastapi import APIRouter, Request, Response

from voice_sculptor.api import making
from voice_sculptor.api.answers import Events, Flow, Json
from voice_sculptor.api.caller import caller_of
from voice_sculptor.api.examples import AUDIO, DESIGNED
from voice_sculptor.api.schemas import DesignRequest, OutputFormat, SpeechRequest, TtsRequest
from voice_sculptor.api.work import Work, run
from voice_sculptor.audio.io import container_of
from voice_sculptor.audio.streams import PCM_RATE
from voice_sculptor.events import StudioEvent
from voice_sculptor.scheduling.worker import CancelToken
from voice_sculptor.studio import Studio

router = APIRouter(tags=["making"])

Begin = Callable[[CancelToken], Iterator[StudioEvent]]


@router.post("/v1/design", summary="Design voices", responses={200: DESIGNED}, response_class=Response)
async def design(request: Request, asked: DesignRequest) -> Response:
    """Makes new voices from words and controls, measured, the best first; each comes with its audio in base64."""
    studio, caller = _studio(request), caller_of(request.scope)
    return Json(await run(request, lambda token: making.design(studio, asked, caller, token)))


@router.post(
    "/v1/audio/speech", summary="Speak a text (OpenAI)", responses={200: AUDIO}, response_class=Response
)
async def speech(request: Request, asked: SpeechRequest) -> Response:
    """Speaks a text with a stock voice, or with one that `/v1/design` made."""
    studio, caller = _studio(request), caller_of(request.scope)

    def begin(token: CancelToken) -> Iterator[StudioEvent]:
        return making.speech(studio, asked, caller, token)

    is_streamed = asked.stream_format is not None or asked.response_format not in ("wav", "flac")
    is_sse = asked.stream_format == "sse"
    return await _audio(request, begin, asked.response_format, is_streamed=is_streamed, is_sse=is_sse)


@router.post("/v1/tts", summary="Speak a text (Fish Speech)", responses={200: AUDIO}, response_class=Response)
async def tts(request: Request, asked: TtsRequest) -> Response:
    """Speaks a text with a voice by its name, or with a new one; sampling settings hold where the engine has them."""
    studio, caller = _studio(request), caller_of(request.scope)

    def begin(token: CancelToken) -> Iterator[StudioEvent]:
        return making.tts(studio, asked, caller, token)

    response = await _audio(request, begin, asked.format, is_streamed=asked.streaming)
    if ignored := asked.sampling().keys() - making.known_options(studio):
        response.headers["X-Ignored"] = ", ".join(sorted(ignored))
    return response


def _studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


async def _audio(
    request: Request, begin: Begin, format: OutputFormat, *, is_streamed: bool, is_sse: bool = False
) -> Response:
    media_type, headers = _kind(format)
    if not is_streamed:
        data, seed = await run(request, lambda token: making.whole(begin(token), format))
        return Response(data, media_type=media_type, headers={**headers, "X-Seed": str(seed)})
    work: Work[bytes] = Work(lambda token: making.pieces(begin(token), format))
    first = await work.next_for(request)
    if first is None:
        raise making.nothing_made()
    return Events(work, first, headers) if is_sse else Flow(work, first, media_type, headers)


def _kind(format: OutputFormat) -> tuple[str, dict[str, str]]:
    if format == "pcm":
        return "audio/pcm", {"X-Sample-Rate": str(PCM_RATE)}
    return container_of(format).mime_type, {}
