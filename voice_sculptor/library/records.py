"""What the library gives back: kept voices, recordings, and the bounds it keeps to."""

from __future__ import annotations

import functools
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from voice_sculptor import __version__
from voice_sculptor.domain import SynthesisRequest, Voice

DAY_US = 86_400_000_000

_ID = re.compile(r"[0-9a-f]{32}")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Limits:
    """How much is kept of what was made. Kept voices and their samples do not count and are never evicted.

    Attributes:
        history_days: Recordings older than this go; 0 keeps none.
        history_bytes: The oldest go while all recordings together take more; 0 keeps none.
        deleted_days: How long a deleted voice can be restored.
    """

    history_days: float = 30.0
    history_bytes: int = 1_000_000_000
    deleted_days: float = 30.0

    @property
    def keeps_history(self) -> bool:
        """Whether anything is recorded at all."""
        return self.history_days > 0 and self.history_bytes > 0


@dataclass(frozen=True)
class KeptVoice:
    """A voice in the library.

    Attributes:
        id: 32 hexadecimal digits.
        voice: The voice under the name it is kept by.
        created_at: When it was kept, UTC.
        sample: Digest of a clip of it; `None` where there is none.
    """

    id: str
    voice: Voice
    created_at: datetime
    sample: str | None = None

    @property
    def name(self) -> str:
        """What it is called; no two kept voices have the same name."""
        return self.voice.name


@dataclass(frozen=True)
class Recording:
    """One clip that was made.

    Attributes:
        id: Counts up.
        created_at: When it was made, UTC.
        recipe: What makes it again: `recipe_of`.
        measured: What it measures, as `Measurements.as_json`.
        obedience: How far it did what was asked, as `Obedience.as_json`.
        duration_s: Length, seconds.
        audio: Digest of its audio.
    """

    id: int
    created_at: datetime
    recipe: Mapping[str, Any]
    measured: Mapping[str, Any]
    obedience: Mapping[str, Any]
    duration_s: float
    audio: str


def recipe_of(request: SynthesisRequest, voice: Voice, seed: int) -> dict[str, Any]:
    """Everything needed to make a clip again, as plain JSON values.

    Args:
        request: What was asked.
        voice: What was made, or spoke.
        seed: Of this candidate.
    """
    return {
        "kind": "design" if request.voice is None else "speak",
        "text": request.text,
        "language": request.language,
        "description": request.description,
        "controls": request.controls.model_dump(mode="json", exclude_none=True),
        "timbre": request.timbre.model_dump(mode="json", exclude_none=True),
        "options": {} if request.options is None else request.options.model_dump(mode="json"),
        "seed": seed,
        "engine": voice.engine,
        "voice": voice.model_dump(mode="json"),
        "versions": dict(_versions()),
    }


def is_id(text: str) -> bool:
    """Whether a text can be the id of a kept voice."""
    return _ID.fullmatch(text) is not None


def as_time(since_1970_us: int) -> datetime:
    """A time of the database, UTC."""
    return _EPOCH + timedelta(microseconds=since_1970_us)


def as_json(document: Any) -> str:
    """Compact JSON; equal documents give equal text."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)


@functools.cache
def _versions() -> Mapping[str, str]:
    found = {"voice-sculptor": __version__, "python": platform.python_version()}
    for name in ("numpy", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
