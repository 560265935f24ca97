"""A process that is killed at any point of its work leaves a library that is whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.library.making import clip, faults, files, made, voice
from tests.library.test_store import age
from voice_sculptor.library.store import Library


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_killed_before_every_step(root: Path, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.library.killed", str(tmp_path)]
    done = subprocess.run(program, cwd=root, capture_output=True, text=True, timeout=250)
    assert (done.returncode, done.stderr) == (0, "")
    folders = sorted(tmp_path.iterdir())
    assert len(folders) > 100, "the scenario has more steps than that"
    states: set[tuple[tuple[str, ...], int]] = set()
    for folder in folders:
        # The next process opens what the killed one left, works with it, and sweeps what is nobody's.
        with Library(folder) as library:
            states.add((tuple(each.name for each in library.voices()), len(library.recordings())))
            for each in library.voices():
                assert each.sample is not None
                assert library.audio(each.sample).is_file()
            for recording in library.recordings():
                assert library.audio(recording.audio).is_file()
            library.keep(voice(), "next", clip(8))
            library.record(*made(9))
        assert faults(folder) == [], folder.name
        age(folder)
        with Library(folder) as library:
            samples = {each.sample for each in (*library.voices(), *library.deleted())} - {None}
            clips = {recording.audio for recording in library.recordings()}
        assert files(folder) == samples | clips, folder.name
        assert not list((folder / "audio").glob("*/.*")), folder.name
    # It died in all stages: before anything, with one voice, with both, renamed, with recordings …
    assert ((), 0) in states
    assert (("second", "first"), 0) in states
    assert (("second", "renamed"), 2) in states
    assert (("second",), 0) in states
