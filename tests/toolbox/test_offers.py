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
from windlass.toolbox.offers import arguments_hash, offered_names, tool_hash

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
    assert tool_hash(changed, CONFIG) != tool_hash(TOOL, CONFIG)


@pytest.mark.parametrize(
    "change",
    [
        {"command": "node"},
        {"args": ("-y", "files@1.0.1")},
        {"env": {"TOKEN": "one", "MORE": "x"}},
        {"transport": "http", "url": "https://a.example/mcp"},
    ],
)
def test_another_server_gives_another_tool(change: dict[str, Any]) -> None:
    assert tool_hash(TOOL, replace(CONFIG, **change)) != tool_hash(TOOL, CONFIG)


def test_what_does_not_matter_does_not_change_the_hash() -> None:
    reordered = replace(TOOL, input_schema={**{"type": "object"}})
    rotated = replace(CONFIG, env={"TOKEN": "two"}, name="Files", trusted=True, timeout_s=1)
    assert tool_hash(reordered, rotated) == tool_hash(TOOL, CONFIG)


def test_arguments_are_compared_by_what_they_say() -> None:
    assert arguments_hash('{"a": 1, "b": 2}') == arguments_hash('{"b":2,"a":1}')
    assert arguments_hash('{"a": 1}') != arguments_hash('{"a": "1"}')
    assert arguments_hash("not JSON") != arguments_hash("not JSON either")


async def test_a_pin_says_which_version_of_the_server_was_agreed_to(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    definitions = tmp_path / "tools.json"
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
