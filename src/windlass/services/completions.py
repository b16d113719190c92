"""Stateless requests in OpenAI's form: a hidden conversation of one turn, kept for a day, ended with its caller."""

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.bus.streams import Stream
from windlass.core.errors import BadInput, NotFound, WindlassError
from windlass.core.events import StopRequested
from windlass.core.messages import ChatMessage, ToolCall
from windlass.core.prompt import messages_after_opening
from windlass.providers import Models
from windlass.providers.lookup import FoundModel
from windlass.providers.structured import output_format
from windlass.runner import Runner
from windlass.services.tools import ConversationTools
from windlass.services.v1_messages import read_messages
from windlass.services.v1_parameters import CompletionWanted
from windlass.services.v1_tools import SEARCH_TOOL, ServerToolChoice, caller_tools, server_tools
from windlass.store import ConversationRow, Store
from windlass.turns.records import TurnRecords, TurnWaiter
from windlass.turns.setup import TurnBuilder, TurnRequest
from windlass.turns.views import TurnRecord

PREFIX = "windlass/"
SILENT_S = 30
INSISTS = "Answer by calling one of the tools, without any text of your own."


class Completions:
    def __init__(
        self,
        *,
        store: Store,
        runner: Runner,
        turn_builder: TurnBuilder,
        models: Models,
        records: TurnRecords,
        tools: ConversationTools,
        waiting: TurnWaiter,
    ) -> None:
        self._store = store
        self._runner = runner
        self._turn_builder = turn_builder
        self._models = models
        self._records = records
        self._tools = tools
        self._waiting = waiting
        self._silent_since: dict[str, float] = {}

    async def begin(self, wanted: CompletionWanted, tools_header: str = "") -> str:
        """Start the turn; its id is what the other verbs take."""
        request = wanted.request
        persona = await self._persona(request.model)
        own, servers = caller_tools(request), server_tools(request, tools_header)
        output = output_format(request.response_format)
        history = read_messages(request.messages, self._kept_rounds)
        if not history.messages:
            raise BadInput("messages: at least one with content is needed.", detail={"path": "messages"})
        system = self._system(persona, history.system, own.insists)
        row = ConversationRow("", system_prompt=system, persona=persona, hidden=True)
        conversation = await self._store.conversations.create(row)
        await self._switch_on(conversation.id, persona, servers)
        searches = history.messages[-1].role == "user" and not own.alone and servers.search
        started = await self._turn_builder.build(
            conversation.id,
            TurnRequest(
                history.messages,
                None,
                model="" if persona else request.model,
                temperature=request.temperature,
                web_search="auto" if searches else "off",
                origin="v1",
                extra_tools=own.specs,
                only_extra=own.insists,
                server_tools=not own.alone and not (servers.none and not servers.search),
                max_tokens=request.max_completion_tokens or request.max_tokens,
                parameters=msgspec.json.encode(wanted.passed).decode(),
                output=msgspec.json.encode(output.sent).decode() if output else "",
            ),
        )
        return (await self._runner.start(conversation.id, started, parent_id=None)).turn_id

    async def finished(self, turn_id: str) -> TurnRecord:
        await self._waiting.settled(turn_id)
        return self._records.get(turn_id)

    def watch(self, turn_id: str) -> Stream:
        return self._records.turn_stream(turn_id)

    def record(self, turn_id: str) -> TurnRecord:
        return self._records.get(turn_id)

    async def end(self, turn_id: str) -> None:
        """The caller disconnected, so the answer is not needed any more."""
        await self._runner.stop(turn_id)

    @serves(routes.v1.models)
    async def models(self) -> schemas.V1Models:
        """Those of the default provider by their own name, those of the others behind the provider's id."""
        default = self._models.config().id
        found: dict[str, str] = {}
        configs = self._models.configs()
        lists = await asyncio.gather(*(self._listed(config.id, config.model) for config in configs))
        for config, listed in zip(configs, lists, strict=True):
            found |= {name if config.id == default else f"{config.id}/{name}": config.id for name in listed}
        found |= {f"{PREFIX}{persona}": "windlass" for persona in self._turn_builder.personas()}
        return schemas.V1Models([schemas.V1Model(name, owner) for name, owner in found.items()])

    async def load(self) -> None:
        """At start: callers of before are gone, over MCP too, so what they left under way is closed, not run on."""
        for turn in self._store.conversations.unfinished():
            if self._store.conversations.get(turn.conversation_id).hidden:
                await self._store.logs.append(turn.id, (StopRequested("caller"),))

    async def embeddings(self, request: dict[str, Any]) -> dict[str, object]:
        """By the provider that the model's name leads to; every other field is its own business."""
        model = request.get("model") or ""
        if not isinstance(model, str):
            raise BadInput("model: a text is needed.", detail={"path": "model"})
        if request.get("input") in (None, "", []):
            raise BadInput("input: a text, or a list of them, is needed.", detail={"path": "input"})
        found = await self._find(model)
        if not found.config.base_url or not found.model:
            raise _no_model("No model for embeddings is named, or its provider has none.")
        self._turn_builder.check_budget()
        answer = await self._models.embeddings(found.config.id, {**request, "model": found.model})
        self._store.conversations.count_tokens(_tokens_used(answer))
        return answer

    @serves(routes.v1.model)
    async def model(self, id: str) -> schemas.V1Model:
        known = {model.id: model for model in (await self.models()).data}
        if id in known:
            return known[id]
        if id.startswith(PREFIX):
            await self._persona(id)
        return schemas.V1Model(id, (await self._find(id)).config.id)

    async def _persona(self, model: str) -> str:
        """The persona that the model's name asks for, or "" for a plain model, which must be there."""
        persona = model.removeprefix(PREFIX) if model.startswith(PREFIX) else ""
        if persona and self._turn_builder.persona(persona).id != persona:
            raise _no_model(f"There is no persona {persona}.")
        if not persona:
            await self._find(model)
        return persona

    async def _switch_on(self, conversation_id: str, persona: str, servers: ServerToolChoice) -> None:
        named = self._turn_builder.persona(persona).tools
        if servers.persona:
            await self._tools.choose(conversation_id, named, must_exist=False)
        elif servers.patterns:
            patterns = [pattern for pattern in servers.patterns if pattern != SEARCH_TOOL]
            await self._tools.choose(conversation_id, patterns)
        elif persona:
            await self._tools.enable_matching(conversation_id, named)

    def _kept_rounds(self, calls: Sequence[ToolCall], results: dict[str, str]) -> Sequence[ChatMessage] | None:
        """All rounds of the turn that handed these calls over, in place of the message that the caller has of it: the
        server's own calls and their results stand only here."""
        turn_ids = {f"turn-{call.id.removeprefix('call_').partition('_')[0]}" for call in calls}
        if len(turn_ids) > 1:
            return None
        try:
            record = self._records.get(turn_ids.pop())
        except NotFound:
            return None
        view = record.view
        handed = {call.call.id for call in view.rounds[-1].calls if call.handed_over} if view.rounds else set()
        if view.started.origin != "v1" or handed != {call.id for call in calls}:
            return None
        own = messages_after_opening([row.event for row in record.rows], self._store.history.fence)
        return [
            replace(message, content=results[message.call_id]) if message.call_id in results else message
            for message in own
        ]

    def _system(self, persona: str, system: str, insists: bool) -> str:
        own = self._turn_builder.persona(persona).system_prompt if persona else ""
        return "\n\n".join(filter(None, (own, system, INSISTS if insists else "")))

    async def _find(self, name: str) -> FoundModel:
        """As for a chat, with OpenAI's code for a model that nobody has."""
        if not name:
            own = self._models.config()
            return FoundModel(own, own.model)
        try:
            return await self._models.find(name)
        except BadInput as error:
            raise NotFound(error.message, hint=error.hint, code="model_not_found", detail=error.detail) from None

    async def _listed(self, provider: str, configured: str) -> tuple[str, ...]:
        """A list that cannot be had hides no model that may work, and is not asked for again at once: one server that
        is gone would make everybody wait each time."""
        now = time.monotonic()
        if self._silent_since.get(provider, -math.inf) < now - SILENT_S:
            try:
                return await self._models.list_models(provider)
            except WindlassError:
                self._silent_since[provider] = now
        return (configured,) if configured else ()


def _tokens_used(answer: dict[str, Any]) -> int:
    match answer.get("usage"):
        case {"prompt_tokens": int(used)} if used > 0:
            return used
    return 0


def _no_model(message: str) -> NotFound:
    hint = "GET /v1/models shows those that are there."
    return NotFound(message, hint=hint, code="model_not_found", detail={"path": "model"})
