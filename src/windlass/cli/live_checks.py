"""What only shows when it is tried: keys, endpoints, models, servers."""

import time
from collections.abc import Iterator

from windlass.api import schemas
from windlass.cli.checks import CheckResult
from windlass.cli.session import Connected
from windlass.core.errors import WindlassError

START_S = 30.0


def live_findings(session: Connected) -> Iterator[CheckResult]:
    for provider in session.run(session.w.providers.list()):
        yield _provider(session, provider)
    for server in session.run(session.w.servers.list()):
        yield _server(session, server)


def _provider(session: Connected, provider: schemas.Provider) -> CheckResult:
    about = f"model {provider.name}"
    if provider.demo:
        return CheckResult(about, "note", "The demo model answers; it is no language model.")
    try:
        tested = session.run(session.w.providers.test(provider.id))
    except WindlassError as error:
        return CheckResult(about, "bad", error.message, error.hint)
    if not tested.ok:
        return CheckResult(about, "bad", tested.message, tested.hint or "Check its address, key and model.")
    return CheckResult(about, "ok", f"{tested.model} works ({tested.took_ms} ms).")


def _server(session: Connected, server: schemas.Server) -> CheckResult:
    about = f"server {server.slug}"
    ends = time.monotonic() + START_S
    while server.status == "starting" and time.monotonic() < ends:
        time.sleep(0.05)
        server = session.run(session.w.servers.get(server.id))
    match server.status:
        case "running":
            return CheckResult(about, "ok", f"It runs and offers {server.tool_count} tools.")
        case "draft" if server.transport != "stdio":
            return CheckResult(
                about, "warn", "It was imported and never started.", f"windlass servers start {server.slug}"
            )
        case "draft":
            return CheckResult(
                about, "warn", "Its command is not confirmed.", f"windlass servers confirm {server.slug}"
            )
        case "stopped" | "configured":
            return CheckResult(about, "note", "It is stopped.", f"windlass servers start {server.slug}")
        case _:
            said = session.run(session.w.servers.log(server.id))
            last = f" It said: {said[-1]}" if said else ""
            told = f"{server.error or 'It does not start.'}{last}"
            return CheckResult(about, "bad", told, f"windlass servers log {server.slug} shows more.")
