"""What the API says and keeps about the isolation of a server."""

from dataclasses import replace
from pathlib import Path

from windlass.api import schemas
from windlass.servers import IsolationStatus, Refusal, SandboxRules, ServerConfig, line_that_allows, opened

_ORDER = ("off", "default", "strict")


def rules_of(inside: schemas.Inside, server_id: str, home: Path) -> SandboxRules:
    return SandboxRules(
        tuple(inside.read),
        tuple(inside.write),
        inside.network,
        str(home / "sandboxes" / server_id) if inside.keep_home else "",
        inside.memory_mib,
        inside.processes,
    )


def shown_inside(rules: SandboxRules) -> schemas.ShownInside:
    return schemas.ShownInside(
        list(rules.read), list(rules.write), rules.network, bool(rules.home), rules.memory_mib, rules.processes
    )


def shown_isolation(config: ServerConfig, status: IsolationStatus) -> schemas.ServerIsolation | None:
    if config.transport != "stdio":
        return None
    refused = [_refused(config, refusal) for refusal in status.refused]
    return schemas.ServerIsolation(status.wanted, status.level, status.why, refused)


def loosens(before: ServerConfig, after: ServerConfig) -> bool:
    """Whether a person has to look again: it would reach more than what was confirmed."""
    lower = _ORDER.index(after.wanted_sandbox) < _ORDER.index(before.wanted_sandbox)
    return lower or after.sandbox_rules != before.sandbox_rules


def as_second_edition(config: ServerConfig) -> ServerConfig:
    """Every row of the first edition says "off", chosen or not, because that was the default: it now means the default
    of today. `bwrap` is strict."""
    return replace(config, sandbox="default" if config.wanted_sandbox == "off" else config.wanted_sandbox)


def _refused(config: ServerConfig, refusal: Refusal) -> schemas.RefusedPath:
    rules = config.sandbox_rules
    line = line_that_allows(config.slug, rules, refusal)
    return schemas.RefusedPath(refusal.path, refusal.access, line, shown_inside(opened(rules, refusal)))
