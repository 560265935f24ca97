"""`/v1/voices`: stock voices, and those that are kept in the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Request

from voice_sculptor.api.answers import Json
from voice_sculptor.api.examples import document
from voice_sculptor.api.schemas import KeepRequest
from voice_sculptor.documents import kept_voice_json, stock_voice_json
from voice_sculptor.library.store import Library

if TYPE_CHECKING:
    from voice_sculptor.library.records import KeptVoice
    from voice_sculptor.studio import Studio

router = APIRouter(tags=["voices"])

Named = Annotated[str, Path(max_length=200, description="A kept voice's id or name.", examples=["0" * 32])]

_STOCK = {"name": "af_heart", "language": "en", "gender": "female", "measurements": {"f0_hz": 201.3}}
_KEPT = {
    "id": "0" * 32,
    "name": "narrator",
    "engine": "kokoro",
    "created_at": "2026-01-31T12:00:00+00:00",
}
_WHOLE = {
    **_KEPT,
    "voice": {"format": "voice-sculptor/voice@1", "name": "narrator", "engine": "kokoro", "state": {}},
}


@router.get(
    "/v1/voices",
    summary="List voices",
    responses={
        200: document(
            {"engine": "kokoro", "voices": [_STOCK], "kept": [_KEPT]},
            "The engine's own voices and what they measure; and those that are kept, newest first.",
        )
    },
)
def voices(request: Request) -> Json:
    """The voices that come with the engine, and those of the library, of whatever engine."""
    studio: Studio = request.app.state.studio
    return Json(
        {
            "engine": studio.engine.info.id,
            "voices": [stock_voice_json(voice) for voice in studio.engine.stock_voices()],
            "kept": [kept_voice_json(kept) for kept in _kept(studio)],
        }
    )


@router.get(
    "/v1/audio/voices",
    summary="List voices (as OpenAI-compatible servers do)",
    responses={
        200: document({"voices": ["narrator", "af_heart"]}, "Names for `voice` in `/v1/audio/speech`.")
    },
)
def audio_voices(request: Request) -> Json:
    """The names of all voices that the running engine speaks with."""
    studio: Studio = request.app.state.studio
    here = studio.engine.info.id
    kept = [each.name for each in _kept(studio) if each.voice.engine == here]
    return Json({"voices": [*kept, *(voice.name for voice in studio.engine.stock_voices())]})


@router.post(
    "/v1/voices",
    status_code=201,
    summary="Keep a voice",
    responses={201: document(_WHOLE, "It is kept. A name that is taken gets a number: `narrator (2)`.")},
)
def keep(request: Request, asked: KeepRequest) -> Json:
    """Keeps the voice of a candidate that `/v1/design` made: it then speaks by its name or id."""
    studio: Studio = request.app.state.studio
    kept = studio.keep(asked.voice, asked.name)
    return Json(kept_voice_json(kept, is_whole=True), status_code=201)


@router.get(
    "/v1/voices/{id}",
    summary="Get a kept voice",
    responses={200: document(_WHOLE, "The voice, whole: what a `.voice.json` file holds is in `voice`.")},
)
def get(request: Request, id: Named) -> Json:
    """One kept voice."""
    return Json(kept_voice_json(_find(request.app.state.studio, id), is_whole=True))


@router.delete(
    "/v1/voices/{id}",
    summary="Delete a kept voice",
    responses={200: document({"id": "0" * 32, "deleted": True}, "It is off the list.")},
)
def delete(request: Request, id: Named) -> Json:
    """Takes a kept voice off the list; for a while `voice-sculptor kept restore` brings it back."""
    studio: Studio = request.app.state.studio
    kept = _find(studio, id)
    studio.library.delete(kept.id)
    return Json({"id": kept.id, "deleted": True})


def _kept(studio: Studio) -> tuple[KeptVoice, ...]:
    # Only asking makes no library.
    return studio.library.voices() if Library.is_in(studio.settings.data_dir) else ()


def _find(studio: Studio, id: str) -> KeptVoice:
    if not Library.is_in(studio.settings.data_dir):
        from voice_sculptor.library.voice_rows import unknown_voice

        raise unknown_voice(id, [])
    return studio.library.find(id)
