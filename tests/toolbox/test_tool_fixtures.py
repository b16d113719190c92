"""The labelled tools of real servers: enough of them, of servers apart, and only facts about them."""

import json
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).parent.parent / "fixtures" / "tools"
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
KEPT = {"server", "version", "slug", "tool", "annotations", "arguments", "label"}
OPTIONAL = {"destructive", "reads_without", "why"}


def test_c1_there_are_enough_tools_of_enough_servers() -> None:
    build, held_out = _tools("build"), _tools("held_out")
    assert len(build) >= 300
    assert len(held_out) >= 100
    assert len(_servers(held_out)) >= 8
    assert len(_servers(build) | _servers(held_out)) >= 25


def test_c1_no_server_is_both_built_on_and_held_out() -> None:
    assert not _servers(_tools("build")) & _servers(_tools("held_out"))


@pytest.mark.parametrize("name", ["build", "held_out"])
def test_c1_no_server_dominates_and_every_class_is_there(name: str) -> None:
    tools = _tools(name)
    names = [(tool["server"], tool["tool"]) for tool in tools]
    assert len(set(names)) == len(names)
    assert all(sum(tool["server"] == server for tool in tools) <= 25 for server in _servers(tools))
    assert {tool["label"] for tool in tools} == {"reads", "changes", "sends"}


@pytest.mark.parametrize("name", ["build", "held_out"])
def test_c1_a_tool_is_kept_as_facts_without_its_authors_sentences(name: str) -> None:
    for tool in _tools(name):
        assert KEPT <= set(tool) <= KEPT | OPTIONAL
        assert set(tool["annotations"]) <= HINTS
        assert all(isinstance(hint, bool) for hint in tool["annotations"].values())
        for argument in tool["arguments"].values():
            assert {"type", "required"} <= set(argument) <= {"type", "required", "format", "enum", "properties"}


@pytest.mark.parametrize("name", ["build", "held_out"])
def test_c1_only_what_changes_or_sends_can_destroy_or_become_a_reader(name: str) -> None:
    for tool in _tools(name):
        if tool["label"] == "reads":
            assert "destructive" not in tool and "reads_without" not in tool
        for argument in tool.get("reads_without", []):
            assert not tool["arguments"][argument]["required"]


def _tools(name: str) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = json.loads((TOOLS / f"{name}.json").read_text())
    return tools


def _servers(tools: list[dict[str, Any]]) -> set[str]:
    return {tool["server"] for tool in tools}
