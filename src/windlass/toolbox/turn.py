"""The tools of one turn: core's `Tools` port. Judges each call when the reply is complete, and runs it later."""

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from windlass.core.engine import SEARCH_TOOL
from windlass.core.errors import BadInput, NotFound, ToolError, Unavailable
from windlass.core.events import CallJudged, Event, Settings
from windlass.core.fold import TurnView, fold
from windlass.core.messages import ToolCall, ToolOutput, Toolset, ToolSpec
from windlass.core.ports import Emit, Reply, ToolProgress, Waiting
from windlass.core.values import value_object
from windlass.search.rules import completed
from windlass.servers import InputReply, Question, Servers, ServerStatus
from windlass.servers.values import CallResult, TextPart
from windlass.store import UnknownCall
from windlass.toolbox.addresses import INSIDE, NamedAddresses, fetched_so, named_in, outside_text, together
from windlass.toolbox.addresses import MOST as MOST_FETCHED
from windlass.toolbox.local_tools import BUILT_IN, PYTHON, BuiltIn, Functions
from windlass.toolbox.offers import Offer, Offers, arguments_hash
from windlass.toolbox.permission_trace import TraceLayer, trace
from windlass.toolbox.permissions import (
    Grant,
    RuleBook,
    TrustLevel,
    chat_setting_id,
    decide,
    doubtful,
    server_setting_id,
    settings_for,
    tool_setting_id,
)
from windlass.toolbox.questions import Questions, WorkClock, input_needed
from windlass.toolbox.resources import (
    RESOURCE_HASH,
    RESOURCE_LIST,
    RESOURCE_READ,
    RESOURCE_TOOLS,
    listing,
    named_server,
    of_server,
    read_result,
    with_note,
)
from windlass.toolbox.results import LONGEST, tool_output
from windlass.toolbox.schemas import Checker, checked_result
from windlass.toolbox.tool_list import TOOLS_SEARCH, names_listed, part_of, undeclared
from windlass.toolbox.unsent import UnsentCalls

CALLER = "caller"


@value_object
class ToolContext:
    """What the tools of every turn work with."""

    servers: Servers
    offers: Offers
    questions: Questions
    unsent: UnsentCalls
    functions: Functions
    built_in: dict[str, BuiltIn]
    rules: Callable[[], RuleBook]
    grants: Callable[[str], Sequence[Grant]]
    unknown: Callable[[str], Sequence[UnknownCall]]  # conversation -> calls whose outcome is unknown
    toolset: Callable[[str], Toolset]  # by its hash
    read_outside: Callable[[str], str]  # conversation -> what brought text from outside into it, or ""
    named_addresses: Callable[[str], NamedAddresses]  # conversation -> addresses that were written or found in it
    agreed: Callable[[Offer], str]  # the hash of the accepted definition
    keep: Callable[[str, str, bytes, str], Awaitable[str]]  # conversation, turn, body, mime -> result id
    result_chars: int = LONGEST  # of a result, as the model is shown it

    def slug(self, server_id: str) -> str:
        return self.servers.config(server_id).slug if server_id in self.servers else ""


