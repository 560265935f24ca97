"""Who may use the server: keys, logins and addresses as they are written in settings.

Secrets are kept as SHA-256 only, so that settings can be printed and logged.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from voice_sculptor.errors import ConfigError

HASH_PREFIX = "sha256:"
MIN_KEY_CHARS = 8

_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?")
_ROOT_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*/?")


def split(value: Any) -> Any:
    """One string as the values between its commas and spaces; anything else as it is."""
    return (
        tuple(re.split(r"[,\s]+", value.strip())) if isinstance(value, str) and value.strip() else value or ()
    )


def hash_secret(secret: str) -> str:
    """A key or password as it is kept, `sha256:…`."""
    return HASH_PREFIX + hashlib.sha256(secret.encode()).hexdigest()


def is_one_of(secret: str, hashes: tuple[str, ...]) -> bool:
    """Whether a secret has one of these hashes; takes as long whichever it is, and if it is none."""
    given = hash_secret(secret)
    found = False
    for each in hashes:
        found |= hmac.compare_digest(given, each)
    return found


def hashed_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Keys, plain or hashed, as hashes.

    Raises:
        ValueError: One is too short to be a secret, or is no SHA-256.
    """
    for key in keys:
        if len(key) < MIN_KEY_CHARS:
            raise ValueError(f"a key needs at least {MIN_KEY_CHARS} characters")
    return tuple(map(_hashed, keys))


def hashed_logins(logins: tuple[str, ...]) -> tuple[str, ...]:
    """`USER:PASSWORD` or `USER:sha256:…`, all as the latter.

    Raises:
        ValueError: There is no user, or a password too short to be one.
    """
    kept = []
    for login in logins:
        user, _, password = login.partition(":")
        if not user or len(password) < MIN_KEY_CHARS:
            raise ValueError(f"a login is USER:PASSWORD, the password at least {MIN_KEY_CHARS} characters")
        kept.append(f"{user}:{_hashed(password)}")
    return tuple(kept)


def networks(given: tuple[str, ...]) -> tuple[str, ...]:
    """Addresses and networks, e.g. `10.0.0.0/8`, in their usual spelling.

    Raises:
        ValueError: One is neither.
    """
    return tuple(str(ipaddress.ip_network(each, strict=False)) for each in given)


def hosts(given: tuple[str, ...]) -> tuple[str, ...]:
    """Names and addresses in lower case, or `*`; brackets around an IPv6 address go.

    Raises:
        ValueError: One has a scheme, a port or a path.
    """
    kept = tuple(each.lower().removeprefix("[").removesuffix("]").removesuffix(".") for each in given)
    for each in kept:
        if each != "*" and not _HOST.fullmatch(each):
            try:
                ipaddress.ip_address(each)
            except ValueError:
                raise ValueError("a host is a name or an address alone, e.g. studio.example.org") from None
    return kept


def host_in(header: str) -> str:
    """The host of a `Host` header as `hosts` spells it, without its port; empty where it is none."""
    host, _, port = header.strip().lower().rpartition(":")
    if not host or port.endswith("]"):
        host = header.strip().lower()
    try:
        return hosts((host,))[0]
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Whether a name or an address is always this machine, whoever asks."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def origins(given: tuple[str, ...]) -> tuple[str, ...]:
    """Origins such as `https://example.org`, or `*`.

    Raises:
        ValueError: One has a path, or no scheme.
    """
    for each in given:
        parts = urlsplit(each)
        if each != "*" and f"{parts.scheme}://{parts.netloc}" != each:
            raise ValueError("an origin is a scheme and a host, e.g. https://example.org")
    return given


def root_path(path: str) -> str:
    """A path without the slash at its end.

    Raises:
        ValueError: It does not start with a slash or has odd characters.
    """
    if not _ROOT_PATH.fullmatch(path):
        raise ValueError("a root path looks like /voice")
    return path.rstrip("/")


def keys_in(path: Path | None) -> tuple[str, ...]:
    """The keys of a file, hashed; one a line, empty lines and those that begin with `#` left out.

    Raises:
        ConfigError: It cannot be read, or a key is too short.
    """
    if path is None:
        return ()
    try:
        lines = path.read_text("utf-8").split("\n")
        return hashed_keys(tuple(line.strip() for line in lines if line.strip() and line.strip()[0] != "#"))
    except (OSError, ValueError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise ConfigError(
            f"The API keys cannot be read from {path}: {why}.",
            f"无法从 {path} 读取 API 密钥：{why}。",
            fix_en="Give a text file with one key a line.",
            fix_zh="请提供每行一个密钥的文本文件。",
        ) from None


def _hashed(secret: str) -> str:
    if not secret.startswith(HASH_PREFIX):
        return hash_secret(secret)
    if not _HASH.fullmatch(secret):
        raise ValueError("after sha256: come 64 hexadecimal digits in lower case")
    return secret
