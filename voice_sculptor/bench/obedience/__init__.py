"""`voice-sculptor bench obedience`: do the controls, presets and descriptions get what they ask for?"""

from voice_sculptor.bench.obedience.renderings import PRESETS, TEXTS, make

__all__ = ["PRESETS", "TEXTS", "make"]
