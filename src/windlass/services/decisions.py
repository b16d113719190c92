"""What a person's decision on a call leaves behind: nothing where it holds once, else a grant."""

import time

from msgspec import UNSET

from windlass.api import schemas
from windlass.core.actor import current_actor
from windlass.core.errors import BadInput, Conflict
from windlass.core.events import CallJudged
from windlass.core.messages import ToolCall, ToolSpec
from windlass.services.timestamps import seconds
from windlass.toolbox.offers import arguments_hash
from windlass.toolbox.permissions import Grant, Setting, TrustLevel, decide

BY_RULE = 2  # the step of a rule that asks: no grant comes before it


def grant_wanted(request: schemas.Decision, judged: CallJudged, spec: ToolSpec, call: ToolCall) -> Grant | None:
    """`call` has the arguments that were allowed. What is asked for must be possible and must cover this very call:
    a grant that never applies would look like one that does."""
    if request.decision == "deny" or request.scope == "once":
        _check_nothing_lasting(request)
        return None
    covers = request.covers or "tool"
    if request.conditions and covers != "tool":
        raise _wrong("conditions", "These go with covers: tool.", "Leave out one of the two.")
    if judged.step == BY_RULE:
        raise Conflict(
            f"A rule asks about every such call ({judged.rule}), so no lasting approval is saved.",
            hint="Allow it once, or change the rule. GET /permissions says where it is set.",
            code="rule_asks",
            detail={"permission_id": judged.permission},
        )
    grant = Grant(
        "" if covers == "server" else judged.tool_hash,
        request.scope,
        arguments_hash(call.arguments) if covers == "arguments" else "",
        request.emphatic,
        judged.server,
        covers=covers,
        tool="" if covers == "server" else spec.tool,
        conditions=request.conditions or None,
        expires_at=_expiry(request),
        by=current_actor(),
        at=time.time(),
    )
    if not _covers(grant, spec, call):
        raise _wrong("conditions", "They do not match the arguments of this call.", "Compare them, letter for letter.")
    return grant


def _check_nothing_lasting(request: schemas.Decision) -> None:
    given = [
        name
        for name, value in (
            ("covers", request.covers),
            ("conditions", request.conditions or UNSET),
            ("expires_at", request.expires_at),
        )
        if value is not UNSET
    ]
    if given:
        raise _wrong(
            given[0], "It is part of a lasting approval.", "Add scope: conversation or always, or leave it out."
        )


def _expiry(request: schemas.Decision) -> float:
    if not isinstance(request.expires_at, str):
        return 0
    at = seconds(request.expires_at, "expires_at")
    if at <= time.time():
        raise _wrong("expires_at", "This time has passed.", "Give a time to come, with its zone or in UTC.")
    return at


def _covers(grant: Grant, spec: ToolSpec, call: ToolCall) -> bool:
    """Asked of the function that will decide later calls."""
    asks = TrustLevel(settings=(Setting("ask", "server:"),))
    judged = decide(call, spec, trust=asks, grants=(grant,))
    return judged.verdict == "auto"


def _wrong(path: str, message: str, hint: str) -> BadInput:
    return BadInput(f"{path}: {message}", hint=hint, detail={"path": path})
