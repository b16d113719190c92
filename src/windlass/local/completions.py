"""Stateless requests in OpenAI's form: a hidden conversation of one turn, kept for a day, ended with its caller."""

import time
from typing import Any

import msgspec

from windlass import shapes
from windlass.core.errors import BadInput, WindlassError
from windlass.core.events import StopRequested
from windlass.core.messages import Message, ToolSpec
from windlass.local.records import Records
from windlass.local.repair import mended, with_own_ids
from windlass.local.tools import Tools
from windlass.local.waiting import Waiting
from windlass.local.watching import Stream
from windlass.opening import Asked, Openings
from windlass.providers import Models
from windlass.runner import Runner
from windlass.store import Conversation, Store
from windlass.views import TurnRecord

PREFIX = "windlass/"
CALLER = "caller"


class Completions:
    def __init__(
        self,
        *,
        store: Store,
        runner: Runner,
        openings: Openings,
        models: Models,
        records: Records,
        tools: Tools,
        waiting: Waiting,
    ) -> None:
        self._store = store
        self._runner = runner
        self._openings = openings
        self._models = models
        self._records = records
        self._tools = tools
        self._waiting = waiting

    async def begin(self, request: shapes.CompletionRequest) -> str:
        """Start the turn; its id is what the other verbs take."""
        persona = request.model.removeprefix(PREFIX) if request.model.startswith(PREFIX) else ""
        if persona and self._openings.persona(persona).id != persona:
            raise BadInput(f"model: there is no persona {persona}.", code="model_not_found", detail={"path": "model"})
        history = mended(request.messages)
        system, said = _apart([message for turn in history.turns for message in turn])
        if not said:
            raise BadInput("messages: at least one is needed.", detail={"path": "messages"})
        conversation = await self._store.conversations.create(
            Conversation("", system_prompt=self._system(persona, system), persona=persona, hidden=True)
        )
        if persona:
            await self._tools.enable_matching(conversation.id, self._openings.persona(persona).tools)
        asked_by_person = said[-1].role == "user"
        wanted = Asked(
            with_own_ids(conversation.id, said),
            None,
            model="" if persona else request.model,
            temperature=request.temperature,
            web_search="auto" if asked_by_person else "off",
            origin="v1",
            extra_tools=() if request.tool_choice == "none" else _specs(request.tools or []),
        )
        started = self._openings.open(conversation.id, wanted)
        return (await self._runner.start(conversation.id, started, parent_id=None)).turn_id

    async def finished(self, turn_id: str) -> TurnRecord:
        await self._waiting.settled(turn_id)
        return self._records.get(turn_id)

    def watch(self, turn_id: str) -> Stream:
        return self._records.turn_stream(turn_id)

    def record(self, turn_id: str) -> TurnRecord:
        return self._records.get(turn_id)

    async def end(self, turn_id: str) -> None:
        """The caller is gone, so nobody waits for the answer any more."""
        await self._runner.stop(turn_id)

    async def models(self) -> shapes.V1Models:
        """Those of the default provider by their own name, those of the others behind the provider's id."""
        default = self._models.config().id
        found: dict[str, str] = {}
        for config in self._models.configs():
            listed = await self._listed(config.id, config.model)
            found |= {name if config.id == default else f"{config.id}/{name}": config.id for name in listed}
        found |= {f"{PREFIX}{persona}": "windlass" for persona in self._openings.personas()}
        return shapes.V1Models([shapes.V1Model(name, owner) for name, owner in found.items()])

    async def bring_in(self) -> None:
        """At start: callers of before are gone, so what they left under way is closed, not run on."""
        hidden = set(self._store.conversations.hidden(time.time()))
        for turn in self._store.conversations.unfinished():
            if turn.conversation_id in hidden:
                await self._store.logs.append(turn.id, (StopRequested("caller"),))

    def _system(self, persona: str, system: str) -> str:
        own = self._openings.persona(persona).system_prompt if persona else ""
        return "\n\n".join(filter(None, (own, system)))

    async def _listed(self, provider: str, configured: str) -> tuple[str, ...]:
        try:
            return await self._models.list_models(provider)
        except WindlassError:  # a list that cannot be had hides no model that may work
            return (configured,) if configured else ()


def _apart(messages: list[Message]) -> tuple[str, list[Message]]:
    system = [message.content or "" for message in messages if message.role == "system"]
    return "\n\n".join(system), [message for message in messages if message.role != "system"]


def _specs(tools: list[dict[str, Any]]) -> tuple[ToolSpec, ...]:
    return tuple(_spec(tool, place) for place, tool in enumerate(tools))


def _spec(tool: dict[str, Any], place: int) -> ToolSpec:
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or not name:
        raise BadInput(f"tools[{place}]: a function with a name is needed.", detail={"path": f"tools[{place}]"})
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    return ToolSpec(
        name, CALLER, name, str(function.get("description") or ""), msgspec.json.encode(parameters).decode()
    )
