"""`/health`, `/ready`, `/metrics`: how the server is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from voice_sculptor.api.answers import Json
from voice_sculptor.api.errors import NotReady
from voice_sculptor.api.examples import document
from voice_sculptor.device import gpus

router = APIRouter(tags=["state"])


@router.get(
    "/health",
    summary="Health",
    responses={
        200: document(
            {
                "status": "ok",
                "engine": "kokoro",
                "device": "cuda:0",
                "is_loaded": True,
                "pending_requests": 0,
                "running_requests": 1,
                "gpu_memory_used": 3435973836,
            },
            "It answers: it lives. `gpu_memory_used` is in bytes, of all processes on all cards, null without one.",
        )
    },
)
def health(request: Request) -> Json:
    """Whether the server lives, and what it does. Asks for no key."""
    worker = request.app.state.studio.worker
    cards = gpus()
    return Json(
        {
            "status": "ok",
            "engine": worker.engine.info.id,
            "device": worker.device,
            "is_loaded": worker.is_loaded,
            "pending_requests": worker.num_waiting,
            "running_requests": worker.num_running,
            "gpu_memory_used": sum(card.total_bytes - card.free_bytes for card in cards) if cards else None,
        }
    )


@router.get(
    "/ready",
    summary="Readiness",
    responses={200: document({"status": "ready", "engine": "kokoro"}, "The engine is loaded.")},
)
def ready(request: Request) -> Json:
    """Whether the engine is loaded; 503 until then. Asks for no key.

    Where loading is left to the first request (`--no-preload`), the server is ready as soon as it answers.
    """
    studio = request.app.state.studio
    if not studio.worker.is_loaded and studio.settings.preload is not False:
        raise NotReady
    return Json({"status": "ready", "engine": studio.engine.info.id})


@router.get(
    "/metrics",
    summary="Metrics (Prometheus)",
    response_class=Response,
    responses={
        200: {
            "description": "All series in Prometheus' text format.",
            "content": {
                "text/plain": {"schema": {"type": "string"}, "example": "voice_sculptor_queue_requests 0.0"}
            },
        }
    },
)
def metrics() -> Response:
    """What is counted and measured while the studio serves."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    from voice_sculptor.metrics import REGISTRY

    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
