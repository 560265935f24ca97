"""What an ordinary voice measures, and candidates that measure like it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voice_sculptor.audio.measure import Measurements
from voice_sculptor.controls import Controls
from voice_sculptor.domain import AudioClip, Candidate, Voice
from voice_sculptor.obedience import judge
from voice_sculptor.targets import usual_f0_hz, usual_hnr_db, usual_tract_cm
from voice_sculptor.timbre import Timbre

F0_HZ = usual_f0_hz("female", None)
WOMAN = Measurements(
    duration_s=5.0,
    speech_s=4.5,
    f0_hz=F0_HZ,
    f0_sd_st=3.2,
    voiced_share=0.65,
    hnr_db=usual_hnr_db(F0_HZ),
    jitter=1.0,
    tilt_db=-10.0,
    tract_cm=usual_tract_cm("female", None),
    loudness_lufs=-22.0,
    true_peak_dbtp=-3.0,
    syllables_per_s=5.0,
    syllables_from="text",
)
REFERENCE = {"f0_hz": F0_HZ, "f0_sd_st": 3.2, "syllables_per_s": 5.0, "tilt_db": -10.0}


def rendered(
    controls: Controls | None = None, timbre: Timbre | None = None, **changes: float | None
) -> Candidate:
    """A woman's voice that was read as asked and measures as usual, save for the changes."""
    controls, timbre = controls or Controls(), timbre or Timbre()
    measured = replace(WOMAN, **changes)  # type: ignore[arg-type]
    return Candidate(
        index=0,
        seed=1,
        audio=AudioClip(np.zeros(100, np.float32), 16_000),
        voice=Voice(name="v", engine="fake", state={}),
        measured=measured,
        obedience=judge(controls, timbre, measured, "en", REFERENCE),
        rtf=1.0,
        ttfa_s=1.0,
    )
