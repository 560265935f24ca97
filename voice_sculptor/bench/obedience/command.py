"""`voice-sculptor bench obedience`: one table for each part."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from voice_sculptor.bench.obedience import cost, descriptions, presets, series, voices
from voice_sculptor.bench.obedience.renderings import PRESETS, TEXTS
from voice_sculptor.config import load_settings
from voice_sculptor.studio import Studio

PARTS = ("series", "presets", "descriptions", "voices", "cost")
_NUM_TEXTS = len(TEXTS["en"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="voice-sculptor bench obedience",
        description="Do the controls do what they say? Targets and bands are those of docs/obedience.md.",
    )
    parser.add_argument(
        "--part",
        choices=PARTS,
        action="append",
        help="series: each level of each control, in several texts, languages and presets; presets: every preset with "
        "its own text; descriptions: what descriptions state, read, spoken and measured; voices: candidates of one "
        "click compared, and a kept voice over texts (needs resemblyzer); cost: how much longer designing takes than "
        "speaking with the voice once it is kept. May be repeated; by default series and presets.",
    )
    parser.add_argument(
        "--control",
        choices=series.CONTROLS,
        action="append",
        help="series: only this control; may be repeated",
    )
    parser.add_argument(
        "--texts",
        type=int,
        default=_NUM_TEXTS,
        help=f"series: how many of the {_NUM_TEXTS} texts in each language",
    )
    parser.add_argument(
        "--presets",
        type=int,
        default=len(PRESETS),
        help=f"series: how many starting presets, at most {len(PRESETS)}; voices: how many presets",
    )
    parser.add_argument(
        "--descriptions",
        type=int,
        metavar="N",
        help="descriptions: the first N of each of the two tables; by default all",
    )
    parser.add_argument(
        "--seeds", type=int, default=5, help="cost: how many voices for each figure; by default 5"
    )
    parser.add_argument("--engine", default="kokoro", help="whose voices; by default kokoro")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    if not 1 <= options.texts <= _NUM_TEXTS:
        parser.error(f"--texts must be 1 to {_NUM_TEXTS}")
    if min(options.presets, options.seeds) < 1 or (
        options.descriptions is not None and options.descriptions < 1
    ):
        parser.error("--presets, --descriptions and --seeds must be at least 1")
    measure: dict[str, Callable[[Studio], tuple[Any, str]]] = {
        "series": lambda studio: _series(
            studio, options.texts, options.presets, options.control or series.CONTROLS
        ),
        "presets": _presets,
        "descriptions": lambda studio: _descriptions(studio, options.descriptions),
        "voices": lambda studio: _voices(studio, options.presets),
        "cost": lambda studio: _cost(studio, options.seeds),
    }
    figures: dict[str, Any] = {}
    with Studio(load_settings(engine=options.engine, history_bytes=0)) as studio:
        for part in PARTS:
            if part in (options.part or ("series", "presets")):
                figures[part], text = measure[part](studio)
                if not options.json:
                    sys.stdout.write(text + "\n\n")
                    sys.stdout.flush()
    if options.json:
        sys.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")


def _series(studio: Studio, num_texts: int, num_presets: int, controls: Sequence[str]) -> tuple[Any, str]:
    rows = list(series.series(studio, num_texts, num_presets, controls))
    return [asdict(row) for row in rows], series.report(rows)


def _presets(studio: Studio) -> tuple[Any, str]:
    outcomes = list(presets.all_presets(studio))
    return [asdict(outcome) for outcome in outcomes], presets.report(outcomes)


def _descriptions(studio: Studio, num_each: int | None) -> tuple[Any, str]:
    outcomes = list(descriptions.descriptions(studio, num_each))
    figures = {
        "tallies": [asdict(row) | {"share": row.share} for row in descriptions.tallies(outcomes)],
        "descriptions": [asdict(outcome) for outcome in outcomes],
    }
    return figures, descriptions.report(outcomes)


def _voices(studio: Studio, num_presets: int) -> tuple[Any, str]:
    figures = voices.likeness(studio, num_presets)
    return figures, "\n".join(f"{name}: {value:.3f}" for name, value in figures.items())


def _cost(studio: Studio, num_seeds: int) -> tuple[Any, str]:
    rows = list(cost.cost(studio, num_seeds))
    return [asdict(row) | {"median": row.median} for row in rows], cost.report(rows)
