"""Why a call runs, asks or is refused, layer by layer, as the list of permissions shows them. The verdict itself comes
from `permissions.decide`; this only says what each layer had to say about it. Pure."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from windlass.core.events import CallJudged
from windlass.core.messages import ToolCall, ToolSpec
from windlass.core.values import value_object
from windlass.toolbox.matching import allowed_by, defaults_in
from windlass.toolbox.offers import arguments_hash
from windlass.toolbox.permissions import Choice, Grant, RuleBook, Setting, TrustLevel, is_granted

LayerName = Literal["rules", "grants", "chat", "server", "otherwise"]
NOTHING_SET = "nothing is set"
NOT_REACHED = "not reached"


@value_object
class TraceLayer:
    """`choice` is "" for a layer that has nothing to say about the call."""

    layer: LayerName
    choice: Choice | Literal[""] = ""
    text: str = NOTHING_SET
    decides: bool = False
    permission: str = ""


def trace(
    call: ToolCall,
    spec: ToolSpec,
    judged: CallJudged,
    *,
    trust: TrustLevel,
    rules: RuleBook,
    grants: Sequence[Grant],
    now: float,
) -> tuple[TraceLayer, ...]:
    """All five, in the order in which they are judged, for the call that was judged so."""
    if judged.step == 0:  # the call itself cannot run, or its twin ended unknown: no layer was asked
        names: tuple[LayerName, ...] = ("rules", "grants", "chat", "server", "otherwise")
        return tuple(TraceLayer(name, text=NOT_REACHED) for name in names)
    return (
        _rules(call, spec, judged, trust, rules, now),
        _grants(call, spec, judged, grants, now),
        _setting("chat", judged, trust.settings, spec),
        _setting("server", judged, trust.settings, spec),
        _otherwise(judged),
    )


def _rules(
    call: ToolCall, spec: ToolSpec, judged: CallJudged, trust: TrustLevel, rules: RuleBook, now: float
) -> TraceLayer:
    rule = rules.first(call, spec, trust, now)
    if rule is None:
        count = len(rules.rules)
        return TraceLayer("rules", text=f"none of {count} matches" if count else "there are none")
    decides = judged.step in (1, 2) and judged.permission == rule.id
    return TraceLayer("rules", rule.choice, rules.why(rule), decides, rule.id)


def _grants(call: ToolCall, spec: ToolSpec, judged: CallJudged, grants: Sequence[Grant], now: float) -> TraceLayer:
    if grant := next((one for one in grants if is_granted(one, call, spec, now)), None):
        where = "always" if grant.scope == "always" else "in this chat"
        return TraceLayer("grants", "auto", f"allowed {where}", judged.step == 3, grant.id)
    near = [one for one in grants if _is_of_tool(one, spec)]
    if not near:
        return TraceLayer("grants", text="none for this tool")
    return TraceLayer("grants", text=f"{len(near)} for this tool, but {_why_not(near[0], call, spec, now)}")


def _is_of_tool(grant: Grant, spec: ToolSpec) -> bool:
    if grant.server != spec.server:
        return False
    return grant.covers == "server" or spec.tool == grant.tool or spec.hash == grant.tool_hash


def _why_not(grant: Grant, call: ToolCall, spec: ToolSpec, now: float) -> str:
    if grant.expires_at and grant.expires_at <= now:
        return "it has ended"
    if grant.covers != "server" and grant.tool_hash != spec.hash:
        return "the tool has changed since"
    if grant.arguments_hash and grant.arguments_hash != arguments_hash(call.arguments):
        return "for other arguments"
    given: Any = json.loads(call.arguments)
    for name, pattern in (grant.conditions or {}).items():
        if not allowed_by({name: pattern}, given, defaults_in(spec.schema), given):
            return f"{name} must be {pattern}"
    return "not for these arguments"


def _setting(
    layer: Literal["chat", "server"], judged: CallJudged, settings: Sequence[Setting], spec: ToolSpec
) -> TraceLayer:
    kinds = {"chat": ("conversation",), "server": ("tool", "server")}[layer]
    found = next((one for one in settings if one.id.partition(":")[0] in kinds), None)
    if found is None:
        return TraceLayer(layer, text="enabled by its name" if layer == "chat" and spec.named else NOTHING_SET)
    text = {
        "conversation": "set for this tool in this chat",
        "tool": "set for this tool",
        "server": "set for all tools of the server",
    }[found.id.partition(":")[0]]
    decides = judged.step in (1, 4, 5) and judged.permission == found.id
    return TraceLayer(layer, found.choice, text, decides, found.id)


def _otherwise(judged: CallJudged) -> TraceLayer:
    if judged.step not in (6, 7):
        return TraceLayer("otherwise", text=NOT_REACHED)
    return TraceLayer("otherwise", "auto" if judged.verdict == "auto" else "ask", judged.rule, True)
