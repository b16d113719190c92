"""The web search itself: the first backend that answers, its best pages read through the guard, and a result that says
where everything came from."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic

from windlass.core.errors import ToolError
from windlass.core.messages import SourceLink, ToolOutput
from windlass.core.values import value_object
from windlass.search.backend import Backend, Hit
from windlass.search.builtin import BUILTIN
from windlass.search.page import Page
from windlass.search.tool import Reading, report

Read = Callable[[str], Awaitable[Page]]
Progress = Callable[[str], None]
NO_SEARCH = "The web search failed."
TOLD_TO_MODEL = "Do not make up results: say that the search failed."


@value_object
class SearchCaps:
    seconds: float = 240  # for the whole search
    reading_seconds: float = 25  # of these, for the pages
    pages: int = 3
    most_hits: int = 10


@value_object
class Trial:
    """One backend, tried by itself: what `windlass search test` shows."""

    backend: str
    works: bool
    message: str
    hits: tuple[Hit, ...] = ()


def chosen(setting: str, backends: Sequence[Backend]) -> tuple[Backend, ...]:
    """The backends to ask, in order; none for "off". A backend chosen by name is asked alone: an operator with an
    instance of their own does not want the query to go elsewhere when it fails. The provider's own search comes with
    the model's reply or not at all, so after it the others are asked."""
    if setting == BUILTIN:
        own = tuple(backend for backend in backends if backend.name == BUILTIN)
        return (*own, *chosen("auto", backends))
    if setting != "auto":
        return tuple(backend for backend in backends if backend.name == setting)
    return tuple(backend for backend in backends if backend.name != BUILTIN and backend.ready() is None)


@value_object
class WebSearch:
    backends: tuple[Backend, ...]
    read: Read
    caps: SearchCaps = SearchCaps()

    async def search(self, query: str, count: int = 5, progress: Progress = lambda _: None) -> ToolOutput:
        """Search and read; `ToolError` says what a person can do. `progress` gets a line for each step."""
        wanted = max(1, min(count, self.caps.most_hits))
        if not query.strip():
            raise ToolError("The search needs a query.", cause="bad_arguments")
        ends = monotonic() + self.caps.seconds
        backend, hits, failures = await self._hits(query.strip(), wanted, ends, progress)
        readings = await self._readings(hits, ends, progress)
        sources = tuple(SourceLink(hit.title, hit.url) for hit in hits)
        return ToolOutput(report(query, backend, hits, readings, failures), sources=sources, untrusted=True)

    async def trials(self, query: str, count: int = 3) -> list[Trial]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._trial(backend, query, count)) for backend in self.backends]
        return [task.result() for task in tasks]

    async def _hits(self, query: str, count: int, ends: float, progress: Progress) -> tuple[str, list[Hit], list[str]]:
        """The first answer with hits in it. An empty one stands only when no backend does better."""
        failures: list[str] = []
        empty = ""
        for index, backend in enumerate(self.backends):
            progress(f"Asking {backend.name}")
            try:
                hits = await self._ask(backend, query, count, ends, last=index + 1 == len(self.backends))
            except ToolError as error:
                failures.append(error.message)
                continue
            if hits:
                return backend.name, hits, failures
            empty = empty or backend.name
        if empty:
            return empty, [], failures
        raise _no_search(failures)

    async def _ask(self, backend: Backend, query: str, count: int, ends: float, last: bool) -> list[Hit]:
        if problem := backend.ready():
            raise ToolError(f"{problem[:1].upper()}{problem[1:]}.", cause="search_failed")
        left = max(0.0, ends - monotonic())
        # A backend that hangs must leave time for the next one.
        share = left if last else left / 2
        try:
            async with asyncio.timeout(share):
                return await backend.search(query, count)
        except TimeoutError:
            raise ToolError(f"{backend.name} did not answer within {share:.0f} s.", cause="search_failed") from None

    async def _readings(self, hits: list[Hit], ends: float, progress: Progress) -> dict[str, Reading]:
        top = hits[: self.caps.pages]
        if not top:
            return {}
        progress(f"Reading {len(top)} pages")
        left = min(self.caps.reading_seconds, ends - monotonic())
        async with asyncio.TaskGroup() as group:
            tasks = {hit.url: group.create_task(self._reading(hit.url, left)) for hit in top}
        return {url: task.result() for url, task in tasks.items()}

    async def _reading(self, url: str, seconds: float) -> Reading:
        try:
            async with asyncio.timeout(seconds):
                return Reading(page=await self.read(url))
        except ToolError as error:
            return Reading(problem=error.message)
        except TimeoutError:
            return Reading(problem="The page could not be fetched: it took too long.")

    async def _trial(self, backend: Backend, query: str, count: int) -> Trial:
        began = monotonic()
        try:
            hits = await self._ask(backend, query, count, began + self.caps.seconds, last=True)
        except ToolError as error:
            return Trial(backend.name, False, error.message)
        return Trial(backend.name, True, f"{len(hits)} results in {monotonic() - began:.1f} s", tuple(hits))


def _no_search(failures: list[str]) -> ToolError:
    if not failures:
        return ToolError(
            "No web search is configured.", cause="search_failed", hint="Set web_search.backend, or install ddgs."
        )
    return ToolError(
        f"{NO_SEARCH} {' '.join(failures)} {TOLD_TO_MODEL}",
        cause="search_failed",
        hint="`windlass search test TEXT` shows which backend works.",
    )
