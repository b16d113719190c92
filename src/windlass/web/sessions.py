"""Logging in and out over HTTP: the verbs that need the request itself, for its cookie and its address."""

from collections.abc import Awaitable, Callable
from math import inf
from typing import Any

from starlette.types import Receive, Scope, Send

from windlass.api import schemas
from windlass.api.route import Route
from windlass.core.errors import BadInput
from windlass.turns.views import iso
from windlass.web.auth import Access, address_of, cookie_name, credentials_of, from_our_page
from windlass.web.endpoints import Endpoint
from windlass.web.http import Headers, header_of, send_json
from windlass.web.origin import browser_origin
from windlass.web.principal import Principal

COOKIE_S = 30 * 24 * 3600


class SessionEndpoint(Endpoint):
    """Each verb gets the request, its body if it has one, and the headers of the answer."""

    def __init__(self, route: Route[..., Any], access: Access, most: int) -> None:
        super().__init__(route, _answers_itself, most)
        self._access = access
        verbs: dict[str, Callable[..., Awaitable[schemas.Response]]] = {
            "state": self._state,
            "log_in": self._log_in,
            "log_out": self._log_out,
            "new_key": self._new_key,
            "rotate": self._rotate,
        }
        self._own_verb = verbs[route.name]

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = []
        given = await self._own_verb(scope, headers, *await self.arguments(scope, receive))
        await send_json(send, self.route.status, given, headers)

    async def _state(self, scope: Scope, headers: Headers) -> schemas.SessionState:
        if self._access.open_to_all:
            return schemas.SessionState(True, False)
        who = self._access.known(credentials_of(scope))
        if who is None:
            return schemas.SessionState(False, True)
        return schemas.SessionState(
            True,
            True,
            name=who.name,
            scopes=sorted(who.scopes),
            expires_at=iso(who.expires_at) if who.expires_at < inf else None,
            confirmed_until=iso(who.confirmed_until) if who.confirmed_until else None,
        )

    async def _log_in(self, scope: Scope, headers: Headers, given: schemas.LogIn) -> schemas.SessionOpened:
        if bool(given.token) == bool(given.key):
            raise BadInput("Either `token` or `key` is needed.", hint="`windlass token` shows the token.")
        former = self._access.known(credentials_of(scope))
        session = self._access.log_in(
            key=given.key,
            token=given.token,
            address=address_of(scope),
            agent=header_of(scope, b"user-agent"),
            our_page=from_our_page(scope),
        )
        if former:
            self._access.log_out(former)
        headers.append(_cookie(scope, session.cookie, COOKIE_S))
        who = session.principal
        return schemas.SessionOpened(session.half, who.name, sorted(who.scopes), iso(who.expires_at))

    async def _log_out(self, scope: Scope, headers: Headers) -> schemas.Acknowledged:
        self._access.log_out(_principal(scope))
        headers.append(_cookie(scope, "", 0))
        return schemas.Acknowledged(message="Signed out")

    async def _new_key(self, scope: Scope, headers: Headers) -> schemas.LoginUrl:
        return schemas.LoginUrl(url=f"{browser_origin(scope).link_url}/?key={self._access.new_key()}")

    async def _rotate(self, scope: Scope, headers: Headers) -> schemas.NewToken:
        return schemas.NewToken(token=self._access.rotate())


def _cookie(scope: Scope, value: str, age_s: int) -> tuple[bytes, bytes]:
    """`Secure` by the scheme that the browser used: it keeps no such cookie from plain http."""
    origin = browser_origin(scope)
    attributes = f"Path={origin.cookie_path}; HttpOnly; SameSite=Strict; Max-Age={age_s}"
    return b"set-cookie", f"{cookie_name(scope)}={value}; {attributes}{'; Secure' * origin.is_secure}".encode()


def _principal(scope: Scope) -> Principal:
    found: Principal = scope["state"]["principal"]
    return found


async def _answers_itself() -> None:
    """`SessionEndpoint.answer` needs the request, which no verb gets."""
