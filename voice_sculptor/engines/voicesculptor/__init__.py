"""The Voice Sculptor engine: a language model (LLaSA) writes speech tokens, a codec (XCodec2) makes them sound.

`engine` ties the rooms together: `wording` (controls to tags and words), `vocabulary` and `prompt` (what the model
reads), `passes` (a long text as pieces), `takes` (a candidate in the making), `decoding` with `slots` and `sampling`
(what the model writes), `runaway` (what is never delivered), `codec` and its checkpoint and layout (tokens to sound),
`checkpoint`, `weights` and `hub` (files), `voice` (what is kept), `tiny` (a small model of the same layout).
"""
