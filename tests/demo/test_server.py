"""The demo server through Windlass's own MCP client, as it runs in every demo."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.cpu import modules_loaded
from tests.kit.waiting import PATIENCE_S
from windlass.core.errors import ToolError
from windlass.demo import SLUG, command
from windlass.servers import CallResult, LinkPart, ServerConfig, Servers, TextPart

NAMES = {"get_time", "calculate", "list_directory", "read_file", "search_docs", "count_slowly", "write_note"}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
async def servers(notes: Path) -> AsyncIterator[Servers]:
    program, *args = command(notes)
    servers = Servers()
    await servers.put(ServerConfig("srv-demo", SLUG, command=program, args=tuple(args), operator=True))
    servers.start(SLUG)
    assert (await servers.wait_ready(SLUG, PATIENCE_S)).state == "running"
    yield servers
    await servers.aclose()


def text_of(result: CallResult) -> str:
    return "".join(part.text for part in result.parts if isinstance(part, TextPart))


async def value(servers: Servers, tool: str, **arguments: object) -> Any:
    result = await servers.call(SLUG, tool, json.dumps(arguments))
    assert not result.failed, text_of(result)
    return result.structured


async def failure(servers: Servers, tool: str, **arguments: object) -> str:
    result = await servers.call(SLUG, tool, json.dumps(arguments))
    assert result.failed
    return text_of(result)


async def test_it_offers_the_seven_tools_with_titles_and_speaks_the_handshake_era(servers: Servers) -> None:
    tools = {tool.name: tool for tool in servers.tools(SLUG)}
    assert tools.keys() == NAMES
    assert all(tool.title and tool.description for tool in tools.values())
    assert servers.status(SLUG).era == "2025-11-25"


async def test_only_the_tool_that_writes_does_not_claim_to_read_only(servers: Servers) -> None:
    claims = {tool.name: tool.read_only for tool in servers.tools(SLUG)}
    assert {name for name, read_only in claims.items() if read_only} == NAMES - {"write_note"}
    assert all(tool.destructive is False for tool in servers.tools(SLUG))


async def test_the_time_is_told_in_the_zone_asked_for(servers: Servers) -> None:
    assert (await value(servers, "get_time"))["time"].endswith("+00:00")
    assert (await value(servers, "get_time", timezone="Asia/Tokyo"))["time"].endswith("+09:00")
    assert "Mars/Olympus" in await failure(servers, "get_time", timezone="Mars/Olympus")


async def test_it_calculates_and_says_why_it_cannot(servers: Servers) -> None:
    assert (await value(servers, "calculate", expression="6 * 7"))["value"] == 42
    assert await failure(servers, "calculate", expression="1 / 0") == "Division by zero."


async def test_the_seeds_folder_is_listed(servers: Servers) -> None:
    assert await value(servers, "list_directory", path="/docs") == {"path": "/docs", "files": ["API.md", "README.md"]}
    assert "docs/" in (await value(servers, "list_directory"))["files"]
    assert "not a folder" in await failure(servers, "list_directory", path="haiku.txt")


async def test_a_file_is_read(servers: Servers) -> None:
    result = await servers.call(SLUG, "read_file", '{"path": "docs/README.md"}')
    assert text_of(result).startswith("# Sample folder")
    assert "no file /nothing.md" in await failure(servers, "read_file", path="/nothing.md")


@pytest.mark.parametrize("path", ["../server.py", "/../../../etc/passwd", "docs/../../tools.py", "\0"])
async def test_nothing_outside_the_sample_folder_is_read(servers: Servers, path: str) -> None:
    message = await failure(servers, "read_file", path=path)
    assert "outside the sample folder" in message or "not a valid path" in message


async def test_a_search_gives_links_and_structured_results(servers: Servers) -> None:
    result = await servers.call(SLUG, "search_docs", '{"query": "claims and hints of an MCP server"}')
    links = [part for part in result.parts if isinstance(part, LinkPart)]
    assert links[0].uri == "https://modelcontextprotocol.io/specification"
    assert isinstance(result.structured, dict)
    assert [one["url"] for one in result.structured["results"]] == [link.uri for link in links]
    assert "hints" in result.structured["results"][0]["excerpt"]
    assert (await value(servers, "search_docs", query="xylophone")) == {"results": []}


async def test_counting_reports_each_step(servers: Servers) -> None:
    steps: list[tuple[float, float | None, str]] = []

    def note(progress: float, total: float | None, message: str) -> None:
        steps.append((progress, total, message))

    result = await servers.call(SLUG, "count_slowly", '{"to": 3, "pause_ms": 0}', on_progress=note)
    assert text_of(result) == "Counted to 3."
    assert steps == [(1, 3, "1 of 3"), (2, 3, "2 of 3"), (3, 3, "3 of 3")]


async def test_counting_stops_when_it_is_cancelled_and_the_server_goes_on(servers: Servers) -> None:
    begun = asyncio.Event()

    async def count() -> None:
        arguments = '{"to": 1000, "pause_ms": 20}'
        await servers.call(SLUG, "count_slowly", arguments, on_progress=lambda *_: begun.set())

    call = asyncio.create_task(count())
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await value(servers, "calculate", expression="1 + 1"))["value"] == 2


async def test_a_note_is_written_beside_the_others_never_over_one(servers: Servers, notes: Path) -> None:
    first = await value(servers, "write_note", title="To do!", text="Sails")
    second = await value(servers, "write_note", title="../To do", text="Ropes")
    assert (first["written"], second["written"]) == ("to-do.md", "to-do-2.md")
    assert (notes / "to-do.md").read_text() == "# To do!\n\nSails\n"
    assert {path.name for path in notes.iterdir()} == {"to-do.md", "to-do-2.md"}


async def test_wrong_arguments_and_tools_are_refused_in_words(servers: Servers) -> None:
    assert "`to` must be a whole number" in await failure(servers, "count_slowly", to=0)
    assert "`expression` must be a text" in await failure(servers, "calculate")
    with pytest.raises(ToolError, match="Unknown tool: fly"):
        await servers.call(SLUG, "fly", "{}")


def test_bad_lines_are_answered_and_survived(notes: Path) -> None:
    lines = ["no json", "[]", '{"id": 1}', '{"id": 2, "method": "fly"}', '{"id": 3, "method": "ping"}', ""]
    done = subprocess.run(command(notes), input="\n".join(lines), capture_output=True, text=True, timeout=100)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    codes = [answer.get("error", {}).get("code") for answer in answers]
    assert codes == [-32700, -32600, -32601, None]
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("asked", ["2024-11-05", "2025-06-18", "1999-01-01"])
def test_it_agrees_to_a_version_it_knows(notes: Path, asked: str) -> None:
    hello = {"id": 1, "method": "initialize", "params": {"protocolVersion": asked}}
    done = subprocess.run(command(notes), input=json.dumps(hello), capture_output=True, text=True, timeout=100)
    agreed = json.loads(done.stdout)["result"]["protocolVersion"]
    assert agreed == (asked if asked.startswith("20") else "2025-11-25")


def test_it_loads_little_and_so_starts_almost_as_fast_as_the_interpreter(notes: Path) -> None:
    assert modules_loaded(*command(notes)) < 100
