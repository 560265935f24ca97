"""The HTTP API: one more skin over the studio."""
