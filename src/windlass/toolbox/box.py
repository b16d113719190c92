"""All tools: which are enabled in a conversation, which a turn is given, what people decided about them."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import TypeVar, cast

import msgspec

from windlass.core.actor import current_actor
from windlass.core.errors import BadInput, Conflict, NotFound
from windlass.core.events import CallJudged, Search, Settings, TurnStarted
from windlass.core.messages import ChatMessage, ToolCall, ToolClass, Toolset, ToolSpec
from windlass.core.values import value_object
from windlass.search.builtin import PROVIDER_SEARCH
from windlass.search.tool import WEB_SEARCH
from windlass.servers import Servers, ServerStatus
from windlass.store import HEAD, Documents, Store
from windlass.toolbox.addresses import named_in, outside_text
from windlass.toolbox.instructions import InstructionsPin, ServerInstructions
from windlass.toolbox.kept_text import kept_text
from windlass.toolbox.local_tools import RESULT_TOOLS, Functions, SearchFor, built_in_tools
from windlass.toolbox.offers import Offer, Offers, Pin, Pins, is_named, offered_name, offered_names
from windlass.toolbox.past_use import PastUse
from windlass.toolbox.permission_rows import PermissionRows
from windlass.toolbox.permission_trace import TraceLayer
from windlass.toolbox.permissions import Grant, PolicyRule, RuleBook
from windlass.toolbox.questions import KeptQuestion, Questions
from windlass.toolbox.resources import RESOURCE_READ, RESOURCE_TOOLS, resource_tools
from windlass.toolbox.results import LONGEST
from windlass.toolbox.search_tool import ToolFinder, tools_search
from windlass.toolbox.tool_list import (
    MOST_LISTED,
    TOOLS_SEARCH,
    ToolBudget,
    TurnToolset,
    first_names,
    part_of,
    toolset_of,
)
from windlass.toolbox.turn import ToolContext, TurnTools
from windlass.toolbox.unsent import UnsentCall, UnsentCalls

T = TypeVar("T")
MOST_CACHED = 4096
RESERVED = {WEB_SEARCH.name, TOOLS_SEARCH, *(spec.name for spec in RESULT_TOOLS), *RESOURCE_TOOLS}


@value_object
class Available:
    """A tool as a conversation sees it."""

    offer: Offer
    name: str
    enabled: bool
    approval: str
    changed: bool
    kind: ToolClass
    named: bool = False


@value_object
class ToolClassRow:
    """What a tool does, as a person corrected the guess."""

    server_id: str
    tool: str
    kind: ToolClass
    by: str = ""
    at: float = 0

    @property
    def key(self) -> str:
        return f"{self.server_id}/{self.tool}"


@value_object
class EnabledToolRow:
    """A person's choice for one tool in one conversation. `enabled` is False where it overrides a server's default.

    The first edition's picker stored `auto` from hints of untrusted servers; only an `explicit` one counts as such."""

    server_id: str
    tool: str
    enabled: bool = True
    approval: str = ""
    explicit: bool = False  # the approval came with the request that enabled the tool
    named: bool = True  # rather than matched by a pattern
    picked: bool = True  # by itself; False: together with all tools of its server
    by: str = ""
    at: float = 0

    def key(self, conversation_id: str) -> str:
        return f"{conversation_id}/{self.server_id}/{self.tool}"

    @property
    def setting(self) -> str:
        """The approval that counts as set by somebody; "" for none."""
        return self.approval if self.explicit or self.approval != "auto" else ""


@value_object
class CallTrial:
    """What a call would come to. `enabled`: the tool is on there; else it was judged as if it was named."""

    spec: ToolSpec
    judged: CallJudged
    enabled: bool
    layers: tuple[TraceLayer, ...] = ()


