"""Signing in to servers over HTTP: the address that the browser comes back to is the one that the person uses."""

from html import escape

from starlette.types import Receive, Scope, Send

from windlass.api import routes, schemas
from windlass.core.errors import BadInput, WindlassError
from windlass.services.sign_ins import is_own_callback
from windlass.web.endpoints import Endpoint
from windlass.web.errors import status_of
from windlass.web.http import send_bytes, send_json
from windlass.web.origin import browser_origin

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Windlass</title><h1>{title}</h1><p>{text}</p>"""


class LoginEndpoint(Endpoint):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        server, wanted = await self.arguments(scope, receive)
        if wanted.redirect_uri and not is_own_callback(wanted.redirect_uri):
            raise BadInput(
                "redirect_uri: must be an http address on 127.0.0.1 or localhost.",
                hint="Leave it out to come back to Windlass.",
                detail={"field": "redirect_uri"},
            )
        back = wanted.redirect_uri or f"{browser_origin(scope).url}{routes.servers.callback.path}"
        await send_json(send, self.route.status, await self.verb(server, schemas.ServerLogin(back)))


class CallbackEndpoint(Endpoint):
    """The browser comes from another site, so neither cookie nor token is with it: `state` says whose answer this is,
    once. What it gets is a page without scripts."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        (given,) = await self.arguments(scope, receive)
        done: schemas.ServerAnswer = await self.verb(given)
        name = done.server.name
        if done.server.status == "running":
            text = f"{name} is connected. You can close this tab and go back to Windlass."
        else:
            text = f"The sign-in worked, but {name} is {done.server.status}: {done.server.error or 'no reason given'}"
        await _page(send, 200, f"Signed in to {name}", text)

    async def fail(self, send: Send, error: WindlassError) -> None:
        await _page(send, status_of(error), "Not signed in", f"{error.message} {error.hint}".strip())


async def _page(send: Send, status: int, title: str, text: str) -> None:
    body = _PAGE.format(title=escape(title), text=escape(text))
    await send_bytes(send, status, b"text/html; charset=utf-8", body.encode())
