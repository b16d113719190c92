"""What every request must pass before anything looks at it: the right Host, no foreign Origin, JSON for writes.

`localhost` is no boundary: any page in the user's browser can reach it. Pure ASGI, so that streams pass untouched.
"""

import ipaddress
import math
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windlass.api import routes
from windlass.config import HOST_NAME
from windlass.core.errors import WindlassError
from windlass.web.errors import Forbidden, NotJson, TooMany
from windlass.web.http import send_error
from windlass.web.origin import NOWHERE, BrowserOrigin, Reach, origin_of, plain_address, without_base
from windlass.web.strangers import OpenRequests

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
FORM_TYPES = frozenset({b"application/x-www-form-urlencoded", b"multipart/form-data", b"text/plain"})
# What a link on another site may open: it changes nothing and shows nothing by itself. The last is where a browser
# comes back to from a sign-in, and does nothing without the `state` that was sent along.
PAGES = ("/", "/docs", routes.servers.callback.path)
SAFE_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
]
NOTHING = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def page_policy(nonce: str) -> bytes:
    own = f"'self' 'nonce-{nonce}'"
    return (
        f"default-src 'none'; script-src {own}; style-src {own}; img-src 'self' data: blob:; "
        "media-src 'self' data: blob:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; "
        "require-trusted-types-for 'script'; trusted-types default"  # ui/src/trusted.ts says what may pass
    ).encode()


class RequestGuard:
    """`hosts` are further names this server goes by; one without a port is meant with any: port maps and tunnels have
    their own. Rebinding needs a name that is not listed, so the port protects nothing. `any_port` says the same of the
    names of this machine itself, which is right where every request must bring a credential."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str] = (),
        version: str = "",
        *,
        reach: Reach = NOWHERE,
        any_port: bool = False,
    ) -> None:
        self._app = app
        self._headers = [*SAFE_HEADERS, (b"x-windlass-version", version.encode())]
        self._any_port = any_port
        self._open_requests = OpenRequests()
        self.set_names(hosts, reach)

    def set_names(self, hosts: Collection[str], reach: Reach) -> None:
        """May be called while requests are answered: the next one is measured by these."""
        public = (_name(reach.host),) if reach.host else ()  # with any port: proxies often drop theirs
        self._hosts = frozenset(host.lower() for host in (*hosts, *public) if not _is_unspecified(host))
        self.reach = reach

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        origin = scope.setdefault("state", {})["origin"] = origin_of(scope, self.reach)
        path: str = without_base(scope["path"], (origin.base, self.reach.base))
        if len(path) > 1 and path.endswith("/"):
            path = path.rstrip("/") or "/"
        scope["path"] = path
        headed = _Headed(scope, send, self._headers)
        try:
            self._check(scope, origin)
        except WindlassError as error:
            await send_error(headed, error, path)
            return
        if origin.forwarded and not is_this_machine(origin.address):
            await self._answer_forwarded(scope, receive, headed, origin.address)
        else:
            await self._app(scope, receive, headed)

    async def _answer_forwarded(self, scope: Scope, receive: Receive, send: Send, address: str) -> None:
        try:
            leave = scope["state"]["accepted"] = self._open_requests.enter(address)
        except WindlassError as error:
            await send_error(send, error, scope["path"])
            return
        try:
            await self._app(scope, receive, send)
        finally:
            leave()

    def _check(self, scope: Scope, origin: BrowserOrigin) -> None:
        """Both names must be ours, where a proxy forwards another: a page under a name of its own can write the header
        too, but it cannot choose its Host."""
        headers = _headers(scope)
        named = headers.get(b"host", b"").decode("latin-1").lower()
        for host in (named,) if origin.host == named else (named, origin.host):
            if not self._is_ours(host, scope):
                raise Forbidden(
                    f"This server does not go by the name {host or '(none)'}.",
                    code="bad_host",
                    hint=_how_to_allow(host),
                )
        _check_origin(scope, headers, origin.host)
        _check_type(scope, headers)

    def _is_ours(self, host: str, scope: Scope) -> bool:
        name = _name(host)
        if host in self._hosts or name in self._hosts or (self._any_port and name in LOOPBACK):
            return True
        address, port = scope.get("server") or ("", None)
        names = {*LOOPBACK, *self._hosts, *_as_names(address)}
        return any(host == _with_port(name, port) for name in names) or (port == 80 and host in names)


class _Headed:
    """Adds the safety headers to whatever is sent."""

    __slots__ = ("_headers", "_policy", "_send")

    def __init__(self, scope: Scope, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._headers = headers
        self._policy = scope["state"]

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            nonce = self._policy.get("nonce")
            headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
            headers += self._headers
            headers.append((b"content-security-policy", page_policy(nonce) if nonce else NOTHING))
            if not any(name == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message["headers"] = headers
        await self._send(message)


def new_nonce(scope: Scope) -> str:
    """Ask for a page's policy on this response, and give the nonce that its scripts need."""
    nonce = secrets.token_urlsafe(16)
    scope["state"]["nonce"] = nonce
    return nonce


