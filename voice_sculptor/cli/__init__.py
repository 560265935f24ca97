"""The command line, `voice-sculptor`.

A skin over the studio. Nothing slow is imported here: each command imports what it needs when it runs.
"""

from voice_sculptor.cli.app import main

__all__ = ["main"]
