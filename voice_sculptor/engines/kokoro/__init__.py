"""The embedded engine: Kokoro-82M on plain torch, with the prosody in the open.

`engine` ties the rooms together: `phonemes` (text to symbols), `atlas` and `design` (who speaks), `model` and `decoder`
(the network), `prosody` (edits between the two), `joining` (pieces to one flow), `weights`, `convert` and `checkpoint`
(files).
"""
