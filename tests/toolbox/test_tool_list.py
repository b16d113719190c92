"""The list of tools in a request, as a pure function of what is enabled, picked, used and loaded."""

from dataclasses import replace

from windlass.core.events import CallJudged, Event, ModelReplied, Settings, ToolFinished, TurnStarted
from windlass.core.fold import fold
from windlass.core.messages import PYTHON, ChatMessage, ToolCall, ToolOutput, ToolSpec
from windlass.toolbox.tool_list import (
    LEAST_USED,
    ROOM,
    TOOLS_SEARCH,
    ToolBudget,
    first_names,
    names_listed,
    toolset_of,
    undeclared,
)

SEARCH = ToolSpec(TOOLS_SEARCH, "windlass", TOOLS_SEARCH)
MANY = [ToolSpec(f"tool_{n}", "srv", f"tool_{n}", "d" * 400) for n in range(200)]
ALL = toolset_of([*MANY, SEARCH])
BUDGET = ToolBudget(10, 100_000)


def picks(*numbers: int) -> frozenset[str]:
    return frozenset(f"tool_{n}" for n in numbers)


def listed(picked: frozenset[str] = frozenset(), used: tuple[str, ...] = (), **more: object) -> list[str]:
    budget = more.pop("budget", BUDGET)
    before = more.pop("before", ())
    assert isinstance(budget, ToolBudget) and isinstance(before, tuple)
    return [
        *first_names(ALL, budget, is_picked=lambda spec: spec.name in picked, before=before, used=lambda: list(used))
    ]


def test_tools_and_tokens_each_exceed_the_budget_and_built_in_ones_do_not_count() -> None:
    assert ToolBudget(200, 1_000_000, 201).holds(ALL.tools)
    assert not ToolBudget(199, 1_000_000, 201).holds(ALL.tools)
    assert not ToolBudget(200, 10_000, 201).holds(ALL.tools)
    assert not ToolBudget(200, 1_000_000, 200).holds(ALL.tools)  # the wire counts all of them


def test_a_new_chat_lists_what_was_picked_and_a_search() -> None:
    assert listed() == [TOOLS_SEARCH]
    assert listed(picks(7, 3)) == [TOOLS_SEARCH, "tool_3", "tool_7"]


def test_functions_of_the_program_are_picked_by_it() -> None:
    function = ToolSpec("own", PYTHON, "own")
    toolset = toolset_of([*MANY, function, SEARCH])
    assert first_names(toolset, BUDGET, is_picked=lambda spec: False) == (TOOLS_SEARCH, "own")


def test_what_a_chat_used_before_it_had_too_many_tools_stays_the_oldest_first() -> None:
    assert listed(used=("tool_9", "gone", "tool_4", "tool_9")) == [TOOLS_SEARCH, "tool_4", "tool_9"]


def test_the_list_of_the_turn_before_is_kept_as_it_is_while_it_fits() -> None:
    before = (TOOLS_SEARCH, "tool_8", "gone", "tool_2")
    assert listed(before=before) == [TOOLS_SEARCH, "tool_8", "tool_2"]
    assert listed(picks(1, 2), before=before) == [TOOLS_SEARCH, "tool_8", "tool_2", "tool_1"]


def test_where_it_no_longer_fits_unused_tools_go_then_those_used_longest_ago() -> None:
    before = (TOOLS_SEARCH, *(f"tool_{n}" for n in range(12)))
    used = tuple(f"tool_{n}" for n in (11, 10, 9))
    assert listed(before=before, used=used) == [TOOLS_SEARCH, "tool_9", "tool_10", "tool_11"]
    used = tuple(f"tool_{n}" for n in range(11, -1, -1))
    assert listed(before=before, used=used) == [TOOLS_SEARCH, *(f"tool_{n}" for n in range(2, 12))]


def test_picked_tools_beyond_the_budget_leave_place_for_the_latest_that_were_used() -> None:
    picked = picks(*range(100, 130))
    used = tuple(f"tool_{n}" for n in range(20))
    found = listed(picked, used)
    assert picked < {*found} and [name for name in used if name in found] == [*used[:LEAST_USED]]


def test_no_list_passes_the_limit_of_the_wire_and_room_is_left_to_load() -> None:
    wide = ToolBudget(1000, 1_000_000, 128)
    found = listed(picks(*range(200)), tuple(f"tool_{n}" for n in range(199, 150, -1)), budget=wide)
    assert len(found) == 128 - ROOM


CALLS = (ToolCall("c1", TOOLS_SEARCH, '{"query": "x"}'), ToolCall("c2", "tool_5"), ToolCall("c3", "made_up"))


def log(most: int, *loads: str) -> list[Event]:
    settings = Settings(toolset="t", listed=(TOOLS_SEARCH, "tool_1"), most_listed=most)
    return [
        TurnStarted((ChatMessage("user", "go"),), settings),
        ModelReplied("", CALLS),
        CallJudged("c1", "auto"),
        ToolFinished("c1", "ok", ToolOutput("found", loads=loads)),
        ToolFinished("c2", "error", ToolOutput("no")),
    ]


def test_loaded_and_called_tools_are_appended_in_the_order_of_the_calls_whatever_finished_first() -> None:
    events = log(128, "tool_9", "gone", "tool_1")
    wanted = (TOOLS_SEARCH, "tool_1", "tool_9", "tool_5")
    assert names_listed(ALL, fold(events)) == wanted
    assert names_listed(ALL, fold([*events[:3], events[4], events[3]])) == wanted
    assert names_listed(ALL, fold(events[:1])) == (TOOLS_SEARCH, "tool_1")


def test_at_the_limit_of_the_wire_what_was_loaded_last_stays() -> None:
    events = log(4, "tool_9", "tool_8", "tool_7")
    assert names_listed(ALL, fold(events)) == (TOOLS_SEARCH, "tool_1", "tool_7", "tool_5")
    again = [*events, ModelReplied("", (ToolCall("c4", "tool_9"),))]
    assert names_listed(ALL, fold(again)) == (TOOLS_SEARCH, "tool_1", "tool_9", "tool_5")


def test_arguments_that_a_schema_does_not_name_are_found_where_it_names_all() -> None:
    spec = replace(MANY[0], schema='{"type":"object","properties":{"path":{}}}')
    assert undeclared(spec, '{"path": 1}') == []
    assert undeclared(spec, '{"path": 1, "only": 2}') == ["'only' is no argument of it"]
    assert undeclared(replace(spec, schema='{"additionalProperties": true}'), '{"only": 2}') == []
