"""Whether a call runs, asks a person first or is refused: one pure function over the call, what was set, and what the
chat has read. docs/approvals.md describes the seven steps; `CallJudged.step` names the one that decided.

1 deny, by the first rule that matches or by a setting; 2 that rule; 3 a grant; 4 a setting says ask; 5 a setting says
auto; 6 the tool was enabled by its name; 7 nothing was said."""

import difflib
import glob
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Literal, cast
from urllib.parse import quote

from windlass.core.events import CallJudged, Event, Refusal, ToolFinished, Verdict
from windlass.core.fold import fold
from windlass.core.messages import ToolCall, ToolSpec
from windlass.core.steps import as_decided
from windlass.core.values import value_object
from windlass.toolbox.classes import chooses_target
from windlass.toolbox.matching import allowed_by, caught_by, defaults_in, properties_of
from windlass.toolbox.offers import arguments_hash

Choice = Literal["auto", "ask", "deny"]
Hint = Literal["", "read_only", "not_read_only", "destructive", "open_world"]
_STRICTNESS = {"auto": 0, "ask": 1, "deny": 2}


@value_object
class PolicyRule:
    """Matches a call when all that it names matches. Globs of server and tool are case-sensitive; `arguments` maps an
    argument's name or JSON pointer to a glob, `*` to one over everything in the arguments (see `matching`)."""

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


def settings_for(
    *, chat: str = "", chat_id: str = "", tool: str = "", tool_id: str = "", server: str = "", server_id: str = ""
) -> tuple[Setting, ...]:
    """What was set, with "" for nothing. A tool's own setting replaces its server's."""
    operator = (tool, tool_id) if tool else (server, server_id)
    return tuple(
        Setting(cast(Choice, choice), id) for choice, id in ((chat, chat_id), operator) if choice in _STRICTNESS
    )


@value_object
class TrustLevel:
    """What is known of the tool's server when the call is decided, and what was set for the two."""

    slug: str = ""
    trusted: bool = False
    hash_now: str = ""  # of the definition the server gives now; "" where unknown
    agreed_hash: str = ""  # of the definition that was accepted; "" where nobody was asked yet
    settings: tuple[Setting, ...] = ()  # the chat's, and the tool's or else its server's
    operator: bool = False  # the server is configured in windlass.toml


class RuleBook:
    """Rules in order, sorted out once for each tool: most calls are matched by none."""

    def __init__(self, rules: Sequence[PolicyRule] = ()) -> None:
        self.rules = tuple(rule if rule.id else replace(rule, id=f"rule:{n}") for n, rule in enumerate(rules, 1))
        self._by_tool: dict[tuple[str, str], tuple[PolicyRule, ...]] = {}

    def first(self, call: ToolCall, spec: ToolSpec, trust: TrustLevel, now: float = 0) -> PolicyRule | None:
        key = (trust.slug or spec.server, spec.tool)
        if (of_tool := self._by_tool.get(key)) is None:
            of_tool = tuple(
                rule for rule in self.rules if fnmatchcase(key[0], rule.server) and fnmatchcase(key[1], rule.tool)
            )
            self._by_tool[key] = of_tool
        return next((rule for rule in of_tool if _matches(rule, call, spec, trust, now)), None)

    def why(self, rule: PolicyRule) -> str:
        return rule.name or f"rule {self.rules.index(rule) + 1}"


def decide(
    call: ToolCall,
    spec: ToolSpec | None,
    *,
    offered: Iterable[str] = (),
    errors: Sequence[str] = (),
    trust: TrustLevel = TrustLevel(),  # noqa: B008 - frozen
    rules: RuleBook = RuleBook(),  # noqa: B008 - without rules it never changes
    grants: Sequence[Grant] = (),
    read_outside: Callable[[], str] = lambda: "",
    known_addresses: Callable[[Sequence[str]], str] = lambda addresses: "",
    in_doubt: bool = False,
    can_ask: bool = True,
    now: float = 0,
) -> CallJudged:
    """`errors` are those of the schema check; `in_doubt`: this very call ended unknown before; `known_addresses`
    gives why fetching these counts as reading, or "", `read_outside` what brought text from
    outside into the chat, or "". The functions are called only where a step needs them."""
    if spec is None:
        return _refused(call, None, "unknown_tool", _unknown(call.name, offered))
    if call.broken:
        return _refused(call, spec, "bad_arguments", f"The arguments could not be read: {call.broken}")
    if (trust.hash_now or spec.hash) != spec.hash or (trust.agreed_hash or spec.hash) != spec.hash:
        return _refused(call, spec, "changed", CHANGED)
    if errors:
        return _refused(call, spec, "bad_arguments", _violations(errors))
    judged = _steps(call, spec, trust, rules, grants, read_outside, known_addresses, now)
    if judged.verdict != "refuse" and in_doubt:
        judged = _verdict(call, spec, "ask", 0, IN_DOUBT)
    if judged.verdict == "ask" and not can_ask:
        return replace(judged, verdict="refuse", refusal="policy", reason=_nobody_asked(judged, spec, trust))
    return judged


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