class Toolbox:
    def __init__(
        self,
        store: Store,
        servers: Servers,
        search_for: SearchFor,
        rules: Sequence[PolicyRule] = (),
        result_chars: int = LONGEST,
        budget: ToolBudget = ToolBudget(),  # noqa: B008 - frozen
    ) -> None:
        self.questions = Questions(store.documents("question", KeptQuestion))
        self.unsent = UnsentCalls(store.documents("unsent_call", UnsentCall))
        self.functions = Functions()
        self.on_change: list[Callable[[], None]] = []  # called when what new conversations are offered may be another
        self._store = store
        self._servers = servers
        self.offers = Offers(servers)
        self._enabled: Documents[EnabledToolRow] = store.documents("enabled_tool", EnabledToolRow)
        self.pins = Pins(store.documents("pin", Pin))
        self._classes: Documents[ToolClassRow] = store.documents("tool_class", ToolClassRow)
        self.server_instructions = ServerInstructions(servers, store.documents("instructions", InstructionsPin))
        self._cache = _Cache()
        self.budget = budget
        self.permissions = PermissionRows(store, rules, self._cache.clear)
        self._context = ToolContext(
            servers,
            self.offers,
            self.questions,
            self.unsent,
            self.functions,
            {
                **built_in_tools(search_for, self._whole),
                TOOLS_SEARCH: ToolFinder(store.toolset, servers, self.offers).run,
            },
            self._rule_book,
            self._grants_in,
            store.conversations.unknown_calls,
            store.toolset,
            self._read_outside,
            lambda conversation_id: named_in(store.conversations.naming_events(conversation_id)),
            self.pins.agreed,
            store.keep_result,
            result_chars,
        )

    def for_turn(self, conversation_id: str, turn_id: str, started: TurnStarted) -> TurnTools:
        toolset = self._store.toolset(started.settings.toolset)
        can_ask = started.origin != "v1" and started.settings.asks == "wait"
        verbatim = started.origin == "mcp"
        return TurnTools(
            self._context, conversation_id, turn_id, started.settings, toolset, can_ask=can_ask, verbatim=verbatim
        )

    def was_unsent(self, call_id: str) -> bool:
        """A call that was cut off before anything of it was sent."""
        return call_id in self.unsent

    def freeze(
        self,
        conversation_id: str,
        search: Search = "off",
        extra: Sequence[ToolSpec] = (),
        *,
        parent_id: str | None = HEAD,
        opening: Sequence[ChatMessage] = (),
        most: int = MOST_LISTED,
    ) -> TurnToolset:
        """The tools a new turn is given, kept under their hash. An extra tool replaces the one of its name. `most`: as
        many as the model's wire takes."""
        chosen = self.chosen(conversation_id, search, extra, parent_id=parent_id, opening=opening, most=most)
        self._store.keep_toolset(chosen.all)
        return chosen

    def chosen(
        self,
        conversation_id: str,
        search: Search = "off",
        extra: Sequence[ToolSpec] = (),
        *,
        parent_id: str | None = HEAD,
        opening: Sequence[ChatMessage] = (),
        most: int = MOST_LISTED,
    ) -> TurnToolset:
        """The same, without keeping anything."""
        budget, toolset = replace(self.budget, most=most), self._frozen(conversation_id, search)
        fits = budget.holds((*toolset.tools, *extra))
        if not fits:
            toolset = self._cache.get(f"searched:{toolset.hash}", lambda: self._searched(toolset))
        if extra:
            named = {spec.name for spec in extra}
            toolset = toolset_of([*(spec for spec in toolset.tools if spec.name not in named), *extra])
        if fits:
            return TurnToolset(toolset, toolset)
        choices, past = self._choices(conversation_id), PastUse(self._store, conversation_id, parent_id, opening)
        names = first_names(
            toolset,
            budget,
            is_picked=lambda spec: _is_picked(spec, choices.get((spec.server, spec.tool))),
            before=past.last_list(self._store.toolset),
            used=lambda: list(past.called()),
        )
        return TurnToolset(toolset, part_of(toolset, names), names)

    def freeze_only(self, tools: Sequence[ToolSpec]) -> TurnToolset:
        toolset = toolset_of(tools)
        self._store.keep_toolset(toolset)
        return TurnToolset(toolset, toolset)

    def missing(self, conversation_id: str) -> list[ServerStatus]:
        """Servers that do not run, and whose enabled tools can therefore not be offered."""
        absent = [status for status in self._servers.statuses() if status.state != "running"]
        if not absent:
            return []
        wanted = {choice.server_id for choice in self._choices(conversation_id).values() if choice.enabled}
        return [status for status in absent if status.config.id in wanted or status.config.tools]

    def available(self, conversation_id: str) -> list[Available]:
        """Every usable tool of every running server, in a stable order."""
        choices = self._choices(conversation_id)
        offers = list(self._running())
        on = [offer for offer in offers if self._is_on(offer, choices)]
        names = {offer.key: name for offer, name in _named(on)}
        own = dict(_named_alone(offers))
        return [
            Available(
                offer,
                names.get(offer.key) or own[offer.key],
                offer.key in names,
                self._approval(offer, choices),
                self.pins.changed(offer),
                self.kind(offer),
                self._is_named(offer, choices),
            )
            for offer in offers
        ]

    def offer(self, server: str, tool: str) -> Offer:
        config = self._servers.status(server).config
        offer = self.offers.get(config.id, tool)
        if offer is None:
            state = self._servers.status(config.id).state
            hint = f"The server is {state}. POST /servers/{{id}}/start starts it."
            if state == "running":
                hint = "GET /servers/{id}/tools lists its tools."
            raise NotFound(f"The server {config.slug} has no tool {tool!r}.", hint=hint)
        return offer

    def kind(self, offer: Offer) -> ToolClass:
        """The file's class, else a person's, else the guess."""
        return self._corrected(offer) or offer.guess.kind

    def kind_by(self, offer: Offer) -> str:
        """Who corrected the guess; "" where it stands."""
        if _override_class(offer):
            return "windlass.toml"
        row = self._corrections().get((offer.server.id, offer.tool.name))
        return row.by if row else ""

    async def set_class(self, server: str, tool: str, kind: ToolClass | None, by: str = "") -> Offer:
        """Correct the guess; None returns to it."""
        offer = self.offer(server, tool)
        if _override_class(offer):
            raise Conflict(
                f"The class of {tool} is set in windlass.toml.",
                hint=f"Change `class` under [servers.{offer.server.slug}.tools.{tool}] there.",
                code="from_config",
            )
        row = ToolClassRow(offer.server.id, tool, kind or offer.guess.kind, by, time.time())
        await (self._classes.put(row.key, row, parent=offer.server.id) if kind else self._classes.delete(row.key))
        self._cache.clear()
        return offer

    async def enable(
        self,
        conversation_id: str,
        server: str,
        tool: str,
        approval: str = "",
        *,
        named: bool = True,
        picked: bool = True,
    ) -> EnabledToolRow:
        """Enabling a tool accepts it as it is defined now; a changed one must be accepted first."""
        self._store.conversations.get(conversation_id)
        offer = self.offer(server, tool)
        if offer.problem:
            raise BadInput(f"{tool} cannot be offered: {offer.problem}")
        if self.pins.changed(offer):
            raise Conflict(
                f"{tool} changed after it was accepted.",
                hint="Review the difference and accept it first.",
                code="tool_changed",
            )
        by, at = current_actor(), time.time()
        choice = EnabledToolRow(offer.server.id, tool, True, approval, bool(approval), named, picked, by, at)
        await self._enabled.put(choice.key(conversation_id), choice, parent=conversation_id)
        if pinned := self.pins.first([offer]):
            await pinned
        self._cache.clear()
        return choice

    async def disable(self, conversation_id: str, server: str, tool: str) -> bool:
        self._store.conversations.get(conversation_id)
        config = self._servers.status(server).config
        choice = EnabledToolRow(config.id, tool, False)
        was_on = any(
            found.enabled and (found.offer.server.id, found.offer.tool.name) == (config.id, tool)
            for found in self.available(conversation_id)
        ) or bool((old := self._enabled.get(choice.key(conversation_id))) and old.enabled)
        await self._enabled.put(choice.key(conversation_id), choice, parent=conversation_id)
        self._cache.clear()
        return was_on

    def enabled(self, conversation_id: str) -> list[EnabledToolRow]:
        """The enabled tools, also of servers that do not run now, but not of removed ones."""
        choices = self._choices(conversation_id)
        known = {config.id for config in self._servers.configs()}
        found = [choice for choice in choices.values() if choice.enabled and choice.server_id in known]
        for offer in self._running():
            key = (offer.server.id, offer.tool.name)
            if key not in choices and self._is_on(offer, choices):
                found.append(EnabledToolRow(*key, approval=self._approval(offer, choices)))
        return found

    async def accept(self, server: str, tool: str, hash: str) -> None:
        """Accept a changed definition, which must be the very one that was reviewed."""
        offer = self.offer(server, tool)
        if not offer.has(hash):
            raise Conflict("The tool changed again.", hint="Review the difference once more.", code="tool_changed")
        await self.pins.renew(offer)
        self.servers_changed()

    def tool_granted(self, grant: Grant) -> str:
        """The tool's own name, which grants of the first edition do not hold; "" while its server does not run."""
        found = None if grant.tool else self._offer_granted(grant)
        return found.tool.name if found else grant.tool

    def chat_settings(self, conversation_id: str = "", most: int = -1) -> Iterator[tuple[str, EnabledToolRow]]:
        """What was chosen in one conversation or in all, newest first, each with the conversation's id."""
        for kept in self._enabled.kept(conversation_id or None, most):
            yield kept.parent, kept.row

    async def forget_setting(self, conversation_id: str, row: EnabledToolRow) -> None:
        """A tool loses its setting and stays on as a named one; one that was only named is switched off."""
        left = replace(row, approval="", explicit=False, enabled=bool(row.setting))
        await self._enabled.put(row.key(conversation_id), left, parent=conversation_id)
        self._cache.clear()

    def tried(self, conversation_id: str, server: str, tool: str, arguments: str) -> CallTrial:
        """A call judged as in a turn that begins now, in this conversation or in a new one. The server is named by its
        id or its slug, or is one of those that run inside Windlass."""
        toolset = self._frozen(conversation_id, "due")
        server_id = next((one.id for one in self._servers.configs() if server in (one.id, one.slug)), server)
        offered = next((spec for spec in toolset.tools if (spec.server, spec.tool) == (server_id, tool)), None)
        spec = offered or self._alone(self.offer(server, tool))
        toolset = toolset if offered else toolset_of([spec])
        tools = TurnTools(self._context, conversation_id, "", Settings(), toolset, can_ask=True)
        judged, layers = tools.explain(ToolCall("trial", spec.name, arguments), ())
        return CallTrial(spec, judged, offered is not None, layers)

    def rejudging(self, rules: RuleBook) -> Callable[[str, ToolSpec, ToolCall], CallJudged]:
        """Past calls as they would be judged now, with these rules. Each chat is looked through once for text from
        outside, however many of its calls are judged."""
        context = replace(self._context, rules=lambda: rules, read_outside=cache(self._read_outside))

        def judged(conversation_id: str, spec: ToolSpec, call: ToolCall) -> CallJudged:
            tools = TurnTools(context, conversation_id, "", Settings(), toolset_of([spec]), can_ask=True)
            return tools.judge(call, ())

        return judged

    def _alone(self, offer: Offer) -> ToolSpec:
        return offer.spec(offer.tool.name, "", self._corrected(offer), named=True)

    def judged_resource(self, conversation_id: str, server: str, uri: str) -> CallJudged:
        """Whether a resource of this server may be read, as if the model asked for it."""
        (spec,) = (one for one in resource_tools([server]) if one.tool == RESOURCE_READ)
        tools = TurnTools(self._context, conversation_id, "", Settings(), toolset_of([spec]), can_ask=True)
        arguments = msgspec.json.encode({"server": server, "uri": uri}).decode()
        return tools.judge(ToolCall("trial", spec.name, arguments), ())

    def instructions(self, conversation_id: str) -> list[tuple[str, str]]:
        """By the server's slug, of the servers with enabled tools: how each says that it is to be used."""
        choices = self._choices(conversation_id)
        servers = {offer.server.slug: offer.server for offer in self._running() if self._is_on(offer, choices)}
        found = [(slug, self.server_instructions.used(one)) for slug, one in servers.items()]
        return [(slug, text) for slug, text in found if text]

    def servers_changed(self) -> None:
        self._cache.clear()
        for listener in self.on_change:
            listener()

    def _read_outside(self, conversation_id: str) -> str:
        """What brought text from outside into a chat, or "". What SQL finds and cannot be named counts all the same."""
        conversation = self._store.conversations.get(conversation_id)
        if conversation.imported_at:
            return "imported messages"
        if conversation.client:
            return "what the calling program has read, which is not known here"
        log = self._store.conversations.outside_log(conversation_id)
        return outside_text(log, self._context.slug) or ("an earlier result" if log else "")

    def _frozen(self, conversation_id: str, search: Search) -> Toolset:
        whose = conversation_id if self._choices(conversation_id) else ""  # most have no choices of their own
        key = f"toolset:{search}:{whose}"
        return self._cache.get(key, lambda: toolset_of(list(self._offered(conversation_id, search))))

    def _searched(self, toolset: Toolset) -> Toolset:
        slugs = {config.id: config.slug for config in self._servers.configs()}
        found = dict.fromkeys(slugs[spec.server] for spec in toolset.tools if spec.server in slugs)
        return toolset_of([*toolset.tools, tools_search([*found])])

    def _offered(self, conversation_id: str, search: Search) -> Iterator[ToolSpec]:
        choices = self._choices(conversation_id)
        on = [offer for offer in self._running() if self._is_on(offer, choices) and not self.pins.changed(offer)]
        self.pins.first(on)
        for offer, name in _named(on):
            named = self._is_named(offer, choices)
            yield offer.spec(name, self._approval(offer, choices), self._corrected(offer), named=named)
        yield from self.functions.specs
        if on or self.functions.specs:
            yield from RESULT_TOOLS
        servers = sorted({offer.server.slug for offer in on})
        if slugs := [slug for slug in servers if self._servers.abilities(slug).resources]:
            yield from resource_tools(slugs)
        if search != "off":
            yield PROVIDER_SEARCH if search == "offered" else WEB_SEARCH

    def _running(self) -> Iterator[Offer]:
        for config in sorted(self._servers.configs(), key=lambda config: config.slug):
            offers = self.offers.of(config.id)
            yield from (offers[name] for name in sorted(offers) if not offers[name].problem)

    def _is_on(self, offer: Offer, choices: dict[tuple[str, str], EnabledToolRow]) -> bool:
        choice = choices.get((offer.server.id, offer.tool.name))
        if choice:
            return choice.enabled
        return any(fnmatchcase(offer.tool.name, pattern) for pattern in offer.server.enabled_tools)

    def _is_named(self, offer: Offer, choices: dict[tuple[str, str], EnabledToolRow]) -> bool:
        choice = choices.get((offer.server.id, offer.tool.name))
        return (
            choice.named
            if choice
            else (offer.server.tools_are_named and is_named(offer.tool.name, offer.server.enabled_tools))
        )

    def _corrected(self, offer: Offer) -> ToolClass | None:
        row = self._corrections().get((offer.server.id, offer.tool.name))
        return _override_class(offer) or (row.kind if row else None)

    def _corrections(self) -> dict[tuple[str, str], ToolClassRow]:
        return self._cache.get(
            "classes", lambda: {(row.server_id, row.tool): row for row in self._classes.everything()}
        )

    def _approval(self, offer: Offer, choices: dict[tuple[str, str], EnabledToolRow]) -> str:
        choice = choices.get((offer.server.id, offer.tool.name))
        return choice.setting if choice else ""

    def _choices(self, conversation_id: str) -> dict[tuple[str, str], EnabledToolRow]:
        return self._cache.get(
            f"choices:{conversation_id}",
            lambda: {(choice.server_id, choice.tool): choice for choice in self._enabled.all(conversation_id)},
        )

    def _rule_book(self) -> RuleBook:
        """The operator's file comes first: the page cannot loosen it."""
        permissions = self.permissions
        return self._cache.get("rules", lambda: RuleBook((*permissions.operator_rules, *permissions.rules())))

    def _grants_in(self, conversation_id: str) -> Sequence[Grant]:
        return self._cache.get(
            f"grants:{conversation_id}",
            lambda: [self._as_hashed_now(grant) for grant in self.permissions.grants(conversation_id)],
        )

    def _as_hashed_now(self, grant: Grant) -> Grant:
        """A grant of the first edition names its tool by the hash of then."""
        found = self._offer_granted(grant)
        return replace(grant, tool_hash=found.hash) if found else grant

    def _offer_granted(self, grant: Grant) -> Offer | None:
        offers = self.offers.of(grant.server).values() if grant.server else self._running()
        return next((offer for offer in offers if offer.has(grant.tool_hash)), None)

    async def _whole(self, conversation_id: str, result_id: str) -> bytes:
        kept = await self._store.result(result_id, within=conversation_id)
        return await kept_text(kept.body, kept.mime)


