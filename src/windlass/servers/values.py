"""What Windlass knows of an MCP server: its configuration, the tools it defines, the results and the questions of its
calls, and one call in flight. Nothing here talks to a server."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import IO, Any, Literal
from urllib.parse import urlsplit

from windlass.core.errors import BadInput, Conflict
from windlass.core.values import value_object
from windlass.servers.code_arguments import is_shell
from windlass.servers.placeholders import Placeholder, fill, given_values, remaining

Transport = Literal["stdio", "http", "sse"]
Approval = Literal["", "auto", "ask", "deny"]
# "" and "oauth": a person signs in where it is asked for; "client_credentials": Windlass does, with its own secret
Auth = Literal["", "oauth", "client_credentials"]
SandboxLevel = Literal["default", "strict", "off"]
WrittenLevel = SandboxLevel | Literal["bwrap"]  # what the first edition called strict

_SLUG = re.compile(r"(?!srv-[0-9a-z]{26}$)[a-z0-9][a-z0-9_-]{0,31}")  # nothing that may be another server's id
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@value_object
class ToolOverride:
    """What differs for one tool of a server; None and "" leave the server's own setting."""

    timeout_s: float | None = None
    retries: int | None = None
    approval: Approval = ""
    kind: Literal["", "reads", "changes", "sends"] = ""  # what the tool does, where the guess is wrong