def _steps(
    call: ToolCall,
    spec: ToolSpec,
    trust: TrustLevel,
    rules: RuleBook,
    grants: Sequence[Grant],
    read_outside: Callable[[], str],
    known_addresses: Callable[[Sequence[str]], str],
    now: float,
) -> CallJudged:
    rule = rules.first(call, spec, trust, now)
    if rule and rule.choice == "deny":
        return _denied(call, spec, rules.why(rule), rule.id)
    setting = max(trust.settings, key=lambda one: _STRICTNESS[one.choice], default=None)
    if setting and setting.choice == "deny":
        return _denied(call, spec, _origin(setting), setting.id)
    if rule:
        return _verdict(call, spec, "auto" if rule.choice == "auto" else "ask", 2, rules.why(rule), rule.id)
    if grant := next((one for one in grants if is_granted(one, call, spec, now)), None):
        return _verdict(call, spec, "auto", 3, f"allowed by a person, {_SCOPE_TEXT[grant.scope]}", grant.id)
    if setting:
        step = 4 if setting.choice == "ask" else 5
        return _verdict(call, spec, "ask" if step == 4 else "auto", step, _origin(setting), setting.id)
    return _unsaid(call, spec, read_outside, known_addresses)


def _unsaid(
    call: ToolCall, spec: ToolSpec, read_outside: Callable[[], str], known_addresses: Callable[[Sequence[str]], str]
) -> CallJudged:
    """Steps 6 and 7: what the tool does decides, and where it was named, what the chat has read."""
    step = 6 if spec.named else 7
    if spec.kind == "reads":
        return _verdict(call, spec, "auto", step, READS)
    if (addresses := _addresses(call, spec)) and (why := known_addresses(addresses)):
        return _verdict(call, spec, "auto", step, why)
    if not spec.named:
        return _verdict(call, spec, "ask", step, f"it {spec.kind} something, and nothing allows that yet")
    if spec.destructive:
        return _verdict(call, spec, "ask", step, "the server says it may destroy something")
    if source := read_outside():
        asks = _verdict(call, spec, "ask", step, f"it {spec.kind} something, and {OUTSIDE_READ}")
        return replace(asks, outside=source)
    return _verdict(call, spec, "auto", step, "enabled by its name")


def _matches(rule: PolicyRule, call: ToolCall, spec: ToolSpec, trust: TrustLevel, now: float) -> bool:
    if rule.expires_at and rule.expires_at <= now:
        return False
    return _hint_matches(rule, spec, trust.trusted) and _arguments_match(rule, call, spec)


def _hint_matches(rule: PolicyRule, spec: ToolSpec, trusted: bool) -> bool:
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


def _arguments_match(rule: PolicyRule, call: ToolCall, spec: ToolSpec) -> bool:
    if not rule.arguments:
        return True
    try:
        given: Any = json.loads(call.arguments)
        defaults = defaults_in(spec.schema)
        if rule.choice != "auto":
            return caught_by(rule.arguments, given, defaults)
        return allowed_by(rule.arguments, given, defaults, given if rule.other_arguments else None)
    except (ValueError, RecursionError):  # what cannot be read is not allowed by a rule, and not passed by one either
        return rule.choice != "auto"


def is_granted(grant: Grant, call: ToolCall, spec: ToolSpec, now: float) -> bool:
    """Whether the grant covers this very call."""
    if grant.expires_at and grant.expires_at <= now:
        return False
    if grant.covers == "server":
        return bool(grant.server) and grant.server == spec.server and _conditions_hold(grant, call, spec)
    if not spec.hash or grant.tool_hash != spec.hash or grant.server not in ("", spec.server):
        return False
    if grant.arguments_hash and grant.arguments_hash != arguments_hash(call.arguments):
        return False
    if grant.covers == "" and grant.scope == "always" and (spec.destructive or spec.open_world):
        return grant.emphatic  # in the first edition an approval for always counted here only where it was given twice
    return _conditions_hold(grant, call, spec)


