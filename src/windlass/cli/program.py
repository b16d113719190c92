"""The program: its verbs, each in a module that loads only when the verb is used, and how errors are reported."""

import os
import re
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from windlass.cli.options import FAILED, LEFT, Options, options_of
from windlass.core.errors import WindlassError
from windlass.version import VERSION

VERBS = {
    "serve": ("serve", "Start the server and print its URL."),
    "demo": ("serve", "Start the server with the demo model: no key, no network."),
    "ask": ("ask", "Ask once and get the answer."),
    "chat": ("chat", "Chat in the terminal."),
    "api": ("api", "Send any request of the HTTP API."),
    "servers": ("servers", "List, add, start, stop and test MCP servers."),
    "tools": ("tools", "List and call the tools of running servers."),
    "models": ("models", "List and test models."),
    "search": ("search", "Test the web search backends."),
    "conversations": ("conversations", "List, show, export, import, delete chats."),
    "turns": ("turns", "Show, approve, resolve and stop turns."),
    "permissions": ("permissions", "List, test, revoke what decides calls; try a rule."),
    "audit": ("audit", "List who confirmed, approved, denied and changed what."),
    "mcp": ("mcp", "Be an MCP server for desktop programs, on standard input and output."),
    "doctor": ("doctor", "Check the set-up and explain how to fix it."),
    "token": ("token", "Show the access token; make and revoke others."),
    "backup": ("backup", "Copy all data to one file."),
}

COMMANDS = {  # the command that does the same as a route, for hints
    "GET /conversations/{id}/messages": "conversations show ID --json",
    "GET /conversations/{id}/tools": "api GET /conversations/ID/tools",
    "GET /conversations/{id}/context": "api GET /conversations/ID/context",
    "POST /conversations/import": "conversations import FILE",
    "GET /conversations": "conversations list",
    "GET /turns/{id}": "turns show ID",
    "POST /servers/{id}/start": "servers start NAME",
    "POST /servers/{id}/login": "servers login NAME",
    "POST /servers/{id}/confirm": "servers confirm NAME",
    "GET /servers/{id}/tools": "tools list NAME",
    "GET /servers/{id}/resources": "servers resources NAME",
    "GET /servers": "servers list",
    "GET /permissions": "permissions list",
    "GET /audit": "audit",
    "GET /gallery": "servers find",
    "GET /servers/found": "servers found",
    "PATCH /servers/{id}": "servers confirm",
    "GET /policy": "api GET /policy",
    "GET /limits": "api GET /limits",
    "PATCH /limits": "api PATCH /limits",
    "GET /providers": "models list",
    "GET /personas": "api GET /personas",
    "GET /v1/models": "models list",
}

DEBUG_HINT = "Run `windlass --debug` with the same command and report the traceback."


def run(argv: list[str], *, own_process: bool = False) -> int:
    """Gives the exit code. Only an internal error shows a traceback, and only with --debug. `own_process` says that the
    process is this program's and no other's."""
    asked = os.environ.get("COMP_WORDS", "").split() if "_WINDLASS_COMPLETE" in os.environ else argv
    try:
        build(asked)(argv, prog_name="windlass", obj=Options(own_process=own_process))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except WindlassError as error:
        return _report(error)
    except KeyboardInterrupt:
        return LEFT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
        return FAILED
    except Exception as error:  # the program's root: one line for users, a traceback with --debug
        if "--debug" in argv:
            traceback.print_exc()
        sys.stderr.write(f"error: Internal error in Windlass: {type(error).__name__}: {error}\nhint: {DEBUG_HINT}\n")
        return FAILED
    return 0


def build(asked: list[str]) -> typer.Typer:
    """All verbs by name; only those in `asked` are loaded, the others have just their line of help."""
    app = typer.Typer(
        help="Run tool-calling turns between language models and MCP servers, without losing work.",
        rich_markup_mode=None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, (module, summary) in VERBS.items():
        if name not in asked:
            app.command(name, help=summary)(_not_loaded)
            continue
        found = getattr(import_module(f"windlass.cli.{module}"), name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name, help=summary)
        else:
            app.command(name, short_help=summary)(found)
    return app


def _not_loaded() -> None:
    """Stands for a verb whose module is not loaded."""


def _root(
    ctx: typer.Context,
    url: Annotated[str, typer.Option(help="A running server to talk to.", envvar="WINDLASS_URL")] = "",
    config: Annotated[Path | None, typer.Option(help="Settings to read instead of the data folder's.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and debug log lines.")] = False,
    version: Annotated[bool, typer.Option("--version", "-V", help="Show the version.")] = False,
) -> None:
    if version:
        typer.echo(f"windlass {VERSION}")
        raise typer.Exit
    ctx.obj = Options(url, config, debug, options_of(ctx).own_process)


def _report(error: WindlassError) -> int:
    from windlass.telemetry.logs import one_line

    sys.stderr.write(f"error: {one_line(error.message)}\n")
    if error.hint:
        sys.stderr.write(f"hint: {one_line(_in_commands(error.hint))}\n")
    return FAILED


def _in_commands(hint: str) -> str:
    """A hint of the HTTP API, with commands instead of routes."""
    routes = "|".join(re.escape(route) for route in sorted(COMMANDS, key=len, reverse=True))
    return re.sub(routes, lambda found: f"`windlass {COMMANDS[found[0]]}`", hint)
