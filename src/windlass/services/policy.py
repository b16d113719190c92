"""The rules over calls: read and replaced as a whole, in the order in which they are tried."""

import hashlib
import time
from dataclasses import replace

import msgspec
from msgspec import UNSET

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.core.actor import current_actor
from windlass.core.errors import Conflict
from windlass.core.ids import new_id
from windlass.services.keyed_lock import KeyedLock
from windlass.services.timestamps import seconds
from windlass.toolbox import Toolbox
from windlass.toolbox.permission_rows import same_rule
from windlass.toolbox.permissions import PolicyRule
from windlass.turns.views import iso


class Policies:
    """The operator's own rules come first and are changed in their file only."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._rows = toolbox.permissions
        self._changes = KeyedLock()

    @serves(routes.policy.get)
    async def get(self) -> schemas.PolicyAnswer:
        saved = self._rows.rules()
        operator = [rule_shown(rule) for rule in self._rows.operator_rules]
        return schemas.PolicyAnswer([rule_shown(rule) for rule in saved], len(saved), operator, _version(saved))

    @serves(routes.policy.put)
    async def put(self, policy: schemas.Policy) -> schemas.PolicyAnswer:
        async with self._changes.hold("policy"):
            saved = self._rows.rules()
            if isinstance(policy.version, str) and policy.version != _version(saved):
                raise Conflict(
                    "The rules have changed since you read them.",
                    hint="GET /policy gives them as they are. Make your change there and send it with that version.",
                    code="policy_changed",
                    detail={"version": _version(saved)},
                )
            await self._rows.set_rules(_merged(saved, [rule_of(rule) for rule in policy.rules]))
        return await self.get()


def rule_of(rule: schemas.Rule) -> PolicyRule:
    return PolicyRule(
        rule.decides,
        rule.server,
        rule.tool,
        rule.hint,
        rule.arguments or None,
        rule.name,
        id=rule.id or "",
        other_arguments=rule.other_arguments,
        expires_at=seconds(rule.expires_at, "expires_at") if rule.expires_at else 0,
    )


def rule_shown(rule: PolicyRule) -> schemas.Rule:
    return schemas.Rule(
        rule.choice,
        rule.server,
        rule.tool,
        dict(rule.arguments or {}),
        rule.hint,
        rule.name,
        id=rule.id,
        by=rule.by or UNSET,
        at=iso(rule.at) if rule.at else UNSET,
        other_arguments=rule.other_arguments,
        expires_at=iso(rule.expires_at) if rule.expires_at else UNSET,
    )


def _merged(saved: tuple[PolicyRule, ...], wanted: list[PolicyRule]) -> list[PolicyRule]:
    """A rule that stays as it was keeps its id and its author, whether the caller sent the id along or not. Who sends
    `by` and `at` is not believed."""
    left = list(saved)
    made: list[PolicyRule] = []
    for rule in wanted:
        before = next((one for one in left if same_rule(one, rule) and rule.id in ("", one.id)), None)
        if before is None:
            known = next((one for one in left if rule.id and one.id == rule.id), None)
            id = known.id if known else new_id("rule")
            made.append(replace(rule, id=id, by=current_actor(), at=time.time()))
            before = known
        else:
            made.append(before)
        if before is not None:
            left.remove(before)
    return made


def _version(rules: tuple[PolicyRule, ...]) -> str:
    return hashlib.sha256(msgspec.json.encode(rules)).hexdigest()[:16]
