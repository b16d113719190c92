"""What servers offer besides tools, over both eras and both ways to reach one, and how it goes wrong."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.kit import real_servers
from tests.kit.ledger_file import Ledger
from tests.kit.ledger_http import ledger_http
from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import PATIENCE_S, until_found
from tests.servers.kit import ERAS, ledger_config, program, run
from windlass.core.errors import ToolError
from windlass.servers import EmbeddedPart, LinkPart, ServerConfig, Servers, TextPart
from windlass.servers.catalogue import Catalogue
from windlass.servers.offered import (
    LONGEST_NAME,
    MOST_LISTED,
    Completed,
    ListedPrompt,
    PromptArgument,
    ReadResource,
    ServerAbilities,
)
from windlass.servers.redaction import NoRedaction
from windlass.servers.session_requests import COMPLETE_S

HELD: dict[str, Any] = {
    "instructions": "Read doc://a first.",
    "resources": [
        {"uri": "doc://a", "name": "a", "title": "The first", "text": "alpha", "mimeType": "text/markdown", "size": 5},
        {"uri": "doc://b", "blob": b64encode(b"\x00\x01").decode(), "mimeType": "application/octet-stream"},
        {"uri": "doc://ü/%00 &\"<x>'\u202e", "text": "odd"},
    ],
    "templates": [{"uriTemplate": "doc://{name}", "name": "doc"}],
    "prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}], "text": "Greet {who}."}],
    "completions": {"who": ["Ada", "Alan", "Bob"]},
    "page": 2,
}


@asynccontextmanager
async def offering(servers: Servers, ledger: Ledger, era: str, way: str, **held: Any) -> AsyncIterator[None]:
    options = ("--era", era, "--library", ledger.library(**held))
    if way == "stdio":
        await run(servers, ledger_config(ledger, *options))
        yield
        return
    async with ledger_http(ledger, *options) as url:
        await run(servers, ServerConfig("srv-ledger", "ledger", transport="http", url=url))
        yield
        await servers.stop("ledger")


def reading(uri: str) -> Callable[[Catalogue], Awaitable[ReadResource]]:
    return lambda there: there.read(uri, 5)


@pytest.mark.parametrize("way", ["stdio", "http"])
@pytest.mark.parametrize("era", ERAS)
async def test_it_lists_reads_fills_in_and_completes(servers: Servers, ledger: Ledger, era: str, way: str) -> None:
    async with offering(servers, ledger, era, way, **HELD):
        assert servers.abilities("ledger") == ServerAbilities(True, True, True)
        assert servers.instructions("ledger") == "Read doc://a first."
        listed = await servers.ask("ledger", lambda there: there.resources())
        assert [one.uri for one in listed] == [one["uri"] for one in HELD["resources"]]
        assert (listed[0].title, listed[0].mime, listed[0].size) == ("The first", "text/markdown", 5)
        templates = await servers.ask("ledger", lambda there: there.templates())
        assert [one.uri for one in templates] == ["doc://{name}"]
        for one, text in ((listed[0], "alpha"), (listed[2], "odd")):
            read = await servers.ask("ledger", reading(one.uri))
            assert [(part.uri, part.text) for part in read.contents] == [(one.uri, text)]
        binary = await servers.ask("ledger", lambda there: there.read("doc://b", 5))
        assert binary.contents == (EmbeddedPart("doc://b", "application/octet-stream", blob="AAE="),)
        prompts = await servers.ask("ledger", lambda there: there.prompts())
        assert prompts == (ListedPrompt("greet", arguments=(PromptArgument("who", required=True),)),)
        filled = await servers.ask("ledger", lambda there: there.prompt("greet", {"who": "Ada"}, 5))
        assert [(one.role, one.part) for one in filled.messages] == [("user", TextPart("Greet Ada."))]
        found = await servers.ask("ledger", lambda there: there.complete("prompt", "greet", "who", "a", {}))
        assert found == Completed(("Ada", "Alan"))


@pytest.mark.parametrize("way", ["stdio", "http"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_list_is_asked_for_again_after_the_server_announced_a_change(
    servers: Servers, ledger: Ledger, era: str, way: str
) -> None:
    async with offering(servers, ledger, era, way, announces=True, resources=[{"uri": "doc://a"}], prompts=[]):
        assert len(await servers.ask("ledger", lambda there: there.resources())) == 1
        ledger.library(announces=True, resources=[{"uri": "doc://a"}, {"uri": "doc://b"}], prompts=[])
        assert len(await servers.ask("ledger", lambda there: there.resources())) == 1, "it has announced nothing yet"
        await servers.call("ledger", "echo", '{"text": "x"}')

        async def both_listed() -> bool:
            return len(await servers.ask("ledger", lambda there: there.resources())) == 2

        await until_found(both_listed, "the announcement to arrive")


async def test_a_server_without_them_is_not_asked_and_has_none(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger))
    assert servers.abilities("ledger") == ServerAbilities() and servers.instructions("ledger") == ""
    assert await servers.ask("ledger", lambda there: there.resources()) == ()
    assert await servers.ask("ledger", lambda there: there.prompts()) == ()
    assert await servers.ask("ledger", lambda there: there.complete("prompt", "p", "a", "", {})) == Completed()
    with pytest.raises(ToolError, match="ledger: The server has no resources"):
        await servers.ask("ledger", lambda there: there.read("doc://a", 5))


async def test_thousands_are_listed_page_by_page_up_to_a_limit(servers: Servers, ledger: Ledger) -> None:
    many = [{"uri": f"doc://{number}"} for number in range(MOST_LISTED + 5)]
    async with offering(servers, ledger, "handshake", "stdio", resources=many, page=2_500):
        listed = await servers.ask("ledger", lambda there: there.resources())
    assert len(listed) == MOST_LISTED and listed[-1].uri == f"doc://{MOST_LISTED - 1}"


async def test_one_that_dies_between_list_and_read_is_named_and_comes_back(servers: Servers, ledger: Ledger) -> None:
    held = [{"uri": "doc://bad", "dies": True}, {"uri": "doc://good", "text": "alive"}]
    async with offering(servers, ledger, "handshake", "stdio", resources=held):
        assert len(await servers.ask("ledger", lambda there: there.resources())) == 2
        with pytest.raises(ToolError, match="ledger: The server went away") as caught:
            await servers.ask("ledger", lambda there: there.read("doc://bad", 5))
        assert caught.value.code == "server_gone" and "started again" in caught.value.hint
        await servers.wait_ready("ledger", PATIENCE_S)
        read = await servers.ask("ledger", lambda there: there.read("doc://good", 5))
        assert read.contents[0].text == "alive"


async def test_a_long_resource_over_stdio_is_kept_whole(servers: Servers, ledger: Ledger) -> None:
    async with offering(
        servers,
        ledger,
        "handshake",
        "stdio",
        resources=[{"uri": "doc://long", "text": "0123456789", "times": 3_000_000}],
    ):
        read = await servers.ask("ledger", lambda there: there.read("doc://long", 60))
        assert read.contents == () and read.spilled is not None and read.spilled.size > 30_000_000
        assert read.spilled.file is not None
        read.spilled.file.close()


async def test_a_long_resource_over_http_is_refused_with_the_reason(servers: Servers, ledger: Ledger) -> None:
    held = [{"uri": "doc://long", "text": "0123456789", "times": 1_000_000}]
    async with offering(servers, ledger, "handshake", "http", resources=held):
        with pytest.raises(ToolError, match="ledger: "):
            await servers.ask("ledger", lambda there: there.read("doc://long", 20))
        await servers.wait_ready("ledger", PATIENCE_S)
        assert len(await servers.ask("ledger", lambda there: there.resources())) == 1


async def test_a_completion_that_hangs_ends_in_time_and_holds_nothing_up(
    servers: Servers, ledger: Ledger, clock: LoopClock
) -> None:
    async with offering(servers, ledger, "handshake", "stdio", **HELD | {"completions": {"who": None}}):
        asked = asyncio.create_task(
            servers.ask("ledger", lambda there: there.complete("prompt", "greet", "who", "a", {}))
        )
        filled = await servers.ask("ledger", lambda there: there.prompt("greet", {"who": "Ada"}, 5))
        assert len(filled.messages) == 1 and not asked.done()
        clock.jump(COMPLETE_S + 0.1)
        with pytest.raises(ToolError, match="did not complete the argument within 3 s"):
            await asked


async def test_an_unknown_resource_and_a_missing_argument_are_the_servers_own_words(
    servers: Servers, ledger: Ledger
) -> None:
    async with offering(servers, ledger, "handshake", "stdio", **HELD | {"templates": []}):
        with pytest.raises(ToolError, match="ledger: The server did not read the resource: Resource not found"):
            await servers.ask("ledger", lambda there: there.read("doc://none", 5))
        with pytest.raises(ToolError, match="did not fill in the prompt: Missing argument: who"):
            await servers.ask("ledger", lambda there: there.prompt("greet", {}, 5))


async def test_secrets_are_taken_out_of_lists_prompts_completions_and_instructions(ledger: Ledger) -> None:
    class Hiding(NoRedaction):
        def text(self, text: str) -> str:
            return text.replace("hunter22", "[secret]")

        async def long_text(self, text: str) -> str:
            return self.text(text)

    servers = Servers(redaction=Hiding())
    try:
        held = {
            "instructions": "The password is hunter22.",
            "resources": [{"uri": "db://hunter22@host", "description": "hunter22"}],
            "prompts": [{"name": "p", "description": "hunter22", "text": "Say hunter22."}],
            "completions": {"who": ["hunter22"]},
        }
        async with offering(servers, ledger, "handshake", "stdio", **held):
            shown = [
                servers.instructions("ledger"),
                await servers.ask("ledger", lambda there: there.resources()),
                await servers.ask("ledger", lambda there: there.prompts()),
                await servers.ask("ledger", lambda there: there.prompt("p", {}, 5)),
                await servers.ask("ledger", lambda there: there.complete("prompt", "p", "who", "", {})),
            ]
            assert "hunter22" not in str(shown) and str(shown).count("[secret]") == 8
    finally:
        await servers.aclose()


async def test_the_everything_server_of_others(servers: Servers) -> None:
    await run(servers, program(real_servers.everything(), slug="everything"))
    assert servers.abilities("everything") == ServerAbilities(True, True, True)
    assert len(servers.instructions("everything")) > 200
    resources = await servers.ask("everything", lambda there: there.resources())
    read = await servers.ask("everything", lambda there: there.read(resources[0].uri, 10))
    assert resources and read.contents[0].text
    templates = await servers.ask("everything", lambda there: there.templates())
    prompts = await servers.ask("everything", lambda there: there.prompts())
    with_arguments = next(one for one in prompts if any(argument.required for argument in one.arguments))
    given = {argument.name: "x" for argument in with_arguments.arguments}
    assert (
        templates
        and (await servers.ask("everything", lambda there: there.prompt(with_arguments.name, given, 10))).messages
    )
    linked = await servers.call("everything", "get-resource-links", '{"count": 2}')
    uri = next(part.uri for part in linked.parts if isinstance(part, LinkPart))
    assert (await servers.ask("everything", lambda there: there.read(uri, 10))).contents


async def test_names_and_whole_lists_are_bounded(servers: Servers, ledger: Ledger) -> None:
    long = "T" * 40_000
    big = [
        {"uri": f"doc://{number}", "name": long, "title": long, "mimeType": long, "description": long}
        for number in range(20)
    ]
    named = [{"name": f"p{n}", "arguments": [{"name": f"a{m}", "title": long} for m in range(10)]} for n in range(20)]
    async with offering(servers, ledger, "handshake", "stdio", resources=big, prompts=named, page=5):
        listed = await servers.ask("ledger", lambda there: there.resources())
        prompts = await servers.ask("ledger", lambda there: there.prompts())
    assert len(listed) == len(prompts) == 20
    assert {(len(one.name), len(one.title), len(one.mime)) for one in listed} == {(LONGEST_NAME,) * 3}
    assert {len(each.title) for one in prompts for each in one.arguments} == {LONGEST_NAME}


async def test_a_list_that_never_ends_is_cut_where_it_is_too_much_to_keep(
    servers: Servers, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.servers.session_requests.MOST_OF_LIST", 10_000)
    big = [{"uri": f"doc://{number}", "description": "D" * 900} for number in range(50)]
    many = [{"name": f"p{n}", "arguments": [{"name": "a"}] * 20} for n in range(50)]
    async with offering(servers, ledger, "handshake", "stdio", resources=big, prompts=many, page=5):
        listed = await servers.ask("ledger", lambda there: there.resources())
        prompts = await servers.ask("ledger", lambda there: there.prompts())
    assert [one.uri for one in listed] == [f"doc://{number}" for number in range(9)]
    assert 0 < len(prompts) < 9, "arguments take space too"
