"""What libsndfile leaves open in two containers: Unicode tags in MP3, and equal bytes for equal audio in Ogg."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

_ID3_FRAMES = {
    "title": b"TIT2",
    "artist": b"TPE1",
    "album": b"TALB",
    "comment": b"COMM",
    "copyright": b"TCOP",
    "date": b"TDRC",
    "genre": b"TCON",
    "software": b"TSSE",
}
TAG_NAMES: tuple[str, ...] = tuple(_ID3_FRAMES)
"""Tags that every format can carry."""

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_OGG_SERIAL = b"VScu"


def id3_tag(tags: Mapping[str, str]) -> bytes:
    """An ID3v2.4 tag in UTF-8, to stand before the first MP3 frame; empty for no tags.

    libsndfile hands tags to LAME as Latin-1, which garbles anything beyond ASCII.

    Args:
        tags: Text by name, names out of `TAG_NAMES`.
    """
    frames = b""
    for name, text in tags.items():
        # Encoding 3 is UTF-8; a comment has a language and an empty short description before its text.
        body = b"\x03" + (b"und\x00" if name == "comment" else b"") + text.encode()
        frames += _ID3_FRAMES[name] + _syncsafe(len(body)) + b"\x00\x00" + body
    return b"ID3\x04\x00\x00" + _syncsafe(len(frames)) + frames if frames else b""


def with_fixed_serial(ogg: bytes) -> bytes:
    """The same Ogg stream under a constant serial number, which libsndfile draws at random.

    Args:
        ogg: Whole pages of one logical stream (RFC 3533).
    """
    pages, start = [], 0
    while start < len(ogg):
        num_segments = ogg[start + 26]
        body = start + 27 + num_segments
        end = body + sum(ogg[start + 27 : body])
        page = bytearray(ogg[start:end])
        page[14:18] = _OGG_SERIAL
        page[22:26] = bytes(4)
        page[22:26] = _ogg_crc(page).to_bytes(4, "little")
        pages.append(page)
        start = end
    return b"".join(pages)


def _ogg_crc(page: bytes | bytearray) -> int:
    # Ogg's CRC is zlib's with the bit order turned round, started from 0 and not inverted at the end.
    reflected = zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{reflected:032b}"[::-1], 2)


def _syncsafe(number: int) -> bytes:
    return bytes(number >> shift & 0x7F for shift in (21, 14, 7, 0))
