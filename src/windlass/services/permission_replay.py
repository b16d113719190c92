"""A rule or a grant tried on past calls: what each of them came to, and what it would come to. Nothing is called."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from windlass.api import schemas
from windlass.core.errors import NotFound
from windlass.core.events import CallJudged, Verdict
from windlass.core.values import value_object
from windlass.services.slices import sliced
from windlass.store import PastCall
from windlass.toolbox.permissions import Grant, PolicyRule, RuleBook, TrustLevel, decide, is_granted
from windlass.turns.views import iso

MOST_EXAMPLES = 10
LONGEST_VALUE = 60
LONGEST_ARGUMENTS = 200
CANDIDATE = "rule-tried"
_SECRET = re.compile(r"key|token|secret|passw|credential|auth|cookie|session", re.IGNORECASE)
Rejudge = Callable[[PastCall], CallJudged]


@value_object
class _Tried:
    past: PastCall
    would: Verdict
    decides: bool  # the rule itself, or the lack of the one it replaces

    @property
    def changes(self) -> bool:
        return self.would != self.past.judged.verdict

    @property
    def freed(self) -> bool:
        return self.changes and self.would == "auto"


def rules_with(rule: PolicyRule, operator: Sequence[PolicyRule], saved: Sequence[PolicyRule], at: int) -> RuleBook:
    """The rules as they would be with the candidate behind `at` of the saved ones."""
    return RuleBook((*operator, *saved[:at], replace(rule, id=CANDIDATE), *saved[at:]))


async def replayed(
    calls: Sequence[PastCall],
    rules: RuleBook,
    trust_in: Callable[[str], TrustLevel],
    replaces: str,
    rejudge: Rejudge,
) -> schemas.Replayed:
    """Calls that could not run at all are left out: no rule changes that. What neither the rule nor the one that it
    replaces decides stays as it was judged then."""
    tried = [
        _tried(past, rules, trust_in(past.spec.server), replaces, rejudge)
        async for past in sliced(calls)
        if _judged_by_settings(past)
    ]
    counts = Counter(one.would for one in tried)
    decided = sorted((one for one in tried if one.decides), key=lambda one: not one.changes)
    freed = [one for one in tried if one.freed]
    return schemas.Replayed(
        len(tried),
        len(decided),
        counts["auto"],
        counts["ask"],
        counts["refuse"],
        [_example(one.past, one.would, trust_in(one.past.spec.server).slug) for one in decided[:MOST_EXAMPLES]],
        stopped=sum(one.changes and one.would == "refuse" for one in tried),
        asked=sum(one.past.judged.verdict == "auto" and one.would == "ask" for one in tried),
        freed=len(freed),
        approved=sum(one.past.allowed is True for one in freed),
    )


def coverage(grant: Grant, calls: Sequence[PastCall], slug: str) -> schemas.GrantCoverage:
    """How many of a tool's past calls the grant covers, whatever they came to then."""
    looked_at = [past for past in calls if _judged_by_settings(past)]
    now = time.time()
    covered = [past for past in looked_at if is_granted(grant, past.call, past.spec, now)]
    examples = [_example(past, "auto", slug) for past in covered[:MOST_EXAMPLES]]
    return schemas.GrantCoverage(len(looked_at), len(covered), examples)


def _judged_by_settings(past: PastCall) -> bool:
    return past.judged.refusal in ("", "policy")


def _tried(past: PastCall, rules: RuleBook, trust: TrustLevel, replaces: str, rejudge: Rejudge) -> _Tried:
    judged = decide(past.call, past.spec, trust=trust, rules=rules)
    if judged.permission == CANDIDATE:
        return _Tried(past, judged.verdict, True)
    if replaces and past.judged.permission == replaces:
        with suppress(NotFound):  # its chat was deleted meanwhile
            anew = rejudge(past)
            if anew.refusal in ("", "policy"):  # else the tool itself is another by now, and nothing can be said
                return _Tried(past, anew.verdict, True)
    return _Tried(past, past.judged.verdict, False)


def _example(past: PastCall, would: Verdict, slug: str) -> schemas.ReplayedCall:
    decision: Literal["allowed", "denied", ""] = ""
    if past.allowed is not None:
        decision = "allowed" if past.allowed else "denied"
    return schemas.ReplayedCall(
        past.turn_id,
        past.call.id,
        iso(past.at),
        slug,
        past.spec.tool,
        _shown_arguments(past.call.arguments),
        past.judged.verdict,
        would,
        decision,
    )


def _shown_arguments(text: str) -> str:
    """Enough to recognise the call by. What is called a secret is not shown."""
    try:
        given = json.loads(text)
    except ValueError:
        given = {}
    shown = json.dumps(_without_secrets(given), ensure_ascii=False)
    return shown if len(shown) <= LONGEST_ARGUMENTS else shown[: LONGEST_ARGUMENTS - 1] + "…"


def _without_secrets(value: object) -> object:
    match value:
        case dict():
            return {name: "…" if _SECRET.search(name) else _without_secrets(one) for name, one in value.items()}
        case list():
            return [_without_secrets(one) for one in value[:10]]
        case str() if len(value) > LONGEST_VALUE:
            return value[: LONGEST_VALUE - 1] + "…"
        case _:
            return value