def _is_picked(spec: ToolSpec, choice: EnabledToolRow | None) -> bool:
    return bool(spec.approval) or (choice.named and choice.picked if choice else spec.named)


def _override_class(offer: Offer) -> ToolClass | None:
    override = offer.server.overrides.get(offer.tool.name)
    return (override.kind or None) if override else None


class _Cache:
    """What was computed from rows and running servers. Cleared as a whole when one of them changes, so that no entry
    needs to know what it depends on."""

    def __init__(self) -> None:
        self._known: dict[str, object] = {}

    def get(self, key: str, make: Callable[[], T]) -> T:
        if key not in self._known:
            if len(self._known) >= MOST_CACHED:
                self._known.clear()
            self._known[key] = make()
        return cast(T, self._known[key])

    def clear(self) -> None:
        self._known.clear()


def _named(offers: Sequence[Offer]) -> list[tuple[Offer, str]]:
    names = offered_names((offer.key for offer in offers), RESERVED)
    return sorted(((offer, names[offer.key]) for offer in offers), key=lambda pair: pair[1])


def _named_alone(offers: Sequence[Offer]) -> Iterator[tuple[tuple[str, str], str]]:
    """The name of each if it alone were enabled."""
    for offer in offers:
        yield offer.key, offered_name(offer.key, RESERVED)
