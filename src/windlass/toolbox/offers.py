"""The tools of running servers, made ready to be offered: named, hashed, their schemas cleaned and compiled. Done once
for each list a server gives, since a turn must not pay for the size of the catalogue.

A pin keeps the definition of a tool that somebody accepted: by enabling the tool, or by offering all tools of a server,
which accepts them as they were first offered. A definition that changes afterwards, even by an invisible character, has
another hash; the tool stays off until someone accepts the change. What the server runs is no part of that hash: it is
confirmed by itself, so that an update of the program voids no approval of its tools."""

import asyncio
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from windlass.core.errors import BadInput
from windlass.core.messages import ToolClass, ToolSpec
from windlass.core.values import value_object
from windlass.servers import ServerConfig, Servers, ToolDefinition
from windlass.servers.values import Approval
from windlass.store import Documents
from windlass.toolbox.classes import ToolGuess, guess
from windlass.toolbox.schemas import Checker, visible
from windlass.toolbox.tool_search import SearchTerms, terms_of

ONLY_AS_TASK = "It runs only as a task (taskSupport: required), which Windlass does not do yet."
LETTERS_PER_TOKEN = 4  # an estimate, and labelled as one wherever it is shown
LONGEST_NAME = 64
LONGEST_OWN_NAME = 1024  # of a tool as its server names it; the protocol recommends 128
NameKey = tuple[str, str]  # a server's slug and the tool's own name
PinKey = tuple[str, str, str]  # server, identity and tool
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
_MEANING = "2-"  # marks a hash of what a definition means; those of the first edition are plain hexadecimal
_SET_LIKE = frozenset({"enum", "required", "type", "default", "examples", "anyOf", "oneOf", "allOf"})


@value_object
class Offer:
    server: ServerConfig
    tool: ToolDefinition
    hash: str
    schema: str = ""
    checker: Checker | None = None
    problem: str = ""  # why it cannot be offered
    program: str = ""  # the server's own name and version
    approval: Approval = ""  # set by the operator for this tool or its server
    guess: ToolGuess = ToolGuess("changes")
    identity: str = ""  # of what the server runs; "" where the operator did not configure it
    terms: SearchTerms = SearchTerms()

    @property
    def key(self) -> tuple[str, str]:
        return self.server.slug, self.tool.name

    @property
    def tokens(self) -> int:
        return (len(self.tool.name) + len(self.tool.description) + len(self.schema)) // LETTERS_PER_TOKEN

    @property
    def safe(self) -> bool:
        """Whether an interrupted call may be repeated: the server's claim, believed where the operator trusts it."""
        return self.server.trusted and bool(self.tool.read_only or self.tool.idempotent)

    @property
    def closed_world(self) -> bool:
        """Whether its results hold nothing that strangers wrote: the server's claim, believed where it is trusted."""
        return self.server.trusted and self.tool.open_world is False

    def has(self, hash: str) -> bool:
        """Whether this is the definition that was hashed then, be it by the first edition."""
        if hash.startswith(_MEANING):
            return hash == self.hash
        return hash == first_edition_hash(self.tool, self.server)

    def spec(self, name: str, approval: str, kind: ToolClass | None = None, *, named: bool = False) -> ToolSpec:
        """`kind` is the class as somebody corrected it."""
        return ToolSpec(
            name,
            self.server.id,
            self.tool.name,
            visible(self.tool.description),
            self.schema,
            self.hash,
            self.safe,
            approval,
            read_only=bool(self.tool.read_only),
            destructive=self.tool.destructive is True,
            open_world=self.tool.open_world is True,
            kind=kind or self.guess.kind,
            named=named,
            address="" if kind else self.guess.address,
        )


class Offers:
    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._known: dict[str, _KnownOffers] = {}

    def of(self, server_id: str) -> dict[str, Offer]:
        """By the tool's own name; empty while the server does not run, or when it is unknown."""
        if (found := self._servers.offered(server_id)) is None:
            return {}
        tools, config = found
        known = self._known.get(config.id)
        if known is None or known[0] is not tools:
            known = self.prepare(config, tools, self._servers.status(config.id).program)
        elif known[1] is not config:
            known = self._known[config.id] = (tools, config, _of_changed(config, known[2]))
        return known[2]

    def prepare(self, config: ServerConfig, tools: tuple[ToolDefinition, ...], program: str) -> "_KnownOffers":
        """Hashing and compiling takes a while for many tools: servers call this in a thread before they show a list."""
        identity = _pinned_identity(config)
        offers = [replace(_offer(config, tool), program=program, identity=identity) for tool in tools]
        known = self._known[config.id] = (tools, config, {offer.tool.name: offer for offer in offers})
        return known

    def get(self, server_id: str, tool: str) -> Offer | None:
        return self.of(server_id).get(tool)


