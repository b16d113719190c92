"""Windlass as an MCP server, apart from the protocol: what a calling program is offered, and its calls. Each call is a
turn of its own in a hidden conversation of that program, so approval, write-ahead, `unknown` and stop are those of any
other call."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, Literal

from windlass.api import schemas
from windlass.bus.streams import Stream
from windlass.core.actor import acting_as
from windlass.core.errors import BadInput, Conflict, NotFound
from windlass.core.events import CallJudged, ModelReplied
from windlass.core.fold import CallView
from windlass.core.ids import call_id as position_id
from windlass.core.ids import new_id
from windlass.core.messages import ToolCall, Toolset, ToolSpec
from windlass.core.values import value_object
from windlass.runner import Runner
from windlass.servers import Servers, ToolDefinition
from windlass.services.keyed_lock import KeyedLock
from windlass.services.tools import ConversationTools
from windlass.store import ConversationRow, Store
from windlass.toolbox import Toolbox
from windlass.toolbox.local_tools import BUILT_IN
from windlass.turns.records import TurnRecords
from windlass.turns.setup import TurnBuilder
from windlass.turns.views import TurnRecord, pending_calls

LONGEST_NAME = 60
NAMELESS = "An MCP client"


@value_object
class Caller:
    """The calling program, as it names itself, and the token it came with."""

    program: str = ""
    version: str = ""
    token_id: str = ""
    token_name: str = "person"  # noqa: S105 - no secret
    may_approve: bool = True  # its token has the scope `approve`

    @property
    def name(self) -> str:
        return _plain(self.program) or NAMELESS

    @property
    def title(self) -> str:
        return f"{self.name} {_plain(self.version)}".rstrip()


@value_object
class OfferedTool:
    """`definition` is None for a function of the embedding program."""

    spec: ToolSpec
    definition: ToolDefinition | None = None


@value_object
class KeptWhole:
    """A result as it was kept: JSON of the protocol, or the text that is all of it."""

    body: bytes
    mime: str


class Gateway:
    def __init__(
        self,
        *,
        store: Store,
        runner: Runner,
        turn_builder: TurnBuilder,
        toolbox: Toolbox,
        servers: Servers,
        records: TurnRecords,
        tools: ConversationTools,
        decide: Callable[[str, str, schemas.Decision], Awaitable[object]],
        answer: Callable[[str, str, schemas.InputAnswer], Awaitable[object]],
        approve: Literal["page", "client"],
    ) -> None:
        self.approve = approve
        self.on_change: list[Callable[[], None]] = []  # called when the offered tools are others than before
        self.closing: list[Callable[[], Awaitable[None]]] = []  # ends what serves the protocol
        self._store = store
        self._runner = runner
        self._turn_builder = turn_builder
        self._toolbox = toolbox
        self._servers = servers
        self._records = records
        self._tools = tools
        self._decide = decide
        self._answer = answer
        self._creating = KeyedLock()
        self._announced = ""
        self._looking: asyncio.Handle | None = None
        toolbox.on_change.append(self._look_soon)

    async def aclose(self) -> None:
        if self._looking:
            self._looking.cancel()
        for close in self.closing:
            await close()

    def check_server(self, server: str) -> None:
        if server and server not in _slugs(self._servers):
            raise NotFound(f"There is no server {server[:100]!r}.", hint="GET /servers shows those that are there.")

    async def offered(self, caller: Caller, server: str = "") -> list[OfferedTool]:
        """What a new conversation has, of one server or of all. This is the one place that says what a program is
        shown: where tools are too many, the tools that find tools would stand here instead."""
        self.check_server(server)
        await self._tools.arriving(self._conversation_id(caller))
        found = [OfferedTool(spec, self._definition(spec)) for spec in self._specs(self._conversation_id(caller))]
        return [one for one in found if not server or self._slug(one.spec) == server]

    async def begin(self, caller: Caller, server: str, name: str, arguments: Mapping[str, Any], asks: bool) -> str:
        """The call as a turn, judged and on disk; gives the turn's id. `asks`: somebody could decide about it."""
        conversation = await self._conversation(caller)
        toolset = await self._toolset(conversation.id, server, name)
        turn_id = new_id("turn")
        started = self._turn_builder.single_call(toolset, caller.title, "wait" if asks else "refuse")
        call = ToolCall(position_id(turn_id, 1, 0), name, json.dumps(arguments, ensure_ascii=False))
        replied = ModelReplied("", (call,), finish="tool_calls", model=caller.title)
        with acting_as(caller.token_name):
            judged: CallJudged = self._toolbox.for_turn(conversation.id, turn_id, started).judge(call, (started,))
            parent = self._last_finished(conversation.id)
            await self._runner.start(conversation.id, started, replied, judged, parent_id=parent, turn_id=turn_id)
        return turn_id

    async def check_resumed(self, caller: Caller, turn_id: str, name: str, arguments: Mapping[str, Any]) -> None:
        """A program sends a call again with an answer: the turn must be that of this very call of its own."""
        record = self._records.get(turn_id)
        call = self.call_of(record).call
        same = call.name == name and json.loads(call.arguments) == dict(arguments)
        if record.conversation_id != self._conversation_id(caller) or not same:
            raise NotFound("This is not the call that the question belongs to.", hint="Call the tool anew.")

    def record(self, turn_id: str) -> TurnRecord:
        return self._records.get(turn_id)

    def call_of(self, record: TurnRecord) -> CallView:
        return next(iter(record.view.calls))

    def watch(self, turn_id: str) -> Stream:
        return self._records.turn_stream(turn_id)

    def pending(self, turn_id: str) -> schemas.PendingCall | None:
        """What the call waits for a person for."""
        return next(iter(pending_calls(self._records.get(turn_id))), None)

    def question_key(self, call_id: str) -> str:
        """What the tool's server calls the question, where its protocol has names for them."""
        question = self._toolbox.questions.pending(call_id)
        return question.request if question else ""

    async def kept(self, record: TurnRecord, result_id: str) -> KeptWhole:
        found = await self._store.result(result_id, within=record.conversation_id)
        return KeptWhole(found.body, found.mime)

    def text(self, text: str) -> str:
        """Without the secrets that are known."""
        return self._servers.redaction.text(text)

    async def decide(self, caller: Caller, turn_id: str, pending: schemas.PendingCall, *, allow: bool) -> None:
        """What the calling program's person decided; another decision may have been first."""
        decision = schemas.Decision("allow" if allow else "deny", hash=pending.hash)
        with acting_as(f"{caller.title} ({caller.token_name})"), suppress(Conflict):
            await self._decide(turn_id, pending.call_id, decision)

    async def answer(self, caller: Caller, turn_id: str, call_id: str, answer: schemas.InputAnswer) -> None:
        with acting_as(f"{caller.title} ({caller.token_name})"), suppress(Conflict):
            await self._answer(turn_id, call_id, answer)

    async def stop(self, turn_id: str) -> None:
        await self._runner.stop(turn_id)

    async def stop_all(self, token_id: str) -> None:
        """The calls that were made with a token which is void now: what waits could still be approved."""
        conversations = self._store.conversations
        for turn in conversations.unfinished():
            client = conversations.get(turn.conversation_id).client
            if client and turn.conversation_id == _conversation_of(token_id, client):
                await self.stop(turn.id)

    async def _conversation(self, caller: Caller) -> ConversationRow:
        """One for each program and token, kept from call to call: approvals for "this chat" are for this program, and
        a call whose outcome is unknown is known when the program makes it again."""
        id = self._conversation_id(caller)
        async with self._creating.hold(id):
            try:
                return self._store.conversations.get(id)
            except NotFound:
                description = f"Calls over MCP with the token {caller.token_name}"
                row = ConversationRow(id, caller.name, description, hidden=True, client=caller.name)
                return await self._store.conversations.create(row)

    def _conversation_id(self, caller: Caller) -> str:
        return _conversation_of(caller.token_id, caller.name)

    def _last_finished(self, conversation_id: str) -> str | None:
        """Calls follow one another; those at the same time are branches beside each other."""
        head = self._store.conversations.head(conversation_id)
        while head and (turn := self._store.conversations.turn(head)).state != "finished":
            head = turn.parent_id
        return head

    async def _toolset(self, conversation_id: str, server: str, name: str) -> Toolset:
        self.check_server(server)
        if (found := self._found(conversation_id, server, name)) is None:
            await self._tools.arrived(conversation_id)  # its server may be starting
            found = self._found(conversation_id, server, name)
        if found is None:
            raise BadInput(f"There is no tool {name[:100]!r} here.", hint="tools/list shows those that are.")
        return self._toolbox.freeze_only([found]).all

    def _found(self, conversation_id: str, server: str, name: str) -> ToolSpec | None:
        specs = (spec for spec in self._specs(conversation_id) if not server or self._slug(spec) == server)
        return next((spec for spec in specs if spec.name == name), None)

    def _specs(self, conversation_id: str) -> list[ToolSpec]:
        """Results are handed over whole, so the tools that read on in kept ones are not needed."""
        return [spec for spec in self._toolbox.freeze(conversation_id).all.tools if spec.server != BUILT_IN]

    def _definition(self, spec: ToolSpec) -> ToolDefinition | None:
        offer = self._toolbox.offers.get(spec.server, spec.tool)
        return offer.tool if offer and offer.has(spec.hash) else None

    def _slug(self, spec: ToolSpec) -> str:
        return self._servers.config(spec.server).slug if spec.server in self._servers else ""

    def _look_soon(self) -> None:
        """Servers change in bursts, and each change may come before the next is known here."""
        if self.on_change and self._looking is None:
            self._looking = asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        self._looking = None
        now = hashlib.sha256(repr([(spec.name, spec.hash) for spec in self._specs("")]).encode()).hexdigest()
        if now != self._announced:
            self._announced = now
            for listener in self.on_change:
                listener()


def _conversation_of(token_id: str, program: str) -> str:
    whose = json.dumps([token_id, program]).encode()
    return f"conv-mcp{hashlib.blake2b(whose, digest_size=12).hexdigest()}"


def _slugs(servers: Servers) -> Collection[str]:
    return {config.slug for config in servers.configs()}


def _plain(name: str) -> str:
    """A name that a program gave itself, in one line."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())[:LONGEST_NAME]
