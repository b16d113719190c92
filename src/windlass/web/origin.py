"""What the browser really used to get here: scheme, host, base path, and the address of its machine.

Proxies write that into `X-Forwarded-*`, and so can anybody else. It counts only where the connection comes from one of
`trusted_proxies`; from elsewhere the headers change nothing.
"""

import ipaddress
from collections.abc import Collection, Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.types import Scope

from windlass.config import BASE_PATH, HOST_NAME
from windlass.core.values import value_object

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
MOST_HOPS = 32
_FORWARDED = {
    b"x-forwarded-for": "for",
    b"x-forwarded-proto": "proto",
    b"x-forwarded-host": "host",
    b"x-forwarded-prefix": "prefix",
}


@value_object
class Reach:
    """How this server is reached, from the settings. `public_url` is whole and clean, as config.py gives it."""

    scheme: str = ""
    host: str = ""
    base: str = ""
    proxies: tuple[Network, ...] = ()

    def is_proxy(self, address: str) -> bool:
        return bool(self.proxies) and _is_among(address, self.proxies)


@value_object
class BrowserOrigin:
    """`base` is "" or begins with a slash and ends without one. `forwarded`: a trusted proxy is in between."""

    scheme: str
    host: str
    base: str
    address: str
    forwarded: bool = False
    public_url: str = ""  # of the settings, whatever this request used

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.base}"

    @property
    def link_url(self) -> str:
        """For links that people pass on."""
        return self.public_url or self.url

    @property
    def cookie_path(self) -> str:
        return self.base or "/"

    @property
    def is_secure(self) -> bool:
        return self.scheme == "https"


def reach_of(public_url: str = "", trusted_proxies: Iterable[str] = ()) -> Reach:
    parts = urlsplit(public_url)
    networks = tuple(ipaddress.ip_network(text, strict=False) for text in trusted_proxies)
    return Reach(parts.scheme, parts.netloc, parts.path, networks)


NOWHERE = Reach()


def origin_of(scope: Scope, reach: Reach = NOWHERE) -> BrowserOrigin:
    """A trusted proxy's headers count before what the connection shows, and an `Origin` of ours before both: it is the
    browser's own account, no page can choose it, and the guard refuses any other."""
    peer = plain_address(str((scope.get("client") or ("",))[0]))
    host = origin = ""
    for name, value in scope["headers"]:
        if name == b"host":
            host = value.decode("latin-1").lower()
        elif name == b"origin":
            origin = value.decode("latin-1").lower()
    given = _forwarded(scope, reach, peer) if reach.is_proxy(peer) else _DIRECT
    host = given.host or host
    if reach.host and origin == f"{reach.scheme}://{reach.host}":
        host = reach.host  # a proxy that sends its own name of us, as nginx does when nothing is said
    scheme = _scheme_in(origin, host) or given.scheme or (reach.scheme if host == reach.host else "")
    return BrowserOrigin(
        scheme or scope.get("scheme", "http"),
        host,
        given.base or reach.base,
        given.address or peer,
        given.forwarded,
        f"{reach.scheme}://{reach.host}{reach.base}" if reach.host else "",
    )


def browser_origin(scope: Scope) -> BrowserOrigin:
    """What the guard found out about this request."""
    found: BrowserOrigin | None = scope.get("state", {}).get("origin")
    return found or origin_of(scope)


def without_base(path: str, bases: Collection[str]) -> str:
    """The path below the base path. A proxy may strip that, or leave it on."""
    for base in bases:
        if base and path.startswith(base) and path[len(base) : len(base) + 1] in {"", "/"}:
            return path[len(base) :] or "/"
    return path


@lru_cache(maxsize=1024)
def plain_address(address: str) -> str:
    """Without the IPv6 form of an IPv4 address, which a socket for both kinds reports."""
    found = _address(address)
    return str(found) if found else address


_DIRECT = BrowserOrigin("", "", "", "")


def _forwarded(scope: Scope, reach: Reach, peer: str) -> BrowserOrigin:
    """What the proxies say; "" for what they do not say, or not in a form that can be right."""
    given: dict[str, list[str]] = {key: [] for key in _FORWARDED.values()}
    for name, value in scope["headers"]:
        if name in _FORWARDED:
            given[_FORWARDED[name]] += [part.strip() for part in value.decode("latin-1").split(",")]
    address, hops = _client(given["for"], reach, peer)
    scheme = _of_hop(given["proto"], hops).lower()
    host = _of_hop(given["host"], hops).lower()
    base = _of_hop(given["prefix"], hops).rstrip("/")
    return BrowserOrigin(
        scheme if scheme in {"http", "https"} else "",
        host if HOST_NAME.fullmatch(host) else "",
        base if BASE_PATH.fullmatch(base) else "",
        address,
        forwarded=True,
    )


def _client(addresses: list[str], reach: Reach, peer: str) -> tuple[str, int]:
    """The nearest address that is no proxy of ours, and how many of ours passed the request on. Further left is only
    what that client says. A value that is no address ends the search: the proxy that wrote it counts itself."""
    nearest, hops = peer, 1
    for text in reversed(addresses[-MOST_HOPS:]):
        found = _address(_without_port(text))
        if found is None:
            break
        nearest = str(found)
        if not reach.is_proxy(nearest):
            break
        hops += 1
    return nearest, hops


def _of_hop(values: list[str], hops: int) -> str:
    """What the outermost proxy of ours wrote: each either replaces the value or adds one on the right."""
    return values[-min(hops, len(values))] if values else ""


def _scheme_in(origin: str, host: str) -> str:
    scheme, _, name = origin.partition("://")
    return scheme if name == host and scheme in {"http", "https"} else ""


@lru_cache(maxsize=1024)
def _is_among(address: str, networks: tuple[Network, ...]) -> bool:
    found = _address(address)
    return found is not None and any(found in network for network in networks)


def _address(text: str) -> Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _without_port(text: str) -> str:
    """Some proxies write the client's port too: `1.2.3.4:5678`, `[::1]:5678`."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
