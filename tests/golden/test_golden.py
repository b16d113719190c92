"""The golden event logs: true to the server as it is, and read by the fold of the core as the server tells them. The
page's own test, `ui/src/state/golden.test.ts`, reads the same files."""

import dataclasses
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.golden.record import FOLDER, recorded
from tests.golden.scenes import SCENES
from tests.golden.story import story_of
from windlass.api.events import DURABLE, KINDS
from windlass.core.events import Recorded
from windlass.turns.views import TurnRecord, messages_shown, turn_shown

Json = dict[str, Any]
LOGS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
NOT_RECORDED = {"messages_deleted", "result_added"}  # it changes events that were sent before


def test_every_scene_is_recorded_and_nothing_else() -> None:
    assert LOGS.keys() == SCENES.keys(), "run `make golden`"


def test_the_logs_hold_every_kind_of_event() -> None:
    assert {event["type"] for log in LOGS.values() for event in log["events"]} == KINDS.keys() - NOT_RECORDED


@pytest.mark.parametrize("name", LOGS)
def test_the_fold_of_the_events_tells_the_story_of_the_server(name: str) -> None:
    log = LOGS[name]
    assert [_story(_record(turn["id"], log["events"])) for turn in log["story"]] == log["story"]


@pytest.mark.parametrize("name", ["parallel", "approval_edited", "retried"])
async def test_a_scene_that_is_recorded_again_is_the_same(name: str) -> None:
    assert await recorded(name) == (FOLDER / f"{name}.json").read_text(), "the server changed: run `make golden`"


@pytest.mark.parametrize(
    "path", sorted((FOLDER.parents[1] / "testing" / "scenes").glob("*.json")), ids=lambda p: p.stem
)
def test_the_drawn_scenes_of_the_page_are_made_of_events_as_the_server_knows_them(path: Path) -> None:
    events = json.loads(path.read_text())
    for turn_id in dict.fromkeys(event["turn_id"] for event in events):
        assert turn_shown(_record(turn_id, events)).id == turn_id


def _story(record: TurnRecord) -> Json:
    return story_of(msgspec.to_builtins(turn_shown(record)), msgspec.to_builtins(messages_shown(record)))


def _record(turn_id: str, events: list[Json]) -> TurnRecord:
    own = [event for event in events if event["turn_id"] == turn_id]
    rows = [_row(event) for event in own if event["type"] in DURABLE]
    ended = {event["call_id"] for event in own if event["type"] == "tool_finished"}
    questions = {event["call_id"]: _value(event) for event in own if event["type"] == "input_needed"}
    return TurnRecord(
        id=turn_id,
        conversation_id=own[0]["conversation_id"],
        parent_id=own[0]["parent_turn_id"],
        rows=rows,
        questions={call: asked for call, asked in questions.items() if call not in ended},
    )


def _row(event: Json) -> Recorded:
    return Recorded(event["seq"], event["id"], datetime.fromisoformat(event["at"]).timestamp(), _value(event))


def _value(event: Json) -> Any:
    """The event itself; a field that the server does not know is a mistake of the log."""
    kind = KINDS[event["type"]]
    header = {"type", "id", "turn_id", "conversation_id", "parent_turn_id", "seq", "at"}
    fields = {name: value for name, value in event.items() if name not in header}
    assert fields.keys() <= {field.name for field in dataclasses.fields(kind)}
    return msgspec.convert(fields, kind)
