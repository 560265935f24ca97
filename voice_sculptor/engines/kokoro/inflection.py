"""English forms that no lexicon lists: plurals, past tenses, contractions of words it does list."""

from __future__ import annotations

from voice_sculptor.engines.kokoro.lexicon import Entry, Lexicon

_TAPPED_AFTER = frozenset("AIOWYiuæɑəɛɪɹʊʌ")
_CONTRACTIONS = {"'ll": "əl", "'ve": "əv", "n't": "ənt", "'re": "əɹ", "'d": "d", "'": ""}


def with_s(stem: str, *, british: bool) -> str:
    """Symbols of a word with the ending of a plural or possessive."""
    if stem.endswith(tuple("ptkfθ")):
        return stem + "s"
    if stem.endswith(tuple("szʃʒʧʤ")):
        return stem + ("ɪz" if british else "ᵻz")
    return stem + "z"


def with_ed(stem: str, *, british: bool) -> str:
    """Symbols of a word with the ending of the past."""
    if stem.endswith(tuple("pkfθʃsʧ")):
        return stem + "t"
    if not stem.endswith(("t", "d")):
        return stem + "d"
    if _taps(stem, british):
        return stem[:-1] + "ɾᵻd"
    return stem + ("ɪd" if british else "ᵻd")


def with_ing(stem: str, *, british: bool) -> str:
    """Symbols of a word with -ing."""
    if british and stem.endswith(("ə", "ː")):
        return stem + "ɹɪŋ"
    return (stem[:-1] + "ɾ" if _taps(stem, british) else stem) + "ɪŋ"


def _taps(stem: str, british: bool) -> bool:
    return not british and stem.endswith("t") and stem[-2:-1] in _TAPPED_AFTER


def find(word: str, words: Lexicon) -> Entry | None:
    """The lexicon's entry of a word, or the symbols of a form made from an entry.

    Args:
        word: Letters and apostrophes.
        words: The lexicon of the accent.
    """
    found = words.find(word)
    if found is not None:
        return found
    lower, british = word.lower(), words.british
    for ending, form in (("s", with_s), ("ed", with_ed), ("ing", with_ing)):
        if lower.endswith(ending):
            for stem in _stems(lower, ending):
                base = _base(words.find(stem), "DEFAULT" if ending == "s" else "VERB")
                if base:
                    return form(base, british=british)
    for ending, tail in _CONTRACTIONS.items():
        base = _base(words.find(lower.removesuffix(ending)), "DEFAULT") if lower.endswith(ending) else ""
        if base:
            return base + tail
    return None


def _base(entry: Entry | None, use: str) -> str:
    if entry is None or isinstance(entry, str):
        return entry or ""
    return entry.get(use) or entry["DEFAULT"] or ""


def _stems(word: str, ending: str) -> list[str]:
    """What a word may be a form of, the likeliest first."""
    if ending == "s":
        if word.endswith(("'s", "s'")):
            return [word[:-2], word[:-1]]
        stems = [] if word.endswith("ss") else [word[:-1]]
        stems += [word[:-3] + "y"] if word.endswith("ies") else []
        return stems + ([word[:-2]] if word.endswith("es") else [])
    stem = word.removesuffix(ending)
    if len(stem) < 3:
        return []
    stems = [stem + "e", stem] if ending == "ed" else [stem, stem + "e"]
    stems += [stem[:-1] + "y"] if stem.endswith("i") else []
    return stems + ([stem[:-1]] if stem[-1] == stem[-2] else [])
