"""Offers: a tool's name is its own where it can be, unique always and the same every time; and each of the seven things
a person agreed to, changed, is another tool."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.ledger_file import Ledger
from tests.web.kit import Site, open_site
from windlass.servers import ServerConfig, ToolDefinition
from windlass.testing import StrictLLM
from windlass.toolbox.offers import Offer, arguments_hash, first_edition_hash, is_named, offered_names, tool_hash

CONFIG = ServerConfig("srv-1", "files", command="npx", args=("-y", "files@1.0.0"), env={"TOKEN": "one"})
TOOL = ToolDefinition("read", "Read", "Read a file.", {"type": "object"}, {"type": "object"}, {"readOnlyHint": True})
KEYS = st.lists(st.tuples(st.text(alphabet="ab_", max_size=4), st.text(max_size=80)), max_size=30)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "read2"},
        {"title": "Read!"},
        {"description": "Read a file.\u200b"},
        {"input_schema": {"type": "object", "properties": {"bcc": {}}}},
        {"output_schema": None},
        {"annotations": {"readOnlyHint": False}},
    ],
)
def test_any_changed_field_changes_the_hash(change: dict[str, Any]) -> None:
    changed = replace(TOOL, **change)
    assert tool_hash(changed) != tool_hash(TOOL)


@pytest.mark.parametrize(
    "change",
    [
        {"command": "node"},
        {"args": ("-y", "files@1.0.1")},
        {"env": {"TOKEN": "one", "MORE": "x"}},
        {"transport": "http", "url": "https://a.example/mcp"},
    ],
)
def test_an_update_of_the_program_leaves_its_tools_as_they_were_accepted(change: dict[str, Any]) -> None:
    before, after = Offer(CONFIG, TOOL, tool_hash(TOOL)), Offer(replace(CONFIG, **change), TOOL, tool_hash(TOOL))
    assert after.has(before.hash)
    assert not after.has(first_edition_hash(TOOL, CONFIG))  # which had the program in it


SCHEMA = {
    "type": ["string", "null"],
    "required": ["path", "mode"],
    "properties": {
        "mode": {"enum": ["r", "w"], "default": "r"},
        "fields": {"type": "array", "default": ["size", "name", "date"], "items": {"anyOf": [{"type": "string"}, {}]}},
        "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}]},
    },
}


def test_b5_a_schema_that_comes_in_another_order_is_the_same_tool() -> None:
    again = {
        "required": ["mode", "path"],
        "properties": {
            "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}]},
            "fields": {
                "items": {"anyOf": [{}, {"type": "string"}]},
                "default": ["date", "name", "size"],
                "type": "array",
            },
            "mode": {"default": "r", "enum": ["w", "r"]},
        },
        "type": ["null", "string"],
    }
    assert tool_hash(replace(TOOL, input_schema=again)) == tool_hash(replace(TOOL, input_schema=SCHEMA))


@pytest.mark.parametrize(
    "properties",
    [
        {"mode": {"enum": ["r", "w", "x"], "default": "r"}},
        {"mode": {"enum": ["r", "w"], "default": "w"}},
        {"fields": {"type": "array", "default": ["size", "name"]}},
        {"pair": {"prefixItems": [{"type": "integer"}, {"type": "string"}]}},
    ],
)
def test_b5_a_schema_that_means_something_else_is_another_tool(properties: dict[str, Any]) -> None:
    changed = {**SCHEMA, "properties": {**SCHEMA["properties"], **properties}}  # type: ignore[dict-item]
    assert tool_hash(replace(TOOL, input_schema=changed)) != tool_hash(replace(TOOL, input_schema=SCHEMA))


def test_a_hash_of_the_first_edition_still_names_its_tool() -> None:
    offer = Offer(replace(CONFIG, env={"TOKEN": "rotated"}), TOOL, tool_hash(TOOL))
    assert offer.has(first_edition_hash(TOOL, CONFIG))
    assert not offer.has(first_edition_hash(replace(TOOL, description="Read two files."), CONFIG))


def test_arguments_are_compared_by_what_they_say() -> None:
    assert arguments_hash('{"a": 1, "b": 2}') == arguments_hash('{"b":2,"a":1}')
    assert arguments_hash('{"a": 1}') != arguments_hash('{"a": "1"}')
    assert arguments_hash("not JSON") != arguments_hash("not JSON either")


async def test_a_pin_says_which_version_of_the_server_was_agreed_to(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    definitions = ledger.folder / "tools.json"
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as site:
        _define(definitions, "Say the same.")
        await site.add_ledger(ledger, "--tools", str(definitions))
        await site.enable(await site.conversation(), "echo")
        _define(definitions, "Say the same, and tell me.")
        await _restart(site)
        [tool] = [one for one in (await site.get("/servers/ledger/tools"))["tools"] if one["name"] == "echo"]
    assert tool["changed"] and tool["was"]["description"] == "Say the same."
    assert tool["was"]["program"] == "ledger 1.0.0"


def test_a_tool_keeps_its_own_name_unless_two_clash() -> None:
    names = offered_names([("files", "read"), ("web", "read"), ("web", "search")])
    assert names == {("files", "read"): "files__read", ("web", "read"): "web__read", ("web", "search"): "search"}


def test_a_reserved_name_counts_as_a_clash() -> None:
    assert offered_names([("web", "web_search")], reserved={"web_search"}) == {("web", "web_search"): "web__web_search"}


def test_letters_that_no_wire_accepts_are_replaced_and_stay_apart() -> None:
    names = offered_names([("s", "a.b"), ("s", "a b"), ("s", "c/d")])
    assert names["s", "c/d"] == "c_d"
    assert len(set(names.values())) == 3


def test_long_names_are_shortened_the_same_way_each_time() -> None:
    long = "x" * 100
    names = offered_names([("s", long), ("s", long + "y")])
    assert all(len(name) == 64 for name in names.values()) and len(set(names.values())) == 2
    assert offered_names([("s", long)])["s", long] == names["s", long]


@given(KEYS, st.randoms(use_true_random=False))
def test_every_name_is_valid_unique_and_independent_of_order(
    keys: list[tuple[str, str]], shuffle: random.Random
) -> None:
    names = offered_names(keys)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names.values())
    assert len(set(names.values())) == len(set(keys))
    shuffled = list(keys)
    shuffle.shuffle(shuffled)
    again = offered_names(shuffled)
    assert again == names and list(again) == list(names)


def test_a_thousand_tools_over_twenty_servers_are_named_quickly() -> None:
    keys = [(f"s{n % 20}", f"tool_{n // 40}") for n in range(1000)]
    assert len(set(offered_names(keys).values())) == len(set(keys))


def _define(file: Path, description: str) -> None:
    file.write_text(json.dumps([{"name": "echo", "description": description, "inputSchema": {"type": "object"}}]))


async def _restart(site: Site) -> None:
    await site.post("/servers/ledger/stop")
    await site.post("/servers/ledger/start")


@pytest.mark.parametrize(
    ("name", "patterns", "named"),
    [
        ("look", ["look"], True),
        ("look", ["l*"], False),
        ("*", ["*"], False),
        ("files.*", ["files.*"], False),
        ("look?", ["look?"], False),
        ("[look]", ["[look]"], False),
    ],
)
def test_a_pattern_names_no_tool_even_one_that_is_called_like_it(name: str, patterns: list[str], named: bool) -> None:
    assert is_named(name, patterns) == named
