"""`/v1/presets`, `/v1/engines`, `/v1/models`: what there is to choose from."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from voice_sculptor.api.answers import Json
from voice_sculptor.api.caller import caller_of
from voice_sculptor.api.examples import document
from voice_sculptor.api.making import OPENAI_MODELS
from voice_sculptor.documents import engine_json, preset_json
from voice_sculptor.errors import EngineError

router = APIRouter(tags=["listings"])


@router.get(
    "/v1/presets",
    summary="List presets",
    responses={
        200: document(
            {"presets": [{"id": "news-anchor", "group": "profession", "controls": {}}]}, "All presets, whole."
        )
    },
)
def presets(request: Request) -> Json:
    """The presets with their texts in both languages: send a preset's description and controls to `/v1/design`."""
    return Json({"presets": [preset_json(preset) for preset in request.app.state.presets]})


@router.get(
    "/v1/engines",
    summary="List engines",
    responses={
        200: document(
            {"engines": [{"id": "kokoro", "is_running": True, "options": {}}]},
            "Abilities, licences and options.",
        )
    },
)
def engines(request: Request) -> Json:
    """All engines of this installation, and which one runs."""
    from voice_sculptor.engines.registry import create_engine, engine_ids

    studio = request.app.state.studio
    language = caller_of(request.scope).language
    listed: dict[str, Any] = {}
    for engine_id in engine_ids():
        try:
            is_running = engine_id == studio.engine.info.id
            engine = studio.engine if is_running else create_engine(engine_id, studio.settings)
            options = engine.Options.model_json_schema().get("properties", {})
            listed[engine_id] = {**engine_json(engine), "is_running": is_running, "options": options}
        except EngineError as error:
            # One engine that cannot be imported does not hide the others.
            listed[engine_id] = {"id": engine_id, "is_running": False, "error": error.message(language)}
    return Json({"engines": list(listed.values())})


@router.get(
    "/v1/models",
    summary="List models (OpenAI)",
    responses={
        200: document(
            {
                "object": "list",
                "data": [{"id": "kokoro", "object": "model", "created": 0, "owned_by": "voice-sculptor"}],
            },
            "Names for `model` in `/v1/audio/speech`; all mean the engine that runs.",
        )
    },
)
def models(request: Request) -> Json:
    """The engine that runs, and OpenAI's names for it."""
    names = (request.app.state.studio.engine.info.id, *OPENAI_MODELS)
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "voice-sculptor"} for name in names]
    return Json({"object": "list", "data": data})
