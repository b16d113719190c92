"""Addresses for what cannot send headers: a download, a picture, another tab. Each is good for one GET within a minute,
by the one who asked for it, and ends with that session or token."""

import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from starlette.routing import Match, Router
from starlette.types import Message, Receive, Scope, Send

from windlass.api import schemas
from windlass.api.route import Route
from windlass.core.actor import acting_as
from windlass.core.errors import BadInput, NotFound
from windlass.core.values import value_object
from windlass.turns.views import iso
from windlass.web.endpoints import Endpoint, Path
from windlass.web.http import send_json
from windlass.web.origin import browser_origin
from windlass.web.principal import Principal, check_scope, principal_of
from windlass.web.private_file import digest

LINK_S = 60
MOST_LINKS = 1000
KINDS = frozenset({"json", "export", "text", "description"})  # what one GET answers whole
SANDBOX = (b"content-security-policy", b"sandbox")


@value_object
class Link:
    endpoint: Endpoint
    path: str
    query: bytes
    path_params: Mapping[str, str]
    principal: Principal
    due: float


class Links:
    """In memory alone: after a restart the page asks for another."""

    def __init__(self) -> None:
        self._open: dict[bytes, Link] = {}
        self.router: Router | None = None  # set when the routes are there, of which this is one

    def add(self, path: str, principal: Principal) -> tuple[str, float]:
        """The secret, and when it ends."""
        endpoint, path_params, bare, query = self._found(path)
        check_scope(principal, endpoint.route.scope)
        now = time.time()
        self._open = {key: link for key, link in self._open.items() if link.due > now}
        while len(self._open) >= MOST_LINKS:
            del self._open[next(iter(self._open))]
        secret = secrets.token_urlsafe(32)
        self._open[digest(secret)] = Link(endpoint, bare, query, path_params, principal, now + LINK_S)
        return secret, now + LINK_S

    def take(self, secret: str) -> Link:
        link = self._open.pop(digest(secret), None)
        if link is None or link.due <= time.time() or not link.principal.is_valid:
            raise NotFound("This link was used already, or is too old.", hint="Ask for another with POST /links.")
        return link

    def _found(self, path: str) -> tuple[Endpoint, Mapping[str, str], str, bytes]:
        bare, _, query = path.partition("#")[0].partition("?")
        plain = unquote(bare)
        scope = {"type": "http", "method": "GET", "path": plain, "headers": []}
        for route in self.router.routes if self.router else ():
            match, child = route.matches(scope)
            endpoint = child.get("endpoint")
            if match is not Match.NONE and isinstance(endpoint, Path) and (found := endpoint.get):
                if found.route.kind in KINDS:
                    return found, child["path_params"], plain, query.encode()
        raise BadInput(f"{bare[:200]} cannot be linked to.", hint="Give the path of a GET route that is no stream.")


class LinkEndpoint(Endpoint):
    def __init__(self, route: Route[..., Any], links: Links, most: int) -> None:
        super().__init__(route, _answers_itself, most)
        self._links = links
        self.counts = True  # a public route too

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        (given,) = await self.arguments(scope, receive)
        if isinstance(given, schemas.NewLink):
            secret, due = self._links.add(given.path, principal_of(scope))
            made = schemas.LinkMade(f"{browser_origin(scope).base}/l/{secret}", iso(due))
            await send_json(send, self.route.status, made)
        else:
            await self._follow(self._links.take(given), scope, receive, send)

    async def _follow(self, link: Link, scope: Scope, receive: Receive, send: Send) -> None:
        state = {**scope["state"], "principal": link.principal}
        own = {**scope, "path": link.path, "query_string": link.query, "path_params": dict(link.path_params)}
        with acting_as(link.principal.name):
            await link.endpoint.answer({**own, "state": state}, receive, _sandboxed(send))


def _sandboxed(send: Send) -> Send:
    async def passed_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], SANDBOX]
        await send(message)

    return passed_on


async def _answers_itself() -> None:
    """`LinkEndpoint.answer` needs the request, which no verb gets."""
