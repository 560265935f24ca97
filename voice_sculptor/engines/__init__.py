"""Engines: one file or folder each, found through the registry."""
