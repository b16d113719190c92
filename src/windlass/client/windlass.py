"""Windlass as a library: ask, watch, and every verb of the API, in this process or over HTTP."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable
from fnmatch import fnmatchcase
from typing import Any, Literal, Self

from msgspec import UNSET

from windlass.api import routes, schemas
from windlass.api.events import TurnEvent
from windlass.client.over_http import OverHttp
from windlass.client.renamed import renamed
from windlass.client.resources import (
    AuditResource,
    ContextResource,
    ConversationsResource,
    MessagesResource,
    PermissionsResource,
    PersonasResource,
    PolicyResource,
    ProvidersResource,
    SearchResource,
    ServersResource,
    ToolsResource,
    TurnsResource,
)
from windlass.client.transport import Transport
from windlass.config import Config, load
from windlass.core.errors import BadInput
from windlass.core.ports import Model

WebSearch = Literal["auto", "on", "off"]
Attached = Collection[tuple[str, str]]
Asks = Literal["wait", "refuse"]
Decided = bool | schemas.Decision | None
Approve = Callable[[schemas.PendingCall], Decided | Awaitable[Decided]]
LONG_S = 300.0


class Windlass:
    """`Windlass()` opens the data folder with the settings the command line uses, and picks up unfinished turns;
    `Windlass(url=..., token=...)` talks to a server. `functions` are Python functions the model may call; `model`
    answers instead of a configured one, such as `windlass.testing.ScriptedModel` in a test."""

    conversations: ConversationsResource
    messages: MessagesResource
    context: ContextResource
    tools: ToolsResource
    turns: TurnsResource
    servers: ServersResource
    providers: ProvidersResource
    personas: PersonasResource
    policy: PolicyResource
    permissions: PermissionsResource
    audit: AuditResource

    def __init__(
        self,
        url: str = "",
        token: str = "",
        *,
        config: Config | None = None,
        functions: Iterable[Callable[..., Any]] = (),
        model: Model | None = None,
        recover: bool = True,
    ) -> None:
        self._url = url
        self._token = token
        self._config = config
        self._functions = tuple(functions)
        self._model = model
        self._recover = recover
        if url and (self._functions or model):
            raise BadInput("Functions and models of this program only work in process.", hint="Leave out `url`.")

    async def __aenter__(self) -> Self:
        self.transport: Transport = OverHttp(self._url, self._token) if self._url else await self._inside()
        self.conversations = ConversationsResource(self.transport)
        self.messages = MessagesResource(self.transport)
        self.context = ContextResource(self.transport)
        self.tools = ToolsResource(self.transport)
        self.turns = TurnsResource(self.transport)
        self.servers = ServersResource(self.transport)
        self.providers = ProvidersResource(self.transport)
        self.search = SearchResource(self.transport)
        self.personas = PersonasResource(self.transport)
        self.policy = PolicyResource(self.transport)
        self.permissions = PermissionsResource(self.transport)
        self.audit = AuditResource(self.transport)
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.transport.aclose()

    async def ask(
        self,
        text: str,
        *,
        conversation_id: str = "",
        tools: Collection[str] | None = None,
        persona: str = "",
        system_prompt: str = "",
        model: str = "",
        temperature: float | None = None,
        web_search: WebSearch = "auto",
        max_rounds: int | None = None,
        asks: Asks = "wait",
        attachments: Attached = (),
        approve: Approve | None = None,
    ) -> schemas.Turn:
        """Ask and wait for the end: `turn.answer`, `turn.sources`, `turn.outcome`. Without a conversation a new one is
        begun with these `tools`, `persona` and `system_prompt`; with one they are refused, since it has its own.
        `tools` names those to offer, as `server.tool` with `*` for any; by default those that are on for new
        conversations. `approve` is asked about each call that needs a person; without it the turn is given back
        waiting, in the state `awaiting_person`. With `asks="refuse"` such calls are refused, the model is told why, and
        the turn ends in an answer. `attachments` are resources of servers, each as `(server, uri)`: they are read
        before the turn begins, and one that cannot be read is refused."""
        _refuse_for(conversation_id, tools, persona, system_prompt)
        chosen_id = conversation_id or await self.begin(tools=tools, persona=persona, system_prompt=system_prompt)
        return await self.chat(
            chosen_id,
            text,
            model=model,
            temperature=temperature,
            web_search=web_search,
            max_rounds=max_rounds,
            asks=asks,
            attachments=attachments,
            approve=approve,
        )

    async def stream(
        self,
        text: str,
        *,
        conversation_id: str = "",
        parent_turn_id: str | None = None,
        tools: Collection[str] | None = None,
        persona: str = "",
        system_prompt: str = "",
        model: str = "",
        temperature: float | None = None,
        web_search: WebSearch = "auto",
        max_rounds: int | None = None,
        asks: Asks = "wait",
        attachments: Attached = (),
    ) -> AsyncGenerator[TurnEvent, None]:
        """The same, watched: every event of the turn as it happens, to its end. Leaving the loop does not stop it."""
        _refuse_for(conversation_id, tools, persona, system_prompt)
        chosen_id = conversation_id or await self.begin(tools=tools, persona=persona, system_prompt=system_prompt)
        request = _request(text, parent_turn_id, model, temperature, web_search, max_rounds, asks, attachments)
        async for event in self.transport.chat(chosen_id, request):
            yield event

    async def chat(
        self,
        conversation_id: str,
        text: str,
        *,
        parent_turn_id: str | None = None,
        model: str = "",
        temperature: float | None = None,
        web_search: WebSearch = "auto",
        max_rounds: int | None = None,
        asks: Asks = "wait",
        attachments: Attached = (),
        approve: Approve | None = None,
    ) -> schemas.Turn:
        """Say something in a conversation and wait for the end of the turn."""
        request = _request(text, parent_turn_id, model, temperature, web_search, max_rounds, asks, attachments)
        return await self.wait(await self.transport.ask(conversation_id, request), approve)

    async def wait(self, turn: schemas.Turn, approve: Approve | None = None) -> schemas.Turn:
        """Wait until the turn has ended, or only a person can help; `approve` is such a person."""
        while turn.state != "finished":
            if turn.state == "awaiting_person" and not (approve and await self._decide(turn, approve)):
                return turn
            turn = await self.turns.get(turn.id, wait=LONG_S)
        return turn

    settle = renamed("settle", wait)

    async def begin(self, *, tools: Collection[str] | None = None, persona: str = "", system_prompt: str = "") -> str:
        """A new conversation's id, with exactly these tools on, or with the default ones."""
        conversation = await self.conversations.create(persona=persona, system_prompt=system_prompt)
        if tools is not None:
            await self._choose(conversation.id, tools)
        return conversation.id

    async def switch_tools(self, conversation_id: str, pattern: str, *, on: bool) -> None:
        """Switch every tool that fits `server.tool`, where `*` stands for anything. A pattern is not consent to each
        tool it happens to fit: those that may change something will ask."""
        there = (await self.tools.available(conversation_id)).available_tools
        fitting = [tool for tool in there if _fits(tool, pattern)]
        if not fitting:
            names = ", ".join(sorted(f"{tool.server_slug}.{tool.tool_name}" for tool in there)) or "none"
            raise BadInput(f"No running server has a tool {pattern!r}.", hint=f"There are: {names}.")
        for tool in fitting:
            if not on:
                await self.tools.disable(conversation_id, tool.server_id, tool.tool_name)
                continue
            named = "*" not in pattern or tool.kind == "reads"
            await self.tools.enable(conversation_id, tool.server_id, tool.tool_name, None if named else "ask")

    async def _decide(self, turn: schemas.Turn, approve: Approve) -> bool:
        """Whether anything was decided."""
        any_decided = False
        for call in turn.pending_calls:
            if call.kind != "approval":
                continue
            decision = approve(call)
            decided = await decision if inspect.isawaitable(decision) else decision
            if decided is None:
                continue
            decision = decided if isinstance(decided, schemas.Decision) else _decision(decided)
            decision.hash = decision.hash or call.hash
            await self.transport.call(routes.turns.decide, turn.id, call.call_id, decision)
            any_decided = True
        return any_decided

    async def _choose(self, conversation_id: str, patterns: Collection[str]) -> None:
        for tool in (await self.tools.available(conversation_id)).available_tools:
            if tool.enabled and not any(_fits(tool, pattern) for pattern in patterns):
                await self.tools.disable(conversation_id, tool.server_id, tool.tool_name)
        for pattern in patterns:
            await self.switch_tools(conversation_id, pattern, on=True)

    async def _inside(self) -> Transport:
        # The whole server takes 0.2 s more to load (0.6 for 0.4); a client of a server over HTTP needs none of it.
        from windlass.client.functions import as_function
        from windlass.client.in_process import InProcess

        functions = tuple(as_function(function) for function in self._functions)
        return await InProcess().open(self._config or load(), functions, self._model, recover=self._recover)


