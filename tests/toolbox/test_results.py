"""Results: everything is kept, the model reads what fits, and it can read the rest."""

import json
import tempfile
from typing import Any

import pytest

from windlass.core.messages import OutputFile, SourceLink
from windlass.servers import CallResult, EmbeddedPart, LinkPart, MediaPart, TextPart
from windlass.servers.values import LongLine
from windlass.toolbox.kept_text import kept_text
from windlass.toolbox.local_tools import RESULT_TOOLS, read_piece, search_whole
from windlass.toolbox.results import JSON, LONGEST, shape, tool_output
from windlass.toolbox.schemas import Checker


class Kept:
    def __init__(self) -> None:
        self.wholes: list[tuple[bytes, str]] = []

    async def __call__(self, whole: bytes, mime: str) -> str:
        self.wholes.append((whole, mime))
        return f"res-{len(self.wholes)}"


async def test_a_short_text_is_told_whole_and_not_kept_twice() -> None:
    keep = Kept()
    output = await tool_output(CallResult((TextPart("two files"),)), keep)
    assert (output.text, output.result_id, output.shortened, output.size) == ("two files", "", False, 9)
    assert keep.wholes == [] and output.digest and not output.failed


async def test_a_failed_result_says_so() -> None:
    output = await tool_output(CallResult((TextPart("no such file"),), failed=True), Kept(), untrusted=True)
    assert output.failed and output.untrusted and output.text == "no such file"


async def test_nothing_is_an_empty_text() -> None:
    output = await tool_output(CallResult(), Kept())
    assert output.text == "" and output.digest


async def test_a_long_text_is_kept_whole_and_shown_by_its_ends() -> None:
    keep = Kept()
    text = "begin " + "x" * 50_000 + " end"
    output = await tool_output(CallResult((TextPart(text),)), keep)
    assert keep.wholes == [(text.encode(), "text/plain; charset=utf-8")]
    assert output.shortened and output.result_id == "res-1" and output.size == len(text)
    assert len(output.text) <= LONGEST
    assert "begin x" in output.text and output.text.endswith("x end") and 'result_id "res-1"' in output.text


async def test_long_json_is_shown_with_its_shape() -> None:
    rows = {"rows": [{"id": n, "name": f"row {n}", "tags": ["a", "b"]} for n in range(2000)], "total": 2000}
    output = await tool_output(CallResult((TextPart(json.dumps(rows)),)), Kept())
    assert "[Shape: {rows: [2000 of {id: number, name: text, tags: [2 of text]}], total: number}]" in output.text


async def test_what_is_to_be_seen_heard_or_saved_is_named_with_its_size() -> None:
    result = CallResult(
        (
            TextPart("a chart"),
            MediaPart("image", "image/png", "AAEC"),
            LinkPart("https://docs.test/a%20b.md", "", "Notes"),
            EmbeddedPart("file:///plots/recovery.svg", "image/svg+xml", text="<svg/>"),
            EmbeddedPart("file:///data/a.bin", "", blob="AAE="),
        )
    )
    output = await tool_output(result, Kept())
    assert output.files == (
        OutputFile("image", 1, mime="image/png", size=3),
        OutputFile("link", 2, "Notes", uri="https://docs.test/a%20b.md"),
        OutputFile("image", 3, "recovery.svg", "image/svg+xml", 6),
        OutputFile("file", 4, "a.bin", "", 2),
    )
    assert "[image, image/png, 3 B: it is not image/png, whatever the tool says, so it is not sent" in output.text
    assert output.size == len("a chart") + 3 + 6 + 2


async def test_every_kind_of_content_is_kept_and_the_model_told_of_it() -> None:
    keep = Kept()
    result = CallResult(
        (
            TextPart("a picture"),
            MediaPart("image", "image/png", "AAAA"),
            MediaPart("audio", "audio/wav", "BBBB"),
            LinkPart("file:///a.txt", "a.txt"),
            EmbeddedPart("file:///b.txt", "text/plain", text="inside b"),
            EmbeddedPart("file:///c.bin", blob="CCCC"),
        ),
        structured={"n": 1},
    )
    output = await tool_output(result, keep)
    ((whole, mime),) = keep.wholes
    kept = json.loads(whole)
    assert mime == "application/json" and output.result_id == "res-1" and not output.shortened
    assert [block["type"] for block in kept["content"]] == [
        *("text", "image", "audio", "resource_link", "resource", "resource")
    ]
    assert kept["structuredContent"] == {"n": 1} and kept["content"][1]["data"] == "AAAA"
    assert kept["content"][4]["resource"]["text"] == "inside b" and kept["content"][5]["resource"]["blob"] == "CCCC"
    for told in ("a picture", "image/png", "audio/wav", "[a.txt](file:///a.txt)", "inside b", "file:///c.bin"):
        assert told in output.text
    assert "AAAA" not in output.text


async def test_structured_content_is_told_when_no_text_says_it() -> None:
    keep = Kept()
    output = await tool_output(CallResult((), {"temperature": 21.5}), keep)
    assert json.loads(output.text) == {"temperature": 21.5} and keep.wholes == []


