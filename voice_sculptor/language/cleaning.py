"""What was typed or pasted, reduced to what can be read aloud. Markup never becomes control."""

from __future__ import annotations

import html
import re
import unicodedata
from itertools import pairwise

_SPECIAL_TOKEN = re.compile(r"<\|[^<>|\n]{0,60}\|>")
_TAG = re.compile(
    r"</?(?:a|abbr|article|audio|b|big|blockquote|body|br|button|center|code|del|div|em|font|footer|form|h[1-6]|"
    r"head|header|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|meta|nav|ol|p|pre|s|script|section|"
    r"small|span|strike|strong|style|sub|sup|svg|table|tbody|td|th|thead|title|tr|tt|u|ul|video|"
    r"speak|voice|prosody|break|emphasis|phoneme|say-as|lexicon)(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE,
)
_BLOCK_TAG = re.compile(r"</?(?:br|p|div|li|h[1-6]|tr|hr)\b", re.IGNORECASE)
_UNREAD_BLOCK = re.compile(r"<(script|style)\b[^<>]{0,500}>.{0,2000}?</\1>", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,10});")
_LINK = re.compile(r"!?\[([^\[\]\n]{1,200})\]\([^()\s]{0,500}\)")
_LINE_MARK = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|>+[ \t]*|[*+•·▪‣-][ \t]+|```\w*[ \t]*$|[-*_=]{3,}[ \t]*$)", re.MULTILINE
)
_EMPHASIS = re.compile(
    r"(?<![\w)])\*{1,3}(?=\S)|(?<=\S)\*{2,3}(?!\d)|(?<=[^\s\d])\*(?!\w)|`+|~~|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)"
)

# Blocks whose compatibility form is what is meant: fullwidth and mathematical letters, enclosed
# numbers, unit squares, fractions, ligatures, radicals. Elsewhere NFKC would lose meaning (m² → m2).
_COMPATIBLE = re.compile(
    "[\u00bc-\u00be\u2100-\u2121\u2123-\u214f\u2150-\u215f\u2160-\u217f\u2460-\u24ff\u2e80-\u2fdf\u3200-\u33ff"
    "\ufb00-\ufb06\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff02-\uff07\uff0a\uff0b\uff0d\uff0f\uff1c-\uff1e"
    "\uff20\uff3b-\uff40\uff5b-\uff5d\uffe0-\uffe6\U0001d400-\U0001d7ff]"
)
_ROMAN = {chr(0x2160 + i): str(i + 1) for i in range(12)} | {chr(0x2170 + i): str(i + 1) for i in range(12)}
_MEANT = str.maketrans(
    dict.fromkeys("‘’‚‛′`´ʼ", "'")
    | dict.fromkeys("‐‑‒−﹣", "-")
    | dict.fromkeys("―⸺─━", "—")
    | dict.fromkeys("〜～∼", "~")
    | dict.fromkeys("→⇒←↔➜➔➡", "，")
    | dict.fromkeys("\u2028\x0b\x85\r", "\n")
    | dict.fromkeys("\u2029\x0c", "\n\n")
    | dict.fromkeys("⁄∕", "/")
    | dict.fromkeys("º˚", "°")
    | dict.fromkeys("„‟«", "“")
    | {
        "¥": "￥",
        "″": '"',
        "»": "”",
        "∶": ":",
        "․": ".",
        "‥": "…",
        "⋯": "…",
        "﹐": "，",
        "﹑": "、",
        "．": ".",
    }
    | {"｡": "。", "､": "、", "µ": "μ"}
)
_WRAPPED_CHARS = 40
_KEPT_SYMBOLS = frozenset("°^'|")
_DROPPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "So", "Sk"})


def _tag_space(match: re.Match[str]) -> str:
    return "\n" if _BLOCK_TAG.match(match.group()) else ""


def _compatible(match: re.Match[str]) -> str:
    char = match.group()
    return _ROMAN.get(char) or unicodedata.normalize("NFKC", char).replace("\u2044", "/")


def _readable(char: str) -> str:
    if char in "\n\t" or char in _KEPT_SYMBOLS:
        return char
    category = unicodedata.category(char)
    if category in _DROPPED_CATEGORIES or category == "Me" or "\ufe00" <= char <= "\ufe0f":
        # Emoji become a space (they stand between words); invisible characters vanish inside a word.
        return " " if category == "So" else ""
    return " " if category == "Zs" else char


def _unwrap(text: str) -> str:
    """Join the lines of an English sentence that was wrapped at a fixed width."""
    lines = text.split("\n")
    joined = lines[:1]
    for before, line in pairwise(lines):
        if len(before) < _WRAPPED_CHARS or not re.match(r"[a-z(\"“']", line):
            joined.append("\n" + line)
        elif re.search(r"[a-z]-$", before):
            joined[-1] = joined[-1][:-1]
            joined.append(line)
        else:
            joined.append((" " if re.search(r"[A-Za-z,;']$", before) else "\n") + line)
    return "".join(joined)


def clean(text: str) -> str:
    """What can be read aloud of a text, in one canonical spelling.

    Unicode NFC; zero-width, bidirectional and control characters, emoji and markup are gone; fullwidth letters, digits
    and signs are plain ones (Chinese punctuation stays); apostrophes, dashes and line ends have one form; a line
    broken inside an English sentence is joined. A blank line stays as the border of a paragraph.

    Args:
        text: Any text, up to any length; linear time.
    """
    text = text.replace("\r\n", "\n")
    text = _COMMENT.sub(" ", _SPECIAL_TOKEN.sub(" ", text))
    text = _TAG.sub(_tag_space, _UNREAD_BLOCK.sub(" ", text))
    text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    text = _SPECIAL_TOKEN.sub(" ", text)
    text = _EMPHASIS.sub("", _LINE_MARK.sub("", _LINK.sub(r"\1", text)))
    text = re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", " ", text)
    text = _COMPATIBLE.sub(_compatible, text).translate(_MEANT)
    text = "".join(map(_readable, unicodedata.normalize("NFC", text)))
    text = re.sub(r"(?<=\d)：(?=\d)", ":", text)
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r" ?\n ?", "\n", text)
    text = _unwrap(text)
    text = re.sub(r"\n{3,}", "\n\n", text)
    return text.strip()
