"""Measurements anyone can repeat: `voice-sculptor bench …`."""
