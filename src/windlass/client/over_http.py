"""The verbs over HTTP. A connection that breaks is taken up again where it broke: chats carry an id that makes sending
them twice harmless, streams resume after the last event seen."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, ParamSpec, TypeVar, cast
from urllib.parse import quote

import aiohttp
import msgspec

from windlass.api import routes, schemas
from windlass.api.events import KINDS, TurnEvent
from windlass.api.route import Route
from windlass.core.errors import BadInput, Conflict, NotFound, Unavailable, WindlassError
from windlass.core.ids import new_id
from windlass.core.ports import Waiting

P = ParamSpec("P")
R = TypeVar("R")
TRIES = 5
CONNECT_S = 10
ERRORS: dict[int, type[WindlassError]] = {
    **{400: BadInput, 413: BadInput, 422: BadInput, 404: NotFound, 409: Conflict, 503: Unavailable, 507: Unavailable}
}
_AGAIN = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, asyncio.IncompleteReadError)


class OverHttp:
    def __init__(self, url: str, token: str = "") -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._session: aiohttp.ClientSession | None = None

    async def call(self, route: Route[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if route.kind == "events":
            raise BadInput(f"{route} is a stream.", hint="Use `watch` or `stream`.")
        path, (given,) = args[: route.path.count("{")], args[route.path.count("{") :] or (None,)
        query, body = (given, None) if route.query else (None, given)
        again = route.method == "GET" or (isinstance(body, schemas.ChatRequest) and bool(body.client_message_id))
        address = _address(route.path, path)
        status, content, kind = await self._tried(route.method, address, _pairs(query), body, TRIES if again else 1)
        if status >= 400 and not (route.kind == "chat" and b'"turn_id"' in content):
            raise _error(status, content)
        answer: Any = content.decode() if kind.startswith("text/") else msgspec.json.decode(content, type=route.gives)
        return cast(R, answer)  # the row's schema, by which it was decoded, is the type's

    async def raw(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Any request, with the answer as it came."""
        status, content, _ = await self._tried(method, path, {}, msgspec.Raw(body) if body is not None else None, 1)
        return status, content

    async def ask(self, conversation_id: str, request: schemas.ChatRequest) -> schemas.Turn:
        answer = await self.call(routes.turns.chat, conversation_id, _sent_once(request))
        return (await self.call(routes.turns.get, answer.turn_id, schemas.WaitQuery())).turn

    async def chat(self, conversation_id: str, request: schemas.ChatRequest) -> AsyncIterator[TurnEvent]:
        request = _sent_once(request)
        address = _address(routes.turns.chat.path, (conversation_id,))
        turn_id, last = "", 0
        for attempt in range(TRIES):
            try:
                async for event in self._events("POST", address, request):
                    turn_id, last = event.turn_id, event.number or last
                    yield event
                    if event.is_end:
                        return
                break
            except _AGAIN as error:
                await _pause(attempt, error, self.url)
                if turn_id:
                    break
        if turn_id:
            async for event in self.watch(turn_id, last):
                yield event

    async def watch(self, turn_id: str, after: int = 0) -> AsyncIterator[TurnEvent]:
        address = _address(routes.turns.events.path, (turn_id,))
        attempt = 0
        while True:
            try:
                async for event in self._events("GET", address, None, after):
                    after, attempt = event.number or after, 0
                    yield event
                    if event.is_end:
                        return
                return
            except _AGAIN as error:
                await _pause(attempt, error, self.url)
                attempt += 1

    async def aclose(self) -> None:
        if self._session:
            await self._session.close()

    async def _tried(
        self, method: str, path: str, query: Mapping[str, str], body: object, tries: int
    ) -> tuple[int, bytes, str]:
        content = None if body is None else msgspec.json.encode(body)
        headers = {"Content-Type": "application/json"} if content is not None or method != "GET" else {}
        for attempt in range(tries):
            try:
                async with self._open().request(
                    method, self.url + path, params=query, data=content, headers=headers
                ) as answer:
                    return answer.status, await answer.read(), answer.content_type
            except _AGAIN as error:
                await _pause(attempt, error, self.url, tries)
            except (aiohttp.InvalidURL, ValueError) as error:
                raise BadInput(
                    f"{self.url} is not the address of a server.", hint="Such as http://127.0.0.1:8420."
                ) from error
        raise AssertionError("the last pause raises")

    async def _events(self, method: str, path: str, body: object, after: int = 0) -> AsyncIterator[TurnEvent]:
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        if body is not None:
            headers["Content-Type"] = "application/json"
        content = None if body is None else msgspec.json.encode(body)
        async with self._open().request(method, self.url + path, data=content, headers=headers) as answer:
            if answer.status != 200:
                raise _error(answer.status, await answer.read())
            async for block in _blocks(answer.content):
                if event := _event(block):
                    yield event

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
            self._session = aiohttp.ClientSession(headers=self._headers, timeout=timeout)
        return self._session


def _sent_once(request: schemas.ChatRequest) -> schemas.ChatRequest:
    """With an id, so that sending it again after a lost answer makes no second turn."""
    return msgspec.structs.replace(request, client_message_id=request.client_message_id or new_id("sent"))


async def _pause(attempt: int, error: Exception, url: str, tries: int = TRIES) -> None:
    if attempt + 1 >= tries:
        why = f": {error}" if str(error) else ""
        raise Unavailable(
            f"No Windlass answers at {url}{why}.", hint="Start one with `windlass serve`.", code="no_server"
        ) from None
    await asyncio.sleep(0.1 * 2**attempt)


def _address(template: str, path: tuple[object, ...]) -> str:
    given = iter(path)
    parts = (quote(str(next(given)), safe="") if part.startswith("{") else part for part in template.split("/"))
    return "/".join(parts)


def _pairs(query: object) -> dict[str, str]:
    if query is None:
        return {}
    return {name: str(value) for name, value in msgspec.to_builtins(query).items() if value not in ("", None)}


def _error(status: int, content: bytes) -> WindlassError:
    kind = ERRORS.get(status, WindlassError)
    try:
        error = msgspec.json.decode(content, type=schemas.Failed).error
    except msgspec.DecodeError:
        return kind(f"The server answered {status}.", hint="Is this address a Windlass server?", code="bad_answer")
    hint = error.hint if isinstance(error.hint, str) else ""
    detail = None if error.detail is msgspec.UNSET else error.detail
    return kind(error.message, hint=hint, code=error.code, detail=detail)


async def _blocks(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in content.iter_any():
        *blocks, rest = (rest + chunk).split(b"\n\n")
        for block in blocks:
            yield block


def _what(name: str, data: bytes) -> Any:
    if KINDS[name] is not Waiting:
        return msgspec.json.decode(data, type=KINDS[name])
    shown = msgspec.to_builtins(msgspec.json.decode(data, type=schemas.TurnWaiting))
    since, until = (shown.pop(key, None) for key in ("since", "until"))
    return Waiting(shown.pop("for"), _at(since), _at(until) if until else None, **shown)


def _at(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


def _event(block: bytes) -> TurnEvent | None:
    fields = dict(line.partition(b": ")[::2] for line in block.split(b"\n"))
    name = fields.get(b"event", b"").decode()
    if name not in KINDS:  # a ping, the greeting, or an event of a newer server
        return None
    ref = msgspec.json.decode(fields[b"data"], type=_TurnRef)
    what = _what(name, fields[b"data"])
    number = fields.get(b"id")
    return TurnEvent(name, ref.turn_id, what, int(number) if number else None)


class _TurnRef(msgspec.Struct):
    turn_id: str
