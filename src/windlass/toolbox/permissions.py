"""Whether a call may run: by itself, after a person's approval, or not at all. Pure: all it judges by is passed in.

The order: what cannot run is refused; then the operator's rules, the first that fits; then the settings of this server
and this conversation, the stricter of the two; and where nothing is set, a tool that was enabled runs, unless it calls
itself destructive. A server's own hints only ever tighten, unless the operator trusts it."""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, cast
from urllib.parse import quote

from windlass.core.events import CallJudged, Event, Refusal, ToolFinished, Verdict
from windlass.core.fold import fold
from windlass.core.messages import ToolCall, ToolSpec
from windlass.core.steps import as_decided
from windlass.core.values import value_object
from windlass.toolbox.offers import arguments_hash

Choice = Literal["auto", "ask", "deny"]
Hint = Literal["", "read_only", "not_read_only", "destructive", "open_world"]
_STRICTNESS = {"auto": 0, "ask": 1, "deny": 2}


@value_object
class PolicyRule:
    """Fits a call when all that it names fits. Globs are case-sensitive; `arguments` maps an argument's name or JSON
    pointer to a glob over its text, `*` to one over all arguments as compact JSON."""

    choice: Choice
    server: str = "*"
    tool: str = "*"
    hint: Hint = ""
    arguments: Mapping[str, str] | None = None
    name: str = ""
    id: str = ""  # `file:N` for the Nth rule of the operator's file
    by: str = ""
    at: float = 0
    other_arguments: bool = False  # of a rule that says auto: arguments it does not name may be anything
    expires_at: float = 0  # 0 for never


@value_object
class Grant:
    """A person's lasting approval, given on a card: of one tool as it was defined then, of one tool with arguments
    like these, or of every tool of a server."""

    tool_hash: str = ""  # "" where it covers a server
    scope: Literal["conversation", "always"] = "conversation"
    arguments_hash: str = ""  # "" for any arguments
    emphatic: bool = False  # of the first edition: given once more for what claims to destroy or to reach out
    server: str = ""  # its id; two servers may run the same program for two accounts
    id: str = ""
    covers: Literal["", "tool", "arguments", "server"] = ""  # "" for a grant of the first edition: one tool
    tool: str = ""  # its own name
    conditions: Mapping[str, str] | None = None  # argument -> glob
    expires_at: float = 0  # 0 for never
    by: str = ""
    at: float = 0


@value_object
class Setting:
    """An explicit auto, ask or deny, and its id in the list of permissions."""

    choice: Choice
    id: str


def chat_setting_id(conversation_id: str, server_id: str, tool: str) -> str:
    return f"conversation:{conversation_id}:{server_id}:{_in_path(tool)}"


def tool_setting_id(slug: str, tool: str) -> str:
    return f"tool:{slug}:{_in_path(tool)}"


def server_setting_id(slug: str) -> str:
    return f"server:{slug}"


def _in_path(name: str) -> str:
    """Ids stand in paths, and a tool's name may hold anything."""
    return quote(name, safe="").replace("%", "~")


@value_object
class TrustLevel:
    """What is known of the tool's server when the call is judged."""

    slug: str = ""
    trusted: bool = False
    approval: str = ""  # the operator's setting for this server or tool; "" for none
    hash_now: str = ""  # of the definition the server gives now; "" where unknown
    agreed_hash: str = ""  # of the definition that was accepted; "" where nobody was asked yet


def judge(
    call: ToolCall,
    spec: ToolSpec | None,
    *,
    offered: Iterable[str] = (),
    errors: Sequence[str] = (),
    trust: TrustLevel = TrustLevel(),  # noqa: B008 - frozen
    rules: Sequence[PolicyRule] = (),
    grants: Sequence[Grant] = (),
    in_doubt: bool = False,
) -> CallJudged:
    """`errors` are those of the schema check; `in_doubt` is set when this very call ended unknown before."""
    if spec is None:
        return _refused(call, None, "unknown_tool", _unknown(call.name, offered))
    if call.broken:
        return _refused(call, spec, "bad_arguments", f"The arguments could not be read: {call.broken}")
    if (trust.hash_now or spec.hash) != spec.hash or (trust.agreed_hash or spec.hash) != spec.hash:
        return _refused(call, spec, "changed", CHANGED)
    if errors:
        return _refused(call, spec, "bad_arguments", _violations(errors))
    choice, why = _choice(call, spec, trust, rules)
    if choice == "deny":
        return _refused(call, spec, "policy", f"Not allowed here: {why}.", why)
    if in_doubt:
        return _verdict(call, spec, "ask", "the same call once ended unknown")
    if choice == "ask" and (grant := _granted(call, spec, grants)):
        return _verdict(call, spec, "auto", f"allowed by a person, {_SCOPE_TEXT[grant.scope]}")
    return _verdict(call, spec, choice, why)


