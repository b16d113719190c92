import asyncio
import re
from dataclasses import dataclass, field

import pytest

from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import turns_of_the_loop
from tests.search.kit import says, site
from windlass.config import WebSearchSettings
from windlass.core.errors import ToolError
from windlass.core.messages import SourceLink
from windlass.search.backend import Backend, Hit
from windlass.search.guard import FetchGuard
from windlass.search.page import Page
from windlass.search.search import SearchCaps, WebSearch, chosen

HITS = [Hit(f"Title {n}", f"https://a.test/{n}", f"snippet {n}", f"2026-02-0{n}") for n in range(1, 6)]


@dataclass
class Scripted:
    """A scripted backend; `asked` keeps what it was asked."""

    name: str
    hits: list[Hit] = field(default_factory=lambda: HITS)
    problem: str = ""
    missing: str | None = None
    hangs: LoopClock | None = None  # until long after the deadline
    asked: list[tuple[str, int]] = field(default_factory=list)

    def ready(self) -> str | None:
        return self.missing

    async def search(self, query: str, count: int) -> list[Hit]:
        self.asked.append((query, count))
        await turns_of_the_loop()
        if self.hangs:
            self.hangs.jump(1000)
            await asyncio.Event().wait()
        if self.problem:
            raise ToolError(self.problem, cause="search_failed")
        return self.hits[:count]


async def read(url: str) -> Page:
    return Page(url, "", f"the text of {url}")


def every(*missing: str) -> tuple[Backend, ...]:
    names = ("brave", "searxng", "mcp", "a new one", "zai", "ddgs", "builtin")
    return tuple(Scripted(name, missing="not set" if name in missing else None) for name in names)


@pytest.mark.parametrize(
    ("setting", "missing", "order"),
    [
        ("auto", (), ["brave", "searxng", "mcp", "a new one", "zai", "ddgs"]),
        ("auto", ("brave", "mcp"), ["searxng", "a new one", "zai", "ddgs"]),
        ("auto", ("brave", "searxng", "mcp", "a new one", "zai", "ddgs"), []),
        ("zai", (), ["zai"]),
        ("zai", ("zai",), ["zai"]),
        ("builtin", ("brave", "mcp"), ["builtin", "searxng", "a new one", "zai", "ddgs"]),
        ("unknown", (), []),
        ("off", (), []),
    ],
)
def test_backends_are_asked_in_their_order(setting: str, missing: tuple[str, ...], order: list[str]) -> None:
    assert [backend.name for backend in chosen(setting, every(*missing))] == order


async def test_the_result_says_who_answered_and_what_was_found() -> None:
    output = await WebSearch((Scripted("brave"),), read).search("weather in Nanaimo", 5)
    assert output.text.startswith("Searched the web with brave for: weather in Nanaimo\nFound 5 results.")
    for hit in HITS:
        assert f"## {hit.title}\nURL: {hit.url}\nPublished: {hit.published}\nSnippet: {hit.text}" in output.text
    assert "From the page:\nthe text of https://a.test/1" in output.text
    assert "the text of https://a.test/4" not in output.text
    assert output.sources == tuple(SourceLink(hit.title, hit.url) for hit in HITS)
    assert output.untrusted and not output.failed


async def test_the_result_leaves_the_numbers_to_the_prompt() -> None:
    assert "[1]" not in (await WebSearch((Scripted("brave"),), read).search("x")).text


async def test_a_failing_backend_falls_to_the_next_and_says_so() -> None:
    backends = (
        Scripted("brave", problem="Brave search is rate-limited (HTTP 429)."),
        Scripted("searxng", missing="searxng needs an address"),
        Scripted("zai"),
        Scripted("ddgs"),
    )
    steps: list[str] = []
    output = await WebSearch(backends, read).search("x", progress=steps.append)
    assert "with zai" in output.text
    assert "Also tried: Brave search is rate-limited (HTTP 429)." in output.text
    assert "Also tried: Searxng needs an address." in output.text
    assert not backends[3].asked
    assert steps == ["Asking brave", "Asking searxng", "Asking zai", "Reading 3 pages"]


async def test_a_backend_that_hangs_leaves_time_for_the_next(clock: LoopClock) -> None:
    search = WebSearch((Scripted("brave", hangs=clock), Scripted("zai")), read, SearchCaps(seconds=200))
    output = await search.search("x")
    assert "Also tried: brave did not answer within 100 s." in output.text


