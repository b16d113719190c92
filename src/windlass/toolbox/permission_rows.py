"""The rules and grants that people saved, and when each permission last decided a call."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from windlass.core.ids import new_id
from windlass.core.values import value_object
from windlass.store import Documents, Store
from windlass.toolbox.permissions import Grant, PolicyRule

WRITE_EVERY_S = 60.0  # a use is remembered at once and written down this often, or at the end
MOST_USES = 10_000


@value_object
class PolicyRules:
    rules: tuple[PolicyRule, ...] = ()


@value_object
class SavedGrant:
    """`conversation_id` is empty where it holds in all of them."""

    conversation_id: str
    grant: Grant


@value_object
class GrantKept:
    id: str
    is_new: bool


@value_object
class PermissionUses:
    """When each permission was last used, by its id."""

    at: Mapping[str, float]


class PermissionRows:
    """`changed` is called after each change: whatever was computed from these rows is out of date then."""

    def __init__(self, store: Store, operator_rules: Sequence[PolicyRule], changed: Callable[[], None]) -> None:
        self.operator_rules = _numbered(operator_rules)
        self._changed = changed
        self._grants: Documents[Grant] = store.documents("grant", Grant)
        self._policy: Documents[PolicyRules] = store.documents("policy", PolicyRules)
        self._uses: Documents[PermissionUses] = store.documents("permission_uses", PermissionUses)
        kept = self._uses.get("uses")
        self._used = dict(kept.at) if kept else {}
        self._written_at = time.monotonic()
        self._unwritten = False

    def rules(self) -> tuple[PolicyRule, ...]:
        """Those of the page, in their order. Rules of the first edition have no id and get one from their content."""
        saved = self._policy.get("policy") or PolicyRules()
        return tuple(_with_ids(saved.rules))

    def set_operator_rules(self, rules: Sequence[PolicyRule]) -> None:
        """The operator's file was read again."""
        self.operator_rules = _numbered(rules)
        self._changed()

    async def set_rules(self, rules: Sequence[PolicyRule]) -> None:
        await self._policy.put("policy", PolicyRules(tuple(rules)))
        self._changed()

    def grants(self, conversation_id: str) -> list[Grant]:
        """Those that hold in a conversation."""
        return [saved.grant for parent in dict.fromkeys((conversation_id, "")) for saved in self.saved_grants(parent)]

    def saved_grants(self, conversation_id: str | None = None) -> list[SavedGrant]:
        """All, or those of one conversation; "" for those that hold in every one."""
        return [
            SavedGrant(kept.parent, replace(kept.row, id=kept.id, at=kept.row.at or kept.at))
            for kept in self._grants.kept(conversation_id)
        ]

    async def grant(self, conversation_id: str, grant: Grant) -> "GrantKept":
        """The same approval given twice is one grant."""
        parent = conversation_id if grant.scope == "conversation" else ""
        for saved in self.saved_grants(parent):
            if _content(saved.grant) == _content(grant):
                return GrantKept(saved.grant.id, False)
        id = new_id("grant")
        await self._grants.put(id, replace(grant, id=id), parent=parent)
        self._changed()
        return GrantKept(id, True)

    async def revoke(self, id: str) -> bool:
        """A grant or a rule of the page, from now on, also for turns that run. False when there is none."""
        rules = self.rules()
        if any(rule.id == id for rule in rules):
            await self.set_rules([rule for rule in rules if rule.id != id])
            return True
        revoked = await self._grants.delete(id)
        self._changed()
        return revoked

    def used(self, id: str) -> None:
        """Called for each call that a permission decides, so it only remembers, most of the time."""
        self._used[id] = time.time()
        self._unwritten = True
        if time.monotonic() - self._written_at >= WRITE_EVERY_S:
            self._write().add_done_callback(lambda written: written.exception())  # the next one may succeed

    def last_used(self, id: str) -> float:
        """0 for never."""
        return self._used.get(id, 0.0)

    async def flush(self) -> None:
        if self._unwritten:
            await self._write()

    def _write(self) -> "asyncio.Future[None]":
        self._written_at, self._unwritten = time.monotonic(), False
        newest = sorted(self._used.items(), key=lambda used: used[1])[-MOST_USES:]
        self._used = dict(newest)
        return self._uses.put("uses", PermissionUses(self._used))


def same_rule(one: PolicyRule, other: PolicyRule) -> bool:
    """Whether they decide the same, whoever wrote them."""
    return _content(one) == _content(other)


def _numbered(rules: Sequence[PolicyRule]) -> tuple[PolicyRule, ...]:
    return tuple(replace(rule, id=f"file:{number}") for number, rule in enumerate(rules, 1))


def _content(permission: PolicyRule | Grant) -> PolicyRule | Grant:
    return replace(permission, id="", by="", at=0)


def _with_ids(rules: Iterable[PolicyRule]) -> Iterable[PolicyRule]:
    taken: set[str] = set()
    for rule in rules:
        id = rule.id or f"rule-{hashlib.sha256(msgspec.json.encode(_content(rule))).hexdigest()[:16]}"
        while id in taken:
            id += "x"
        taken.add(id)
        yield rule if rule.id == id else replace(rule, id=id)
