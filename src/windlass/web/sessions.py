"""Logging in and out over HTTP: the verbs that need the request itself, for its cookie and its address."""

from typing import Any

from starlette.types import Receive, Scope, Send

from windlass.api import schemas
from windlass.api.route import Route
from windlass.web.auth import Access, address_of, credentials_of
from windlass.web.endpoints import Endpoint
from windlass.web.http import Headers, header_of, send_json
from windlass.web.static import no_session_cookie, session_cookie


class SessionEndpoint(Endpoint):
    def __init__(self, route: Route[..., Any], access: Access, most: int) -> None:
        super().__init__(route, _answers_itself, most)
        self._access = access

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        arguments = await self.arguments(scope, receive)
        headers: Headers = []
        given: schemas.Acknowledged | schemas.LoginUrl | schemas.NewToken
        match self.route.name:
            case "log_in":
                session = self._access.log_in(token=arguments[0].token, address=address_of(scope))
                headers.append((b"set-cookie", session_cookie(scope, session)))
                given = schemas.Acknowledged(message="Logged in")
            case "log_out":
                self._access.log_out(credentials_of(scope).session)
                headers.append((b"set-cookie", no_session_cookie(scope)))
                given = schemas.Acknowledged(message="Logged out")
            case "new_key":
                given = schemas.LoginUrl(url=login_url(header_of(scope, b"host"), self._access.new_key()))
            case _:
                given = schemas.NewToken(token=self._access.rotate())
        await send_json(send, self.route.status, given, headers)


def login_url(host: str, key: str) -> str:
    return f"http://{host}/?key={key}"


async def _answers_itself() -> None:
    """`SessionEndpoint.answer` needs the request, which no verb gets."""
