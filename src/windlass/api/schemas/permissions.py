"""What decides whether a call runs: the list of it, a trial of one call, and a rule tried on past calls."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from windlass.api.schemas.base import Approval, Object, Request, Response, Time, ToolClass
from windlass.api.schemas.models import Rule

PermissionKind = Literal["rule", "grant", "conversation", "server", "tool"]


class PermissionQuery(Request):
    server: Annotated[str, Meta(max_length=200, description="Id or slug: only what may decide its calls")] = ""
    tool: Annotated[str, Meta(max_length=200, description="Only what may decide this tool's calls")] = ""
    conversation: Annotated[
        str, Meta(max_length=200, description="Only what holds there; tools that were just named are listed too")
    ] = ""


class UsesCounted(Response):
    """How many calls it let run, made ask and refused."""

    allowed: int = 0
    asked: int = 0
    stopped: int = 0


class Permission(Response):
    id: str
    kind: PermissionKind
    effect: Annotated[
        Literal["auto", "ask", "deny", "named"],
        Meta(description="`named`: enabled by name, nothing else was set; reads run, the rest may ask"),
    ]
    server: Annotated[str, Meta(description="Slug; in a rule a pattern")]
    tool: Annotated[str, Meta(description="In a rule a pattern; `*` for all of the server")]
    scope: Literal["always", "conversation"]
    by: Annotated[str, Meta(description="Who set it; empty where that was not written down")]
    at: Time | None
    last_used_at: Annotated[Time | None, Meta(description="When it last decided a call; kept to the minute")]
    source: Annotated[
        Literal["windlass.toml", "policy", "decision", "conversation", "server", "built-in"],
        Meta(description="Where it is set. What stands in the file is changed there"),
    ]
    arguments: (
        Annotated[dict[str, str], Meta(description="Patterns over arguments that a call must match")] | UnsetType
    ) = UNSET
    covers: Annotated[Literal["tool", "arguments", "server"], Meta(description="Of a grant")] | UnsetType = UNSET
    conversation_id: str | UnsetType = UNSET
    expires_at: Time | UnsetType = UNSET
    name: Annotated[str, Meta(description="Of a rule")] | UnsetType = UNSET
    line: Annotated[int, Meta(description="In windlass.toml")] | UnsetType = UNSET
    hash: Annotated[str, Meta(description="Of the definition that a grant is bound to")] | UnsetType = UNSET
    uses: Annotated[UsesCounted, Meta(description="Calls that it decided")] = field(default_factory=UsesCounted)


class PermissionList(Response):
    permissions: Annotated[list[Permission], Meta(description="Rules first, in the order in which they are tried")]
    count: int
    left_off: Annotated[int, Meta(description="Settings of chats that are not listed; name a conversation")] = 0
    success: bool = True


class PermissionTest(Request):
    server: Annotated[str, Meta(min_length=1, max_length=200, description="Id or slug", examples=["files"])]
    tool: Annotated[str, Meta(min_length=1, max_length=200, examples=["write_file"])]
    arguments: Object = field(default_factory=dict)
    conversation_id: Annotated[str, Meta(max_length=200, description="As in this chat; default: a new one")] = ""


class PermissionLayer(Response):
    """What one layer of permissions says about a call. They are listed in the order in which they are judged."""

    layer: Literal["rules", "grants", "chat", "server", "otherwise"]
    effect: Annotated[Literal["auto", "ask", "deny", ""], Meta(description="Empty: it says nothing about this call")]
    why: str
    decides: bool
    permission_id: str | UnsetType = UNSET


class PermissionVerdict(Response):
    verdict: Literal["auto", "ask", "refuse"]
    why: str
    step: Annotated[int, Meta(description="Which of the seven steps decided; 0: the call itself cannot run")]
    kind: Annotated[PermissionKind | Literal[""], Meta(description="Of the permission that decided; empty: none did")]
    tool_class: ToolClass
    enabled: Annotated[bool, Meta(description="Whether the tool is on there; if not, it is judged as if it was named")]
    permission_id: str | UnsetType = UNSET
    trace: Annotated[list[PermissionLayer], Meta(description="What each layer says, the one that decides marked")] = (
        field(default_factory=list)
    )
    outside: Annotated[str, Meta(description="What brought text from outside into the chat, where that asks")] = ""
    success: bool = True


class TriedRule(Rule, kw_only=True):
    """As in `/policy`."""

    approval: Approval


class Replay(Request):
    rule: Annotated[TriedRule, Meta(description="Tried behind the rules of windlass.toml, at its position")]
    last: Annotated[int, Meta(ge=1, le=1000, description="How many past calls to try it on")] = 200
    position: Annotated[int, Meta(ge=0, description="How many of the saved rules come before it")] = 0
    replaces: Annotated[
        str,
        Meta(max_length=200, description="Id of the saved rule that it replaces; what that one decided is judged anew"),
    ] = ""


class ReplayedCall(Response):
    turn_id: str
    call_id: str
    at: Time
    server: str
    tool: str
    arguments: Annotated[str, Meta(description="Shortened, without secrets")]
    was: Literal["auto", "ask", "refuse"]
    would: Literal["auto", "ask", "refuse"]
    decision: Annotated[Literal["allowed", "denied", ""], Meta(description="Of the person who was asked then")] = ""


class Replayed(Response):
    calls: Annotated[int, Meta(description="Past calls that were tried")]
    matched: Annotated[int, Meta(description="Those that the rule would have decided")]
    would_run: int
    would_ask: int
    would_deny: int
    examples: Annotated[list[ReplayedCall], Meta(description="Some that it decides, those it changes first")]
    stopped: Annotated[int, Meta(description="That were not refused then and would be")] = 0
    asked: Annotated[int, Meta(description="That ran without asking then and would ask")] = 0
    freed: Annotated[int, Meta(description="That asked or were refused then and would run without asking")] = 0
    approved: Annotated[int, Meta(description="Of those, the ones that a person allowed")] = 0
    success: bool = True


class GrantTried(Request):
    server: Annotated[str, Meta(min_length=1, max_length=200, description="Id or slug")]
    tool: Annotated[str, Meta(min_length=1, max_length=200)]
    hash: Annotated[str, Meta(max_length=200, description="Of the definition that it is bound to")]
    conditions: Annotated[dict[str, str], Meta(max_length=50, description="Argument to pattern")] = field(
        default_factory=dict
    )
    arguments: Annotated[Object, Meta(description="For exactly these")] | UnsetType = UNSET
    last: Annotated[int, Meta(ge=1, le=1000, description="How many past calls of the tool to look at")] = 200


class GrantCoverage(Response):
    calls: Annotated[int, Meta(description="Past calls of the tool")]
    covered: Annotated[int, Meta(description="Those that the grant would have covered")]
    examples: Annotated[list[ReplayedCall], Meta(description="Some of those it covers, newest first")]
    success: bool = True
