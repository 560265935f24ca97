"""Words: what a description asks for, and text made ready to be spoken."""