def _conditions_hold(grant: Grant, call: ToolCall, spec: ToolSpec) -> bool:
    """Other arguments may be anything, but for those that choose a recipient or a target: the person who wrote the
    condition for one of them did not mean all values of the next."""
    if not grant.conditions:
        return True
    try:
        given: Any = json.loads(call.arguments)
        free = {name for name in (*given, *properties_of(spec.schema)) if not chooses_target(name)}
        return allowed_by(grant.conditions, given, defaults_in(spec.schema), free)
    except (ValueError, RecursionError):
        return False


def _addresses(call: ToolCall, spec: ToolSpec) -> list[str]:
    """What it fetches, of a call that does nothing else: any other text in its arguments may carry data along."""
    if not spec.address:
        return []
    given = json.loads(call.arguments)
    value = given.pop(spec.address, None)
    described = properties_of(spec.schema)
    if not all(_carries_nothing(one, described.get(name)) for name, one in given.items()):
        return []
    values = value if isinstance(value, list) else [value]
    return values if all(isinstance(one, str) for one in values) else []


def _carries_nothing(value: object, described: object) -> bool:
    """A number, a switch, the default, or a choice among what the schema lists."""
    if value is None or isinstance(value, bool | int | float):
        return True
    if not isinstance(described, Mapping):
        return False
    if "default" in described and value == described["default"]:
        return True
    if isinstance(value, list):
        return all(_carries_nothing(one, described.get("items")) for one in value)
    return value in (described.get("enum") or ())


def _verdict(
    call: ToolCall, spec: ToolSpec, verdict: Verdict, step: int, rule: str, permission: str = ""
) -> CallJudged:
    reads = spec.kind == "reads" or bool(spec.address)
    return CallJudged(
        call.id, verdict, rule, spec.hash, spec.safe, server=spec.server, step=step, permission=permission, reads=reads
    )


def _denied(call: ToolCall, spec: ToolSpec, why: str, permission: str) -> CallJudged:
    refused = _refused(call, spec, "policy", f"Not allowed here: {why}.", why)
    return replace(refused, step=1, permission=permission)


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


def _nobody_asked(judged: CallJudged, spec: ToolSpec, trust: TrustLevel) -> str:
    """Written to be followed literally: a rule works for every server, wherever its settings are kept."""
    text = f"This call needs approval ({judged.rule}), and nobody can be asked here."
    if judged.step == 0:
        return f"{text} Check whether it happened, then run it from the page."
    if judged.step == 2:
        return f"{text} To allow it, change that rule ({judged.permission}) to auto."
    slug = trust.slug or spec.server
    rule = f'[[policy]]\nserver = "{slug}"\ntool = {_quoted(glob.escape(spec.tool))}\napproval = "auto"'
    text = f"{text} To allow it, add this rule at the end of windlass.toml and restart:\n{rule}"
    return f"{text}\n{all_enabled_notice(slug)}" if judged.step == 7 and trust.operator else text


def all_enabled_notice(slug: str) -> str:
    """For a server of windlass.toml whose tools are enabled by a pattern, with nothing said about approval."""
    return (
        f"The server {slug} has no `approval`: its tools that change or send something ask first. To let them run, as "
        f'in 0.1.0, put approval = "auto" under [servers.{slug}] in windlass.toml and restart.'
    )


def _quoted(text: str) -> str:
    """A string as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _unknown(name: str, offered: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(offered), n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"There is no tool {name!r}.{hint}"


def _violations(errors: Sequence[str]) -> str:
    return "The arguments do not fit the tool's schema. " + "; ".join(errors)


def _origin(setting: Setting) -> str:
    return _ORIGIN_TEXT[setting.id.partition(":")[0]]


_ORIGIN_TEXT = {
    "conversation": "this chat's setting",
    "tool": "the tool's setting",
    "server": "the server's setting",
}
_SCOPE_TEXT = {"conversation": "for this chat", "always": "always"}
READS = "it only reads"
OUTSIDE_READ = "this chat has read text from outside"
IN_DOUBT = "the same call once ended unknown"
CHANGED = "This tool's definition has changed since it was accepted. It stays off until someone accepts the change."
