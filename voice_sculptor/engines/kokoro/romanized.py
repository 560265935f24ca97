"""Chinese names in Latin letters, said the way English speakers do."""

from __future__ import annotations

import re

_INITIALS_TABLE = """
b=b p=p m=m f=f d=d t=t n=n l=l g=ɡ k=k h=h j=ʤ q=ʧ x=ʃ zh=ʤ ch=ʧ sh=ʃ r=ɹ z=z c=ts s=s y=j w=w
"""
# The stress goes where the 0 stands.
_FINALS_TABLE = """
a=0ɑ ai=0I an=0ɑn ang=0ɑŋ ao=0W e=0ə ei=0A en=0ən eng=0ʌŋ er=0ɑɹ o=0O ong=0ʊŋ ou=0O
i=0i ia=j0ɑ ian=j0ɛn iang=j0ɑŋ iao=j0W ie=j0A in=0ɪn ing=0ɪŋ iong=j0ʊŋ iu=j0O
u=0u ua=w0ɑ uai=w0I uan=w0ɑn uang=w0ɑŋ ue=w0A ui=w0A un=w0ən uo=w0O
"""
_INITIALS: dict[str, str] = dict(re.findall(r"(\S+)=(\S+)", _INITIALS_TABLE))
_FINALS: dict[str, str] = dict(re.findall(r"(\S+)=(\S+)", _FINALS_TABLE))
_SYLLABLE = (
    rf"({'|'.join(sorted(_INITIALS, key=len, reverse=True))})"
    rf"({'|'.join(sorted(_FINALS, key=len, reverse=True))})(?![aeiou])"
)
_NAME = re.compile(f"(?:{_SYLLABLE}){{1,4}}")
_UNLIKE_ENGLISH = re.compile("zh|x|q|[aeio]ng|ao|ian|iu|u[aeio]|ei")


def read_romanized(word: str) -> str:
    """Symbols of a name in pinyin; nothing where the word looks like no such name.

    Args:
        word: Latin letters.
    """
    lower = word.lower()
    if not _NAME.fullmatch(lower) or not _UNLIKE_ENGLISH.search(lower):
        return ""
    syllables = re.findall(_SYLLABLE, lower)
    said = ""
    for place, (initial, final) in enumerate(syllables, start=1):
        vowel = _FINALS[final]
        if vowel[0] == "j" and _INITIALS[initial][-1] in "ʤʧʃj":
            vowel = vowel[1:]
        if final == "i" and initial in ("zh", "ch", "sh", "r"):
            vowel = "0ɜɹ"
        elif final == "i" and initial in ("z", "c", "s"):
            vowel = "0ə"
        # The last syllable is stressed most, as in Beijing.
        said += _INITIALS[initial] + vowel.replace(
            "0", "ˈ" if place == len(syllables) else "ˌ" if place == 1 else ""
        )
    return said
