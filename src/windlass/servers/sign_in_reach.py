"""Which hosts the requests of a sign-in may go to. Imported late, with `sdk`."""

import asyncio
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from windlass.addresses import is_public
from windlass.servers.sdk import httpx2
from windlass.servers.values import ServerConfig


async def may_reach(host: str, http: httpx2.AsyncClient, config: ServerConfig) -> bool:
    """A server on the public internet sends nobody into this network, unless the operator named that host. A name that
    is resolved anew to another address gains nothing: who answers there has no certificate for it."""
    own, named = urlsplit(config.url).hostname or "", urlsplit(config.issuer).hostname
    return host in (own, named) or await _is_public(host) or await _is_inside(own, http, config)


async def _is_inside(host: str, http: httpx2.AsyncClient, config: ServerConfig) -> bool:
    """Whether the server is in this network, by its connection: whoever owns a name has it resolved to anything."""
    if await _is_public(host):
        return False
    response = await http.send(http.build_request("GET", config.url), stream=True)
    try:
        return not is_public(ip_address(str(response.extensions["network_stream"].get_extra_info("server_addr")[0])))
    finally:
        await response.aclose()


async def _is_public(host: str) -> bool:
    """A name that cannot be resolved here counts as public: a proxy may know it, and nobody else can reach it."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return True
    return all(is_public(ip_address(str(entry[4][0]))) for entry in found)
