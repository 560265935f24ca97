"""Starts the page: `python app.py --port 7860` is `voice-sculptor serve --port 7860`.

Any other command of the command line works too: `python app.py presets`.
"""

from __future__ import annotations

import sys


def arguments(given: list[str]) -> list[str]:
    """Arguments of the command line; without a command they are those of `serve`."""
    if given and (given[0] == "--version" or not given[0].startswith("-")):
        return given
    return ["serve", *given]


if __name__ == "__main__":
    from voice_sculptor.cli import main

    sys.exit(main(arguments(sys.argv[1:])))
