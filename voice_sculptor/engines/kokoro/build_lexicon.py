"""Pack the English lexicons of misaki into the files that `lexicon` reads.

    pip download --no-deps misaki==0.9.4
    python -m voice_sculptor.engines.kokoro.build_lexicon misaki-0.9.4-py3-none-any.whl

misaki (hexgrad/misaki, Apache-2.0) is the phonemiser Kokoro was trained with. Its gold lexicon was made by hand, its
silver one by machine; where both know a word, gold counts.
"""

from __future__ import annotations

import json
import lzma
import sys
import zipfile
from pathlib import Path

import yaml


def pack(wheel: Path, accent: str) -> bytes:
    """One accent as xz-compressed lines of spelling, tab, pronunciation.

    Args:
        wheel: The misaki wheel.
        accent: `us` or `gb`.
    """
    merged: dict[str, str] = {}
    with zipfile.ZipFile(wheel) as archive:
        for grade in ("silver", "gold"):
            for word, said in json.loads(archive.read(f"misaki/data/{accent}_{grade}.json")).items():
                uses = (
                    said
                    if isinstance(said, str)
                    else " ".join(f"{use}={symbols or ''}" for use, symbols in said.items())
                )
                merged[word] = uses
    names = yaml.safe_load(Path(__file__).with_name("names.yaml").read_text(encoding="utf-8"))
    merged.update(names if accent == "us" else {name: _british(said) for name, said in names.items()})
    lines = "\n".join(f"{word}\t{said}" for word, said in sorted(merged.items()))
    return lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME)


def _british(symbols: str) -> str:
    """American symbols the way British speakers say them: no r before a consonant, longer vowels, no tap."""
    for american, british in (("ɜɹ", "ɜː"), ("əɹ", "ə"), ("ɑɹ", "ɑː"), ("ɔɹ", "ɔː"), ("O", "Q"), ("ɾ", "t")):
        symbols = symbols.replace(american, british)
    return symbols


def main(wheel: str) -> None:
    """Write both lexicons beside this module."""
    for accent in ("us", "gb"):
        Path(__file__).with_name(f"lexicon_{accent}.tsv.xz").write_bytes(pack(Path(wheel), accent))


if __name__ == "__main__":
    main(sys.argv[1])
