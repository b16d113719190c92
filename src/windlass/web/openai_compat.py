"""`/v1` for any OpenAI client: completions whole or in chunks, embeddings, errors in OpenAI's form."""

import asyncio
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from windlass.api import schemas
from windlass.api.route import Route
from windlass.core.errors import BadInput, WindlassError
from windlass.services.completions import Completions
from windlass.services.v1_parameters import CompletionWanted, read_request
from windlass.services.v1_tools import HEADER
from windlass.web.endpoints import Endpoint, read_body
from windlass.web.errors import Malformed, Unauthorized, bad_shape
from windlass.web.http import encode, header_of, send_json, send_v1_error
from windlass.web.openai_form import Exchange, completion, why_failed
from windlass.web.principal import principal_of
from windlass.web.sse import HEADERS, disconnected

KEEP_ALIVE_S = 15.0  # proxies cut connections on which nothing comes for a minute
KEEP_ALIVE = b": keep-alive\n\n"
# OpenAI's clients repeat a request that failed with 429 or 5xx twice, and every tool that ran would run again.
DO_NOT_REPEAT = [(b"x-should-retry", b"false")]


class V1Endpoint(Endpoint):
    """Refusals come in OpenAI's form, which its clients read."""

    async def fail(self, send: Send, error: WindlassError) -> None:
        await send_v1_error(send, error)


class WholeBodyEndpoint(V1Endpoint):
    """Takes every field of the body, also those that no schema names."""

    async def body(self, scope: Scope, receive: Receive) -> dict[str, Any]:
        raw = await read_body(scope, receive, self._most)
        try:
            body = msgspec.json.decode(raw or b"{}")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Malformed(f"The body is not valid JSON: {error}.") from None
        if not isinstance(body, dict):
            raise BadInput("The body is a JSON object.")
        return body


class EmbeddingsEndpoint(WholeBodyEndpoint):
    def __init__(self, route: Route[..., Any], completions: Completions, most: int) -> None:
        super().__init__(route, completions.embeddings, most)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_json(send, 200, await self.verb(await self.body(scope, receive)))


class CompletionEndpoint(WholeBodyEndpoint):
    def __init__(self, route: Route[..., Any], completions: Completions, most: int) -> None:
        super().__init__(route, completions.begin, most)
        self._completions = completions

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = _read(await self.body(scope, receive))
        request = wanted.request
        turn_id = await self._completions.begin(wanted, header_of(scope, HEADER.encode()))
        out = _EventSender(send)
        work = asyncio.ensure_future(
            self._stream(turn_id, request, out) if request.stream else self._whole(turn_id, send)
        )
        gone = asyncio.ensure_future(disconnected(receive))
        ended = asyncio.get_running_loop().create_future()
        try:
            with principal_of(scope).reading(lambda: None if ended.done() else ended.set_result(None)):
                await asyncio.wait({work, gone, ended}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
                return
            await self._completions.end(turn_id)
        finally:
            work.cancel()
            gone.cancel()
        if ended.done():
            await self._break_off(out)

    async def _break_off(self, out: "_EventSender") -> None:
        """The token was revoked: as much as was sent stays the whole of it."""
        if not out.started:
            raise Unauthorized("The token was revoked while the answer was made.", hint="Use another token.")
        await out.end(b"")

    async def _whole(self, turn_id: str, send: Send) -> None:
        record = await self._completions.finished(turn_id)
        if failed := why_failed(record.view):
            await send_json(send, *failed, DO_NOT_REPEAT)
        else:
            await send_json(send, 200, completion(record))

    async def _stream(self, turn_id: str, request: schemas.CompletionRequest, out: "_EventSender") -> None:
        """Nothing is sent before there is something to say, so that a request which fails at once has the status of its
        failure; but no proxy is left without a sign of life."""
        wants_usage = request.stream_options is not None and request.stream_options.include_usage
        stream = self._completions.watch(turn_id)
        exchange = Exchange(self._completions.record(turn_id))
        out.opening = exchange.opening()
        try:
            while not stream.ended:
                try:
                    async with asyncio.timeout_at(out.due):
                        frames = await stream.frames()
                except TimeoutError:
                    await out.write(KEEP_ALIVE)
                    continue
                for frame in frames:
                    stream.passed(frame)
                    await out.say(*exchange.chunks(frame))
            record = self._completions.record(turn_id)
            if not out.started and (failed := why_failed(record.view)):
                return await send_json(out.send, *failed, DO_NOT_REPEAT)
            await out.say(*exchange.closing(record, wants_usage))
            await out.end(b"data: [DONE]\n\n")
        finally:
            stream.close()


class _EventSender:
    """Writes chunks, the opening one before the first; `due` is when a keep-alive is."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.started = False
        self.opening: schemas.Chunk | None = None
        self._loop = asyncio.get_running_loop()
        self.due = self._loop.time() + KEEP_ALIVE_S

    async def say(self, *chunks: schemas.Chunk | schemas.V1Failed) -> None:
        if chunks:
            await self.write(b"".join(map(_event, chunks)))

    async def write(self, body: bytes) -> None:
        if not self.started:
            self.started = True
            await self.send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            body = (_event(self.opening) if self.opening else b"") + body
        await self.send({"type": "http.response.body", "body": body, "more_body": True})
        self.due = self._loop.time() + KEEP_ALIVE_S

    async def end(self, body: bytes) -> None:
        await self.send({"type": "http.response.body", "body": body})


def _read(body: dict[str, Any]) -> CompletionWanted:
    try:
        return read_request(body)
    except msgspec.ValidationError as error:
        raise bad_shape(error) from None


def _event(chunk: schemas.Chunk | schemas.V1Failed) -> bytes:
    return b"data: " + encode(chunk) + b"\n\n"
