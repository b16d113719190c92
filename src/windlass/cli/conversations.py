"""`windlass conversations`."""

import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from windlass.api import schemas
from windlass.cli.options import FAILED
from windlass.cli.output import as_json, clean, line, note, out, shown_arguments, table
from windlass.cli.session import opened
from windlass.core.errors import BadInput

conversations = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Named = Annotated[str, typer.Argument(help="The chat's id.")]


@conversations.command("list")
def list_(
    ctx: typer.Context,
    find: Annotated[str, typer.Option(help="Only those whose messages contain this text.")] = "",
    limit: Annotated[int, typer.Option(help="Maximum number.", min=1, max=200)] = 50,
    json: Json = False,
) -> None:
    """List chats, newest first."""
    with opened(ctx) as session:
        if find:
            found = session.run(session.w.conversations.search(find, limit))
        else:
            found = session.run(session.w.conversations.list(limit)).conversations
    if json:
        return as_json(found)
    rows = ((one.id, one.updated_at[:16].replace("T", " "), one.outcome or one.state, one.title) for one in found)
    table(("chat", "changed", "", "title"), rows, "No chats yet.")


@conversations.command()
def show(ctx: typer.Context, conversation: Named, json: Json = False) -> None:
    """Show the messages, including tool calls and their results."""
    with opened(ctx) as session:
        found = session.run(session.w.messages.get_all(conversation))
    if json:
        return as_json(found)
    for message in found:
        _print(message)


@conversations.command()
def export(
    ctx: typer.Context,
    conversation: Named,
    format: Annotated[Literal["json", "markdown"], typer.Option(help="markdown is for reading.")] = "json",
) -> None:
    """Print a chat, to archive it or import it elsewhere."""
    with opened(ctx) as session:
        if format == "markdown":
            sys.stdout.write(session.run(session.w.conversations.markdown(conversation)) + "\n")
        else:
            as_json(session.run(session.w.conversations.export(conversation)))


@conversations.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="An export, or a list of messages in OpenAI's format; - is stdin.")],
    json: Json = False,
) -> None:
    """Import a chat. Broken histories are repaired."""
    try:
        held = jsonlib.loads(sys.stdin.read() if str(file) == "-" else file.read_text())
    except (OSError, ValueError) as error:
        hint = "Give an export of `windlass conversations export`, or a JSON list of messages."
        raise BadInput(f"{file} cannot be read: {error}", hint=hint) from None
    with opened(ctx) as session:
        done = session.run(session.w.conversations.import_(held))
    if json:
        return as_json(done)
    note(f"{done.conversation.id}: {done.count} messages", "")
    for repair in done.repairs:
        note(f"  repaired: {repair}")


@conversations.command()
def delete(
    ctx: typer.Context,
    conversation: Named,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a chat permanently."""
    if not yes and not typer.confirm(f"Delete {conversation} permanently?", err=True):
        raise typer.Exit(FAILED)
    with opened(ctx) as session:
        session.run(session.w.conversations.delete(conversation))
    note(f"Deleted {conversation}.", "")


def _print(message: schemas.Message) -> None:
    name = f" {message.name}" if isinstance(message.name, str) else ""
    note(f"{message.role}{name}  {message.timestamp}", "bold")
    if message.content:
        out.print(clean(message.content))
    for call in message.tool_calls if message.tool_calls is not msgspec.UNSET else ():
        out.print(f"→ {line(call.function.name)} {shown_arguments(call.function.arguments)}")
