"""Signing in and out, sessions and tokens over HTTP: the verbs that need the request itself, for its cookie, its
address and the one who asks."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from math import inf
from typing import Any

from starlette.types import Receive, Scope, Send

from windlass.api import schemas
from windlass.api.route import Route
from windlass.core.actor import acting_as, current_actor
from windlass.core.errors import BadInput
from windlass.services.audit import Audit
from windlass.turns.views import iso
from windlass.web.auth import Access, address_of, cookie_name, credentials_of, from_our_page
from windlass.web.browsers import browser_name
from windlass.web.endpoints import Endpoint
from windlass.web.http import Headers, header_of, send_json
from windlass.web.origin import browser_origin
from windlass.web.principal import Principal, principal_of
from windlass.web.token_store import TokenRecord

COOKIE_S = 30 * 24 * 3600


class SessionEndpoint(Endpoint):
    """Each verb gets the request, the headers of the answer, and what stands in the path and the body."""

    def __init__(self, route: Route[..., Any], access: Access, audit: Audit, most: int) -> None:
        super().__init__(route, _answers_itself, most)
        self._access = access
        self._audit = audit
        verbs: dict[str, Callable[..., Awaitable[schemas.Response]]] = {
            "state": self._state,
            "log_in": self._log_in,
            "log_out": self._log_out,
            "confirm": self._confirm,
            "new_key": self._new_key,
            "sessions": self._list_sessions,
            "end_session": self._end_session,
            "tokens": self._list_tokens,
            "new_token": self._new_token,
            "revoke": self._revoke,
            "rotate": self._rotate,
        }
        self._own_verb = verbs[route.name]

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = []
        arguments = await self.arguments(scope, receive)
        name = self._name_of(arguments)
        given = await self._own_verb(scope, headers, *arguments)
        if self.route.audit:
            await self._record(arguments, given, name)
        await send_json(send, self.route.status, given, headers)

    async def _record(self, arguments: list[Any], given: schemas.Response, name: str) -> None:
        """Nobody is known yet when somebody signs in: the entry has the name of the new session."""
        with acting_as(given.name if isinstance(given, schemas.SessionOpened) else current_actor()):
            await self._audit.add(self.route, arguments, given, name)

    def _name_of(self, arguments: list[Any]) -> str:
        """Of the token or session in the path, which may be gone afterwards."""
        named = {record.id: record.name for record, _ in self._access.tokens.listed()}
        named |= {record.id: record.name for record, _ in self._access.sessions.listed()}
        return named.get(arguments[0], "") if arguments and isinstance(arguments[0], str) else ""

    async def _state(self, scope: Scope, headers: Headers) -> schemas.SessionState:
        if self._access.open_to_all:
            return schemas.SessionState(True, False)
        who = self._access.known(credentials_of(scope))
        return _state_of(who) if who else schemas.SessionState(False, True)

    async def _log_in(self, scope: Scope, headers: Headers, given: schemas.LogIn) -> schemas.SessionOpened:
        _only_one(token=given.token, key=given.key)
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
        return schemas.SessionOpened(session.half, who.name, _scopes(who), iso(who.expires_at))

    async def _log_out(self, scope: Scope, headers: Headers) -> schemas.Acknowledged:
        self._access.log_out(principal_of(scope))
        headers.append(_cookie(scope, "", 0))
        return schemas.Acknowledged(message="Signed out")

    async def _confirm(self, scope: Scope, headers: Headers, given: schemas.ConfirmSession) -> schemas.SessionState:
        _only_one(token=given.token, key=given.key, code=given.code)
        who = principal_of(scope)
        if who.is_session:  # a token confirms itself
            self._access.confirm(
                who,
                key=given.key,
                token=given.token,
                code=given.code,
                address=address_of(scope),
                our_page=from_our_page(scope),
            )
        return _state_of(who)

    async def _new_key(self, scope: Scope, headers: Headers) -> schemas.LoginUrl:
        key = self._access.new_key(principal_of(scope))
        return schemas.LoginUrl(url=f"{browser_origin(scope).link_url}/?key={key}")

    async def _list_sessions(self, scope: Scope, headers: Headers) -> schemas.SessionList:
        own = principal_of(scope)
        shown = [
            schemas.SessionInfo(
                id=record.id,
                name=record.name,
                scopes=_scopes(who),
                browser=browser_name(record.agent),
                created_at=iso(record.created_at),
                last_used_at=_to_the_minute(who.last_used_at),
                expires_at=iso(record.expires_at),
                current=who is own,
            )
            for record, who in self._access.sessions.listed()
        ]
        return schemas.SessionList(shown, len(shown))

    async def _end_session(self, scope: Scope, headers: Headers, session_id: str) -> schemas.Acknowledged:
        self._access.end_session(session_id)
        return schemas.Acknowledged(message="Signed out")

    async def _list_tokens(self, scope: Scope, headers: Headers) -> schemas.TokenList:
        admin = self._access.admin
        first = schemas.TokenInfo(
            id=admin.id,
            name=admin.name,
            scopes=_scopes(admin),
            created_at=None,
            last_used_at=_to_the_minute(admin.last_used_at) if admin.last_used_at else None,
            expires_at=None,
            sessions=self._sessions_of(admin.id),
            from_config=True,
        )
        shown = [first, *(self._shown(record, who) for record, who in self._access.tokens.listed())]
        return schemas.TokenList(shown, len(shown))

    async def _new_token(self, scope: Scope, headers: Headers, given: schemas.TokenRequest) -> schemas.TokenMade:
        due = _time_of(given.expires_at) if given.expires_at else None
        record, secret = self._access.tokens.make(given.name, list(given.scopes), due)
        return schemas.TokenMade(self._shown(record, None), secret)

    async def _revoke(self, scope: Scope, headers: Headers, token_id: str) -> schemas.Acknowledged:
        record = self._access.revoke(token_id)
        return schemas.Acknowledged(message=f"The token {record.name} and its sessions are void")

    async def _rotate(self, scope: Scope, headers: Headers) -> schemas.NewToken:
        return schemas.NewToken(token=self._access.rotate())

    def _sessions_of(self, token_id: str) -> int:
        return sum(record.token_id == token_id for record, _ in self._access.sessions.listed())

    def _shown(self, record: TokenRecord, who: Principal | None) -> schemas.TokenInfo:
        used = who.last_used_at if who else 0.0
        return schemas.TokenInfo(
            id=record.id,
            name=record.name,
            scopes=record.scopes,  # type: ignore[arg-type]  # checked when it was made
            created_at=iso(record.created_at),
            last_used_at=_to_the_minute(used) if used else None,
            expires_at=iso(record.expires_at) if record.expires_at else None,
            sessions=self._sessions_of(record.id),
        )


def _state_of(who: Principal) -> schemas.SessionState:
    return schemas.SessionState(
        True,
        True,
        name=who.name,
        scopes=_scopes(who),
        expires_at=iso(who.expires_at) if who.expires_at < inf else None,
        confirmed_until=iso(who.confirmed_until) if who.confirmed_until else None,
    )


def _scopes(who: Principal) -> list[schemas.Scope]:
    return sorted(who.scopes)  # type: ignore[arg-type]  # checked when the token was made


def _only_one(**given: str) -> None:
    if sum(map(bool, given.values())) != 1:
        names = ", ".join(f"`{name}`" for name in given)
        raise BadInput(f"Exactly one of {names} is needed.", hint="`windlass token` shows the token.")


def _time_of(text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(
            f"expires_at: {text[:40]} is not a time.",
            hint="Write it as 2026-12-31T00:00:00Z.",
            detail={"path": "expires_at"},
        ) from None
    due = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    if due <= datetime.now(UTC).timestamp():
        raise BadInput("expires_at is in the past.", hint="Give a later time.", detail={"path": "expires_at"})
    return due


def _to_the_minute(at: float) -> str:
    return iso(at // 60 * 60)


def _cookie(scope: Scope, value: str, age_s: int) -> tuple[bytes, bytes]:
    """`Secure` by the scheme that the browser used: it keeps no such cookie from plain http."""
    origin = browser_origin(scope)
    attributes = f"Path={origin.cookie_path}; HttpOnly; SameSite=Strict; Max-Age={age_s}"
    return b"set-cookie", f"{cookie_name(scope)}={value}; {attributes}{'; Secure' * origin.is_secure}".encode()


async def _answers_itself() -> None:
    """`SessionEndpoint.answer` needs the request, which no verb gets."""
