"""The page's HTML pieces. Everything that a user or an engine wrote is escaped here.

Each piece holds both languages; the style sheet shows the one of the page. So switching costs nothing and a
running generation need not know the language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from voice_sculptor.domain import Candidate, Notice, Understood
from voice_sculptor.errors import VoiceSculptorError
from voice_sculptor.language.describe import shown
from voice_sculptor.timbre import TIMBRE_NAMES
from voice_sculptor.ui.strings import say

MARK = (
    '<svg class="vs-mark" viewBox="0 0 32 32" aria-hidden="true"><rect x="3" y="13" width="3" height="6" rx="1.5"/>'
    '<rect x="8.75" y="8" width="3" height="16" rx="1.5"/><rect x="14.5" y="3" width="3" height="26" rx="1.5"/>'
    '<rect x="20.25" y="10" width="3" height="12" rx="1.5"/><rect x="26" y="14" width="3" height="4" rx="1.5"/></svg>'
)


def both(en: str, zh: str) -> str:
    """Two sentences of which the page shows one; both are escaped."""
    return f'<span lang="en">{escape(en)}</span><span lang="zh">{escape(zh)}</span>'


def said(key: str, **values: object) -> str:
    """A string of the page in both languages, escaped."""
    return both(say(key, "en", **values), say(key, "zh", **values))


def spelled(key: str) -> str:
    """A string of the page in both languages, for an attribute, which cannot follow the page's language."""
    return escape(" / ".join(say(key, language) for language in ("en", "zh")), quote=True)


def header() -> str:
    """Name and tagline."""
    return f'<div class="vs-brand">{MARK}<div><h1>Voice Sculptor</h1><p>{said("tagline")}</p></div></div>'


def warning(notice: Notice) -> str:
    """What the operator must not overlook."""
    return f'<div class="vs-operator" role="alert">{both(notice.en, notice.zh)}</div>'


def heading(key: str, hint: str | None = None) -> str:
    """Title of a section, with an explanation beside it."""
    beside = f'<span class="vs-hint">{said(hint)}</span>' if hint else ""
    return f"<h2>{said(key)}</h2>{beside}"


def empty() -> str:
    """What stands where candidates will be."""
    bars = "".join(f'<i style="--h:{h}"></i>' for h in (3, 6, 10, 5, 8, 14, 9, 16, 11, 6, 12, 7, 4, 8, 5, 3))
    return f'<div class="vs-empty"><div aria-hidden="true">{bars}</div><p>{said("empty")}</p></div>'


def none_kept() -> str:
    """What stands where the kept voices will be."""
    return f'<p class="vs-none-kept">{said("kept_empty")}</p>'


def understood(read: Understood, notices: Sequence[Notice], is_empty: bool) -> str:
    """What was read from the description, and what to know before generating.

    Args:
        read: What was read.
        notices: Conflicts and unsupported controls.
        is_empty: Whether there is no description.
    """
    parts = []
    asked = read.controls.asked() | read.timbre.asked()
    if asked:
        chips = "".join(_chip(name, value, read.words.get(name, ())) for name, value in asked.items())
        parts.append(f'<span class="vs-lead">{said("understood")}</span>{chips}')
    elif not is_empty:
        parts.append(f'<span class="vs-lead">{said("understood_nothing")}</span>')
    if read.unknown:
        words = escape(" · ".join(read.unknown))
        parts.append(
            f'<span class="vs-lead">{said("unknown_words")}</span><span class="vs-unknown">{words}</span>'
        )
    line = f'<p class="vs-understood">{"".join(parts)}</p>' if parts else ""
    return line + "".join(message("warning", both(notice.en, notice.zh)) for notice in notices)


def _chip(name: str, value: object, words: Sequence[str]) -> str:
    words_of_value = {language: shown(name, value, language) for language in ("en", "zh")}
    if name in ("gender", "emotion", *TIMBRE_NAMES):
        written = [word[:1].upper() + word[1:] for word in words_of_value.values()]
    else:
        written = [f"{say(name, language)} {word}" for language, word in words_of_value.items()]
    title = f' title="{escape(", ".join(words), quote=True)}"' if words else ""
    return f'<span class="vs-chip"{title}>{both(*written)}</span>'


def message(kind: str, inner: str) -> str:
    """A sentence set off from the page.

    Args:
        kind: `error`, `warning` or `info`.
        inner: Escaped HTML.
    """
    role = "alert" if kind == "error" else "status"
    return f'<div class="vs-message vs-{kind}" role="{role}"><span>{inner}</span></div>'


def error(problem: VoiceSculptorError) -> str:
    """What went wrong and what to do about it."""
    return message("error", both(*(problem.message(language) for language in ("en", "zh"))))


def progress(fractions: Sequence[float], inner: str) -> str:
    """One bar per candidate and a line below.

    Args:
        fractions: How far each candidate is, 0–1; a negative one has failed.
        inner: Escaped HTML.
    """
    bars = "".join(
        f'<i class="{"vs-failed" if fraction < 0 else ""}" style="--f:{max(0.0, fraction):.3f}"></i>'
        for fraction in fractions
    )
    return f'<div class="vs-progress"><div aria-hidden="true">{bars}</div><p role="status">{inner}</p></div>'


def card(
    candidate: Candidate, notices: Sequence[Notice] = (), report: str = "", rank: int | None = None
) -> str:
    """Facts about a candidate: length, speed of its making, seed, where its voice comes from.

    Args:
        candidate: Whose.
        notices: What to know about it.
        report: HTML of how far it did what was asked.
        rank: Its place among the candidates of its request, from 1; `None` while others are in the making.
    """
    line = f"<span>{candidate.audio.duration_s:.1f} s</span>"
    line += f'<span title="{spelled("rtf")}">RTF {candidate.rtf:.2f}</span>'
    line += f"<span>{said('seed_used', seed=candidate.seed)}</span>"
    if name := origin(candidate):
        line += f'<span class="vs-origin">{said("from_voice", name=name)}</span>'
    below = "".join(message("warning", both(notice.en, notice.zh)) for notice in notices)
    best = f'<em class="vs-best">{said("best")}</em>' if rank == 1 else ""
    placed = f'<i class="vs-rank" data-rank="{rank}"></i>' if rank else ""
    return _card_head(candidate.index) + best + placed + f'<p class="vs-facts">{line}</p>' + report + below


def failed_card(index: int, problem: VoiceSculptorError) -> str:
    """Why a candidate is missing."""
    return _card_head(index) + error(problem)


def _card_head(index: int) -> str:
    return f'<h3><b>{index + 1}</b><span class="vs-sr">{said("card", index=index + 1)}</span></h3>'


def origin(candidate: Candidate) -> str:
    """The stock voices that a candidate was blended from, where its state names them; else empty."""
    blend = candidate.voice.state.get("blend")
    if not isinstance(blend, Mapping):
        return ""
    if len(blend) == 1:
        return str(next(iter(blend)))
    return " + ".join(f"{name} {weight:.0%}" for name, weight in blend.items())
