"""What one connection offers besides tools, without secrets. A list is asked for when somebody needs it, and again once
the server announced a change; of a server that announces none it is used for a minute."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeVar

from windlass.servers.offered import (
    Completed,
    FilledPrompt,
    ListedPrompt,
    ListedResource,
    ListedTemplate,
    ListKind,
    PromptMessage,
    ReadResource,
    ServerAbilities,
)
from windlass.servers.redaction import Redaction
from windlass.servers.values import EmbeddedPart, LinkPart, Part, TextPart

if TYPE_CHECKING:
    from windlass.servers.session_requests import SessionRequests

FRESH_S = 60.0
T = TypeVar("T")
Listed = TypeVar("Listed", ListedResource, ListedTemplate, ListedPrompt)


class Catalogue:
    def __init__(self, requests: "SessionRequests", redaction: Redaction) -> None:
        self._requests = requests
        self._redaction = redaction
        self._known: dict[str, tuple[object, float]] = {}  # and until when it is used
        self._resources: tuple[ListedResource, ...] = ()  # as listed last
        self._changes: Counter[ListKind] = Counter()
        self._asking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def abilities(self) -> ServerAbilities:
        return self._requests.abilities

    @property
    def instructions(self) -> str:
        return self._redaction.text(self._requests.instructions)

    def forget(self, kind: ListKind) -> None:
        """The server announced a change: whoever needs the list next asks for it."""
        self._changes[kind] += 1

    async def resources(self) -> tuple[ListedResource, ...]:
        self._resources = await self._once("resources", "resources", lambda: self._listed(self._requests.resources))
        return self._resources

    def names(self, uri: str) -> bool:
        """Whether the list that was asked for last has this resource."""
        return any(one.uri == uri for one in self._resources)

    async def templates(self) -> tuple[ListedTemplate, ...]:
        return await self._once("resources", "templates", lambda: self._listed(self._requests.templates))

    async def prompts(self) -> tuple[ListedPrompt, ...]:
        return await self._once("prompts", "prompts", lambda: self._listed(self._requests.prompts))

    async def read(self, uri: str, limit_s: float) -> ReadResource:
        """As the server wrote it: whoever keeps or shows it takes the secrets out, as of a tool's result."""
        return await self._requests.read(uri, limit_s)

    async def prompt(self, name: str, arguments: Mapping[str, str], limit_s: float) -> FilledPrompt:
        found = await self._requests.prompt(name, arguments, limit_s)
        messages = [PromptMessage(one.role, await self._redacted_part(one.part)) for one in found.messages]
        return FilledPrompt(self._redaction.text(found.description), tuple(messages))

    async def complete(
        self, kind: Literal["prompt", "resource"], name: str, argument: str, value: str, context: Mapping[str, str]
    ) -> Completed:
        found = await self._requests.complete(kind, name, argument, value, context)
        return replace(found, values=tuple(map(self._redaction.text, found.values)))

    async def _once(self, kind: ListKind, name: str, ask: Callable[[], Awaitable[tuple[T, ...]]]) -> tuple[T, ...]:
        """Of several who ask at once, one is asked for all. A change announced meanwhile is not in its answer."""
        async with self._asking[name]:
            key = f"{name}/{self._changes[kind]}"
            known = self._known.get(key)
            if known and known[1] > time.monotonic():
                return known[0]  # type: ignore[return-value]
            found = await ask()
            self._known = {old: one for old, one in self._known.items() if not old.startswith(f"{name}/")}
            self._known[key] = (found, float("inf") if self._announced(kind) else time.monotonic() + FRESH_S)
            return found

    def _announced(self, kind: ListKind) -> bool:
        requests = self._requests
        return requests.announces_resources if kind == "resources" else requests.announces_prompts

    async def _listed(self, ask: Callable[[], Awaitable[tuple[Listed, ...]]]) -> tuple[Listed, ...]:
        found = await ask()
        return await asyncio.to_thread(lambda: tuple(self._without_secrets(one) for one in found)) if found else ()

    def _without_secrets(self, one: Listed) -> Listed:
        """A prompt's name stays: the server would not know another one. An address that holds a secret goes."""
        text = self._redaction.text
        if isinstance(one, ListedPrompt):
            arguments = tuple(replace(each, description=text(each.description)) for each in one.arguments)
            made = ListedPrompt(one.name, text(one.title), text(one.description), arguments)
            return made  # type: ignore[return-value]
        return replace(
            one, uri=text(one.uri), name=text(one.name), title=text(one.title), description=text(one.description)
        )

    async def _redacted_part(self, part: Part) -> Part:
        match part:
            case TextPart(text):
                return TextPart(await self._redaction.long_text(text))
            case EmbeddedPart(text=str() as text):
                return replace(part, text=await self._redaction.long_text(text), uri=self._redaction.text(part.uri))
            case EmbeddedPart() | LinkPart():
                return replace(part, uri=self._redaction.text(part.uri))
            case _:
                return part
