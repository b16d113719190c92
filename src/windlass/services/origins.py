"""Whether a changed address still leads to the server that a secret was given for."""

import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}


def moved(before: str, after: str) -> bool:
    return before != after and not same_origin(before, after)


def same_origin(one: str, other: str) -> bool:
    """Same scheme, host and port, however they are spelled. What cannot be read is no origin at all."""
    origin = _origin(one)
    return origin is not None and origin == _origin(other)


def _origin(address: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(address.strip())
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        return (parts.scheme, _host(parts.hostname or ""), port) if parts.hostname else None
    except (ValueError, KeyError):  # a port out of range, a bracket left open, a scheme that is not http
        return None


def _host(name: str) -> str:
    with suppress(ValueError):
        return str(ipaddress.ip_address(name))
    return name.rstrip(".").encode("idna").decode().lower()
