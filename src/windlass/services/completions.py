"""Stateless requests in OpenAI's form: a hidden conversation of one turn, kept for a day, ended with its caller."""

import asyncio
import math
import time
from typing import Any

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.bus.streams import Stream
from windlass.core.errors import BadInput, NotFound, WindlassError
from windlass.core.events import StopRequested
from windlass.core.messages import ChatMessage, ToolSpec
from windlass.providers import Models
from windlass.runner import Runner
from windlass.services.imports import repaired, with_own_ids
from windlass.services.tools import ConversationTools
from windlass.store import ConversationRow, Store
from windlass.turns.records import TurnRecords, TurnWaiter
from windlass.turns.setup import TurnBuilder, TurnRequest
from windlass.turns.views import TurnRecord

PREFIX = "windlass/"
CALLER = "caller"
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

    async def begin(self, request: schemas.CompletionRequest) -> str:
        """Start the turn; its id is what the other verbs take."""
        persona = request.model.removeprefix(PREFIX) if request.model.startswith(PREFIX) else ""
        if persona and self._turn_builder.persona(persona).id != persona:
            raise _no_model(f"There is no persona {persona}.")
        if not persona:
            await self._check_model(request.model)
        own, insists = _own_tools(request)
        history = repaired(request.messages)
        system, messages = _apart([message for turn in history.turns for message in turn])
        if not messages:
            raise BadInput("messages: at least one is needed.", detail={"path": "messages"})
        conversation = await self._store.conversations.create(
            ConversationRow("", system_prompt=self._system(persona, system, insists), persona=persona, hidden=True)
        )
        if persona:
            await self._tools.enable_matching(conversation.id, self._turn_builder.persona(persona).tools)
        no_tools = request.tool_choice == "none"
        searches = messages[-1].role == "user" and not insists and not no_tools
        wanted = TurnRequest(
            with_own_ids(conversation.id, messages),
            None,
            model="" if persona else request.model,
            temperature=request.temperature,
            web_search="auto" if searches else "off",
            origin="v1",
            extra_tools=own,
            only_extra=insists,
            no_tools=no_tools,
            max_tokens=request.max_completion_tokens or request.max_tokens,
        )
        started = await self._turn_builder.build(conversation.id, wanted)
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
        """At start: callers of before are gone, so what they left under way is closed, not run on."""
        hidden = set(self._store.conversations.hidden(time.time()))
        for turn in self._store.conversations.unfinished():
            if turn.conversation_id in hidden:
                await self._store.logs.append(turn.id, (StopRequested("caller"),))

    def _system(self, persona: str, system: str, insists: bool) -> str:
        own = self._turn_builder.persona(persona).system_prompt if persona else ""
        return "\n\n".join(filter(None, (own, system, INSISTS if insists else "")))

    async def _check_model(self, name: str) -> None:
        """As for a chat, with OpenAI's code for a model that nobody has."""
        if not name:
            return
        try:
            await self._models.find(name)
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


def _apart(messages: list[ChatMessage]) -> tuple[str, list[ChatMessage]]:
    system = [message.content or "" for message in messages if message.role == "system"]
    return "\n\n".join(system), [message for message in messages if message.role != "system"]


def _own_tools(request: schemas.CompletionRequest) -> tuple[tuple[ToolSpec, ...], bool]:
    """The caller's tools to offer, and whether one of them must be called."""
    own = _specs(request.tools or [])
    match request.tool_choice:
        case None | "auto":
            return own, False
        case "none":
            return (), False
        case "required" if own:
            return own, True
        case {"type": "function", "function": {"name": name}} if named := [one for one in own if one.name == name]:
            return tuple(named), True
    raise BadInput(
        "tool_choice: `auto`, `none`, `required`, or a function that stands in `tools`.",
        detail={"path": "tool_choice"},
    )


def _no_model(message: str) -> NotFound:
    hint = "GET /v1/models shows those that are there."
    return NotFound(message, hint=hint, code="model_not_found", detail={"path": "model"})


def _specs(tools: list[dict[str, Any]]) -> tuple[ToolSpec, ...]:
    return tuple(_spec(tool, index) for index, tool in enumerate(tools))


def _spec(tool: dict[str, Any], index: int) -> ToolSpec:
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or not name:
        raise BadInput(f"tools[{index}]: a function with a name is needed.", detail={"path": f"tools[{index}]"})
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    return ToolSpec(
        name, CALLER, name, str(function.get("description") or ""), msgspec.json.encode(parameters).decode()
    )
