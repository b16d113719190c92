"""A rule tried on past calls: what each of them came to, and what it would come to with the rule."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from windlass.api import schemas
from windlass.core.events import Verdict
from windlass.core.values import value_object
from windlass.store import PastCall
from windlass.toolbox.permissions import PolicyRule, RuleBook, TrustLevel, decide
from windlass.turns.views import iso

MOST_EXAMPLES = 10
LONGEST_VALUE = 60
LONGEST_ARGUMENTS = 200
CANDIDATE = "rule-tried"
_SECRET = re.compile(r"key|token|secret|passw|credential|auth|cookie|session", re.IGNORECASE)


@value_object
class _Tried:
    past: PastCall
    would: Verdict
    decides: bool  # the rule itself

    @property
    def changes(self) -> bool:
        return self.would != self.past.judged.verdict


def replayed(
    rule: PolicyRule,
    calls: Sequence[PastCall],
    operator_rules: Sequence[PolicyRule],
    trust_in: Callable[[str], TrustLevel],
) -> schemas.Replayed:
    """Calls that could not run at all are left out: no rule changes that. What the rule does not decide stays as it
    was judged then."""
    rules = RuleBook((*operator_rules, replace(rule, id=CANDIDATE)))
    tried = [_tried(past, rules, trust_in(past.spec.server)) for past in calls if _judged_by_settings(past)]
    counts = Counter(one.would for one in tried)
    decided = sorted((one for one in tried if one.decides), key=lambda one: not one.changes)
    return schemas.Replayed(
        len(tried),
        len(decided),
        counts["auto"],
        counts["ask"],
        counts["refuse"],
        [_example(one, trust_in(one.past.spec.server).slug) for one in decided[:MOST_EXAMPLES]],
    )


def _judged_by_settings(past: PastCall) -> bool:
    return past.judged.refusal in ("", "policy")


def _tried(past: PastCall, rules: RuleBook, trust: TrustLevel) -> _Tried:
    judged = decide(past.call, past.spec, trust=trust, rules=rules)
    if judged.permission != CANDIDATE:
        return _Tried(past, past.judged.verdict, False)
    return _Tried(past, judged.verdict, True)


def _example(one: _Tried, slug: str) -> schemas.ReplayedCall:
    past = one.past
    arguments = _shown_arguments(past.call.arguments)
    return schemas.ReplayedCall(
        past.turn_id, past.call.id, iso(past.at), slug, past.spec.tool, arguments, past.judged.verdict, one.would
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
