"""The independent checker: reads the database, the ledger and what a client saw, with the standard library alone. It
knows the promises, and nothing of Windlass's code."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

ENDS = {"ok", "error", "denied", "cancelled", "unknown"}
OUTCOMES = {"answered", "limit", "stopped", "failed", "handed_over", "added"}


def broken_promises(
    database: Path, ledger: Path, acknowledged: Iterable[str] = (), transcripts: Iterable[Sequence[int]] = ()
) -> list[str]:
    """`acknowledged` are user messages the server said it has; `transcripts` the event numbers that clients were
    given, in the order they came."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        (sound,) = db.execute("pragma integrity_check").fetchone()
        turns = db.execute("select id, state from turns").fetchall()
        logs = {turn: _log(db, turn) for turn, _ in turns}
        numbers = [number for (number,) in db.execute("select number from events order by conversation, number")]
    db.close()
    found = [] if sound == "ok" else [f"the file is damaged: {sound}"]
    found += [fault for turn, state in turns for fault in _turn_faults(turn, state, logs[turn])]
    found += _lost_messages(logs.values(), acknowledged)
    found += _repeated_effects(ledger)
    found += [fault for transcript in transcripts for fault in _transcript_faults(transcript, numbers)]
    return found


Log = list[tuple[str, dict[str, object]]]


def _log(db: sqlite3.Connection, turn: str) -> Log:
    rows = db.execute("select kind, body from events where turn_id = ? order by seq", (turn,))
    return [(kind, json.loads(body)) for kind, body in rows]


def _turn_faults(turn: str, state: str, log: Log) -> list[str]:
    kinds = [kind for kind, _ in log]
    found = []
    if kinds[:1] != ["turn_started"]:
        found.append(f"{turn}: does not begin with its start")
    if "turn_finished" in kinds[:-1]:
        found.append(f"{turn}: something follows its end")
    if (state == "finished") != (kinds[-1] == "turn_finished"):
        found.append(f"{turn}: its row says {state}, its log ends with {kinds[-1]}")
    if kinds[-1] == "turn_finished":
        found += _call_faults(turn, log)
        if log[-1][1]["outcome"] not in OUTCOMES:
            found.append(f"{turn}: has no outcome")
    return found + _early_starts(turn, log)


def _call_faults(turn: str, log: Log) -> list[str]:
    calls = [call["id"] for kind, body in log if kind == "model_replied" for call in body["calls"]]  # type: ignore[attr-defined]
    ends = Counter(body["call_id"] for kind, body in log if kind == "tool_finished")
    states = {body["state"] for kind, body in log if kind == "tool_finished"}
    found = [f"{turn}: {call} has {ends[call]} terminal states" for call in calls if ends[call] != 1]
    return found + [f"{turn}: the state {state} is not one" for state in states - ENDS]


def _early_starts(turn: str, log: Log) -> list[str]:
    """Nothing is sent after a stop, and nothing that was not judged."""
    found, stopped, judged = [], False, set()
    for kind, body in log:
        stopped |= kind == "stop_requested" and not body["call_id"]
        if kind == "call_judged":
            judged.add(body["call_id"])
        if kind == "tool_started" and (stopped or body["call_id"] not in judged):
            found.append(f"{turn}: {body['call_id']} was started after a stop or unjudged")
    return found


def _lost_messages(logs: Iterable[Log], acknowledged: Iterable[str]) -> list[str]:
    kept = {message["content"] for log in logs for message in log[0][1]["opening"]}  # type: ignore[attr-defined]
    return [f"the acknowledged message {text!r} is lost" for text in acknowledged if text not in kept]


def _repeated_effects(ledger: Path) -> list[str]:
    lines = ledger.read_text().split("\n")[:-1] if ledger.exists() else []
    events = [json.loads(line) for line in lines]
    unsafe = ("record", "record_slow", "destroy")
    counts = Counter(e["effect_id"] for e in events if e["event"] == "started" and e["tool"] in unsafe)
    return [f"the effect {effect} happened {count} times" for effect, count in counts.items() if count > 1]


def _transcript_faults(transcript: Sequence[int], numbers: Sequence[int]) -> list[str]:
    if list(transcript) != sorted(set(transcript)):
        return [f"a client saw events out of order or twice: {list(transcript)}"]
    if not set(transcript) <= set(numbers):
        return ["a client saw an event that is not on disk"]
    return []
