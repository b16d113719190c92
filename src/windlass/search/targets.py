"""What a URL points at, read once and strictly, and which addresses are the public internet. The same value is checked,
resolved and connected to, so there is no second parser to disagree with. Pure."""

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address

from yarl import URL

from windlass.addresses import Address, is_metadata, is_public
from windlass.core.errors import ToolError
from windlass.core.values import value_object

_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_STRAY = re.compile(r"[\x00-\x20\x7f\\]")
_USER = re.compile(r"[a-z]+://[^/?#]*@", re.IGNORECASE)
_BRACKETS = re.compile(r"[a-z]+://[^/?#]*\[", re.IGNORECASE)
_LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa", "onion")
_LONGEST_URL = 4096


@value_object
class Target:
    """A web address in its plain form. `allowed` says the operator named this host, so it may be a private one."""

    url: URL
    host: str
    port: int
    literal: Address | None = None
    allowed: bool = False


def target_of(url: str, allow: Collection[str] = ()) -> Target:
    """The target, or a `ToolError`. `allow` holds host names and addresses, each with or without `:port`."""
    parsed = _parsed(url)
    host = (parsed.raw_host or "").removesuffix(".")
    port = parsed.port or 0
    allowed = not {host, f"{host}:{port}"}.isdisjoint(name.lower() for name in allow)
    literal = _literal(host)
    if literal is None:
        _check_name(host, allowed)
    if not allowed and not (port in (80, 443) or port >= 1024):
        raise blocked(f"port {port} is not one that web pages use")
    target = Target(parsed.with_host(host), host, port, literal, allowed)
    if literal is not None:
        check_address(target, literal)
    return target


def check_address(target: Target, address: Address) -> None:
    if is_metadata(address):
        raise blocked(f"{target.host} is a cloud's metadata service")
    if not target.allowed and not is_public(address):
        raise blocked(f"{target.host} is not on the public internet")


def blocked(why: str) -> ToolError:
    return ToolError(
        f"This page is not fetched: {why}.",
        cause="blocked_address",
        hint="The operator can allow a private host by name: web_search.allow_hosts.",
    )


def _parsed(url: str) -> URL:
    if len(url) > _LONGEST_URL:
        raise blocked("its address is too long")
    if _STRAY.search(url):
        raise blocked("its address contains characters that are not allowed")
    try:
        parsed = URL(url)
        port = parsed.port
    except ValueError:
        raise blocked("its address cannot be read") from None
    if parsed.scheme not in ("http", "https"):
        raise blocked("only http and https addresses are")
    if _USER.match(url):
        raise blocked("its address carries a user name")
    if not parsed.raw_host or not port or (_BRACKETS.match(url) and ":" not in parsed.raw_host):
        raise blocked("its address names no host")
    return parsed.with_fragment(None)


def _literal(host: str) -> Address | None:
    if ":" in host:
        return _address(host, IPv6Address)
    last = host.rpartition(".")[2]
    return _address(host, IPv4Address) if _NUMBER.fullmatch(last) else None


def _address(host: str, kind: type[IPv4Address] | type[IPv6Address]) -> Address:
    """Strictly: `127.1`, `0x7f.0.0.1` and `017700000001` are addresses to some programs and names to others."""
    try:
        address = ip_address(host)
    except ValueError:
        address = None
    if not isinstance(address, kind) or "%" in host:
        raise blocked(f"{host} is not the standard form of an IP address")
    return address


def _check_name(host: str, allowed: bool) -> None:
    if len(host) > 253 or not _HOST.fullmatch(host):
        raise blocked("its host name cannot be read")
    if allowed:
        return
    if "." not in host or any(host.endswith(f".{name}") for name in _LOCAL_NAMES):
        raise blocked(f"{host} is a local name")