def _headers(scope: Scope) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in found and name in {b"host", b"origin", b"content-type", b"authorization"}:
            raise Forbidden(f"The header {name.decode()} came twice.", code="bad_host")
        found[name] = value
    return found


def _check_origin(scope: Scope, headers: dict[bytes, bytes], host: str) -> None:
    origin = headers.get(b"origin")
    site = headers.get(b"sec-fetch-site", b"none")
    if origin is not None and not _same_origin(origin.decode("latin-1"), host):
        raise _foreign(origin.decode("latin-1") if site == b"same-origin" else "")
    if site in {b"none", b"same-origin"} or _opens_page(scope, headers):
        return
    raise _foreign()


def _same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and origin.lower() == f"{parts.scheme}://{host}"


def _opens_page(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    path = scope["path"]
    return (
        scope["method"] in {"GET", "HEAD"}
        and headers.get(b"sec-fetch-mode") == b"navigate"
        and headers.get(b"sec-fetch-dest") == b"document"
        and (path in PAGES or path == "/ui" or path.startswith("/ui/"))
    )


def _check_type(scope: Scope, headers: dict[bytes, bytes]) -> None:
    """A form on a foreign page can send its own types without asking first, so none of those, not even empty ones."""
    if scope["method"] not in WRITES:
        return
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    if kind == b"application/json" or (not has_body and kind not in FORM_TYPES):
        return
    raise NotJson("Writes take JSON only.", hint="Send `Content-Type: application/json`.")


def _foreign(own_page: str = "") -> Forbidden:
    """`own_page` is where the browser says that our own page is: a proxy sends another Host than people use."""
    scheme, _, host = own_page.partition("://")
    where = f'`public_url = "{own_page}"`' if scheme in {"http", "https"} and _name(host) else "`public_url`"
    return Forbidden(
        "Requests from other sites are refused.",
        code="cross_site",
        hint=f"Is this Windlass's own page behind a proxy? Set {where} under `[server]` in windlass.toml: the address "
        "in the browser, with the proxy's path if it has one.",
    )


def _name(host: str) -> str:
    """Without its port; "" for what is no host name at all."""
    found = HOST_NAME.fullmatch(host)
    return found[1] if found else ""


def _how_to_allow(host: str) -> str:
    """Only advice that works: what the settings would refuse is not recommended."""
    name = _name(host)
    if not name or _is_unspecified(name):
        return "Use the address it printed at start."
    return (
        f"Use the address it printed at start, or start it with `windlass serve --allow-host {host}`, or set "
        f'`allow_hosts = ["{host}"]` under `[server]` in windlass.toml.'
    )


@lru_cache(maxsize=64)
def _as_names(address: Any) -> tuple[str, ...]:
    """The address the connection came in on, as a Host header writes it. Rebinding needs a name, so an address is
    safe; the unspecified ones are no address anybody reaches us by."""
    try:
        parsed = ipaddress.ip_address(plain_address(str(address)))
    except ValueError:
        return ()
    if parsed.is_unspecified:
        return ()
    return (f"[{parsed}]" if parsed.version == 6 else str(parsed),)


def _is_unspecified(host: str) -> bool:
    """`0.0.0.0` is what a server listens on, and nothing that an honest request is sent to."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def _with_port(name: str, port: int | None) -> str:
    return f"{name}:{port}" if port else name


USUAL = 6000  # from other machines, where the operator says nothing
MOST_ADDRESSES = 10_000
MINUTE_S = 60.0


@dataclass(slots=True)
class Rates:
    """`most` holds for all addresses; None means the default for other machines and no limit for this one. A minute's
    worth may come at once, and is refilled evenly."""

    most: int | None = None
    now: Callable[[], float] = time.monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)  # how many are left, and when that was

    def count(self, address: str) -> None:
        most = self.most
        if most is None:
            if is_this_machine(address):
                return
            most = USUAL
        left = self._left_of(address, most) - 1
        if left < 0:
            wait = math.ceil(-left * MINUTE_S / most)
            raise TooMany(
                f"More than {most} requests in a minute.", hint=f"Wait {wait} s.", detail={"retry_after": wait}
            )
        self._left[address] = (left, self.now())

    def _left_of(self, address: str, most: int) -> float:
        known = self._left.pop(address, None)  # put back at the end: the first is the one that was quiet longest
        if known is None:
            if len(self._left) >= MOST_ADDRESSES:
                del self._left[next(iter(self._left))]
            return most
        left, since = known
        back = min(float(most), left + (self.now() - since) * most / MINUTE_S)
        self._left[address] = (back, self.now())
        return back


@lru_cache(maxsize=256)
def is_this_machine(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return True  # no network address at all: a socket file, or a program's own process
