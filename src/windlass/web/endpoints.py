"""From a request to a verb and back: admit, decode, call, encode. No decisions are made here."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from windlass.api import schemas
from windlass.api.route import Route
from windlass.core.actor import acting_as
from windlass.core.errors import BadInput, WindlassError
from windlass.web import sse
from windlass.web.auth import Access, address_of, credentials_of
from windlass.web.errors import (
    Malformed,
    NotAllowed,
    TooLarge,
    TooSlow,
    bad_shape,
    failure_status,
    unforeseen,
)
from windlass.web.guard import Rates
from windlass.web.http import encode, header_of, query_of, send_bytes, send_error, send_json
from windlass.web.principal import check_scope, principal_of
from windlass.web.sudo import Sudo

Verb = Callable[..., Awaitable[Any]]
BODY_S = 30
OUTCOME_STATUS = {"awaiting_person": 202}


class Path:
    """All methods of one path, as an ASGI app."""

    def __init__(self, routes: Mapping[str, "Endpoint"], access: Access, rates: Rates) -> None:
        self._routes = dict(routes)
        self.get = routes.get("GET")
        if self.get and self.get.route.kind not in {
            "events",
            "link",
            "mcp",
        }:  # streams have no length; a link is good for one
            self._routes["HEAD"] = routes["GET"]
        self._access = access
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._routes.get(scope["method"])
        if endpoint is None:
            allow = sorted(self._routes)
            refused = NotAllowed(f"{scope['method']} is not possible here.", detail={"allow": allow})
            return await send_error(send, refused, scope["path"])
        try:
            if endpoint.counts:
                self._rates.count(address_of(scope))
            if endpoint.route.public:
                await endpoint.answer(scope, receive, send)
            else:
                await self._answer(endpoint, scope, receive, send)
        except WindlassError as error:
            await endpoint.fail(send, error)
        except Exception as error:  # the HTTP edge: whatever it is, the caller gets an answer
            await endpoint.fail(send, unforeseen(error))

    async def _answer(self, endpoint: "Endpoint", scope: Scope, receive: Receive, send: Send) -> None:
        principal = scope["state"]["principal"] = self._access.admit(credentials_of(scope))
        self._access.used(principal)
        check_scope(principal, endpoint.route.scope)
        if accepted := scope["state"].pop("accepted", None):  # web/protocol.py counts who was never admitted
            accepted()
        with acting_as(principal.name):
            await endpoint.answer(scope, receive, send)


class Endpoint:
    """A verb that takes JSON and gives JSON."""

    sudo: Sudo | None = None

    def __init__(self, route: Route[..., Any], verb: Verb, most: int) -> None:
        self.route = route
        self.verb = verb
        self._most = most
        self._may_approve = route.scope == "chat" and "approval" in _field_names(route.takes)
        self._body = msgspec.json.Decoder(route.takes) if route.takes else None
        self._known = _field_names(route.query)
        self.counts = not route.public and route.kind != "events"

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = await self.verb(*await self.arguments(scope, receive))
        await send_json(send, self.route.status, given)

    async def fail(self, send: Send, error: WindlassError) -> None:
        await send_error(send, error)

    async def arguments(self, scope: Scope, receive: Receive) -> list[Any]:
        found: list[Any] = list(scope["path_params"].values())
        if self.route.query:
            found.append(self._query(scope))
        if self._body:
            found.append(self._decode(await read_body(scope, receive, self._most)))
        if self._may_approve and found[-1].approval is not msgspec.UNSET:
            check_scope(principal_of(scope), "approve")  # to chat is not to say what runs unasked
        if self.sudo:
            await self.sudo.check(self.route, principal_of(scope), found)
        return found

    def _query(self, scope: Scope) -> Any:
        given = {name: value for name, value in query_of(scope) if name in self._known}
        try:
            return msgspec.convert(given, self.route.query, strict=False)
        except msgspec.ValidationError as error:
            raise bad_shape(error) from None

    def _decode(self, body: bytes) -> Any:
        try:
            return self._body.decode(_unwrapped(body, self.route.wrapped) or b"{}") if self._body else None
        except msgspec.ValidationError as error:
            raise bad_shape(error) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Malformed(
                f"The body is not valid JSON: {error}.", hint="Check quotes, commas and the encoding."
            ) from None


def _unwrapped(body: bytes, name: str) -> bytes:
    """What stands under this name, if nothing else does. Clients that send it so send null for what they leave out."""
    if not name:
        return body
    try:
        given = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        inner = msgspec.json.decode(given[name], type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
        return body
    if len(given) > 1:
        return body
    return msgspec.json.encode({field: value for field, value in inner.items() if value is not None})


class ChatEndpoint(Endpoint):
    """Waits for the answer, or streams the turn when that is asked for."""

    def __init__(self, route: Route[..., Any], verb: Verb, watched: Verb, most: int) -> None:
        super().__init__(route, verb, most)
        self._watched = watched

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        arguments = await self.arguments(scope, receive)
        if wants_events(scope):
            await sse.send_stream(await self._watched(*arguments), principal_of(scope), receive, send)
            return
        answer: schemas.ChatAnswer = await self.verb(*arguments)
        await send_json(send, chat_status(answer), answer)


class EventsEndpoint(Endpoint):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        *path, query = await self.arguments(scope, receive)
        if isinstance(query, schemas.ChangesQuery):
            path = [query.conversation_id]
        last = header_of(scope, b"last-event-id") or query.after
        stream = await self.verb(*path, sse.number(last))
        await sse.send_stream(stream, principal_of(scope), receive, send)


class TextEndpoint(Endpoint):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        text: str = await self.verb(*await self.arguments(scope, receive))
        await send_bytes(send, 200, b"text/plain; version=0.0.4; charset=utf-8", text.encode())


class ExportEndpoint(Endpoint):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = await self.verb(*await self.arguments(scope, receive))
        markdown = isinstance(given, str)
        body = given.encode() if isinstance(given, str) else encode(given)
        kind, ending = (b"text/markdown; charset=utf-8", b"md") if markdown else (b"application/json", b"json")
        name = b'attachment; filename="conversation.' + ending + b'"'
        await send_bytes(send, 200, kind, body, [(b"content-disposition", name)])


def chat_status(answer: schemas.ChatAnswer) -> int:
    if answer.outcome == "failed" and answer.error:
        return failure_status(answer.error.code)
    return OUTCOME_STATUS.get(answer.outcome, 200)


async def read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    declared = header_of(scope, b"content-length")
    if declared.isdecimal() and int(declared) > most:
        raise _too_large(most)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise BadInput("The request broke off.")
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if size > most:
                    raise _too_large(most)
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError:
        raise TooSlow(f"The body did not come within {BODY_S} seconds.") from None


def wants_events(scope: Scope) -> bool:
    return "text/event-stream" in header_of(scope, b"accept")


def _field_names(shape: Any) -> frozenset[str]:
    if not isinstance(shape, type) or not issubclass(shape, msgspec.Struct):
        return frozenset()
    return frozenset(field.encode_name for field in msgspec.structs.fields(shape))


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"The body is larger than {most // (1024 * 1024)} MiB.", hint="Send less at a time.")
