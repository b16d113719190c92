"""What an entry of the audit says about a request: names, and which fields were given. Values are left out, but for a
few that say what was decided: others may be secrets, arguments of tools or people's texts."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import NODEFAULT, UNSET

from windlass.api import schemas
from windlass.api.route import Route
from windlass.core.actor import current_actor
from windlass.store import AuditRow

MOST_CHARACTERS = 500
WITH_VALUES = frozenset(
    {
        *("name", "slug", "transport", "trusted", "approval", "sandbox", "default", "server_id", "tool_name"),
        *("scope", "scopes", "covers", "expires_at", "as", "action", "kind"),
    }
)
WITH_NAMES = frozenset({"limits"})  # mappings whose names say what was changed; their values are left out
ELSEWHERE = ("decision", "rules", "hash")  # which the entry says in other ways, or which say nothing


def entry_of(route: Route[..., Any], arguments: Sequence[Any], answer: object, name: str) -> AuditRow | None:
    """None where nothing came of the request, or nothing that decides calls was changed."""
    kind, _, action = route.audit.partition(".")
    request = arguments[-1] if arguments and isinstance(arguments[-1], msgspec.Struct) else None
    if isinstance(request, schemas.Decision):
        action = request.decision
    if isinstance(answer, schemas.TurnAnswer) and answer.message.endswith("already"):
        return None
    if isinstance(request, schemas.EnableTool) and request.approval is UNSET:
        return None
    ids = [argument for argument in arguments if isinstance(argument, str)]
    target = _target(answer) or (name if kind in ("server", "tool") else "") or (ids[-1] if ids else "")
    parts = [*_about(answer, ids, "" if name == target else name), *(_fields(request) if request else ())]
    return AuditRow(
        time.time(), current_actor(), kind, action, target[:MOST_CHARACTERS], ", ".join(parts)[:MOST_CHARACTERS]
    )


def _target(answer: object) -> str:
    match answer:
        case schemas.ServerAnswer(server=server):
            return server.slug
        case schemas.ProviderAnswer(provider=provider):
            return provider.id
        case schemas.PersonaAnswer(persona=persona):
            return persona.id
        case schemas.TokenMade(token=token):
            return token.id
        case _:
            return ""


def _about(answer: object, ids: list[str], name: str) -> Iterator[str]:
    match answer:
        case schemas.TurnAnswer(turn=turn):
            is_child = turn.id != ids[0]  # a call that is run again has a new turn, which begins with it
            yield from (f"{call.server_slug}.{call.name}" for call in turn.calls if is_child or call.id == ids[-1])
            if isinstance(answer.permission_id, str):
                yield answer.permission_id
        case schemas.ServerTools():
            yield ids[-1]
        case schemas.PolicyAnswer(rules=rules):
            yield "; ".join([f"{len(rules)} rules", *(f"{one.decides} {one.server}.{one.tool}" for one in rules)])
        case schemas.ImportedServers(servers=servers):
            yield " ".join(server.slug for server in servers)
        case _ if name:
            yield name
        case _:
            return


def _fields(request: msgspec.Struct) -> Iterator[str]:
    for field in msgspec.structs.fields(request):
        value, name = getattr(request, field.name), field.encode_name
        if name in ELSEWHERE or value is UNSET or value == _default(field):
            continue
        yield f"{name}={_text(value)}" if name in WITH_VALUES | WITH_NAMES else name


def _default(field: msgspec.structs.FieldInfo) -> object:
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


def _text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | dict) else str(value)