_KnownOffers = tuple[tuple[ToolDefinition, ...], ServerConfig, dict[str, Offer]]


def _of_changed(config: ServerConfig, offers: Mapping[str, Offer]) -> dict[str, Offer]:
    """The same tools after a setting of their server changed."""
    identity = _pinned_identity(config)
    return {
        name: replace(
            offer,
            server=config,
            approval=config.approval_of(name),
            identity=identity,
            guess=offer.guess if offer.server.trusted == config.trusted else _guess(offer, config),
        )
        for name, offer in offers.items()
    }


def _guess(offer: Offer, config: ServerConfig) -> ToolGuess:
    """From the schema without references: what is hidden behind one counts too."""
    shown = offer.checker.shown if offer.checker else None
    names = (config.slug, config.name)
    return guess(replace(offer.tool, input_schema=shown), trusted=config.trusted, server=names)


def _pinned_identity(config: ServerConfig) -> str:
    """A server in windlass.toml is configured by the operator: with another command its tools are pinned anew."""
    return identity_hash(config)[:16] if config.operator else ""


def _offer(config: ServerConfig, tool: ToolDefinition) -> Offer:
    hash, approval = tool_hash(tool), config.approval_of(tool.name)
    if len(tool.name) > LONGEST_OWN_NAME:
        problem = f"Its name has {len(tool.name):,} characters; {LONGEST_OWN_NAME:,} are the most."
        return Offer(config, tool, hash, problem=problem, approval=approval)
    if tool.needs_task:
        return Offer(config, tool, hash, problem=ONLY_AS_TASK, approval=approval)
    try:
        checker = Checker(tool.input_schema)
    except BadInput as error:
        return Offer(config, tool, hash, problem=error.message, approval=approval)
    schema = json.dumps(checker.shown, ensure_ascii=False, separators=(",", ":"))
    offer = Offer(config, tool, hash, schema, checker, approval=approval)
    return replace(offer, guess=_guess(offer, config), terms=terms_of(offer.spec(tool.name, "")))


@value_object
class Pin:
    """A tool as it was when somebody accepted it, kept whole so that a change can be shown."""

    server_id: str
    tool: str
    hash: str
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] | None = None
    identity: str = ""
    program: str = ""  # the server's name and version then; its own claim, so no part of the hash

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(
            self.tool, self.title, self.description, self.input_schema, self.output_schema, self.annotations
        )


class Pins:
    def __init__(self, rows: Documents[Pin]) -> None:
        self._rows = rows
        self._known: dict[PinKey, Pin] = {(pin.server_id, pin.identity, pin.tool): pin for pin in rows.everything()}

    def of(self, offer: Offer) -> Pin | None:
        return self._known.get(_pin_key(offer))

    def agreed(self, offer: Offer) -> str:
        """The hash of the accepted definition; "" where nobody was asked yet."""
        pin = self.of(offer)
        return "" if pin is None else offer.hash if _accepted(pin, offer) else pin.hash

    def changed(self, offer: Offer) -> bool:
        pin = self.of(offer)
        return pin is not None and not _accepted(pin, offer)

    def first(self, offers: Sequence[Offer]) -> "asyncio.Future[None] | None":
        """Accept each unless there is a pin already. One of the first edition that still holds is written anew: its
        hash is compared once, so that a later update of the program does not void it."""
        new = [offer for offer in offers if self._needs_pin(offer)]
        return self._write(new) if new else None

    def renew(self, offer: Offer) -> "asyncio.Future[None]":
        """Accept it as it is now."""
        return self._write([offer])

    def _needs_pin(self, offer: Offer) -> bool:
        pin = self.of(offer)
        if pin is None:
            return not offer.server.bundled
        return pin.hash != offer.hash and _accepted(pin, offer)

    def _write(self, offers: Sequence[Offer]) -> "asyncio.Future[None]":
        pins = {_pin_key(offer): _pin_of(offer) for offer in offers}
        self._known |= pins
        rows = [("/".join(part for part in key if part), pin, pin.server_id) for key, pin in pins.items()]
        return self._rows.put_all(rows)


