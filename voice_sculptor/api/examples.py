"""What answers look like, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from voice_sculptor.api.schemas import ErrorAnswer

_SHOWN: dict[str, Any] = {
    "engine": "kokoro",
    "sample_rate": 24000,
    "candidates": [
        {
            "seed": 7,
            "duration_s": 2.41,
            "rtf": 0.31,
            "ttfa_s": 0.52,
            "voice": {
                "format": "voice-sculptor/voice@1",
                "name": "voice-7",
                "engine": "kokoro",
                "state": {},
                "controls": {"speed": 0.9},
                "description": "an elderly man",
                "seed": 7,
            },
            "measured": {"f0_hz": 104.2},
            "obedience": {"overall": 0.93, "controls": {}},
            "format": "mp3",
            "audio": "SUQzBAAAAAAA",
        }
    ],
    "understood": {"controls": {}, "timbre": {}, "unknown": []},
    "warnings": [],
    "failed": [],
}
_AUDIO_TYPES = ("audio/wav", "audio/mpeg", "audio/flac", "audio/ogg", "audio/pcm", "text/event-stream")

DESIGNED: dict[str, Any] = {
    "description": "All candidates, best first.",
    "content": {"application/json": {"schema": {"type": "object"}, "example": _SHOWN}},
}
AUDIO: dict[str, Any] = {
    "description": "The audio in the format that was asked for.",
    "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in _AUDIO_TYPES},
}


def document(example: dict[str, Any], description: str) -> dict[str, Any]:
    """A JSON document in the OpenAPI document, by an example of it."""
    return {
        "description": description,
        "content": {"application/json": {"schema": {"type": "object"}, "example": example}},
    }


def _error(status: int, description: str) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": ErrorAnswer, "description": description}}


ERRORS: dict[int | str, dict[str, Any]] = {
    **_error(400, "What was asked cannot be done as asked."),
    **_error(401, "A key is needed."),
    **_error(403, "This address is not answered."),
    **_error(404, "There is no such voice, model or address."),
    **_error(405, "The address does not take this method."),
    **_error(413, "The text or the body is too long."),
    **_error(429, "Too many requests; see `Retry-After`."),
    **_error(500, "A fault of the server."),
    **_error(503, "Busy, not ready, or the engine broke; see `Retry-After`."),
    **_error(504, "`timeout_s` is over."),
    **_error(507, "Out of memory."),
}
"""What any answer may be."""
