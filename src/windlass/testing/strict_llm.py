"""A strict OpenAI-compatible model server, scripted per test.

It says what its script says, and refuses with 400 every history that a real provider would refuse:

    async with StrictLLM([call("list_directory", path="/docs"), say("There are two files.")]) as llm:
        ...                                     # point the client at llm.base_url
    assert llm.requests[1].messages[-1]["role"] == "tool"

It also runs by itself: `python -m windlass.testing --script FILE.json --port N --record FILE`.
"""

import asyncio
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from aiohttp import web

from windlass.testing import chat_wire
from windlass.testing.chat_wire import Answering, Step, answer_steps, limited, resliced
from windlass.testing.embedding import embedding_faults, embeddings
from windlass.testing.recording import RecordedRequest, Recording
from windlass.testing.replies import Failure, Hang, Headers, Pause, RawBody, Scripted, ScriptedReply
from windlass.testing.scripts import Script
from windlass.testing.strict_history import Rules, message_faults, parameter_faults, tool_faults

SearchResult = dict[str, str]
Search = Sequence[SearchResult] | Callable[[str], Sequence[SearchResult]]


class StrictLLM:
    """An async context manager; `base_url` is known once it is entered.

    `rules` widens or narrows what is accepted (see `strict_history.Rules`), `api_key` makes any other key a 401,
    `models` makes any other model unknown, `search` is what the Z.AI dialect finds on the web; None: its plan
    has no search. `routes` are further ones at the same origin.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        dialect: Literal["openai", "zai"] = "openai",
        coding_plan: bool = False,
        rules: Rules | None = None,
        api_key: str | None = None,
        models: Sequence[str] | None = None,
        search: Search | None = (),
        record: Path | None = None,
        port: int = 0,
        routes: Sequence[web.RouteDef] = (),
    ) -> None:
        self._script = script if callable(script) else None
        self._replies = [] if callable(script) else list(script)
        self._dialect = _dialect(dialect, coding_plan)
        self._rules = rules or self._dialect.rules
        self._api_key, self._models, self._search, self._port = api_key, models, search, port
        self._recording = Recording(record)
        self._routes = routes
        self._tasks: set[asyncio.Task[Any]] = set()
        self._runner: web.AppRunner | None = None
        self.searches: list[Mapping[str, Any]] = []
        self.embedded: list[Mapping[str, Any]] = []
        self.refused: list[str] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}{self._dialect.base_path}"

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every chat request that was well-formed JSON, refused ones included, in order of arrival."""
        return self._recording.requests

    @property
    def unused(self) -> list[Scripted]:
        """What of the script was not asked for."""
        return list(self._replies)

    def then(self, *replies: Scripted) -> None:
        """Add to the end of the script."""
        self._replies += replies

    async def arrived(self, count: int) -> RecordedRequest:
        """Wait until `count` requests have come; gives the last of them."""
        return await self._recording.arrived(count)

    async def dropped(self, number: int) -> None:
        """Wait until the client has hung up on the request with this number, counted from 0."""
        await self._recording.gone(number)

    async def __aenter__(self) -> "StrictLLM":
        app = web.Application(client_max_size=64 * 1024 * 1024)
        base = self._dialect.base_path
        app.router.add_post(f"{base}/chat/completions", self._chat)
        app.router.add_get(f"{base}/models", self._list_models)
        app.router.add_get(f"{base}/models/{{name:.+}}", self._retrieve_model)
        app.router.add_post(f"{base}/embeddings", self._embed)
        if self._dialect.name == "zai":
            app.router.add_post(f"{base}/web_search", self._web_search)
        app.add_routes(self._routes)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        if self._runner:
            await self._runner.cleanup()
        self._recording.close()

    async def _chat(self, http: web.Request) -> web.StreamResponse:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a handler always runs in a task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        body = await _json_object(http)
        if body is None:
            return self._failure(self._dialect.refusal("parameter", "the body is not a JSON object"))
        request = await self._recording.add(http.path, {k.lower(): v for k, v in http.headers.items()}, body)
        try:
            return await self._answer(http, request)
        except (asyncio.CancelledError, ConnectionResetError):
            await self._recording.drop(request)
            raise

    async def _answer(self, http: web.Request, request: RecordedRequest) -> web.StreamResponse:
        if refusal := self._refusal(request):
            self.refused.append(refusal.message)
            return self._failure(refusal)
        match scripted := await self._next(request):
            case Failure():
                return self._failure(scripted)
            case RawBody():
                return await _send_steps(http, scripted.status, scripted.headers, scripted.chunks, None, scripted.cut)
            case ScriptedReply():
                return await self._send_reply(http, request, scripted)

    async def _next(self, request: RecordedRequest) -> Scripted:
        if self._script:
            made = self._script(request)
            scripted = await made if inspect.isawaitable(made) else made
        elif self._replies:
            scripted = self._replies.pop(0)
        else:
            scripted = self._dialect.refusal("script", f"the script has no reply for request {request.number}")
            self.refused.append(scripted.message)
        if isinstance(scripted, ScriptedReply) and scripted.calls and request.tool_choice == "none":
            if not scripted.despite_choice:
                message = f"the script calls '{scripted.calls[0].name}' although tool_choice is none; see Reply.anyway"
                self.refused.append(message)
                return self._dialect.refusal("script", message)
        return scripted

    def _refusal(self, request: RecordedRequest) -> Failure | None:
        refuse = self._dialect.refusal
        if problem := self._key_refusal(request.headers.get("authorization", "")):
            return problem
        if faults := [*parameter_faults(request.body, self._rules), *tool_faults(request.body, self._rules)]:
            return refuse("parameter", "; ".join(faults))
        if faults := message_faults(request.body.get("messages"), self._rules):
            return refuse("history", "; ".join(faults))
        if self._models is not None and request.model not in self._models:
            return refuse("model", f"the model '{request.model}' does not exist")
        if self._searches_itself(request) and (self._search is None or not self._dialect.searches):
            return refuse("parameter", "tools: this plan has no built-in web_search")
        return None

    def _key_refusal(self, authorization: str) -> Failure | None:
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer" or not key:
            return self._dialect.refusal("no key", "no API key in the Authorization header")
        if self._api_key is not None and key != self._api_key:
            return self._dialect.refusal("wrong key", "incorrect API key provided")
        return None

    def _searches_itself(self, request: RecordedRequest) -> bool:
        return any(tool.get("type") == "web_search" for tool in request.tools)

    async def _send_reply(
        self, http: web.Request, request: RecordedRequest, reply: ScriptedReply
    ) -> web.StreamResponse:
        steps = answer_steps(reply, self._answering(request, http.content_length or 0))
        kind = "text/event-stream" if request.stream else "application/json"
        headers = {"Content-Type": f"{kind}; charset=utf-8"}
        if reply.byte_sizes:
            steps = resliced(steps, reply.byte_sizes)
        limit = reply.cut.after if reply.cut else None
        return await _send_steps(http, 200, headers, steps, limit, reply.cut is not None and not reply.cut.cleanly)

    def _answering(self, request: RecordedRequest, prompt_chars: int) -> Answering:
        zai = self._dialect.name == "zai"
        options = request.body.get("stream_options") or {}
        return Answering(
            number=request.number,
            model=request.model,
            prompt_chars=prompt_chars,
            stream=request.stream,
            usage_chunk=options.get("include_usage") is True,
            usage_at_end=self._dialect.usage_at_end,
            whole_arguments=zai and request.body.get("tool_stream") is not True,
            reasoning=(request.body.get("thinking") or {}).get("type") != "disabled",
            web_search=tuple(self._found(request.user_text)) if self._searches_itself(request) else (),
            choices=request.body.get("n") or 1,
            logprobs=request.body.get("logprobs") is True,
            top_logprobs=request.body.get("top_logprobs") or 0,
            marks=_marks(request.body),
        )

    def _found(self, query: str) -> Sequence[SearchResult]:
        return self._search(query) if callable(self._search) else self._search or ()

    async def _list_models(self, http: web.Request) -> web.StreamResponse:
        if problem := self._key_refusal(http.headers.get("Authorization", "")):
            return self._failure(problem)
        return web.json_response({"object": "list", "data": self._known_models()})

    async def _retrieve_model(self, http: web.Request) -> web.StreamResponse:
        if problem := self._key_refusal(http.headers.get("Authorization", "")):
            return self._failure(problem)
        name = http.match_info["name"]
        for model in self._known_models():
            if model["id"] == name:
                return web.json_response(model)
        return self._failure(self._dialect.refusal("model", f"the model '{name}' does not exist"))

    def _known_models(self) -> list[dict[str, object]]:
        names = self._models or ["strict-model"]
        return [{"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "tests"} for name in names]

    async def _embed(self, http: web.Request) -> web.StreamResponse:
        if problem := self._key_refusal(http.headers.get("Authorization", "")):
            return self._failure(problem)
        body = await _json_object(http)
        if body is None or (faults := embedding_faults(body)):
            return self._failure(self._dialect.refusal("parameter", "; ".join(faults) if body else "no JSON object"))
        self.embedded.append(body)
        return web.json_response(embeddings(body))

    async def _web_search(self, http: web.Request) -> web.StreamResponse:
        if problem := self._key_refusal(http.headers.get("Authorization", "")):
            return self._failure(problem)
        if self._search is None:
            return self._failure(
                Failure(429, "1113", "Insufficient balance or no resource package. Please recharge.", {})
            )
        body = await _json_object(http)
        if body is None or (faults := _search_faults(body)):
            return self._failure(self._dialect.refusal("parameter", "; ".join(faults) if body else "no JSON object"))
        self.searches.append(body)
        results = self._found(str(body["search_query"]))[: body.get("count", 10)]
        return web.json_response({"id": "search-1", "created": 1_700_000_000, "search_result": list(results)})

    def _failure(self, failure: Failure) -> web.Response:
        body = self._dialect.error_body(failure)
        return web.json_response(body, status=failure.status, headers=dict(failure.headers))


async def _send_steps(
    http: web.Request,
    status: int,
    headers: Mapping[str, str],
    steps: Iterable[Step],
    limit: int | None,
    abruptly: bool,
) -> web.StreamResponse:
    """Send the steps, at most `limit` bytes of them; `abruptly` drops the connection instead of ending the body."""
    response = web.StreamResponse(status=status, headers=dict(headers))
    for step in steps if limit is None else limited(steps, limit):
        match step:
            case Pause(gate):
                await gate.wait()
            case Hang():
                await asyncio.Event().wait()
            case Headers():
                await response.prepare(http)
            case bytes():
                if not response.prepared:
                    await response.prepare(http)
                await response.write(step)
                await asyncio.sleep(0)  # lets a reader in the same loop see this write by itself
    if not response.prepared:
        await response.prepare(http)
    if abruptly and http.transport:
        http.transport.close()
    else:
        await response.write_eof()
    return response


def _marks(body: Mapping[str, Any]) -> dict[str, str]:
    found = {"service_tier": body.get("service_tier"), "system_fingerprint": body.get("seed")}
    return {name: str(value) for name, value in found.items() if value is not None}


def _search_faults(body: Mapping[str, Any]) -> list[str]:
    faults = []
    if not isinstance(body.get("search_query"), str) or not body["search_query"]:
        faults.append("search_query: must not be empty")
    if not isinstance(body.get("search_engine"), str) or not body["search_engine"]:
        faults.append("search_engine: must not be empty")
    count = body.get("count", 10)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 50:
        faults.append("count: must lie between 1 and 50")
    if body.get("search_recency_filter", "noLimit") not in ("oneDay", "oneWeek", "oneMonth", "oneYear", "noLimit"):
        faults.append("search_recency_filter: unknown value")
    if body.get("content_size", "medium") not in ("medium", "high"):
        faults.append("content_size: must be medium or high")
    return faults


async def _json_object(http: web.Request) -> dict[str, Any] | None:
    try:
        body = json.loads(await http.read())
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _dialect(name: Literal["openai", "zai"], coding_plan: bool) -> chat_wire.Dialect:
    if name == "openai":
        return chat_wire.OPENAI
    return chat_wire.ZAI_CODING if coding_plan else chat_wire.ZAI
