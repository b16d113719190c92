"""`windlass ask`."""

import errno
import select
import sys
from typing import Annotated, Literal

import typer

from windlass.api import schemas
from windlass.cli.options import USAGE
from windlass.cli.output import as_json, clean, from_terminal, note
from windlass.cli.session import opened
from windlass.cli.stream import TurnPrinter, exit_code, follow, report_end
from windlass.core.errors import BadInput

SILENCE_S = 5  # long enough for a download to begin


def ask(
    ctx: typer.Context,
    text: Annotated[
        list[str] | None, typer.Argument(help="The question. Piped input is appended; - waits for it.")
    ] = None,
    conversation: Annotated[str, typer.Option("--conversation", "-c", help="Continue this chat.")] = "",
    tools: Annotated[
        list[str] | None, typer.Option(help="Offer only these tools: server.tool, * for any. Repeatable.")
    ] = None,
    no_tools: Annotated[bool, typer.Option("--no-tools", help="Offer no tools.")] = False,
    approve: Annotated[
        Literal["ask", "auto", "deny"], typer.Option(help="How to answer calls that need approval.")
    ] = "ask",
    asks: Annotated[
        Literal["wait", "refuse"], typer.Option(help="refuse: refuse calls that need approval and answer without them.")
    ] = "wait",
    model: Annotated[str, typer.Option("--model", "-m", help="Use this model instead of the default.")] = "",
    persona: Annotated[str, typer.Option(help="The persona, such as researcher.")] = "",
    system: Annotated[str, typer.Option(help="System prompt for a new chat.")] = "",
    search: Annotated[Literal["auto", "on", "off"], typer.Option(help="Web search.")] = "auto",
    attach: Annotated[
        list[str] | None, typer.Option(help="A resource of a server to read along: SERVER:URI. Repeatable.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(help="Maximum tool rounds.", min=1, max=100)] = None,
    no_stream: Annotated[bool, typer.Option("--no-stream", help="Print the answer when it is complete.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the finished turn as JSON.")] = False,
) -> None:
    """Ask once. Exit codes: 0 answered, 1 no answer, 2 wrong usage, 3 stopped, denied or waiting, 4 limit reached.

    The answer goes to standard output, tool calls and everything else to standard error.
    """
    if conversation:
        _refuse({"--tools": tools, "--no-tools": no_tools, "--persona": persona, "--system": system})
    attachments = [_resource(named) for named in attach or []]
    question = _question(text or [])
    with opened(ctx) as session:
        conversation_id = conversation or session.run(
            session.w.begin(tools=[] if no_tools else tools, persona=persona, system_prompt=system)
        )
        events = session.w.stream(
            question,
            conversation_id=conversation_id,
            model=model,
            web_search=search,
            max_rounds=rounds,
            asks=asks,
            attachments=attachments,
        )
        printer = TurnPrinter(stream=not (no_stream or json), quiet=json)
        turn = follow(session, events, printer, approve)
    if json:
        as_json(turn)
    else:
        _report(turn, printer)
    raise typer.Exit(exit_code(turn))


def _resource(named: str) -> tuple[str, str]:
    server, colon, uri = named.partition(":")
    if not (server and colon and uri):
        raise BadInput(f"{named} is not SERVER:URI.", hint="Such as --attach docs:file:///docs/a.md.")
    return server, uri


def _report(turn: schemas.Turn, printer: TurnPrinter) -> None:
    if turn.answer and not printer.streams:
        sys.stdout.write(clean(turn.answer).rstrip("\n") + "\n")
    report_end(turn)


def _refuse(options: dict[str, object]) -> None:
    """A conversation has its own tools, persona and system prompt; an option silently ignored would mislead."""
    if given := ", ".join(name for name, value in options.items() if value):
        note(f"{given}: only for a new chat. Leave it out, or ask without --conversation.", "red")
        raise typer.Exit(USAGE)


def _question(arguments: list[str]) -> str:
    """Standard input comes after the arguments, as a document to talk about."""
    given = " ".join(one for one in arguments if one != "-")
    expected = "-" in arguments
    piped = _piped(wait=expected or not given) if expected or not from_terminal() else ""
    text = "\n\n".join(part for part in (given, piped) if part)
    if not text:
        note("There is nothing to ask: give a question as an argument or on standard input.", "red")
        raise typer.Exit(USAGE)
    return text


def _piped(wait: bool) -> str:
    """The text on standard input. Without `wait`, a silent pipe is given up after `SILENCE_S`: a supervisor that starts
    this program may hold a pipe open and never send anything."""
    if sys.stdin is None:  # closed before the start
        return ""
    if not (wait or _sends_soon()):
        note(f"No input arrived on standard input for {SILENCE_S} s: asking without it. To wait for it, add `-`.")
        return ""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").lstrip("\r\n").rstrip()
    except UnicodeDecodeError as error:
        raise BadInput("Standard input is not UTF-8 text.", hint="Convert it first, for example with iconv.") from error
    except OSError as error:
        if error.errno == errno.EBADF:  # open, but not for reading: nohup does that
            return ""
        raise BadInput(f"Standard input cannot be read: {error.strerror}.", hint="Name a readable file.") from error


def _sends_soon() -> bool:
    """True when there is data, or the end."""
    try:
        return bool(select.select([sys.stdin], [], [], SILENCE_S)[0])
    except OSError:  # not a descriptor that can be waited for, such as any pipe on Windows
        return True
