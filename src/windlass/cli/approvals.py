"""Questions to the person at the terminal: may a call run, how did an interrupted one end, input for a tool."""

import json
import sys
from typing import Any, Literal

from windlass.api import routes, schemas
from windlass.cli.output import err, from_terminal, line, note
from windlass.cli.session import Connected
from windlass.core.errors import Conflict

Mode = Literal["ask", "auto", "deny"]
KEYS = "[y]es, once   [c] in this chat   [a]lways   [e]dit   [n]o, or n REASON"


def answer_pending(session: Connected, turn: schemas.Turn, mode: Mode, asked: set[str]) -> bool:
    """Answer each pending call once. False when a call waits and nobody at this terminal can answer it."""
    able = True
    for call in turn.pending_calls:
        what = f"{call.call_id} {call.kind} {call.question or ''}"  # one call may ask several things in turn
        if what in asked:
            continue
        if (mode == "ask" or call.kind == "sign_in") and not from_terminal():
            able = False
            continue
        asked.add(what)
        try:
            _answer(session, turn.id, call, mode)
        except Conflict as conflict:
            note(f"{conflict.message} Someone else answered first.")
    return able


def _answer(session: Connected, turn_id: str, call: schemas.PendingCall, mode: Mode) -> None:
    turns = session.w.turns
    match call.kind:
        case "approval":
            decision = _decision(call) if mode == "ask" else schemas.Decision("allow" if mode == "auto" else "deny")
            decision.hash = call.hash
            session.run(session.w.transport.call(routes.turns.decide, turn_id, call.call_id, decision))
        case "unknown":
            session.run(turns.resolve(turn_id, call.call_id, _resolution(call) if mode == "ask" else "skip"))
        case "sign_in":
            server = line(call.server_slug)
            note(f"{server} needs you to sign in: run `windlass servers login {server}` in another terminal.", "yellow")
        case "input":
            given = _form(call) if mode == "ask" else None
            action: Literal["accept", "decline"] = "decline" if given is None else "accept"
            session.run(turns.answer(turn_id, call.call_id, action, given))


def _decision(call: schemas.PendingCall) -> schemas.Decision:
    _introduce(call, f"wants to run ({call.rule or 'needs your approval'})")
    arguments: dict[str, Any] | None = None
    while True:
        key, _, reason = _read(f"  {KEYS} ").partition(" ")
        match key.lower():
            case "y" | "yes":
                return schemas.Decision("allow", arguments=arguments)
            case "c":
                return schemas.Decision("allow", "conversation", arguments)
            case "a":
                return schemas.Decision("allow", "always", arguments)
            case "n" | "no":
                return schemas.Decision("deny", reason=reason.strip())
            case "e":
                arguments = _edited(call) or arguments


def _resolution(call: schemas.PendingCall) -> Literal["retry", "done", "skip"]:
    _introduce(call, "was sent, but its outcome is unknown")
    while True:
        match _read("  [r]etry it   it was [d]one   [s]kip it ").lower():
            case "r" | "retry":
                return "retry"
            case "d" | "done":
                return "done"
            case "s" | "skip":
                return "skip"


def _form(call: schemas.PendingCall) -> dict[str, Any] | None:
    """The answers by name, or None for "no"."""
    question = call.question if isinstance(call.question, str) else "The tool asks for input."
    schema = call.question_schema if isinstance(call.question_schema, dict) else {}
    note(f"? {line(call.name)} asks: {question}", "bold yellow")
    given: dict[str, Any] = {}
    for name, field in schema.get("properties", {}).items():
        text = _read(f"  {line(field.get('title') or name)} ({field.get('type', 'text')}, empty to decline): ")
        if not text:
            return None
        given[name] = _typed(text, field.get("type", "string"))
    return given


def _edited(call: schemas.PendingCall) -> dict[str, Any] | None:
    text = _read("  arguments as JSON: ")
    try:
        value = json.loads(text)
    except ValueError as error:
        note(f"  This is not valid JSON: {error}")
        return None
    if not isinstance(value, dict):
        note("  Arguments must be a JSON object: {...}")
        return None
    note(f"  {json.dumps(value, ensure_ascii=False)}")
    return value


def _introduce(call: schemas.PendingCall, why: str) -> None:
    note(f"? {line(call.name)} on {call.server_slug} {why}", "bold yellow")
    try:
        values = json.loads(call.arguments)
    except ValueError:
        values = {"arguments": call.arguments}
    for name, value in values.items():
        note(f"    {line(name)}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}", "")


def _read(prompt: str) -> str:
    err.file.write(prompt)
    err.file.flush()
    text = sys.stdin.readline()
    if not text:
        raise EOFError
    return text.strip()


def _typed(text: str, kind: str) -> object:
    if kind == "string":
        return text
    try:
        return json.loads(text.lower() if kind == "boolean" else text)
    except ValueError:
        return text