@value_object
class SandboxRules:
    """What an isolated server may touch besides, and how much it may use."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    network: bool = False  # asked of strict alone: the default leaves the network as it is
    home: str = ""  # strict: a folder that stays its home between starts; "" for one that is empty at each start
    memory_mib: int = 2048  # 0 for no bound
    processes: int = 256


@value_object
class ServerConfig:
    id: str
    slug: str
    name: str = ""
    transport: Transport = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    auth: Auth = ""
    client_id: str = ""  # of a client that was registered by hand; "" registers one
    client_secret: str = ""  # of the same; for client_credentials a private key (PEM) signs instead of being sent
    scopes: str = ""  # with spaces between; "" for those that the server asks for
    issuer: str = ""  # the authorization server that may get the secret; "" for the one that the server names
    client_metadata_url: str = ""  # a public page that describes this client, instead of registering
    trusted: bool = False
    approval: Approval = ""
    tools: str = ""  # names or globs of tools enabled in new conversations, with commas between; "" enables none
    tools_are_named: bool = True  # by a person; a list that came with an import switches tools on and permits nothing
    overrides: Mapping[str, ToolOverride] = field(default_factory=lambda: MappingProxyType({}))
    connect_s: float = 60
    timeout_s: float = 120
    longest_s: float = 600  # progress renews `timeout_s`, but not beyond this
    retries: int = 0
    parallel: int = 8
    line_cap: int = 8 << 20
    sandbox: WrittenLevel = "default"
    sandbox_rules: SandboxRules = SandboxRules()
    confirmed: bool = False  # a person has seen the exact argv
    operator: bool = False  # configured by the operator in windlass.toml; may set what the environment rules deny
    pin: Literal["", "ask"] = ""  # "ask": a changed program waits for a person, although the operator's file names it
    instructions: bool = True  # what the server says about its use goes to the model, as text of the server's
    bundled: bool = False  # comes with Windlass, and so do the changes of its tools
    placeholders: tuple[Placeholder, ...] = ()  # what a person fills in, and the secrets that were filled in

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.command, *self.args)

    @property
    def wanted_sandbox(self) -> SandboxLevel:
        return "strict" if self.sandbox == "bwrap" else self.sandbox

    @property
    def enabled_tools(self) -> tuple[str, ...]:
        return tuple(self.tools.split(",")) if self.tools else ()

    @property
    def draft(self) -> bool:
        """A command runs only after somebody has confirmed it; reaching an address needs no confirmation."""
        return self.transport == "stdio" and not (self.confirmed or self.operator)

    @property
    def missing(self) -> tuple[Placeholder, ...]:
        """Without these it can neither be confirmed nor started."""
        return tuple(one for one in self.placeholders if not one.is_filled)

    @property
    def signs_in(self) -> bool:
        """A header that somebody set wins: then there is no sign-in."""
        return self.transport != "stdio" and "authorization" not in {name.lower() for name in self.headers}

    def timeout_of(self, tool: str) -> float:
        override = self.overrides.get(tool)
        return override.timeout_s if override and override.timeout_s is not None else self.timeout_s

    def retries_of(self, tool: str) -> int:
        override = self.overrides.get(tool)
        return override.retries if override and override.retries is not None else self.retries

    def approval_of(self, tool: str) -> Approval:
        override = self.overrides.get(tool)
        return (override.approval if override else "") or self.approval


@value_object
class ToolDefinition:
    """A tool exactly as its server defines it. The hints are claims of the server; None where it made none."""

    name: str
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] | None = None
    needs_task: bool = False  # it answers only as a task, which Windlass does not run

    @property
    def read_only(self) -> bool | None:
        return self._hint("readOnlyHint")

    @property
    def destructive(self) -> bool | None:
        return self._hint("destructiveHint")

    @property
    def idempotent(self) -> bool | None:
        return self._hint("idempotentHint")

    @property
    def open_world(self) -> bool | None:
        return self._hint("openWorldHint")

    def _hint(self, name: str) -> bool | None:
        value = (self.annotations or {}).get(name)
        return value if isinstance(value, bool) else None


@value_object
class TextPart:
    text: str


@value_object
class MediaPart:
    kind: Literal["image", "audio"]
    mime: str
    data: str  # base64, as it came


@value_object
class LinkPart:
    uri: str
    name: str = ""
    title: str = ""
    description: str = ""
    mime: str = ""


@value_object
class EmbeddedPart:
    uri: str
    mime: str = ""
    text: str | None = None
    blob: str | None = None  # base64, as it came


Part = TextPart | MediaPart | LinkPart | EmbeddedPart


@value_object
class LongLine:
    """`file` holds all of it, or None when it was longer than is kept."""

    head: bytes
    tail: bytes
    size: int
    file: IO[bytes] | None


@value_object
class CallResult:
    parts: tuple[Part, ...] = ()
    structured: object = None
    failed: bool = False
    raw: Mapping[str, Any] | None = None  # the whole result as sent, where it is more than plain text
    misfit: str = ""  # how its structured part breaks the output schema of its own tool
    spilled: LongLine | None = None  # the whole answer, when it was too long to be parsed


@value_object
class Question:
    """A server asks the person something: a form with a JSON schema, or an address to visit. In the stateless era the
    call can be repeated with the answer at any later time: the server wants `request` and `state` back."""

    message: str
    schema: Mapping[str, Any] | None = None
    url: str = ""
    request: str = ""
    state: str | None = None


@value_object
class InputReply:
    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] | None = None


@value_object
class Answered:
    """An answer given later: with it a call that ended at its question is repeated."""

    question: Question
    answer: InputReply


OnInput = Callable[[Question], Awaitable[InputReply]]
OnProgress = Callable[[float, float | None, str], None]


def config_texts(config: ServerConfig) -> Iterator[tuple[str, str]]:
    """Everything a placeholder may stand in, with where that is."""
    yield "command", config.command
    yield from ((f"argument {number}", text) for number, text in enumerate(config.args, 1))
    yield from ((f"env {name}", text) for name, text in config.env.items())
    yield "folder", config.cwd
    yield "url", config.url
    yield from ((f"header {name}", text) for name, text in config.headers.items())
    yield "client id", config.client_id
    yield "client secret", config.client_secret


def with_texts(config: ServerConfig, change: Callable[[str], str]) -> ServerConfig:
    """Each of them changed, in the same way; but what a shell runs stays as it was confirmed."""
    return replace(
        config,
        command=change(config.command),
        args=config.args if is_shell(config.command) else tuple(map(change, config.args)),
        env={name: change(text) for name, text in config.env.items()},
        cwd=change(config.cwd),
        url=change(config.url),
        headers={name: change(text) for name, text in config.headers.items()},
        client_id=change(config.client_id),
        client_secret=change(config.client_secret),
    )


def revealed(config: ServerConfig, reveal: Callable[[str], str]) -> ServerConfig:
    """As it runs: with the secrets that its rows only name, and those that a person filled in."""
    secrets = {text: reveal(one.value) for one in config.placeholders if one.is_filled for text in one.texts}
    known = replace(
        config,
        env={name: reveal(value) for name, value in config.env.items()},
        headers={name: reveal(value) for name, value in config.headers.items()},
        client_secret=reveal(config.client_secret),
    )
    return with_texts(known, lambda text: fill(text, secrets)) if secrets else known


def with_values(config: ServerConfig, values: Mapping[str, str]) -> ServerConfig:
    """With what a person filled in. Raises `BadInput` for a value that nobody asks for, or that cannot work."""
    left, replaced = given_values(config.placeholders, values)
    filled = replace(with_texts(config, lambda text: fill(text, replaced)), placeholders=left)
    filled = replace(
        filled,
        env=_without_emptied(config.env, filled.env),
        headers=_without_emptied(config.headers, filled.headers),
        args=tuple(after for before, after in zip(config.args, filled.args, strict=True) if after or not before),
    )
    check(filled)
    return filled


def _without_emptied(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """What may be left empty, and was, leaves nothing behind."""
    return {name: text for name, text in after.items() if text or not before[name]}


def without_overwritten(config: ServerConfig, readable: ServerConfig) -> ServerConfig:
    """Without the placeholders that stand nowhere any more. `readable` has the values of its variables and headers."""
    return replace(config, placeholders=remaining(config.placeholders, (text for _, text in config_texts(readable))))


def check_filled(config: ServerConfig) -> None:
    """Raise `Conflict` naming what a person has not filled in yet."""
    if missing := config.missing:
        raise Conflict(
            f"These values are missing: {', '.join(one.name for one in missing)}.",
            hint="PATCH /servers/{id} takes them as `values`.",
            code="values_missing",
            detail={"missing": [one.name for one in missing]},
        )


def check(config: ServerConfig) -> None:
    """Raise `BadInput` naming the field that cannot work."""
    if not _SLUG.fullmatch(config.slug):
        raise _bad("slug", "use 1 to 32 of a-z, 0-9, - and _, starting with a letter or digit")
    if config.transport == "stdio":
        _check_command(config)
    else:
        _check_address(config)
    if config.timeout_s <= 0 or config.connect_s <= 0 or config.longest_s <= 0:
        raise _bad("timeout_s", "must be more than 0 seconds")
    if config.parallel < 1:
        raise _bad("parallel", "must be at least 1")
    if not 0 <= config.retries <= 10:
        raise _bad("retries", "must be between 0 and 10")


def _check_command(config: ServerConfig) -> None:
    if not config.command:
        raise _bad("command", "a stdio server needs a command")
    if any("\0" in part for part in (*config.argv, config.cwd, *config.env.values())):
        raise _bad("args", "a NUL byte cannot be passed to a program")
    for name in config.env:
        if not _ENV_NAME.fullmatch(name):
            raise _bad("env", f"{name!r} is not a valid name of an environment variable")


def _check_address(config: ServerConfig) -> None:
    if not any(text in config.url for one in config.missing for text in one.texts):
        _check_url(config)
    if config.auth == "client_credentials" and not (config.client_id and config.client_secret):
        raise _bad("client_id", "client_credentials needs a client_id and a client_secret")
    if config.client_metadata_url and not config.client_metadata_url.startswith("https://"):
        raise _bad("client_metadata_url", "must be an https address")
    for name, value in config.headers.items():
        if not _HEADER_NAME.fullmatch(name) or any(letter in value for letter in "\r\n\0"):
            raise _bad("headers", f"{name!r} cannot be sent as a header")


def _check_url(config: ServerConfig) -> None:
    try:
        address = urlsplit(config.url)
        port_is_fine = address.port is None or address.port > 0
    except ValueError as error:
        raise _bad("url", str(error)) from None
    if address.scheme not in {"http", "https"} or not address.hostname or not port_is_fine:
        raise _bad("url", "must be an http or https address")
    if address.username is not None:
        raise _bad("url", "an address is shown in full, so a password does not belong there; send it as a header")


def _bad(field_name: str, why: str) -> BadInput:
    return BadInput(f"{field_name}: {why}", detail={"field": field_name})


@dataclass(slots=True)
class CallDeadline:
    """One call in flight: whether its request was sent, and how long it may still take. Progress renews the deadline;
    while a person answers a question of the server's, it is suspended.

    `quiet_s` without progress ends the call; `longest_s` ends it whatever the progress."""

    quiet_s: float
    longest_s: float
    on_input: OnInput | None = None
    asked: tuple[str, str | None] = ("", None)  # id and state of its open question, in the stateless era
    sent: bool = False  # set once the request may have left us: a lost call may then have had its effect
    status: int = 0  # of the last HTTP response, 0 without one
    delivered: bool = False  # whether any of its HTTP requests was answered
    over: asyncio.Event = field(default_factory=asyncio.Event)  # set when the caller has gone: open questions end too
    _timeout: asyncio.Timeout | None = None
    _end: float = 0
    _waits: int = 0
    _left: tuple[float, float] = (0, 0)

    def begin(self) -> asyncio.Timeout:
        now = _now()
        self._end = now + max(self.longest_s, self.quiet_s)
        self._timeout = asyncio.timeout_at(now + self.quiet_s)
        return self._timeout

    def renew(self) -> None:
        # asyncio refuses to reschedule an expired timeout; its RuntimeError would pass for a malformed answer.
        if self._timeout and not self._waits and not self._timeout.expired():
            self._timeout.reschedule(min(_now() + self.quiet_s, self._end))

    @contextmanager
    def person_answers(self) -> Iterator[None]:
        """Several questions may be open at once; the deadline runs on when the last is answered."""
        self._waits += 1
        if self._waits == 1:
            self._suspend()
        try:
            yield
        finally:
            self._waits -= 1
            if self._waits == 0:
                self._resume()

    def _suspend(self) -> None:
        if self._timeout and not self._timeout.expired():
            now = _now()
            due = self._timeout.when()
            self._left = ((due or now) - now, self._end - now)
            self._timeout.reschedule(None)

    def _resume(self) -> None:
        if self._timeout and not self._timeout.expired():
            now = _now()
            quiet, total = self._left
            self._end = now + total
            self._timeout.reschedule(now + quiet)


# Set around each call in the task that makes it: the transport reads it to mark the call as sent, whatever layers of
# the SDK lie between.
current: ContextVar[CallDeadline | None] = ContextVar("call_deadline", default=None)


def _now() -> float:
    return asyncio.get_running_loop().time()
