from __future__ import annotations

import numpy as np
import pytest

from voice_sculptor.audio.measure import measure
from voice_sculptor.domain import AudioClip, Candidate, Voice
from voice_sculptor.errors import InvalidRequest, OutputError
from voice_sculptor.obedience import Obedience
from voice_sculptor.ui.shelf import Shelf

CLIP = AudioClip(np.zeros(1000, np.float32), 8000)
CANDIDATE = Candidate(
    index=0,
    seed=9,
    audio=CLIP,
    voice=Voice(name="v", engine="fake", state={}),
    measured=measure(CLIP),
    obedience=Obedience(()),
    rtf=0.1,
    ttfa_s=0.1,
)


def test_disk_use_is_bounded_and_the_newest_stays() -> None:
    shelf = Shelf(max_bytes=10_000)
    for _ in range(50):
        run = shelf.new_run()
        played, _, voice = shelf.put(run, CANDIDATE, "wav")
    used_bytes = sum(path.stat().st_size for path in shelf.path.rglob("*") if path.is_file())
    assert used_bytes <= 10_000 + 2 * 2_500
    assert played.exists()
    assert voice.exists()
    shelf.close()
    assert not shelf.path.exists()


def test_audio_that_was_cleared_away_is_a_sentence() -> None:
    shelf = Shelf(max_bytes=1)
    played, _, _ = shelf.put(shelf.new_run(), CANDIDATE, "wav")
    shelf.new_run()
    shelf.new_run()
    with pytest.raises(InvalidRequest):
        shelf.convert(played, "mp3")
    shelf.close()


def test_a_lost_folder_is_a_sentence() -> None:
    shelf = Shelf()
    shelf.close()
    shelf.path.write_text("in the way")
    with pytest.raises(OutputError) as caught:
        shelf.new_run()
    shelf.path.unlink()
    assert "TMPDIR" in caught.value.message("en")
