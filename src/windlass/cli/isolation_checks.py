"""What `windlass doctor` says about the isolation of servers: the level that holds, and how to make it better."""

from collections.abc import Iterator, Sequence

from windlass.api import schemas
from windlass.cli.checks import CheckResult

BUBBLEWRAP = "Install bubblewrap (bwrap), or allow it user namespaces; docs/isolation.md says how."
NEWER_KERNEL = "Run Linux 6.12 or later, which closes abstract sockets."
TURN_ON = 'Set sandbox = "default" for it, unless you trust the program with everything you have.'


def isolation_findings(servers: Sequence[schemas.Server]) -> Iterator[CheckResult]:
    local = [(server, server.isolation) for server in servers if server.isolation]
    if local:
        yield _machine([isolation for _, isolation in local])
    for server, isolation in local:
        yield from _server(server, isolation)


def _machine(found: Sequence[schemas.ServerIsolation]) -> CheckResult:
    """What works on this machine, as the servers that want isolation show it."""
    wanted = [one for one in found if one.wanted != "off" and not one.why.startswith("none (Docker)")]
    if not wanted:
        return CheckResult("isolation", "warn", "No server is isolated.", TURN_ON)
    one = next((one for one in wanted if one.why and one.wanted == "default"), wanted[0])
    match one.level:
        case "bwrap" if one.why and one.wanted == "default":
            return CheckResult("isolation", "note", f"Servers run in bubblewrap; {one.why}.", NEWER_KERNEL)
        case "bwrap":
            return CheckResult("isolation", "ok", "Servers run in bubblewrap.")
        case "landlock":
            return CheckResult("isolation", "warn", f"Servers are isolated by Landlock alone: {one.why}.", BUBBLEWRAP)
        case "none":
            return CheckResult("isolation", "warn", f"Servers are not isolated: {one.why}.", BUBBLEWRAP)


def _server(server: schemas.Server, isolation: schemas.ServerIsolation) -> Iterator[CheckResult]:
    about = f"server {server.slug}"
    if isolation.wanted == "off":
        yield CheckResult(about, "warn", f"Its isolation is {isolation.why}.", TURN_ON)
    elif isolation.why.startswith("none (Docker)"):
        yield CheckResult(about, "note", f"Isolation: {isolation.why}.")
    for refused in isolation.refused:
        lines = refused.line.replace("\n", " ... ")
        yield CheckResult(about, "note", f"Isolation refused it to {refused.access} {refused.path}.", f"Allow: {lines}")