@pytest.mark.parametrize(("seconds", "found"), [(180, True), (235, True), (245, False)])
async def test_a_slow_search_succeeds_within_its_deadline(clock: LoopClock, seconds: float, found: bool) -> None:
    """The seed's 240 s, which are the setting's default."""
    begun, answered = asyncio.Event(), asyncio.Event()

    @dataclass
    class Slow(Scripted):
        async def search(self, query: str, count: int) -> list[Hit]:
            begun.set()
            await answered.wait()
            return HITS

    search = WebSearch((Slow("zai"),), read, SearchCaps(seconds=WebSearchSettings().timeout_s))
    searching = asyncio.create_task(search.search("latest stock prices"))
    await begun.wait()
    clock.jump(seconds)
    await turns_of_the_loop(5)
    answered.set()
    if found:
        assert "Found 5 results" in (await searching).text
    else:
        with pytest.raises(ToolError, match="zai did not answer within 240 s"):
            await searching


async def test_when_all_fail_the_error_names_each_cause(clock: LoopClock) -> None:
    backends = (Scripted("brave", problem="Brave is down."), Scripted("ddgs", hangs=clock))
    with pytest.raises(ToolError) as failed:
        await WebSearch(backends, read).search("x")
    assert "Brave is down." in failed.value.message and "ddgs did not answer" in failed.value.message
    assert "Do not make up results" in failed.value.message
    assert "windlass search test" in failed.value.hint
    assert failed.value.code == "search_failed" and not failed.value.sent


async def test_without_a_backend_the_error_says_what_to_set() -> None:
    with pytest.raises(ToolError) as failed:
        await WebSearch((), read).search("x")
    assert "No web search is configured" in failed.value.message and "web_search.backend" in failed.value.hint


async def test_an_empty_answer_is_reported_only_when_no_backend_finds_more() -> None:
    nothing = Scripted("brave", hits=[])
    assert "with zai" in (await WebSearch((nothing, Scripted("zai")), read).search("x")).text
    output = await WebSearch((nothing, Scripted("zai", problem="Z.AI is down.")), read).search("x")
    assert output.text == "Searched the web with brave for: x\nFound nothing.\nAlso tried: Z.AI is down."
    assert output.sources == ()


async def test_a_page_that_cannot_be_read_costs_only_itself(clock: LoopClock) -> None:
    async def careful(url: str) -> Page:
        if url.endswith("/1"):
            raise ToolError("This page is not fetched: a.test is not on the public internet.")
        if url.endswith("/2"):
            await asyncio.Event().wait()
        clock.jump(1000)
        return Page(url, "", "read")

    output = await WebSearch((Scripted("zai"),), careful).search("x")
    assert "(This page is not fetched: a.test is not on the public internet.)" in output.text
    assert "(The page could not be fetched: it took too long.)" in output.text
    assert "From the page:\nread" in output.text
    assert len(output.sources) == 5


async def test_pages_are_read_side_by_side() -> None:
    together = asyncio.Barrier(3)

    async def meet(url: str) -> Page:
        await together.wait()
        return Page(url, "", "met")

    assert (await WebSearch((Scripted("zai"),), meet).search("x")).text.count("met") == 3


async def test_pages_of_hits_go_through_the_guard() -> None:
    async with site(says("secret of the house")) as inside:
        backend = Scripted("zai", hits=[Hit("Inside", inside.url(), "snippet")])
        output = await WebSearch((backend,), FetchGuard().fetch).search("x")
        assert "is not on the public internet" in output.text and "secret" not in output.text
        assert not inside.requests


@pytest.mark.parametrize(("count", "asked"), [(-5, 1), (0, 1), (3, 3), (1000, 10)])
async def test_the_count_is_kept_within_reason(count: int, asked: int) -> None:
    backend = Scripted("zai")
    await WebSearch((backend,), read).search(" x ", count)
    assert backend.asked == [("x", asked)]


async def test_a_search_for_nothing_is_refused() -> None:
    backend = Scripted("zai")
    with pytest.raises(ToolError, match="needs a query"):
        await WebSearch((backend,), read).search("  ")
    assert not backend.asked


async def test_a_stopped_search_stops_reading() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def endless(url: str) -> Page:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        raise AssertionError

    searching = asyncio.create_task(WebSearch((Scripted("zai"),), endless).search("x"))
    await started.wait()
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    assert stopped.is_set()


async def test_each_backend_can_be_tried_by_itself() -> None:
    backends = (Scripted("brave", missing="brave needs a key"), Scripted("zai"), Scripted("ddgs", problem="Refused."))
    trials = await WebSearch(backends, read).trials("x")
    assert [(trial.backend, trial.works, len(trial.hits)) for trial in trials] == [
        ("brave", False, 0),
        ("zai", True, 3),
        ("ddgs", False, 0),
    ]
    assert [trials[0].message, trials[2].message] == ["Brave needs a key.", "Refused."]
    assert re.fullmatch(r"3 results in \d+\.\d s", trials[1].message)
