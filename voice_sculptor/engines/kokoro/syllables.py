"""Pinyin syllables as the tone-marked symbols that the model was trained on (misaki 0.9, Chinese of Kokoro v1.0)."""

from __future__ import annotations

import re
from functools import lru_cache

_INITIALS_TABLE = """
b=p p=pʰ m=m f=f d=t t=tʰ n=n l=l g=k k=kʰ h=x j=ʨ q=ʨʰ x=ɕ zh=ꭧ ch=ꭧʰ sh=ʂ r=ɻ z=ʦ c=ʦʰ s=s
"""
# The tone goes where the 0 stands.
_FINALS_TABLE = """
a=a0 ai=ai0 an=a0n ang=a0ŋ ao=au0 e=ɤ0 ei=ei0 en=ə0n eng=ə0ŋ er=ɚ0 o=wo0 ong=ʊ0ŋ ou=ou0
i=i0 ia=ja0 ian=jɛ0n iang=ja0ŋ iao=jau0 ie=je0 in=i0n ing=i0ŋ iong=jʊ0ŋ iou=jou0
u=u0 ua=wa0 uai=wai0 uan=wa0n uang=wa0ŋ uei=wei0 uen=wə0n ueng=wə0ŋ uo=wo0
ü=y0 üe=ɥe0 üan=ɥɛ0n ün=y0n
"""
_INTERJECTIONS_TABLE = "o=ɔ0 ê=ɛ0 yo=jɔ0 n=n0 m=m0 ng=ŋ0 hm=hm0 hng=hŋ0"
_TONES = {"1": "→", "2": "↗", "3": "↓", "4": "↘", "5": ""}


def _table(text: str) -> dict[str, str]:
    return dict(re.findall(r"(\S+)=(\S+)", text))


_INITIALS, _FINALS, _INTERJECTIONS = map(_table, (_INITIALS_TABLE, _FINALS_TABLE, _INTERJECTIONS_TABLE))
_APICAL = frozenset({"zh", "ch", "sh", "r", "z", "c", "s"})


@lru_cache(maxsize=4096)
def syllable(pinyin: str) -> str:
    """Symbols of one syllable.

    Args:
        pinyin: With its tone as a last digit, 5 for none: `"zhuang1"`, `"lv4"`.

    Returns:
        The symbols; nothing where it is no syllable.
    """
    from pypinyin.contrib.tone_convert import to_finals, to_initials

    plain, tone = pinyin[:-1], _TONES.get(pinyin[-1:])
    if not plain or tone is None:
        return ""
    if plain in _INTERJECTIONS:
        return _INTERJECTIONS[plain].replace("0", tone)
    initial, final = to_initials(plain, strict=True), to_finals(plain, strict=True, v_to_u=True)
    if (initial and initial not in _INITIALS) or final not in _FINALS:
        return ""
    vowel = "ɨ0" if final == "i" and initial in _APICAL else _FINALS[final]
    return _INITIALS.get(initial, "") + vowel.replace("0", tone)
