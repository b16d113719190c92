"""`windlass doctor --live`: a few small requests to the configured account show what only the owner of its key can see.
Nothing of them is kept, and the report holds no secret."""

import asyncio
import struct
import time
import zlib
from base64 import b64encode
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal

from yarl import URL

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.core.errors import BadInput, NotFound, WindlassError
from windlass.core.events import Settings
from windlass.core.messages import ChatMessage, Choice, Toolset, ToolSpec
from windlass.core.ports import LiveEvent, ModelRequest, Prompt, Reply, TextDelta
from windlass.providers import DEMO, Models, ProviderConfig, post_chat, profile_for
from windlass.search.backend import Backend
from windlass.search.builtin import BUILTIN, PROVIDER_SEARCH
from windlass.search.zai import is_zai
from windlass.toolbox.search_backends import SearchBackends
from windlass.turns.views import iso
from windlass.version import VERSION

MOST_REQUESTS = 12
CHECK_S = 60.0
MOST_TOKENS = 1024  # of a reply; models that think need some before they answer
QUESTION = "weather in Nanaimo"
CODING, GENERAL = "/api/coding/paas/v4", "/api/paas/v4"
READY = "Answer with the one word: ready."
WEATHER = Toolset(
    "live-check",
    (
        ToolSpec(
            "get_weather",
            "windlass",
            "get_weather",
            "The weather in a city now.",
            '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}',
        ),
    ),
)
SEARCHING = Toolset("live-check-search", (PROVIDER_SEARCH,))
Outcome = tuple[Literal["ok", "no", "failed", "skipped"], str]


class LiveChecks:
    def __init__(self, models: Models, search_backends: SearchBackends) -> None:
        self._models = models
        self._search_backends = search_backends

    @serves(routes.providers.check)
    async def check(self, provider_id: str) -> schemas.LiveReport:
        config = next((one for one in self._models.configs() if one.id == provider_id), None)
        if config is None:
            raise NotFound(
                f"There is no provider {provider_id[:100]}.", hint="GET /providers shows those that are there."
            )
        if config.wire == DEMO:
            raise BadInput(
                "There is no account to check: the demo model answers.",
                hint="Set OPENAI_API_KEY, OPENAI_BASE_URL and LLM_MODEL, or [provider] in windlass.toml.",
            )
        if not config.model:
            raise BadInput(f"No model is named for {config.base_url}.", hint="`windlass doctor` says where to name it.")
        account = AccountCheck(self._models, config)
        await account.check_model()
        await account.check_coding_plan()
        for backend in self._backends(config):
            await account.check_search(backend)
        return account.report()

    def _backends(self, config: ProviderConfig) -> list[Backend]:
        """Those that a turn may use, and Z.AI's remote search wherever there is one."""
        chosen = list(self._search_backends.for_provider(config).backends)
        names = {backend.name for backend in chosen}
        every = self._search_backends.backends(config)
        remote = [backend for backend in every if backend.name == "zai-mcp" and backend.ready() is None]
        return chosen + [backend for backend in remote if backend.name not in names]


