"""What the studio made and has, as plain JSON values: one form for the command line and the API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from voice_sculptor.language.describe import level_words

if TYPE_CHECKING:
    from voice_sculptor.controls import Controls
    from voice_sculptor.domain import Candidate, Notice, Preset, Understood
    from voice_sculptor.engines.base import Engine, EngineInfo, StockVoice
    from voice_sculptor.language.conflicts import Merged
    from voice_sculptor.library.records import KeptVoice
    from voice_sculptor.timbre import Timbre


def candidate_json(candidate: Candidate, voice: str) -> dict[str, Any]:
    """Seed, speed, measurements and obedience of a candidate; where its audio is, the skin adds.

    Args:
        candidate: What was made.
        voice: What its user names it by to speak other text.
    """
    return {
        "seed": candidate.seed,
        "duration_s": round(candidate.audio.duration_s, 3),
        "rtf": round(candidate.rtf, 4),
        "ttfa_s": round(candidate.ttfa_s, 4),
        "voice": voice,
        "measured": candidate.measured.as_json(),
        "obedience": candidate.obedience.as_json(),
    }


def design_json(
    info: EngineInfo,
    candidates: list[dict[str, Any]],
    understood: dict[str, Any],
    warnings: list[dict[str, str]],
) -> dict[str, Any]:
    """All that a request made.

    Args:
        info: Who made it.
        candidates: `candidate_json` and where each is, best first.
        understood: `understood_json`.
        warnings: `notice_json` each.
    """
    return {
        "engine": info.id,
        "sample_rate": info.sample_rate,
        "candidates": candidates,
        "understood": understood,
        "warnings": warnings,
    }


def controls_json(controls: Controls) -> dict[str, Any]:
    """The controls that are specified, as plain values."""
    return controls.model_dump(mode="json", exclude_none=True)


def understood_json(understood: Understood, merged: Merged | None = None) -> dict[str, Any]:
    """What was read from a description, as plain values, each with its level and the words that say it.

    Args:
        understood: What was read.
        merged: What is in effect, to show in its place; what the words do not say has none.
    """
    read = understood.controls.asked() | understood.timbre.asked()

    def shown(part: Controls | Timbre) -> dict[str, Any]:
        plain = part.model_dump(mode="json")
        return {
            name: {
                "value": plain[name],
                "level": level_words(name, value, "en"),
                "words": list(understood.words[name]) if read.get(name) == value else [],
            }
            for name, value in part.asked().items()
        }

    source = merged or understood
    return {
        "controls": shown(source.controls),
        "timbre": shown(source.timbre),
        "unknown": list(understood.unknown),
    }


def notices_json(notices: Iterable[Notice], language: str) -> list[dict[str, str]]:
    """Notices as plain values, in `"zh"` Chinese, anything else English."""
    return [{"kind": notice.kind, "message": notice.message(language)} for notice in notices]


def preset_json(preset: Preset) -> dict[str, Any]:
    """A preset with its texts in both languages."""
    return {
        **preset.model_dump(mode="json", exclude={"controls"}),
        "controls": controls_json(preset.controls),
    }


def stock_voice_json(voice: StockVoice) -> dict[str, Any]:
    """A voice that comes with an engine."""
    return {
        "name": voice.name,
        "language": voice.language,
        "gender": voice.gender,
        "measurements": dict(voice.measurements),
    }


def kept_voice_json(kept: KeptVoice, *, is_whole: bool = False) -> dict[str, Any]:
    """A voice of the library.

    Args:
        kept: The voice.
        is_whole: With what it speaks from.
    """
    listed = {
        "id": kept.id,
        "name": kept.name,
        "engine": kept.voice.engine,
        "created_at": kept.created_at.isoformat(timespec="seconds"),
    }
    return {**listed, "voice": kept.voice.model_dump(mode="json")} if is_whole else listed


def engine_json(engine: Engine) -> dict[str, Any]:
    """An engine, its abilities and licences, and whether its weights are here."""
    info = engine.info
    capabilities = asdict(info.capabilities)
    return {
        "id": info.id,
        "title": info.title,
        "languages": list(info.languages),
        "sample_rate": info.sample_rate,
        "capabilities": {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in capabilities.items()
        },
        "code_licence": info.code_licence,
        "weights_licence": info.weights_licence,
        "weights_ready": engine.weights_ready(),
    }
