"""Voice Sculptor: an open studio for designing voices.

The package imports no model library. `voice_sculptor.studio.Studio` is the way in for programs.
"""

__version__ = "0.1.0"
