"""Sound itself: files, loudness, measurements."""
