"""Starts the page: `python app.py --port 7860` is `voice-sculptor serve --port 7860`.

Any other command of the command line works too: `python app.py presets`.
"""

from __future__ import annotations

import sys


def arguments(given: list[str]) -> list[str]:
    """Arguments of the command line; without a command they are those of `serve`."""
    # The one option that stands before a command.
    num_before = 0
    if given:
        num_before = 2 if given[0] == "--ui-lang" else int(given[0].startswith("--ui-lang="))
    before, rest = given[:num_before], given[num_before:]
    if rest and (rest[0] == "--version" or not rest[0].startswith("-")):
        return given
    return [*before, "serve", *rest]


if __name__ == "__main__":
    from voice_sculptor.cli import main

    sys.exit(main(arguments(sys.argv[1:])))
