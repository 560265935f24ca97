"""Who is answered: addresses, keys and how often. Without settings, everyone who can reach the server."""

from __future__ import annotations

import base64
import binascii
import hashlib
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from voice_sculptor import access
from voice_sculptor.api.errors import ForbiddenAddress, ForbiddenHost, MissingKey, TooManyRequests

if TYPE_CHECKING:
    from voice_sculptor.api.caller import Caller
    from voice_sculptor.config import Settings

_MAX_CLIENTS = 10_000
_LOGINS_A_MINUTE = 20
"""Tries of one address, right or wrong."""


class Guard:
    """Decides on every request before anything of it is read.

    Args:
        settings: Keys, logins, networks and rates.
        clock: Seconds, for tests.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._keys = (*settings.api_keys, *access.keys_in(settings.api_keys_file))
        self._logins = settings.page_login
        self._networks = tuple(map(ipaddress.ip_network, settings.allow_ip))
        self._hosts = settings.allow_hosts
        self._is_private = (
            access.is_loopback(settings.host) and not settings.page_login and not settings.trusted_proxies
        )
        self._rates = Rates(settings.rate_limit, clock) if settings.rate_limit else None
        self._tries = Rates(_LOGINS_A_MINUTE, clock)

    @property
    def needs_key(self) -> bool:
        """Whether the API answers to keys or logins only."""
        return bool(self._keys or self._logins)

    def check_address(self, address: str) -> None:
        """Let an address in or not.

        Raises:
            ForbiddenAddress: It is in none of the networks.
        """
        if not self._networks:
            return
        try:
            ip = ipaddress.ip_address(address)
        except ValueError:
            raise ForbiddenAddress from None
        mapped = getattr(ip, "ipv4_mapped", None)
        if not any((mapped or ip) in network for network in self._networks):
            raise ForbiddenAddress

    def check_host(self, header: str) -> None:
        """Let a request in or not by the name that the server was called by.

        A server that asks for no login relies on being reached from this machine alone. A page of another site can get
        around that: its own name is made to lead here, and the browser then takes the two for one site. So without a
        list such a server answers to its loopback names alone.

        Raises:
            ForbiddenHost: It is none of them.
        """
        host = access.host_in(header)
        if (not self._hosts and not self._is_private) or access.is_loopback(host):
            return
        if host not in self._hosts and "*" not in self._hosts:
            raise ForbiddenHost(header[:100])

    def check_key(self, headers: Mapping[bytes, bytes], caller: Caller) -> None:
        """Ask for a key or a login where there are any; turns and rates then go by it.

        Raises:
            MissingKey: There is none, or it is wrong.
            TooManyRequests: Too many were wrong.
        """
        if not self.needs_key:
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        secret = given.strip().decode("utf-8", "replace")
        if scheme.lower() == b"bearer" and access.is_one_of(secret, self._keys):
            caller.client = "key:" + hashlib.sha256(secret.encode()).hexdigest()[:16]
        elif scheme.lower() == b"basic" and self._is_login(secret):
            caller.client = "login:" + _decoded(secret)[0]
        else:
            if given:
                self.check_try(caller)
            raise MissingKey

    def check_rate(self, caller: Caller) -> None:
        """Count a request that is to be worked on.

        Raises:
            TooManyRequests: With the seconds to wait.
        """
        if self._rates is not None:
            self._rates.take(caller.client)

    def check_try(self, caller: Caller) -> None:
        """Count a try to log in.

        Raises:
            TooManyRequests: With the seconds to wait.
        """
        self._tries.take(caller.client)

    def _is_login(self, secret: str) -> bool:
        return is_login(*_decoded(secret), self._logins)


def is_login(user: str, password: str, logins: tuple[str, ...]) -> bool:
    """Whether a user has this password; takes as long whichever is wrong."""
    known = tuple(access.hash_secret(login) for login in logins)
    return access.is_one_of(f"{user}:{access.hash_secret(password)}", known)


class Rates:
    """How many requests each client has left: as many as a minute holds at once, refilled evenly.

    Args:
        per_minute: Requests.
        clock: Seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Take one of a client's.

        Raises:
            TooManyRequests: None is left.
        """
        now_s = self._clock()
        left, at_s = self._left.pop(client, (float(self._per_minute), now_s))
        left = min(float(self._per_minute), left + (now_s - at_s) * self._per_minute / 60.0)
        is_taken = left >= 1.0
        self._left[client] = (left - 1.0 if is_taken else left, now_s)
        if len(self._left) > _MAX_CLIENTS:
            self._left.popitem(last=False)
        if not is_taken:
            raise TooManyRequests((1.0 - left) * 60.0 / self._per_minute)


def _decoded(secret: str) -> tuple[str, str]:
    try:
        user, _, password = base64.b64decode(secret, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return "", ""
    return user, password