def ask_sync(text: str, *, url: str = "", token: str = "", **options: Any) -> schemas.Turn:
    """`Windlass.ask` for programs without an event loop."""

    async def asked() -> schemas.Turn:
        async with Windlass(url, token) as windlass:
            return await windlass.ask(text, **options)

    return asyncio.run(asked())


def _refuse_for(conversation_id: str, tools: Collection[str] | None, persona: str, system_prompt: str) -> None:
    """These belong to a conversation, not to a turn: an existing one has its own."""
    if not conversation_id:
        return
    if tools is not None:
        hint = "Switch its tools with `switch_tools(conversation_id, pattern, on=...)`, or leave out `conversation_id`."
        raise BadInput("`tools` can be given for a new chat only.", hint=hint)
    if given := "persona" if persona else "system_prompt" if system_prompt else "":
        hint = f"Set it with `conversations.change(conversation_id, {given}=...)`, or leave out `conversation_id`."
        raise BadInput(f"`{given}` can be given for a new chat only.", hint=hint)


def _request(
    text: str,
    parent_turn_id: str | None,
    model: str,
    temperature: float | None,
    web_search: WebSearch,
    max_rounds: int | None,
    asks: Asks,
    attachments: Attached,
) -> schemas.ChatRequest:
    if not text.strip():
        raise BadInput("The message is empty.", hint="Pass the text to ask.")
    return schemas.ChatRequest(
        text,
        parent_turn_id=UNSET if parent_turn_id is None else parent_turn_id,
        model=model,
        temperature=temperature,
        web_search=web_search,
        max_rounds=max_rounds,
        asks=asks,
        attachments=[schemas.AttachedResource(server, uri) for server, uri in attachments],
    )


def _decision(allow: bool) -> schemas.Decision:
    return schemas.Decision("allow" if allow else "deny")


def _fits(tool: schemas.AvailableTool, pattern: str) -> bool:
    whole = f"{tool.server_slug}.{tool.tool_name}"
    return fnmatchcase(whole, pattern) or tool.tool_name == pattern