async def test_structured_content_that_the_text_repeats_is_not_kept_again() -> None:
    keep = Kept()
    same = CallResult((TextPart('{"n": 1}'),), {"n": 1})
    other = CallResult((TextPart("one"),), {"n": 1})
    assert (await tool_output(same, keep)).result_id == ""
    assert (await tool_output(other, keep)).result_id == "res-1"


async def test_the_same_result_has_the_same_digest() -> None:
    async def digest(*parts: Any) -> str:
        return (await tool_output(CallResult(parts), Kept())).digest

    assert await digest(TextPart("a")) == await digest(TextPart("a")) != await digest(TextPart("b"))


async def test_an_answer_too_long_to_parse_is_kept_as_it_came() -> None:
    keep = Kept()
    text = 'line one\nsays "hi" é ' + "y" * 40_000
    raw = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}).encode()
    file = tempfile.TemporaryFile()
    file.write(raw)
    output = await tool_output(CallResult(spilled=LongLine(raw[:4096], raw[-4096:], len(raw), file)), keep)
    assert keep.wholes == [(raw, "application/json")] and file.closed
    assert output.shortened and output.size == len(raw) and len(output.text) <= LONGEST
    assert 'line one\nsays "hi" é y' in output.text


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (
            CallResult((LinkPart("https://a.example/x", "x", "The X"), LinkPart("file:///a", "a"))),
            [("The X", "https://a.example/x")],
        ),
        (
            CallResult(
                (), {"results": [{"title": "One", "url": "https://a.example/1"}, {"url": "https://a.example/2"}]}
            ),
            [("One", "https://a.example/1")],
        ),
        (
            CallResult((TextPart("See [the docs](https://a.example/docs) and https://b.example/page."),)),
            [("the docs", "https://a.example/docs"), ("b.example/page", "https://b.example/page")],
        ),
        (CallResult((TextPart("javascript:alert(1) file:///etc ftp://x http://"),)), []),
        (CallResult((TextPart("https://a.example/1"),), failed=True), []),
        (
            CallResult((TextPart("https://a.example/1 https://a.example/1"),)),
            [("a.example/1", "https://a.example/1")],
        ),
    ],
)
async def test_sources_come_from_any_tool(result: CallResult, found: list[tuple[str, str]]) -> None:
    output = await tool_output(result, Kept())
    assert output.sources == tuple(SourceLink(title, url) for title, url in found)


async def test_a_page_full_of_links_gives_only_some() -> None:
    text = " ".join(f"https://a.example/{n}" for n in range(500))
    assert len((await tool_output(CallResult((TextPart(text),)), Kept())).sources) == 20


def test_a_kept_result_is_read_in_pieces_that_join_to_the_whole() -> None:
    whole = ("αβγ🙂" * 5000).encode()
    offset, text = 0, ""
    while True:
        header, _, piece = read_piece(whole, offset, 1000).partition("\n")
        text += piece
        if header.endswith("this is the end]"):
            break
        offset = int(header.rpartition(" ")[2].rstrip("]"))
    assert text.encode() == whole


@pytest.mark.parametrize("offset", [-5, 0, 3, 10**9])
@pytest.mark.parametrize("length", [-1, 0, 1, 10**9])
def test_reading_anywhere_never_fails(offset: int, length: int) -> None:
    assert read_piece(b"hello", offset, length).startswith("[bytes ")
    assert "of 0" in read_piece(b"", offset, length)


def test_searching_shows_each_place_with_its_surroundings() -> None:
    whole = b"a" * 500 + b" The Needle. " + b"b" * 500 + b" needle "
    found = search_whole(whole, "needle").splitlines()
    assert [line.partition(":")[0] for line in found] == ["offset 505", "offset 1014"]
    assert "The Needle. b" in found[0]
    assert search_whole(whole, "absent") == "'absent' does not occur in this result."
    assert search_whole(whole, " ") == "Nothing to search for."
    assert "[more after offset" in search_whole(b"needle" + b" " * 400 + (b"needle" + b" " * 400) * 50, "needle")


def test_a_shape_is_short_however_big_the_thing() -> None:
    assert shape({f"k{n}": None for n in range(100)}).endswith(", …}")
    assert shape([[[[[[1]]]]]]) == "[1 of [1 of [1 of [1 of [1]]]]]"


def test_the_built_in_tools_take_what_their_schema_says() -> None:
    for tool in RESULT_TOOLS:
        checker = Checker(json.loads(tool.schema))
        given = {"result_id": "res-1", **({"query": "x"} if tool.name == "result_search" else {"offset": 3})}
        assert checker.errors(given) == [] and checker.errors({})
        assert tool.server == "windlass" and tool.safe and tool.approval == "auto"


@pytest.mark.parametrize("body", [b'{"content": [{"type": "text", "text": "\xff"}]}', b'{"content": ' + b"[" * 5000])
async def test_a_kept_body_that_cannot_be_read_is_given_as_it_is(body: bytes) -> None:
    assert await kept_text(body, JSON) == body
