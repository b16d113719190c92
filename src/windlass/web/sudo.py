"""What a browser must confirm again before it happens, unless somebody confirmed within the last ten minutes. Routes
say `sudo="always"` in the table; those that depend on what is asked for are looked at here."""

import math
import time
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import UNSET

from windlass.api import routes, schemas
from windlass.api.route import Route
from windlass.services import Services
from windlass.web.errors import Forbidden
from windlass.web.principal import Principal, check_scope

Asks = Callable[..., Awaitable[bool]]
_DELETIONS = (routes.conversations.delete, routes.messages.delete)
_STRICTNESS = {"auto": 0, None: 1, "ask": 2, "deny": 3}


class Sudo:
    def __init__(self, services: Services) -> None:
        self._services = services
        self.depends: dict[Route[..., Any], Asks] = {
            routes.conversations.delete: self._is_of_a_program,
            routes.messages.delete: self._is_of_a_program,
            routes.turns.decide: self._grants_a_server,
            routes.servers.add: self._adds_trust,
            routes.servers.change: self._changes_server,
            routes.providers.change: self._changes_provider,
            routes.servers.correct_kind: self._takes_for_reader,
            routes.policy.put: self._widens_policy,
            routes.permissions.delete: self._loosens,
            routes.permissions.restore: self._restores_more_than_a_card,
            routes.system.change_limits: self._deletes_or_spends_more,
        }

    async def check(self, route: Route[..., Any], principal: Principal, arguments: list[Any]) -> None:
        """A token in the request is its own confirmation; a session is confirmed apart from the page it belongs to."""
        if route is routes.permissions.delete and await self._loosens(*arguments):
            check_scope(principal, "admin")  # to approve is to take grants back, and no rule that asks or denies
        if route is routes.permissions.restore and self._restores_a_rule(*arguments):
            check_scope(principal, "admin")  # whoever may not write a rule may not bring one back
        if route in _DELETIONS and await self._is_of_a_program(*arguments):
            check_scope(principal, "admin")  # what may have happened goes too, and the program's next try would not ask
        if not principal.is_session or principal.confirmed_until > time.time():
            return
        if route.sudo == "depends" and not await self.depends[route](*arguments):
            return
        raise Forbidden(
            "This needs a fresh confirmation.",
            code="confirm_required",
            hint="Enter the token, the digits that `windlass serve` printed, or open a link of `windlass token --url`: "
            "POST /session/confirm.",
        )

    async def _is_of_a_program(self, conversation_id: str, message_id: str = "") -> bool:
        return bool((await self._services.conversations.get(conversation_id)).conversation.client)

    async def _adds_trust(self, new: schemas.NewServer) -> bool:
        return new.trusted or new.approval == "auto"

    async def _changes_server(self, server: str, change: schemas.ServerChange) -> bool:
        """Rules name a server by its slug; trust, grants and secrets go with it to another address."""
        now = (await self._services.servers.get(server)).server
        renamed = change.slug not in (UNSET, now.slug)
        moved = change.url not in (UNSET, now.url) or change.transport not in (UNSET, now.transport)
        moved = moved or (change.values is not UNSET and any("url" in one.where for one in now.missing))
        trusts = change.trusted is True and not now.trusted
        loosens = change.approval is not UNSET and _STRICTNESS[change.approval] < _STRICTNESS[now.approval]
        return renamed or trusts or loosens or (moved and await self._holds_something(now))

    async def _holds_something(self, server: schemas.Server) -> bool:
        listed = await self._services.permissions.all(schemas.PermissionQuery(server=server.id))
        granted = any(one.kind == "grant" for one in listed.permissions)
        granted = granted or self._services.permissions.can_restore_grants_of(server.id)
        return bool(server.header_names) or server.trusted or server.approval == "auto" or granted

    async def _grants_a_server(self, turn_id: str, call_id: str, decision: schemas.Decision) -> bool:
        """For always; in one chat it is what a card offers."""
        return decision.scope == "always" and decision.covers == "server"

    async def _restores_more_than_a_card(self, permission_id: str) -> bool:
        """As for what is restored: a grant of a whole server for always, or a rule that allows or asks, since one that
        asks may come before one that denies."""
        found = self._services.permissions.revoked(permission_id)
        if found is None:
            return False
        if found.kind == "rule":
            return found.effect != "deny"
        return found.scope == "always" and found.covers == "server"

    def _restores_a_rule(self, permission_id: str) -> bool:
        found = self._services.permissions.revoked(permission_id)
        return found is not None and found.kind == "rule"

    async def _takes_for_reader(self, server: str, tool: str, change: schemas.ToolKind) -> bool:
        """A tool that counts as one that reads runs unasked."""
        return change.kind in ("reads", None)

    async def _changes_provider(self, provider_id: str, change: schemas.ProviderChange) -> bool:
        now = (await self._services.providers.get(provider_id)).provider
        return change.base_url not in (UNSET, now.base_url) and now.has_key

    async def _widens_policy(self, policy: schemas.Policy) -> bool:
        """Unless rules that ask or deny are only added, and rules that allow are only taken away."""
        now = [_what_it_does(rule) for rule in (await self._services.policy.get()).rules]
        then = [_what_it_does(rule) for rule in policy.rules]
        allows_more = any(rule[0] == "auto" for rule in then if rule not in now)
        asks_less = any(rule[0] != "auto" for rule in now if rule not in then)
        last_deny = max((n for n, rule in enumerate(then) if rule[0] == "deny" and rule in now), default=-1)
        asks_before_deny = any(rule[0] != "deny" and rule not in now for rule in then[: last_deny + 1])
        return (
            allows_more
            or asks_less
            or asks_before_deny
            or [one for one in then if one in now] != [one for one in now if one in then]
        )

    async def _loosens(self, permission_id: str) -> bool:
        found = self._services.permissions.find(permission_id)
        return found is not None and found.effect in {"ask", "deny"}

    async def _deletes_or_spends_more(self, change: schemas.LimitChange) -> bool:
        """Chats that are kept for less time are deleted for good, and tokens cost money. Without a number chats are
        kept for ever, and tokens have no bound."""
        now = {one.name: _or_endless(one.value) for one in (await self._services.limits.all()).limits}
        then = {name: _or_endless(value) for name, value in change.limits.items() if name in now}
        deletes = then.get("keep_days", math.inf) < now["keep_days"]
        return deletes or any(then.get(name, 0) > now[name] for name in ("turn_tokens", "day_tokens"))


def _or_endless(value: float | None) -> float:
    return math.inf if value is None else value


def _what_it_does(rule: schemas.Rule) -> tuple[object, ...]:
    """Without its id, its name and who set it."""
    return rule.decides, rule.server, rule.tool, rule.arguments, rule.hint, rule.other_arguments, rule.expires_at
