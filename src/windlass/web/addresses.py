"""The names and addresses of this machine, for a server that listens on all of them."""

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import suppress

# Documentation networks: asking which address would be used to reach them sends nothing.
_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}


def is_everywhere(host: str) -> bool:
    """`0.0.0.0` and `::`: addresses to listen on, and none to be reached by."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified
    return False


def machine_names() -> list[str]:
    """As neighbours call it: plain, and as mDNS has it."""
    name = socket.gethostname().lower().removesuffix(".")
    if not name or name == "localhost":
        return []
    return [name] if "." in name else [name, f"{name}.local"]


def reachable_at(host: str) -> list[str]:
    """What a browser can be pointed at, without the port: this machine first, then its network, then its name."""
    if not is_everywhere(host):
        return [in_url(host)]
    families = [socket.AF_INET, socket.AF_INET6] if ":" in host else [socket.AF_INET]
    return list(dict.fromkeys(["127.0.0.1", *map(in_url, _addresses(families)), *_resolving(machine_names())]))


def in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _addresses(families: list[socket.AddressFamily]) -> Iterator[str]:
    for family in families:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((_ELSEWHERE[family], 9))
            address = str(probe.getsockname()[0])
            if not ipaddress.ip_address(address).is_loopback:
                yield address


def _resolving(names: list[str]) -> list[str]:
    """Only a name that leads somewhere is worth printing."""
    return [name for name in names if _resolves(name)][:1]


def _resolves(name: str) -> bool:
    try:
        return bool(socket.getaddrinfo(name, None, family=socket.AF_INET))
    except OSError:
        return False
