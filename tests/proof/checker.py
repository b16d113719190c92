"""The independent checker: reads the database, the ledger and what a client saw, with the standard library alone. It
knows the promises, and nothing of Windlass's code."""

import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

ENDS = {"ok", "error", "denied", "cancelled", "unknown"}
OUTCOMES = {"answered", "limit", "stopped", "failed", "handed_over", "added"}
UNSAFE = {"record", "record_slow", "record_held", "destroy"}

Log = list[tuple[str, dict[str, object]]]
Seen = tuple[int, str, int, str]  # the number in the conversation, the turn, the place in it, the kind


@dataclass
class Transcript:
    """The durable events one client was given, in the order they came, over all its reconnects."""

    conversation_id: str
    seen: list[Seen] = field(default_factory=list)
    whole: bool = True  # it watched to the end, so nothing may be missing


def broken_promises(
    database: Path, ledger: Path, acknowledged: Iterable[str] = (), transcripts: Iterable[Transcript] = ()
) -> list[str]:
    """`acknowledged` are user messages the server said it has."""
    clients = list(transcripts)
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        (sound,) = db.execute("pragma integrity_check").fetchone()
        turns = db.execute("select id, state from turns").fetchall()
        logs = _logs(db, [turn for turn, _ in turns])
        rows = {one.conversation_id: _rows(db, one.conversation_id) for one in clients}
        running = _running_twice(db)
    found = [] if sound == "ok" else [f"the file is damaged: {sound}"]
    found += [fault for turn, state in turns for fault in _turn_faults(turn, state, logs[turn])]
    found += running
    found += _lost_messages(logs.values(), acknowledged)
    found += repeated_effects(ledger)
    found += [fault for one in clients for fault in _transcript_faults(one, rows[one.conversation_id])]
    return found


def _logs(db: sqlite3.Connection, turns: list[str]) -> dict[str, Log]:
    logs: dict[str, Log] = {turn: [] for turn in turns}
    for turn, kind, body in db.execute("select turn_id, kind, body from events order by turn_id, seq"):
        logs[turn].append((kind, json.loads(body)))
    return logs


def _rows(db: sqlite3.Connection, conversation_id: str) -> list[Seen]:
    return db.execute(
        "select e.number, e.turn_id, e.seq, e.kind from events e join conversations c on c.n = e.conversation"
        " where c.id = ? order by e.number",
        (conversation_id,),
    ).fetchall()


def _running_twice(db: sqlite3.Connection) -> list[str]:
    """One unfinished turn for each parent."""
    rows = db.execute(
        "select conversation, parent_id, count(*) from turns where state <> 'finished'"
        " group by conversation, parent_id having count(*) > 1"
    )
    return [f"{count} turns run at once after {parent}" for _, parent, count in rows]


def _turn_faults(turn: str, state: str, log: Log) -> list[str]:
    kinds = [kind for kind, _ in log]
    found = []
    if kinds[:1] != ["turn_started"]:
        return [f"{turn}: does not begin with its start"]
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
    calls = Counter(call["id"] for kind, body in log if kind == "model_replied" for call in body["calls"])  # type: ignore[attr-defined]
    ends = Counter(body["call_id"] for kind, body in log if kind == "tool_finished")
    states = {body["state"] for kind, body in log if kind == "tool_finished"}
    found = [f"{turn}: {call} has {ends[call]} terminal states" for call in calls if ends[call] != 1]
    found += [f"{turn}: {call} was asked for {count} times" for call, count in calls.items() if count > 1]
    return found + [f"{turn}: the state {state} is not one" for state in states - ENDS]


def _early_starts(turn: str, log: Log) -> list[str]:
    """Nothing is sent after a stop, nothing that was not judged, and nothing that waits for a person's word."""
    found, stopped, verdicts, words = [], False, {}, set()
    for kind, body in log:
        call = body.get("call_id")
        stopped |= kind == "stop_requested" and not call
        if kind == "call_judged":
            verdicts[call] = body["verdict"]
        if kind == "call_decided" and body["allow"]:
            words.add(call)
        if kind == "tool_started":
            allowed = verdicts.get(call) == "auto" or (verdicts.get(call) == "ask" and call in words)
            if stopped or not allowed:
                found.append(f"{turn}: {call} was started after a stop, unjudged or unapproved")
    return found


def _lost_messages(logs: Iterable[Log], acknowledged: Iterable[str]) -> list[str]:
    kept = Counter(message["content"] for log in logs for message in log[0][1].get("opening", []))  # type: ignore[attr-defined]
    wanted = Counter(acknowledged)
    return [f"the acknowledged message {text!r} is lost" for text, count in wanted.items() if kept[text] < count]


def repeated_effects(ledger: Path) -> list[str]:
    counts = Counter(e["effect_id"] for e in _ledger(ledger) if e["event"] == "started" and e["tool"] in UNSAFE)
    return [f"the effect {effect} happened {count} times" for effect, count in counts.items() if count > 1]


def _ledger(ledger: Path) -> list[dict[str, str]]:
    lines = ledger.read_text().split("\n")[:-1] if ledger.exists() else []
    return [json.loads(line) for line in lines]


def _transcript_faults(transcript: Transcript, rows: Sequence[Seen]) -> list[str]:
    seen = [tuple(one) for one in transcript.seen]
    wanted = [tuple(row) for row in rows]
    if seen == (wanted if transcript.whole else wanted[: len(seen)]):
        return []
    where = next((n for n, pair in enumerate(zip(seen, wanted, strict=False)) if pair[0] != pair[1]), len(seen))
    return [
        f"a client of {transcript.conversation_id} saw {len(seen)} events of {len(wanted)}; they part at {where}:"
        f" {seen[where : where + 3]} for {wanted[where : where + 3]}"
    ]


if __name__ == "__main__":
    faults = broken_promises(Path(sys.argv[1]), Path(sys.argv[2]))
    print("\n".join(faults) or "no promise is broken")
    sys.exit(bool(faults))
