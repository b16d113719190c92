"""`windlass permissions`."""

from collections.abc import Iterable
from typing import Annotated, Literal

import typer

from windlass.api import schemas
from windlass.cli.output import as_json, line, note, out, table
from windlass.cli.session import opened
from windlass.cli.tools import arguments_given
from windlass.core.errors import BadInput

permissions = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Chat = Annotated[str, typer.Option("--conversation", "-c", help="As in this chat.")]
VERDICTS = {"auto": "runs", "ask": "asks first", "refuse": "is refused"}


@permissions.command("list")
def list_(
    ctx: typer.Context,
    server: Annotated[str, typer.Option(help="Only what may decide calls of this server.")] = "",
    tool: Annotated[str, typer.Option(help="Only what may decide calls of this tool.")] = "",
    conversation: Chat = "",
    json: Json = False,
) -> None:
    """List every rule, grant and setting that decides calls, in the order in which they are tried."""
    with opened(ctx) as session:
        found = session.run(session.w.permissions.list(server=server, tool=tool, conversation_id=conversation))
    if json:
        return as_json(found)
    rows = ((one.id, one.kind, one.effect, _what(one), _scope(one), _origin(one), _used(one)) for one in found)
    heads = ("id", "kind", "effect", "for", "scope", "set", "last used")
    table(heads, rows, "Nothing is set. Tools that read run; tools that change or send something ask first.")


@permissions.command()
def test(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="server.tool")],
    arguments: Annotated[list[str] | None, typer.Argument(help="key=value, or a JSON object.")] = None,
    conversation: Chat = "",
    json: Json = False,
) -> None:
    """Say what a call would do now, and why. Nothing is called."""
    server, name = _named(tool)
    with opened(ctx) as session:
        given = arguments_given(session, server, name, arguments or [])
        verdict = session.run(session.w.permissions.test(server, name, given, conversation_id=conversation))
    if json:
        return as_json(verdict)
    out.print(f"{line(tool)} {VERDICTS[verdict.verdict]}: {line(verdict.why, 1000)}")
    step = f"step {verdict.step}" if verdict.step else "before any setting"
    note(f"{step}; the tool {verdict.tool_class}" + (f"; {verdict.permission_id}" if verdict.permission_id else ""))
    if not verdict.enabled:
        note("The tool is not on there; it was judged as if it was enabled by name.")


@permissions.command()
def revoke(ctx: typer.Context, permission: Annotated[str, typer.Argument(help="The permission's id.")]) -> None:
    """Revoke a rule, a grant or a setting, also for turns that run."""
    with opened(ctx) as session:
        session.run(session.w.permissions.revoke(permission))
    note(f"Revoked {permission}.", "")


@permissions.command()
def replay(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="server.tool, * for any.")],
    approval: Annotated[Literal["auto", "ask", "deny"], typer.Argument(help="What the rule says.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Patterns over arguments: name=PATTERN.")] = None,
    last: Annotated[int, typer.Option(help="How many past calls to try it on.", min=1, max=1000)] = 200,
    json: Json = False,
) -> None:
    """Try a rule on past calls, without saving it."""
    server, name = _named(tool)
    rule = schemas.Rule(approval, server, name, dict(_patterns(arguments or [])))
    with opened(ctx) as session:
        found = session.run(session.w.permissions.replay(rule, last))
    if json:
        return as_json(found)
    out.print(f"Of the last {found.calls} calls this rule decides {found.matched}.")
    out.print(f"With it {found.would_run} run, {found.would_ask} ask first, {found.would_deny} are refused.")
    for one in found.examples:
        changed = "" if one.was == one.would else f" (it {_past(one.was)} then)"
        note(f"  {one.server}.{one.tool} {line(one.arguments, 120)}: {VERDICTS[one.would]}{changed}", "")


def _named(tool: str) -> tuple[str, str]:
    server, dot, name = tool.partition(".")
    if not dot or not server or not name:
        raise BadInput(f"{tool} is not server.tool.", hint="`windlass tools list` shows all names.")
    return server, name


def _patterns(given: list[str]) -> Iterable[tuple[str, str]]:
    for one in given:
        name, equals, pattern = one.partition("=")
        if not equals:
            raise BadInput(f"{one} is not name=PATTERN.", hint="Such as path=/docs/*.")
        yield name, pattern


def _past(verdict: str) -> str:
    return {"auto": "ran", "ask": "asked", "refuse": "was refused"}[verdict]


def _what(one: schemas.Permission) -> str:
    conditions = one.arguments if isinstance(one.arguments, dict) else {}
    exact = " with the same arguments" if one.covers == "arguments" else ""
    shown = "".join(f" {name}={pattern}" for name, pattern in conditions.items())
    return f"{one.server}.{one.tool or '?'}{shown}{exact}"


def _scope(one: schemas.Permission) -> str:
    until = f" until {one.expires_at[:16]}" if isinstance(one.expires_at, str) else ""
    return f"{one.conversation_id or one.scope}{until}"


def _origin(one: schemas.Permission) -> str:
    if one.source == "windlass.toml":
        return f"{one.source}, line {one.line}" if one.line else one.source
    return " ".join(filter(None, (one.by and f"by {one.by}", one.at and one.at[:16]))) or one.source


def _used(one: schemas.Permission) -> str:
    return one.last_used_at[:16] if one.last_used_at else "never"
