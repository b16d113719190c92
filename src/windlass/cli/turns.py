"""`windlass turns`."""

import json as jsonlib
from datetime import datetime
from typing import Annotated, Any, Literal

import typer

from windlass.api import schemas
from windlass.cli.output import as_json, clean, line, note, out, shown_arguments
from windlass.cli.session import Connected, opened
from windlass.cli.stream import exit_code, report_end
from windlass.core.errors import BadInput

turns = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Turn = Annotated[str, typer.Argument(help="The turn's id.")]
Call = Annotated[str, typer.Argument(help="The call's id; optional when only one waits.")]
WAIT_S = 300.0


@turns.command()
def show(ctx: typer.Context, turn: Turn, json: Json = False) -> None:
    """Show a turn as a timeline of its events."""
    with opened(ctx) as session:
        found = session.run(session.w.turns.get(turn))
        log = session.run(session.w.turns.log(turn))
    if json:
        return as_json({"turn": found, "events": log})
    began = _when(log[0]["at"])
    for event in log:
        after = (_when(event["at"]) - began).total_seconds()
        out.print(f"{after:9.3f} s  {event['event']:<16} {line(_detail(event), 1000)}".rstrip())
    note(f"{found.outcome or found.state}, {found.rounds} rounds, {found.usage.total_tokens} tokens", "bold")
    report_end(found)


@turns.command()
def approve(
    ctx: typer.Context,
    turn: Turn,
    call: Call = "",
    deny: Annotated[bool, typer.Option("--deny", help="Deny the call.")] = False,
    reason: Annotated[str, typer.Option(help="Why; sent to the model.")] = "",
    scope: Annotated[
        Literal["once", "conversation", "always"], typer.Option(help="How long the decision holds.")
    ] = "once",
    covers: Annotated[
        Literal["tool", "arguments", "server"] | None,
        typer.Option(
            help="With --scope conversation or always: allow the tool, these arguments, or all of the server."
        ),
    ] = None,
    arguments: Annotated[str, typer.Option(help="Other arguments to use, as JSON.")] = "",
    json: Json = False,
) -> None:
    """Allow or deny a call that waits, and wait for the turn."""
    with opened(ctx) as session:
        pending = _pending(session, turn, call, "approval")
        decided = session.w.turns.decide(
            turn,
            pending.call_id,
            allow=not deny,
            scope=scope,
            arguments=_object(arguments),
            reason=reason,
            hash=pending.hash,
            covers=covers,
        )
        _finish(session, session.run(decided), json)


@turns.command()
def resolve(
    ctx: typer.Context,
    turn: Turn,
    how: Annotated[Literal["retry", "done", "skip"], typer.Argument(help="Retry it, mark it as done, or skip it.")],
    call: Call = "",
    json: Json = False,
) -> None:
    """Resolve a call whose outcome is unknown, and wait for the turn."""
    with opened(ctx) as session:
        pending = _pending(session, turn, call, "unknown")
        _finish(session, session.run(session.w.turns.resolve(turn, pending.call_id, how)), json)


@turns.command()
def answer(
    ctx: typer.Context,
    turn: Turn,
    content: Annotated[str, typer.Argument(help="The answers as a JSON object.")] = "",
    call: Call = "",
    decline: Annotated[bool, typer.Option("--decline", help="Decline to answer.")] = False,
    json: Json = False,
) -> None:
    """Answer what a tool asks, and wait for the turn."""
    with opened(ctx) as session:
        pending = _pending(session, turn, call, "input")
        answered = session.w.turns.answer(
            turn, pending.call_id, "decline" if decline else "accept", None if decline else _object(content)
        )
        _finish(session, session.run(answered), json)


@turns.command()
def stop(
    ctx: typer.Context,
    turn: Turn,
    call: Annotated[str, typer.Argument(help="Only this call.")] = "",
    json: Json = False,
) -> None:
    """Stop a turn, or one call of it."""
    with opened(ctx) as session:
        session.run(session.w.turns.stop(turn, call))
        found = session.run(session.w.turns.get(turn, wait=2))
    as_json(found) if json else note(f"{found.id}: {found.outcome or found.state}", "")


def _pending(session: Connected, turn: str, call: str, kind: str) -> schemas.PendingCall:
    there = session.run(session.w.turns.get(turn)).pending_calls
    fitting = [one for one in there if one.kind == kind and call in ("", one.call_id)]
    if len(fitting) == 1:
        return fitting[0]
    waiting = ", ".join(f"{one.call_id} ({one.name}, {one.kind})" for one in there) or "nothing"
    raise BadInput("There is no such call." if not fitting else "Several calls wait.", hint=f"Waiting: {waiting}.")


def _finish(session: Connected, turn: schemas.Turn, json: bool) -> None:
    turn = session.run(session.w.turns.get(turn.id, wait=WAIT_S))
    if json:
        as_json(turn)
    else:
        if turn.answer:
            out.print(clean(turn.answer))
        report_end(turn)
    raise typer.Exit(exit_code(turn))


def _object(text: str) -> dict[str, Any] | None:
    if not text:
        return None
    try:
        value = jsonlib.loads(text)
    except ValueError as error:
        raise BadInput(f"{text} is not valid JSON: {error}.", hint="Put it in single quotes.") from None
    if not isinstance(value, dict):
        raise BadInput(f"{text} is not a JSON object.", hint='Such as {"name": "Ada"}.')
    return value


def _when(at: str) -> datetime:
    return datetime.fromisoformat(at.replace("Z", "+00:00"))


def _detail(event: dict[str, Any]) -> str:
    match event:
        case {"event": "turn_started", "settings": settings, "opening": opening}:
            text = opening[-1].get("content") if opening else ""
            return f"{settings.get('model', '')}: {line(text or '', 100)}"
        case {"event": "model_replied", "text": text, "calls": calls}:
            called = "  ".join(f"→ {call['name']} {shown_arguments(call.get('arguments', '{}'))}" for call in calls)
            return line(text, 100) or called
        case {"event": "model_failed", "cause": cause, "message": message}:
            return f"{cause}: {line(message)}"
        case {"event": "call_judged", "call_id": call_id, "verdict": verdict}:
            return f"{call_id} {verdict} {event.get('rule') or ''}"
        case {"event": "call_decided", "call_id": call_id, "allow": allow}:
            return f"{call_id} {'allowed' if allow else 'denied'} {event.get('scope') or ''}"
        case {"event": "tool_finished", "call_id": call_id, "state": state}:
            return (
                f"{call_id} {state} {event.get('took_ms', 0)} ms  {line(event.get('output', {}).get('text', ''), 80)}"
            )
        case {"event": "turn_finished", "outcome": outcome}:
            return f"{outcome} {event.get('message') or ''}"
        case {"call_id": call_id}:
            return f"{call_id} {event.get('how') or ''}"
    return ""