class TurnTools:
    def __init__(
        self,
        context: ToolContext,
        conversation_id: str,
        turn_id: str,
        settings: Settings,
        toolset: Toolset,
        *,
        can_ask: bool,
        verbatim: bool = False,
    ) -> None:
        self.toolset = toolset
        self._context = context
        self._conversation_id = conversation_id
        self._turn_id = turn_id
        self._settings = settings
        self._can_ask = can_ask
        self._verbatim = verbatim  # results go to a program as they are
        self._clock = WorkClock()
        self._read_before: str | None = None
        self._named_before: NamedAddresses | None = None
        self._fetched: set[str] = set()
        self._list = Toolset()

    def listed(self, view: TurnView) -> Toolset:
        if not self._settings.listed:
            return self.toolset
        names = names_listed(self.toolset, view)
        if [tool.name for tool in self._list.tools] != [*names]:
            self._list = part_of(self.toolset, names)
        return self._list

    def judge(self, call: ToolCall, log: Sequence[Event]) -> CallJudged:
        spec = self.spec_of(call)
        if spec and spec.server == CALLER:
            return CallJudged(call.id, "refuse", CALLER, refusal="handed_over", reason="Handed over.", server=CALLER)
        offer = self._offer(spec) if spec else None
        judged = decide(
            call,
            spec,
            offered=self.toolset.by_name,
            errors=_errors(call, spec, offer) or self._guessed(call, spec, log),
            trust=self._trust(spec, offer) if spec else TrustLevel(),
            rules=self._context.rules(),
            grants=self._context.grants(self._conversation_id),
            read_outside=lambda: self._read_outside(log),
            known_addresses=lambda addresses: self._why_known(call.id, addresses, log),
            in_doubt=doubtful(call, log) or self._in_doubt(call),
            can_ask=self._can_ask,
            now=time.time(),
        )
        if judged.refusal == "unknown_tool" and self._settings.listed:
            return replace(judged, reason=f"{judged.reason} {TOOLS_SEARCH} finds tools by what they do.")
        return judged

    def _guessed(self, call: ToolCall, spec: ToolSpec | None, log: Sequence[Event]) -> list[str]:
        """What is wrong with a call of a tool that the model was not shown. It may be right: earlier messages and
        search results name tools. Otherwise it comes back, and the next request lists the tool."""
        if spec is None or call.broken or not self._settings.listed or not log:
            return []
        if call.name in names_listed(self.toolset, fold(log)):
            return []
        wrong = undeclared(spec, call.arguments)
        return [*wrong, "Its definition is in your list now: read it and call again"] if wrong else []

    def _in_doubt(self, call: ToolCall) -> bool:
        """The same call may have taken effect in a turn before this one."""
        unknown = self._context.unknown(self._conversation_id)
        wanted = arguments_hash(call.arguments) if unknown else ""
        same = [one for one in unknown if arguments_hash(one.call.arguments) == wanted]
        return any(self._is_same_tool(call.name, one) for one in same)

    def _is_same_tool(self, name: str, earlier: UnknownCall) -> bool:
        """Whatever it was called: another server with a tool of that name gives it a longer one, and a server that was
        removed may be here again."""
        if earlier.call.name == name:
            return True
        try:
            before = self._context.toolset(earlier.toolset).by_name.get(earlier.call.name)
        except NotFound:  # the database has lost it
            before = None
        now = self.toolset.by_name.get(name)
        if before is None or now is None or before.tool != now.tool:
            return False
        return before.server == now.server or before.server not in self._context.servers

    def explain(self, call: ToolCall, log: Sequence[Event]) -> tuple[CallJudged, tuple[TraceLayer, ...]]:
        """As it would be judged now, and what each layer of permissions says about it."""
        judged, spec = self.judge(call, log), self.spec_of(call) or self.toolset.by_name[call.name]
        layers = trace(
            call,
            spec,
            judged,
            trust=self._trust(spec, self._offer(spec)),
            rules=self._context.rules(),
            grants=self._context.grants(self._conversation_id),
            now=time.time(),
        )
        return judged, layers

    def alarm(self, limit_s: float, sound: Callable[[], object]) -> Callable[[], None]:
        return self._clock.alarm(limit_s, sound)

    async def completed(self, view: TurnView, replying: Awaitable[Reply], forced: str) -> Reply:
        """An API client may have a search tool of its own, or no tools at all: then there is nothing to add."""
        search = self.toolset.by_name.get(SEARCH_TOOL)
        ours = search is not None and search.server == BUILT_IN
        return await (completed(view, replying, forced) if ours else replying)

    async def run(self, call: ToolCall, emit: Emit) -> ToolOutput:
        spec = self.spec_of(call) or self.toolset.by_name[call.name]
        self._clock.begun(call.id)
        emit(self._waiting(spec, call))
        try:
            if spec.server == BUILT_IN:
                return await self._context.built_in[spec.tool](self._conversation_id, call, self._settings, emit)
            if spec.server == PYTHON:
                return await self._output(await self._call_function(spec, call))
            if _of_resources(spec):
                return await self._resource(spec, call, emit)
            return await self._call(spec, call, emit)
        finally:
            self._clock.over(call.id)

    def spec_of(self, call: ToolCall) -> ToolSpec | None:
        """The tool as it was offered. One that reads resources counts as a tool of the server that the call names."""
        spec = self.toolset.by_name.get(call.name)
        if spec is None or spec.server != BUILT_IN or spec.tool not in RESOURCE_TOOLS or call.broken:
            return spec
        named = named_server(call)
        config = next((one for one in self._context.servers.configs() if one.slug == named), None)
        servers = self._context.servers
        return of_server(spec, config, call, lambda uri: servers.names(config.id, uri)) if config else spec

    def _offer(self, spec: ToolSpec) -> Offer | None:
        return None if _of_resources(spec) else self._context.offers.get(spec.server, spec.tool)

    async def _leaves(self, spec: ToolSpec, call: ToolCall) -> None:
        """A call that waited for a sign-in may have been forbidden meanwhile. Nothing but a deny counts here: what asks
        was allowed before the wait."""
        if call.id not in self._context.unsent:
            return
        judged = decide(
            call, spec, trust=self._trust(spec, self._offer(spec)), rules=self._context.rules(), now=time.time()
        )
        if judged.verdict == "refuse":
            raise ToolError(judged.reason, cause="denied")
        await self._context.unsent.forget(call.id)

    async def _resource(self, spec: ToolSpec, call: ToolCall, emit: Emit) -> ToolOutput:
        """What a server holds was written by anybody, so it is text from outside whoever runs the server."""
        await self._ready(spec, call, emit)
        await self._leaves(spec, call)
        given, servers = json.loads(call.arguments), self._context.servers
        limit_s = servers.config(spec.server).timeout_of(spec.tool)
        try:
            if spec.tool == RESOURCE_LIST:
                result = await servers.ask(spec.server, lambda there: listing(there, given.get("query", "")), limit_s)
            else:
                found = await servers.ask(spec.server, lambda there: there.read(given["uri"], limit_s), limit_s)
                result = read_result(found)
        except ToolError as error:
            error.untrusted = True
            raise
        return await self._output(result, untrusted=True, foreign=True)

    async def _call(self, spec: ToolSpec, call: ToolCall, emit: Emit) -> ToolOutput:
        """A server that asks for a sign-in instead of running a call is asked once more after that."""
        try:
            return await self._sent(spec, call, emit)
        except ToolError as error:
            if error.code != "unauthorized" or error.sent or not self._can_ask or self._is_signed_in(spec.server):
                raise
        if (await self._until_signed_in(spec, call, emit)).state != "running":
            raise ToolError(self._not_running(spec.server), cause="not_running")
        return await self._sent(spec, call, emit)

    async def _sent(self, spec: ToolSpec, call: ToolCall, emit: Emit) -> ToolOutput:
        offer = await self._unchanged(spec, call, emit)
        await self._leaves(spec, call)
        # Taken last: whatever ends the turn before the call is sent leaves the person's answer for the next try.
        answered = await self._context.questions.take(call.id) if call.id in self._context.questions.saved else None
        try:
            result = await self._context.servers.call(
                spec.server,
                spec.tool,
                call.arguments,
                key=call.id,
                safe=spec.safe,
                on_progress=lambda progress, total, message: emit(ToolProgress(call.id, progress, total, message)),
                on_input=lambda question: self._ask(call.id, question, emit),
                answered=answered,
            )
        except ToolError as error:  # how a server words its failure is its own text too
            error.untrusted = not offer.closed_world
            raise
        foreign = offer.tool.open_world is not False
        result = checked_result(result, offer.tool.output_schema)
        if RESOURCE_READ in self.toolset.by_name and self._context.servers.abilities(spec.server).resources:
            result = with_note(result, offer.server.slug)
        return await self._output(result, untrusted=not offer.closed_world, foreign=foreign)

    async def _call_function(self, spec: ToolSpec, call: ToolCall) -> CallResult:
        function = self._context.functions.get(spec.tool)
        try:
            return CallResult((TextPart(await function.call(json.loads(call.arguments))),))
        except ToolError:
            raise
        except Exception as error:  # a person's own code; a long message of its must not flood the prompt either
            message = f"{type(error).__name__}: {error}"
            longest = self._context.result_chars
            if len(message) <= longest:
                raise
            raise ToolError(f"{message[:longest]}...", cause="tool_error") from error

    async def _output(self, result: CallResult, *, untrusted: bool = False, foreign: bool = False) -> ToolOutput:
        try:
            return await tool_output(
                result,
                self._keep,
                self._context.servers.redaction,
                longest=self._context.result_chars,
                untrusted=untrusted,
                foreign=foreign,
                verbatim=self._verbatim,
            )
        except (OSError, Unavailable) as error:  # the call was carried out: it must not pass for one that failed
            raise ToolError(f"The result could not be kept: {error}", cause="not_kept", sent=True) from error

    def _read_outside(self, log: Sequence[Event]) -> str:
        """What brought text from outside: in this turn, whose last results may not be on disk yet, or in one before.
        Turns that were finished before this one began do not change meanwhile, so they are looked through once."""
        if self._read_before is None:
            of_chat = self._conversation_id  # a call that is only tried may belong to none
            self._read_before = self._context.read_outside(of_chat) if of_chat else ""
        return self._read_before or outside_text(log, self._context.slug)

    def _why_known(self, call_id: str, addresses: Sequence[str], log: Sequence[Event]) -> str:
        """The calls of one reply are judged before any of them is in the log."""
        fetched = fetched_so(log) | self._fetched
        if len(fetched) >= MOST_FETCHED:
            return ""
        if self._named_before is None:
            self._named_before = self._context.named_addresses(self._conversation_id)
        why = together((named_in(log), self._named_before)).why_known(addresses)
        if why:
            self._fetched.add(call_id)
        return why

    async def _keep(self, body: bytes, mime: str) -> str:
        return await self._context.keep(self._conversation_id, self._turn_id, body, mime)

    async def _ask(self, call_id: str, question: Question, emit: Emit) -> InputReply:
        if not self._can_ask:
            return InputReply("cancel")
        needed = input_needed(call_id, question)
        with self._clock.asking(call_id):
            return await self._context.questions.ask(call_id, question, self._conversation_id, lambda: emit(needed))

    def _waiting(self, spec: ToolSpec, call: ToolCall) -> Waiting:
        now, servers = time.time(), self._context.servers
        if spec.server not in servers:
            return Waiting("tool", now, call_id=call.id)
        config = servers.config(spec.server)
        return Waiting("tool", now, now + config.timeout_of(spec.tool), server=config.slug, call_id=call.id)

    async def _ready(self, spec: ToolSpec, call: ToolCall, emit: Emit) -> None:
        """After a restart its server may need a moment."""
        if spec.server not in self._context.servers:
            raise ToolError(f"The server of {spec.name} has been removed.", cause="not_running")
        if not self._context.servers.is_ready(spec.server):
            config, now = self._context.servers.config(spec.server), time.time()
            emit(Waiting("server", now, now + config.connect_s, server=config.slug, call_id=call.id))
            status = await self._context.servers.wait_ready(spec.server, config.connect_s)
            if status.state == "needs_sign_in" and self._can_ask:
                status = await self._until_signed_in(spec, call, emit)
            if status.state != "running":
                raise ToolError(self._not_running(spec.server), cause="not_running")
            emit(self._waiting(spec, call))

    async def _unchanged(self, spec: ToolSpec, call: ToolCall, emit: Emit) -> Offer:
        """The tool, which must still be the one that was judged."""
        await self._ready(spec, call, emit)
        offer = self._context.offers.get(spec.server, spec.tool)
        if offer is None or not offer.has(spec.hash):
            raise ToolError(f"{spec.name} changed after this turn began, so it was not run.", cause="changed")
        return offer

    async def _until_signed_in(self, spec: ToolSpec, call: ToolCall, emit: Emit) -> ServerStatus:
        """A person may take days, and Windlass may be restarted meanwhile: nothing was sent, so nothing is lost."""
        servers = self._context.servers
        unsent = self._context.unsent
        with unsent.waiting(call.id, spec.server), self._clock.asking(call.id):
            await unsent.add(call.id, self._conversation_id)
            emit(Waiting("sign_in", time.time(), server=servers.config(spec.server).slug, call_id=call.id))
            return await servers.until_signed_in(spec.server)

    def _is_signed_in(self, server: str) -> bool:
        return server in self._context.servers and self._context.servers.is_signed_in(server)

    def _not_running(self, server: str) -> str:
        if server not in self._context.servers:
            return "The server has been removed."
        status = self._context.servers.status(server)
        return f"The server {status.config.slug} is not running{f': {status.reason}' if status.reason else '.'}"

    def _trust(self, spec: ToolSpec, offer: Offer | None) -> TrustLevel:
        """While a server is down its rules and settings hold all the same: the call may run once it is up again."""
        chat_id = chat_setting_id(self._conversation_id, spec.server, spec.tool)
        if spec.server in (BUILT_IN, PYTHON):
            own = settings_for(tool=spec.approval, tool_id=tool_setting_id(spec.server, spec.tool))
            return TrustLevel(spec.server, trusted=True, settings=own)
        if spec.server not in self._context.servers:
            return TrustLevel(spec.server, settings=settings_for(chat=spec.approval, chat_id=chat_id))
        config = self._context.servers.config(spec.server)
        override = config.overrides.get(spec.tool)
        settings = settings_for(
            chat=spec.approval,
            chat_id=chat_id,
            tool=override.approval if override else "",
            tool_id=tool_setting_id(config.slug, spec.tool),
            server=config.approval,
            server_id=server_setting_id(config.slug),
        )
        if offer is None:
            return TrustLevel(config.slug, config.trusted, settings=settings, operator=config.operator)
        now, agreed = offer.hash, self._context.agreed(offer)
        if spec.hash != now and offer.has(spec.hash):  # a turn that the first edition began
            now, agreed = spec.hash, spec.hash if agreed == now else agreed
        return TrustLevel(config.slug, config.trusted, now, agreed, settings, config.operator)


def _of_resources(spec: ToolSpec) -> bool:
    return spec.server not in INSIDE and spec.tool in RESOURCE_TOOLS and spec.hash == RESOURCE_HASH


def _errors(call: ToolCall, spec: ToolSpec | None, offer: Offer | None) -> list[str]:
    if spec is None or call.broken:
        return []
    checker = offer.checker if offer and offer.has(spec.hash) else _checker(spec)
    return checker.errors(json.loads(call.arguments)) if checker else []


def _checker(spec: ToolSpec) -> Checker | None:
    try:
        schema: dict[str, Any] = json.loads(spec.schema)
        return Checker(schema)
    except (ValueError, BadInput):
        return None