class AccountCheck:
    """The rows of one report. A check that would go beyond the number of requests is skipped."""

    def __init__(self, models: Models, config: ProviderConfig) -> None:
        self._models = models
        self._config = config
        self._profile = profile_for(config.base_url, config.model, config.profile)
        self._rows: list[schemas.LiveRow] = []
        self._requests = 0
        self._two_calls: Outcome = ("failed", "the requests at once failed")

    async def check_model(self) -> None:
        if not await self._row("chat", 1, self._chat):
            return
        await self._row("stream", 1, self._stream)
        await self._row("tools", 1, self._tools)
        await self._row("two requests at once", 2, self._two_at_once)
        await self._row("two calls in one reply", 0, self._calls_of_two_at_once)
        await self._row("tool_choice: none", 1, self._no_tools)
        await self._row("picture", 1, self._picture)

    async def check_coding_plan(self) -> None:
        if is_zai(self._config.base_url):
            await self._row("coding endpoint", 1, self._coding)

    async def check_search(self, backend: Backend) -> None:
        async def search() -> Outcome:
            if problem := backend.ready():
                return "skipped", problem
            if backend.name == BUILTIN:
                return await self._own_search()
            return "ok", f"{len(await backend.search(QUESTION, 3))} results"

        await self._row(f"search: {backend.name}", 1, search)

    def report(self) -> schemas.LiveReport:
        url = URL(self._config.base_url)
        return schemas.LiveReport(
            provider=self._config.name or self._config.id,
            address=f"{url.host}{url.path}",
            model=self._config.model,
            version=VERSION,
            at=iso(time.time()),
            rows=self._rows,
            requests=self._requests,
            ok=all(row.result != "failed" for row in self._rows),
        )

    async def _row(self, name: str, requests: int, check: Callable[[], Awaitable[Outcome]]) -> bool:
        began = time.monotonic()
        outcome: Outcome = ("skipped", f"{MOST_REQUESTS} requests are the limit")
        if self._requests + requests <= MOST_REQUESTS:
            outcome = await self._tried(check)
            self._requests += 0 if outcome[0] == "skipped" else requests
        took_ms = round((time.monotonic() - began) * 1000)
        self._rows.append(schemas.LiveRow(name, outcome[0], self._models.redact(outcome[1]), took_ms))
        return outcome[0] == "ok"

    async def _tried(self, check: Callable[[], Awaitable[Outcome]]) -> Outcome:
        try:
            async with asyncio.timeout(CHECK_S):
                return await check()
        except WindlassError as error:
            return "failed", error.message
        except TimeoutError:
            return "failed", f"no answer within {CHECK_S:g} s"

    async def _chat(self) -> Outcome:
        text, tokens = await post_chat(self._config, self._body(READY), CHECK_S)
        return ("ok", f"{tokens} tokens") if text else ("failed", "the answer is empty")

    async def _stream(self) -> Outcome:
        reply, pieces = await self._ask("Count from one to thirty in words, separated by commas.")
        if pieces < 2:
            return "no", "the text came in one piece"
        return "ok", f"{pieces} pieces, the first after {reply.first_ms} ms"

    async def _tools(self) -> Outcome:
        reply, _ = await self._ask("What is the weather in Oslo? Use the tool.", WEATHER)
        return ("ok", "called") if _calls(reply) else ("failed", "the model did not call the tool")

    async def _two_at_once(self) -> Outcome:
        asked = (self._ask(READY), self._ask("Weather in Oslo and in Lima? Call the tool twice, at once.", WEATHER))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_reply_or_failure(one)) for one in asked]
        one, other = (task.result() for task in tasks)
        if isinstance(one, str) or isinstance(other, str):
            return "failed", next(failed for failed in (one, other) if isinstance(failed, str))
        self._two_calls = ("ok" if _calls(other) > 1 else "no", f"{_calls(other)} calls")
        return "ok", "both answered"

    async def _calls_of_two_at_once(self) -> Outcome:
        return self._two_calls

    async def _no_tools(self) -> Outcome:
        if "none" not in self._profile.choices:
            return "skipped", "this server does not take it"
        reply, _ = await self._ask("What is the weather in Oslo?", WEATHER, "none")
        return ("no", "the model called a tool all the same") if reply.calls else ("ok", "no call came")

    async def _picture(self) -> Outcome:
        if not self._models.facts(self._config, self._config.model).images:
            return "skipped", "not claimed for this model"
        text, _ = await post_chat(self._config, self._body(_PICTURE), CHECK_S)
        return ("ok", "it saw red") if "red" in text.lower() else ("failed", "it did not name the colour")

    async def _coding(self) -> Outcome:
        if "/coding/" in self._config.base_url:
            return "ok", "the configured address, see chat"
        if GENERAL not in self._config.base_url:
            return "skipped", "no such address beside this one"
        other = replace(self._config, base_url=self._config.base_url.replace(GENERAL, CODING))
        try:
            await post_chat(other, self._body(READY), CHECK_S)
        except WindlassError as error:
            return "no", error.message
        return "ok", "this key works there too"

    async def _own_search(self) -> Outcome:
        reply, _ = await self._ask(f"Search the web: {QUESTION}?", SEARCHING)
        return ("ok", f"{len(reply.sources)} results") if reply.sources else ("no", "the reply has no results")

    async def _ask(self, text: str, tools: Toolset | None = None, choice: Choice = "auto") -> tuple[Reply, int]:
        pieces = 0

        def emit(event: LiveEvent) -> None:
            nonlocal pieces
            pieces += isinstance(event, TextDelta)

        prompt = Prompt("", (), (ChatMessage("user", text),), choice)
        settings = Settings(self._config.id, self._config.model, max_tokens=MOST_TOKENS)
        reply = await self._models.reply(ModelRequest("turn-live", settings, prompt, tools or Toolset()), emit)
        return reply, pieces

    def _body(self, content: str | list[dict[str, Any]]) -> dict[str, Any]:
        messages = [{"role": "user", "content": content}]
        return {"model": self._config.model, "messages": messages, self._profile.most_field: MOST_TOKENS}


async def _reply_or_failure(asked: Awaitable[tuple[Reply, int]]) -> Reply | str:
    try:
        return (await asked)[0]
    except WindlassError as error:
        return error.message


def _calls(reply: Reply) -> int:
    return sum(not call.broken for call in reply.calls)


def _red_png(size: int = 32) -> bytes:
    """A square of one colour, large enough for servers that refuse tiny pictures."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = (b"\0" + b"\xff\0\0" * size) * size
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


_PICTURE: list[dict[str, Any]] = [
    {"type": "text", "text": "Which colour is this picture? Answer with one word."},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(_red_png()).decode()}"}},
]
