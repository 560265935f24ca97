"""How fast the Voice Sculptor engine decodes, on models of random weights: `voice-sculptor bench decoding`."""
