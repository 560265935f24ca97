"""`python -m voice_sculptor` is the `voice-sculptor` command."""

import sys

from voice_sculptor.cli import main

if __name__ == "__main__":
    sys.exit(main())
