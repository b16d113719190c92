"""One session's requests besides tools: lists, reading a resource, filling in a prompt, completing an argument.
Imported late, with `sdk`."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, TypeVar

from windlass.core.errors import ToolError
from windlass.servers.offered import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    LONGEST_URI,
    MOST_LISTED,
    MOST_OF_LIST,
    Completed,
    FilledPrompt,
    ListedPrompt,
    ListedResource,
    ListedTemplate,
    PromptArgument,
    PromptMessage,
    ReadResource,
    ServerAbilities,
)
from windlass.servers.pipes import SPILLED, Pipes
from windlass.servers.sdk import Client, MCPError, ValidationError, types
from windlass.servers.session_parts import embedded_of, part_of
from windlass.servers.values import CallDeadline, current

LIST_S = 30.0
COMPLETE_S = 3.0  # somebody is typing: what comes later helps nobody
MOST_COMPLETED = 100  # as the protocol says
_PAGES = 1000
_SIZE = 100  # what one entry costs beside its text
Failure = Callable[[MCPError, CallDeadline], ToolError]
Listed = TypeVar("Listed", ListedResource, ListedTemplate, ListedPrompt)
R = TypeVar("R")


class _PageOfList(Protocol):
    next_cursor: str | None


PageOf = TypeVar("PageOf", bound=_PageOfList)


class SessionRequests:
    """Each raises `ToolError` when there is no answer. A server that lacks the ability is not asked."""

    def __init__(self, client: Client, failure: Failure, pipes: Pipes | None) -> None:
        self._client = client
        self._failure = failure
        self._pipes = pipes
        has = client.server_capabilities
        self.abilities = ServerAbilities(
            has.resources is not None, has.prompts is not None, has.completions is not None
        )
        self.instructions = client.instructions or ""
        self.announces_resources = bool(has.resources and has.resources.list_changed)
        self.announces_prompts = bool(has.prompts and has.prompts.list_changed)

    async def resources(self) -> tuple[ListedResource, ...]:
        if not self.abilities.resources:
            return ()
        return await self._all(
            "list its resources", self._client.list_resources, lambda page: map(_resource, page.resources)
        )

    async def templates(self) -> tuple[ListedTemplate, ...]:
        if not self.abilities.resources:
            return ()
        return await self._all(
            "list its resource templates",
            self._client.list_resource_templates,
            lambda page: map(_template, page.resource_templates),
        )

    async def prompts(self) -> tuple[ListedPrompt, ...]:
        if not self.abilities.prompts:
            return ()
        return await self._all("list its prompts", self._client.list_prompts, lambda page: map(_prompt, page.prompts))

    async def read(self, uri: str, limit_s: float) -> ReadResource:
        if not self.abilities.resources:
            raise ToolError("The server has no resources.", cause="not_offered")
        result = await self._asked(
            "read the resource", limit_s, lambda: self._client.read_resource(uri, cache_mode="bypass")
        )
        spilled = (result.meta or {}).get(SPILLED)
        if spilled is not None and self._pipes and (line := self._pipes.spilled.pop(spilled, None)):
            return ReadResource(spilled=line)
        return ReadResource(tuple(map(embedded_of, result.contents)))

    async def prompt(self, name: str, arguments: Mapping[str, str], limit_s: float) -> FilledPrompt:
        if not self.abilities.prompts:
            raise ToolError("The server has no prompts.", cause="not_offered")
        result = await self._asked(
            "fill in the prompt", limit_s, lambda: self._client.get_prompt(name, dict(arguments) or None)
        )
        messages = (PromptMessage(message.role, part_of(message.content)) for message in result.messages)
        return FilledPrompt(result.description or "", tuple(messages))

    async def complete(
        self,
        kind: Literal["prompt", "resource"],
        name: str,
        argument: str,
        value: str,
        context: Mapping[str, str],
    ) -> Completed:
        if not self.abilities.completions:
            return Completed()
        ref = types.PromptReference(name=name) if kind == "prompt" else types.ResourceTemplateReference(uri=name)
        given = {"name": argument, "value": value}
        result = await self._asked(
            "complete the argument", COMPLETE_S, lambda: self._client.complete(ref, given, dict(context) or None)
        )
        found = result.completion
        return Completed(tuple(found.values[:MOST_COMPLETED]), bool(found.has_more))

    async def _all(
        self, what: str, fetch: Callable[..., Awaitable[PageOf]], taken: Callable[[PageOf], Iterable[Listed]]
    ) -> tuple[Listed, ...]:
        async def pages() -> dict[str, Listed]:
            found: dict[str, Listed] = {}
            cursor: str | None = None
            left = MOST_OF_LIST
            for _ in range(_PAGES):
                try:
                    page = await fetch(cursor=cursor, cache_mode="bypass")
                except MCPError as error:
                    if error.code == types.METHOD_NOT_FOUND:  # such as templates, of a server that has resources alone
                        break
                    raise
                for one in taken(page):
                    left -= _size(one)
                    if left < 0 or len(found) >= MOST_LISTED:
                        return found
                    if 0 < len(_key(one)) <= LONGEST_URI:
                        found[_key(one)] = one
                cursor = page.next_cursor
                if not cursor:
                    break
            return found

        return tuple((await self._asked(what, LIST_S, pages)).values())

    async def _asked(self, what: str, limit_s: float, send: Callable[[], Awaitable[R]]) -> R:
        call = CallDeadline(limit_s, limit_s)
        token = current.set(call)
        try:
            async with call.begin():
                return await send()
        except TimeoutError:
            raise ToolError(f"The server did not {what} within {limit_s:g} s.", cause="timeout") from None
        except MCPError as error:
            failure = self._failure(error, call)
            if failure.code != "rpc_error":
                raise failure from error
            raise ToolError(f"The server did not {what}: {error.message}", cause="rpc_error") from error
        except (ValidationError, RuntimeError) as error:
            problem = "is too long for one message" if SPILLED in str(error) else "was malformed"
            raise ToolError(f"The server did not {what}: its answer {problem}.", cause="bad_result") from error
        finally:
            call.over.set()
            current.reset(token)


def _key(one: Listed) -> str:
    return one.name if isinstance(one, ListedPrompt) else one.uri


def _size(one: Listed) -> int:
    parts = (one, *one.arguments) if isinstance(one, ListedPrompt) else (one,)
    texts = sum(len(part.name) + len(part.title) + len(part.description) + _SIZE for part in parts)
    return texts + len(_key(one))


def _resource(given: types.Resource) -> ListedResource:
    return ListedResource(given.uri, *_described(given), _short(given.mime_type), given.size)


def _template(given: types.ResourceTemplate) -> ListedTemplate:
    return ListedTemplate(given.uri_template, *_described(given), _short(given.mime_type))


def _prompt(given: types.Prompt) -> ListedPrompt:
    _, title, description = _described(given)
    arguments = (PromptArgument(*_described(one), bool(one.required)) for one in given.arguments or ())
    return ListedPrompt(given.name, title, description, tuple(arguments))  # by that name alone it is asked for


def _described(given: Any) -> tuple[str, str, str]:
    return _short(given.name), _short(given.title), (given.description or "")[:LONGEST_DESCRIPTION]


def _short(text: str | None) -> str:
    return (text or "")[:LONGEST_NAME]
