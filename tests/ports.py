"""Ports for servers of tests, of which several processes may start some at once."""

from __future__ import annotations

import socket


def free_port(host: str = "127.0.0.1") -> int:
    """One that the system has just handed out, so that no other process gets the same."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
