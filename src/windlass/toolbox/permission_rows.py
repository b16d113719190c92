"""The rules and grants that people saved, and when and how often each permission decided a call."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

import msgspec

from windlass.core.errors import NotFound
from windlass.core.events import Verdict
from windlass.core.ids import new_id
from windlass.core.values import value_object
from windlass.store import Documents, Store
from windlass.toolbox.permissions import Grant, PolicyRule

WRITE_EVERY_S = 60.0  # a use is remembered at once and written down this often, or at the end
MOST_USES = 10_000
MOST_REVOKED = 200  # that can be restored


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
class UseCounts:
    """How many calls a permission let run, made ask and refused."""

    allowed: int = 0
    asked: int = 0
    stopped: int = 0


NEVER = UseCounts()
_COUNTED: dict[Verdict, Literal["allowed", "asked", "stopped"]] = {
    "auto": "allowed",
    "ask": "asked",
    "refuse": "stopped",
}


@value_object
class PermissionUses:
    """When each permission was last used, by its id, and how often."""

    at: Mapping[str, float]
    counts: Mapping[str, UseCounts] = field(default_factory=dict)


@value_object
class RevokedRule:
    rule: PolicyRule
    order: tuple[str, ...]  # ids of the rules around it, those that were revoked before it included


class PermissionRows:
    """`changed` is called after each change: whatever was computed from these rows is out of date then."""

    def __init__(self, store: Store, operator_rules: Sequence[PolicyRule], changed: Callable[[], None]) -> None:
        self.operator_rules = _numbered(operator_rules)
        self._changed = changed
        self._conversations = store.conversations
        self._grants: Documents[Grant] = store.documents("grant", Grant)
        self._policy: Documents[PolicyRules] = store.documents("policy", PolicyRules)
        self._uses: Documents[PermissionUses] = store.documents("permission_uses", PermissionUses)
        kept = self._uses.get("uses")
        self._used = dict(kept.at) if kept else {}
        self._counts = dict(kept.counts) if kept else {}
        self._revoked: dict[str, SavedGrant | RevokedRule] = {}
        self._order: tuple[str, ...] = ()
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

    async def revoke(self, id: str, *, remember: bool = True) -> bool:
        """A grant or a rule of the page, from now on, also for turns that run. False when there is none. What is not
        remembered cannot be restored."""
        rules = self.rules()
        for rule in rules:
            if rule.id == id:
                await self.set_rules([one for one in rules if one.id != id])
                self._order = _with_revoked(self._order, [one.id for one in rules])
                self._remember(id, RevokedRule(rule, self._order))
                return True
        saved = next((one for one in self.saved_grants() if one.grant.id == id), None)
        revoked = await self._grants.delete(id)
        if saved and revoked and remember:
            self._remember(id, saved)
        self._changed()
        return revoked

    def revoked(self, id: str) -> SavedGrant | RevokedRule | None:
        """What was revoked since this start and can be restored."""
        return self._revoked.get(id)

    def revoked_grants(self) -> list[SavedGrant]:
        return [one for one in self._revoked.values() if isinstance(one, SavedGrant)]

    async def restore(self, id: str) -> bool:
        """Exactly what was revoked, under the same id. False when there is nothing to restore, or its chat is gone.
        It is forgotten once it is written: a write that fails can be tried again."""
        match self._revoked.get(id):
            case RevokedRule(rule=rule, order=order):
                others = [one for one in self.rules() if one.id != id]  # another request may just have restored it
                await self.set_rules(_inserted(rule, others, order))
            case SavedGrant(conversation_id=chat, grant=grant) if not chat or self._is_there(chat):
                await self._grants.put(id, grant, parent=chat)
                self._changed()
            case _:
                return False
        self._revoked.pop(id, None)
        return True

    def _is_there(self, conversation_id: str) -> bool:
        try:
            self._conversations.get(conversation_id)
        except NotFound:
            return False
        return True

    def _remember(self, id: str, revoked: "SavedGrant | RevokedRule") -> None:
        """In memory alone: after a restart it is gone for good, which errs on the strict side."""
        self._revoked[id] = revoked
        while len(self._revoked) > MOST_REVOKED:
            del self._revoked[next(iter(self._revoked))]

    def used(self, id: str, verdict: Verdict) -> None:
        """Called for each call that a permission decides, so it only remembers, most of the time."""
        self._used[id] = time.time()
        counts, name = self.counts(id), _COUNTED[verdict]
        self._counts[id] = replace(counts, **{name: getattr(counts, name) + 1})
        self._unwritten = True
        if time.monotonic() - self._written_at >= WRITE_EVERY_S:
            self._write().add_done_callback(lambda written: written.exception())  # the next one may succeed

    def last_used(self, id: str) -> float:
        """0 for never."""
        return self._used.get(id, 0.0)

    def counts(self, id: str) -> UseCounts:
        return self._counts.get(id, NEVER)

    async def flush(self) -> None:
        if self._unwritten:
            await self._write()

    def _write(self) -> "asyncio.Future[None]":
        self._written_at, self._unwritten = time.monotonic(), False
        newest = sorted(self._used.items(), key=lambda used: used[1])[-MOST_USES:]
        self._used = dict(newest)
        self._counts = {id: counts for id, counts in self._counts.items() if id in self._used}
        return self._uses.put("uses", PermissionUses(self._used, self._counts))


def same_rule(one: PolicyRule, other: PolicyRule) -> bool:
    """Whether they decide the same, whoever wrote them."""
    return _content(one) == _content(other)


def _with_revoked(known: tuple[str, ...], now: Sequence[str]) -> tuple[str, ...]:
    """The order that was known, as long as it still holds for the rules there are."""
    return known if [id for id in known if id in now] == list(now) else tuple(now)


def _inserted(rule: PolicyRule, rules: Sequence[PolicyRule], order: tuple[str, ...]) -> list[PolicyRule]:
    """Between the same neighbours. Where the rules have been put in another order since, on the strict side: what
    denies comes first, what asks behind all that denies, what allows last."""
    if [id for id in order if any(one.id == id for one in rules)] == [one.id for one in rules]:
        return sorted((*rules, rule), key=lambda one: order.index(one.id))
    denies = [at for at, one in enumerate(rules, 1) if one.choice == "deny"]
    position = {"deny": 0, "ask": max(denies, default=0)}.get(rule.choice, len(rules))
    return [*rules[:position], rule, *rules[position:]]


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
