"""What an ordinary voice measures."""

from __future__ import annotations

from voice_sculptor.audio.measure import Measurements
from voice_sculptor.targets import usual_f0_hz, usual_hnr_db, usual_tract_cm

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
