"""`windlass doctor`: checks the set-up and explains how to fix each problem."""

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
import typer

from windlass.api import routes
from windlass.cli.checks import CheckResult, folder_findings, live_findings, settings_findings
from windlass.cli.isolation_checks import isolation_findings
from windlass.cli.live import check_live
from windlass.cli.options import FAILED, Options, options_of
from windlass.cli.output import as_json, note
from windlass.cli.session import opened
from windlass.config import Config, load
from windlass.core.errors import WindlassError

MARKS = {"ok": ("✓", ""), "note": ("·", "dim"), "warn": ("!", "yellow"), "bad": ("✗", "red")}


def doctor(
    ctx: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask models or start servers.")] = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Try the default provider's account with at most 12 small requests, and no more."),
    ] = False,
) -> None:
    """Check the set-up and explain how to fix each problem. Exit code 1 when there is one."""
    if live:
        check_live(ctx, json)
    found: list[CheckResult] = []
    for finding in _findings(ctx, offline):
        found.append(finding)
        if not json:
            _print(finding)
    if json:
        as_json(found)
    bad = sum(finding.level == "bad" for finding in found)
    if not json:
        note(f"Problems to fix: {bad}." if bad else "Nothing to fix.", "bold")
    raise typer.Exit(FAILED if bad else 0)


def _findings(ctx: typer.Context, offline: bool) -> Iterator[CheckResult]:
    options = options_of(ctx)
    config = _config(options)
    if isinstance(config, CheckResult):
        yield config
        return
    yield CheckResult("settings", "ok", "The settings can be read.")
    here = list(folder_findings(config))
    yield from here
    yield from settings_findings(config, offline)
    if offline or any(finding.level == "bad" for finding in here):
        yield _limits(msgspec.to_builtins(config.limits))
        return
    try:
        with opened(ctx) as session:
            in_force = session.run(session.w.transport.call(routes.system.limits)).limits
            yield _limits({limit.name: limit.value for limit in in_force})
            yield from live_findings(session)
            yield from isolation_findings(session.run(session.w.servers.list()))
    except WindlassError as error:
        yield CheckResult("opening", "bad", error.message, error.hint)


def _config(options: Options) -> Config | CheckResult:
    try:
        return load(config=options.config)
    except WindlassError as error:
        return CheckResult(
            "settings", "bad", error.message, error.hint or "Correct it, then run `windlass doctor` again."
        )


def _limits(limits: Mapping[str, float | None]) -> CheckResult:
    shown = (f"{name} {'none' if value is None else format(value, '.12g')}" for name, value in limits.items())
    return CheckResult("limits", "note", ", ".join(shown))


def _print(finding: CheckResult) -> None:
    mark, style = MARKS[finding.level]
    note(f"{mark} {finding.about}: {finding.message}", style)
    if finding.fix:
        note(f"    {finding.fix}", "")