def doubtful(call: ToolCall, log: Sequence[Event]) -> bool:
    """Whether the same tool with the same arguments ended unknown earlier in this turn."""
    if "unknown" not in [event.state for event in log if isinstance(event, ToolFinished)]:
        return False
    wanted = arguments_hash(call.arguments)
    return any(
        seen.finished is not None
        and seen.finished.state == "unknown"
        and seen.call.name == call.name
        and arguments_hash(as_decided(seen).arguments) == wanted
        for seen in fold(log).calls
    )


def _choice(call: ToolCall, spec: ToolSpec, trust: TrustLevel, rules: Sequence[PolicyRule]) -> tuple[Choice, str]:
    setting = _setting(spec, trust)
    for number, rule in enumerate(rules, 1):
        if _fits(rule, call, spec, trust):
            ruled = (rule.choice, rule.name or f"rule {number}")
            return _stricter(ruled, setting) if setting else ruled
    if setting:
        return setting
    if spec.destructive:
        return "ask", "the server says it may destroy something"
    return "auto", "enabled"


def _setting(spec: ToolSpec, trust: TrustLevel) -> tuple[Choice, str] | None:
    by_server = _with_origin(trust.approval, "the server's setting")
    here = _with_origin(spec.approval, "this conversation's setting")
    return _stricter(by_server, here) if by_server and here else by_server or here


def _with_origin(choice: str, origin: str) -> tuple[Choice, str] | None:
    return (cast(Choice, choice), origin) if choice in _STRICTNESS else None


def _stricter(one: tuple[Choice, str], other: tuple[Choice, str]) -> tuple[Choice, str]:
    return other if _STRICTNESS[other[0]] > _STRICTNESS[one[0]] else one


def _fits(rule: PolicyRule, call: ToolCall, spec: ToolSpec, trust: TrustLevel) -> bool:
    return (
        fnmatchcase(trust.slug or spec.server, rule.server)
        and fnmatchcase(spec.tool, rule.tool)
        and _hint_fits(rule, spec, trust.trusted)
        and _arguments_fit(rule, call)
    )


def _hint_fits(rule: PolicyRule, spec: ToolSpec, trusted: bool) -> bool:
    match rule.hint:
        case "":
            return True
        case "read_only":
            return spec.read_only and (trusted or rule.choice != "auto")
        case "not_read_only":
            return not (spec.read_only and trusted) and (rule.choice != "auto" or not spec.read_only)
        case "destructive":
            return spec.destructive
        case "open_world":
            return spec.open_world


def _arguments_fit(rule: PolicyRule, call: ToolCall) -> bool:
    if not rule.arguments:
        return True
    try:
        given: Any = json.loads(call.arguments)
    except ValueError:
        return False
    return all(_argument_fits(rule, given, where, glob) for where, glob in rule.arguments.items())


def _argument_fits(rule: PolicyRule, given: Any, where: str, glob: str) -> bool:
    found, value = (True, given) if where == "*" else _at(given, where)
    if not found:
        return False
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # `/docs/*` is meant as "inside /docs"; a path that climbs out again only looks like it.
    climbs = rule.choice == "auto" and ".." in text.replace("\\", "/").split("/")
    return not climbs and fnmatchcase(text, glob)


def _at(value: Any, where: str) -> tuple[bool, Any]:
    for step in where.split("/")[1:] if where.startswith("/") else [where]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False, None
    return True, value


def _granted(call: ToolCall, spec: ToolSpec, grants: Sequence[Grant]) -> Grant | None:
    wanted = arguments_hash(call.arguments)
    for grant in grants:
        same_tool = bool(spec.hash) and grant.tool_hash == spec.hash and grant.server in ("", spec.server)
        fits = same_tool and grant.arguments_hash in ("", wanted)
        heavy = grant.scope == "always" and (spec.destructive or spec.open_world)
        if fits and (not heavy or grant.emphatic):
            return grant
    return None


def _verdict(call: ToolCall, spec: ToolSpec, verdict: Verdict, rule: str) -> CallJudged:
    return CallJudged(call.id, verdict, rule, spec.hash, spec.safe, server=spec.server)


def _refused(call: ToolCall, spec: ToolSpec | None, refusal: Refusal, reason: str, rule: str = "") -> CallJudged:
    return CallJudged(
        call.id,
        "refuse",
        rule or refusal,
        spec.hash if spec else "",
        refusal=refusal,
        reason=reason,
        server=spec.server if spec else "",
    )


def _unknown(name: str, offered: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(offered), n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"There is no tool {name!r}.{hint}"


def _violations(errors: Sequence[str]) -> str:
    return "The arguments do not fit the tool's schema. " + "; ".join(errors)


_SCOPE_TEXT = {"conversation": "for this conversation", "always": "for always"}
CHANGED = "This tool's definition has changed since it was accepted. It stays off until someone accepts the change."
