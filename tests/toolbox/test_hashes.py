"""Pins: each of the seven things a person agreed to, changed, is another tool."""

from dataclasses import replace
from typing import Any

import pytest

from windlass.servers import ServerConfig, ToolDefinition
from windlass.toolbox.hashes import arguments_hash, changed_fields, tool_hash

CONFIG = ServerConfig("srv-1", "files", command="npx", args=("-y", "files@1.0.0"), env={"TOKEN": "one"})
TOOL = ToolDefinition("read", "Read", "Read a file.", {"type": "object"}, {"type": "object"}, {"readOnlyHint": True})


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
def test_any_changed_field_changes_the_hash_and_is_named(change: dict[str, Any]) -> None:
    changed = replace(TOOL, **change)
    assert tool_hash(changed, CONFIG) != tool_hash(TOOL, CONFIG)
    assert changed_fields(TOOL, changed) == list(change)


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