def _pin_of(offer: Offer) -> Pin:
    tool = offer.tool
    return Pin(
        offer.server.id,
        tool.name,
        offer.hash,
        tool.title,
        tool.description,
        tool.input_schema,
        tool.output_schema,
        tool.annotations,
        offer.identity,
        offer.program,
    )


def _pin_key(offer: Offer) -> PinKey:
    return offer.server.id, offer.identity, offer.tool.name


def _accepted(pin: Pin, offer: Offer) -> bool:
    """A pin of a server in windlass.toml is kept for what it runs, so that its definition alone decides."""
    return offer.has(pin.hash) or (bool(pin.identity) and tool_hash(pin.definition) == offer.hash)


def tool_hash(tool: ToolDefinition) -> str:
    """Of what a person would call the same tool: the order of keys, and of lists that are sets, does not matter. Some
    servers build those anew at every start."""
    return _MEANING + _sha256(
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": _meaning(tool.input_schema),
            "outputSchema": _meaning(tool.output_schema),
            "annotations": tool.annotations,
        }
    )


def _meaning(schema: object, key: str = "") -> object:
    if isinstance(schema, Mapping):
        return {name: _meaning(value, name) for name, value in schema.items()}
    if isinstance(schema, list | tuple):
        found = [_meaning(value) for value in schema]
        return sorted(found, key=_text) if key in _SET_LIKE else found
    return schema


def first_edition_hash(tool: ToolDefinition, config: ServerConfig) -> str:
    """As the first edition wrote it into pins, grants and turns: with the program, and with every order as it came."""
    return _sha256(
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
            "server": _identity(config),
        }
    )


def identity_hash(config: ServerConfig) -> str:
    """Of the program or address that a server's tools come from."""
    return _sha256(_identity(config))


def arguments_hash(arguments: str) -> str:
    """Of the arguments' values, not their spacing. Text that is not valid JSON is hashed as it is."""
    try:
        return _sha256(json.loads(arguments))
    except (ValueError, RecursionError):
        return hashlib.sha256(arguments.encode("utf-8", "surrogatepass")).hexdigest()


def _identity(config: ServerConfig) -> dict[str, object]:
    """Where the tool comes from. Values of the environment and headers are secrets and may rotate; names may not."""
    if config.transport != "stdio":
        return {"transport": config.transport, "url": config.url}
    return {"transport": "stdio", "command": config.command, "args": list(config.args), "env": sorted(config.env)}


def _sha256(value: object) -> str:
    return hashlib.sha256(_text(value).encode("utf-8", "surrogatepass")).hexdigest()


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def is_named(name: str, patterns: Collection[str]) -> bool:
    """Whether somebody wrote this very name. A server may call its tool `*`: a pattern names nobody."""
    return name in patterns and not any(mark in name for mark in "*?[")


def offered_names(tools: Iterable[NameKey], reserved: Collection[str] = ()) -> dict[NameKey, str]:
    """A tool's own name where possible, `slug__name` where two would clash. Each step names only what the step before
    left ambiguous; the same tools get the same names whatever the order given, so that prompt caches hold."""
    names = dict.fromkeys(sorted(set(tools)), "")
    for name in (_own, _prefixed, _marked):
        _name_the_unclear(names, name, set(reserved))
    return names


def offered_name(tool: NameKey, reserved: Collection[str] = ()) -> str:
    """The name of one tool if it alone were offered."""
    return next(found for name in (_own, _prefixed, _marked) if (found := name(tool)) not in reserved)


def _name_the_unclear(names: dict[NameKey, str], name: Callable[[NameKey], str], reserved: set[str]) -> None:
    taken = Counter(names.values())
    for key, given in names.items():
        if not given or taken[given] > 1 or given in reserved:
            names[key] = name(key)


def _own(key: NameKey) -> str:
    return _fitting(key[1], key)


def _prefixed(key: NameKey) -> str:
    return _fitting(f"{key[0]}__{key[1]}", key)


def _marked(key: NameKey) -> str:
    """For what is still ambiguous: two names that differ only in characters that no provider accepts."""
    return f"{_prefixed(key)[: LONGEST_NAME - 9]}_{_mark(key)}"


def _fitting(name: str, key: NameKey) -> str:
    clean = _NOT_ALLOWED.sub("_", name) or "unnamed"
    return clean if len(clean) <= LONGEST_NAME else f"{clean[: LONGEST_NAME - 9]}_{_mark(key)}"


def _mark(key: NameKey) -> str:
    return hashlib.sha256("\0".join(key).encode()).hexdigest()[:8]
