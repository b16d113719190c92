"""The calls of past turns, newest first, for trying a rule or a grant on them. Read by a connection of its own, so
that it can be done in a thread."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec

from windlass.core.events import CallDecided, CallJudged, ModelReplied, TurnStarted
from windlass.core.messages import ToolCall, ToolSpec
from windlass.core.values import value_object
from windlass.store.codec import decode
from windlass.store.writer import connect

MOST_TURNS = 5000  # looked through at most: turns without calls count too
_NEWEST = "select t.id, c.id from turns t join conversations c on c.n = t.conversation order by t.id desc limit ?"
_EVENTS = (
    "select e.kind, e.body, e.version, e.at"
    " from turns t join events e on e.place between t.first_place and t.last_place and e.turn_id = t.id"
    " where t.id = ? and e.kind in ('turn_started', 'model_replied', 'call_judged', 'call_decided') order by e.place"
)


@value_object
class PastCall:
    """A call as it was sent, with the tool it was for and how it was judged."""

    turn_id: str
    at: float
    call: ToolCall
    spec: ToolSpec
    judged: CallJudged
    conversation_id: str = ""
    allowed: bool | None = None  # by a person, where one was asked and answered


def past_calls(database: Path, most: int, wanted: Callable[[ToolSpec], bool]) -> list[PastCall]:
    """Calls of tools that were offered; a call of an unknown tool is nobody's."""
    found: list[PastCall] = []
    with closing(connect(database)) as db:
        toolsets: dict[str, dict[str, ToolSpec]] = {}
        for turn_id, conversation_id in db.execute(_NEWEST, (MOST_TURNS,)):
            calls = [replace(one, conversation_id=conversation_id) for one in _of_turn(db, turn_id, toolsets)]
            found += [one for one in calls if wanted(one.spec)][::-1]
            if len(found) >= most:
                break
    return found[:most]


def _of_turn(db: sqlite3.Connection, turn_id: str, toolsets: dict[str, dict[str, ToolSpec]]) -> Iterator[PastCall]:
    rows = db.execute(_EVENTS, (turn_id,)).fetchall()
    if not any(kind == "call_judged" for kind, *_ in rows):
        return
    offered: dict[str, ToolSpec] = {}
    calls: dict[str, ToolCall] = {}
    judged: dict[str, tuple[float, CallJudged]] = {}
    allowed: dict[str, bool] = {}
    for kind, body, version, at in rows:
        match decode(kind, body, version):
            case TurnStarted(settings=settings):
                offered = _toolset(db, settings.toolset, toolsets)
            case ModelReplied(calls=made):
                calls |= {call.id: call for call in made}
            case CallJudged() as event:
                judged[event.call_id] = (at, event)
            case CallDecided(call_id=call_id, arguments=arguments, allow=allow):
                allowed[call_id] = allow
                if arguments and call_id in calls:
                    calls[call_id] = replace(calls[call_id], arguments=arguments)
    for call_id, (at, event) in judged.items():
        call = calls.get(call_id)
        if call and (spec := offered.get(call.name)):
            yield PastCall(turn_id, at, call, spec, event, allowed=allowed.get(call_id))


def _toolset(db: sqlite3.Connection, hash: str, known: dict[str, dict[str, ToolSpec]]) -> dict[str, ToolSpec]:
    if hash not in known:
        row = db.execute("select body from toolsets where hash = ?", (hash,)).fetchone()
        specs = msgspec.json.decode(row[0], type=tuple[ToolSpec, ...]) if row else ()
        known[hash] = {spec.name: spec for spec in specs}
    return known[hash]
