"""The table of approval: what was set, what the chat has read, and what must come of it, step by step."""

import tomllib
from dataclasses import replace

import pytest

from windlass.core.events import (
    CallDecided,
    CallJudged,
    Event,
    ModelReplied,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnStarted,
)
from windlass.core.messages import ChatMessage, ToolCall, ToolSpec
from windlass.servers.values import ToolDefinition
from windlass.toolbox.classes import guess
from windlass.toolbox.offers import arguments_hash
from windlass.toolbox.permissions import (
    IN_DOUBT,
    OUTSIDE_READ,
    Grant,
    PolicyRule,
    RuleBook,
    Setting,
    TrustLevel,
    all_enabled_notice,
    decide,
    doubtful,
    server_setting_id,
    settings_for,
    tool_setting_id,
)

SERVER, SLUG, HASH, CHAT = "srv-1", "box", "h1", "conversation:conv-1/srv-1/tool"
HINTS = {"read-only": "readOnlyHint", "destructive": "destructiveHint", "open": "openWorldHint"}
ARGUMENTS: dict[str, dict[str, object]] = {
    "fetch": {"url": {}, "max_length": {}},
    "send_email": {"to": {}, "text": {}},
    "write_file": {"path": {}, "content": {}},
    "read_file": {"path": {}},
}

# call, hints and arguments | has the chat read text from outside | what was set | verdict and step
FROM_THE_TEXT = """
list_directory                         | yes    | named                                 | auto 6
convert_time read-only                 | yes    | named                                 | auto 6
create_directory                       | no     | named                                 | auto 6
create_directory                       | yes    | named                                 | ask 6
create_directory                       | yes    | chat auto                             | auto 5
write_file destructive                 | no     | named                                 | ask 6
send_email                             | no     | named                                 | auto 6
send_email                             | yes    | named                                 | ask 6
send_email                             | yes    | named, grant in this chat             | auto 3
browser_click                          | yes    | server auto                           | auto 5
fetch url=https://docs.example.org/start | yes  | named                                 | auto 6
fetch url=https://evil.example.org/    | yes    | named                                 | ask 6
list_directory                         | no     | nothing                               | auto 7
create_directory                       | no     | nothing                               | ask 7
send_email                             | no     | nothing                               | ask 7
git_push                               | either | rule git_push* ask, grant always      | ask 2
delete_branch                          | either | server ask, grant for the server      | auto 3
delete_branch                          | either | server ask, chat auto                 | ask 4
read_file path=/etc/passwd             | either | rule * path=/etc/* deny, chat auto    | refuse 1
create_directory                       | either | chat auto, twin unknown               | ask 0
"""
FURTHER = """
list_directory                         | either | rule * deny, grant always, chat auto  | refuse 1
list_directory                         | either | chat deny, grant always               | refuse 1
list_directory                         | either | tool deny, chat auto                  | refuse 1
list_directory                         | either | server deny, rule * auto              | refuse 1
list_directory                         | either | server deny, tool auto                | auto 5
create_directory                       | either | server auto, tool deny                | refuse 1
create_directory                       | either | server ask, tool auto                 | auto 5
create_directory                       | either | server auto, tool ask                 | ask 4
create_directory                       | either | chat deny, twin unknown               | refuse 1
create_directory                       | either | rule * auto, rule * deny              | auto 2
create_directory                       | either | rule read* deny, rule create* auto    | auto 2
create_directory                       | either | rule * ask, chat auto                 | ask 2
create_directory                       | either | rule * auto, chat ask                 | auto 2
create_directory                       | either | rule * auto, server ask, tool ask     | auto 2
write_file destructive                 | either | rule * auto                           | auto 2
list_directory                         | either | rule * ask, named                     | ask 2
list_directory                         | either | rule * ask, nothing                   | ask 2
send_email                             | either | rule * auto, twin unknown             | ask 0
send_email                             | either | grant always, twin unknown            | ask 0
list_directory                         | either | named, twin unknown                   | ask 0
write_file destructive                 | either | named, grant in this chat             | auto 3
write_file destructive                 | either | named, grant for the server           | auto 3
send_email                             | either | chat ask, grant always                | auto 3
send_email                             | either | chat ask, tool auto                   | ask 4
list_directory                         | either | chat ask                              | ask 4
list_directory                         | either | server ask, named                     | ask 4
write_file destructive                 | either | chat auto                             | auto 5
write_file destructive                 | either | tool auto, named                      | auto 5
send_email                             | either | server auto, named                    | auto 5
browser_click                          | no     | named                                 | auto 6
browser_click                          | yes    | named                                 | ask 6
browser_click                          | either | nothing                               | ask 7
browser_click                          | either | nothing, grant for the server         | auto 3
write_file destructive                 | either | nothing                               | ask 7
read_file path=/etc/passwd             | either | rule * path=/docs/* deny, nothing     | auto 7
read_file path=/docs/a.txt             | either | rule * path=/docs/* auto, server ask  | auto 2
read_file path=/etc/passwd             | either | rule * path=/docs/* auto, server ask  | ask 4
fetch url=https://docs.example.org/start | either | nothing                             | auto 7
fetch url=https://docs.example.org/start params=d | either | nothing                    | ask 7
fetch url=https://docs.example.org/start proxy=http://evil.example.org | yes | named        | ask 6
fetch url=https://evil.example.org/    | either | nothing                               | ask 7
fetch url=https://evil.example.org/    | no     | named                                 | auto 6
fetch url=https://docs.example.org/start | either | chat ask                            | ask 4
list_directory destructive             | either | nothing                               | ask 7
delete_file read-only                  | either | nothing                               | ask 7
fetch read-only url=http://10.0.0.1/   | yes    | named                                 | ask 6
"""


def rows(table: str) -> list[tuple[str, bool, str, str]]:
    found = []
    for line in table.strip().splitlines():
        call, outside, setting, verdict = (cell.strip() for cell in line.split("|"))
        states = {"yes": (True,), "no": (False,), "either": (True, False)}[outside]
        found += [(call, state, setting, verdict) for state in states]
    return found


def known(addresses: object) -> str:
    return "its address stands in your message" if addresses == ["https://docs.example.org/start"] else ""


@pytest.mark.parametrize(("call", "outside", "setting", "verdict"), rows(FROM_THE_TEXT) + rows(FURTHER))
def test_c1_a_call_is_decided_as_the_table_says(call: str, outside: bool, setting: str, verdict: str) -> None:
    name, *details = call.split()
    arguments = {key: value for key, _, value in (one.partition("=") for one in details if "=" in one)}
    tool, asked = offered(name, *(one for one in details if "=" not in one)), call_of(name, arguments)
    parts = [part.strip() for part in setting.split(", ")]
    judged = decide(
        asked,
        replace(tool, named="named" in parts),
        trust=TrustLevel(SLUG, settings=chosen(parts)),
        rules=RuleBook([rule_of(part) for part in parts if part.startswith("rule ")]),
        grants=[GRANTS[part] for part in parts if part in GRANTS],
        read_outside=lambda: "fetch on web" if outside else "",
        known_addresses=known,
        in_doubt="twin unknown" in parts,
    )
    assert f"{judged.verdict} {judged.step}" == verdict
    assert judged.rule and judged.tool_hash == HASH
    assert bool(judged.permission) == (judged.step in (1, 2, 3, 4, 5))


GRANTS = {
    "grant in this chat": Grant(HASH, "conversation", server=SERVER, id="grant-1", covers="tool"),
    "grant always": Grant(HASH, "always", server=SERVER, id="grant-2", covers="tool"),
    "grant for the server": Grant(scope="conversation", server=SERVER, id="grant-3", covers="server"),
}


def offered(name: str, *hints: str) -> ToolSpec:
    definition = ToolDefinition(
        name,
        input_schema={"type": "object", "properties": ARGUMENTS.get(name, {})},
        annotations={HINTS[hint]: True for hint in hints},
    )
    guessed = guess(definition)
    return ToolSpec(
        name,
        SERVER,
        name,
        hash=HASH,
        read_only="read-only" in hints,
        destructive="destructive" in hints,
        open_world="open" in hints,
        kind=guessed.kind,
        address=guessed.address,
    )


def call_of(name: str, arguments: dict[str, str]) -> ToolCall:
    inner = ", ".join(f'"{key}": "{value}"' for key, value in arguments.items())
    return ToolCall("call_1", name, "{" + inner + "}")


def chosen(parts: list[str]) -> tuple[Setting, ...]:
    given = dict(part.split(" ") for part in parts if part.split(" ")[0] in ("chat", "tool", "server"))
    return settings_for(
        chat=given.get("chat", ""),
        chat_id=CHAT,
        tool=given.get("tool", ""),
        tool_id=tool_setting_id(SLUG, "tool"),
        server=given.get("server", ""),
        server_id=server_setting_id(SLUG),
    )


def rule_of(text: str) -> PolicyRule:
    _, tool, *conditions, choice = text.split(" ")
    arguments = dict(one.split("=") for one in conditions)
    return PolicyRule(choice, SLUG, tool, arguments=arguments or None, id="file:1")  # type: ignore[arg-type]


CALL = ToolCall("call_1", "write", '{"path": "/docs/a.txt"}')
TOOL = ToolSpec("write", SERVER, "write", hash=HASH, kind="changes")
ASKS = (Setting("ask", server_setting_id(SLUG)),)


def test_the_permission_that_decided_is_named() -> None:
    judged = decide(CALL, TOOL, trust=TrustLevel(SLUG, settings=ASKS))
    assert (judged.permission, judged.rule) == ("server:box", "the server's setting")
    judged = decide(CALL, TOOL, rules=RuleBook([PolicyRule("auto", tool="x"), PolicyRule("deny", name="hands off")]))
    assert (judged.permission, judged.rule, judged.refusal) == ("rule:2", "hands off", "policy")
    assert "hands off" in judged.reason
    judged = decide(CALL, TOOL, trust=TrustLevel(SLUG, settings=settings_for(chat="deny", chat_id=CHAT)))
    assert (judged.permission, judged.step) == (CHAT, 1)
    assert decide(CALL, TOOL, rules=RuleBook([PolicyRule("ask")])).rule == "rule 1"


@pytest.mark.parametrize(
    ("rule", "hints", "trusted", "matches"),
    [
        (PolicyRule("ask", hint="open_world"), {"open_world": True}, False, True),
        (PolicyRule("deny", hint="destructive"), {"destructive": True}, False, True),
        (PolicyRule("ask", hint="destructive"), {}, False, False),
        (PolicyRule("auto", hint="read_only"), {"read_only": True}, False, False),
        (PolicyRule("auto", hint="read_only"), {"read_only": True}, True, True),
        (PolicyRule("ask", hint="not_read_only"), {"read_only": True}, True, False),
        (PolicyRule("ask", hint="not_read_only"), {"read_only": True}, False, True),
        (PolicyRule("auto", hint="not_read_only"), {}, False, True),
        (PolicyRule("auto", server="bo?", tool="w*e"), {}, False, True),
        (PolicyRule("auto", server="BOX"), {}, False, False),
    ],
)
def test_a_rule_may_name_a_hint(rule: PolicyRule, hints: dict[str, bool], trusted: bool, matches: bool) -> None:
    judged = decide(CALL, replace(TOOL, **hints), trust=TrustLevel(SLUG, trusted), rules=RuleBook([rule]))  # type: ignore[arg-type]
    assert (judged.permission == "rule:1") == matches


def test_a_rule_and_a_grant_end_when_they_expire() -> None:
    rule, grant = PolicyRule("auto", expires_at=100), replace(GRANTS["grant in this chat"], expires_at=100)
    for now, verdict in ((99, "auto"), (100, "ask")):
        assert decide(CALL, TOOL, rules=RuleBook([rule]), now=now).verdict == verdict
        assert decide(CALL, TOOL, grants=[grant], now=now).verdict == verdict


def test_a_grant_holds_for_the_definition_and_the_arguments_it_was_given_for() -> None:
    bound = Grant(HASH, "conversation", arguments_hash(CALL.arguments), server=SERVER, covers="arguments")
    spaced = ToolCall("call_2", "write", '{"path":"/docs/a.txt"}')
    swapped = ToolCall("call_3", "write", '{"path": "/etc/passwd"}')
    assert decide(CALL, TOOL, grants=(bound,)).verdict == "auto"
    assert decide(spaced, TOOL, grants=(bound,)).verdict == "auto"
    assert decide(swapped, TOOL, grants=(bound,)).verdict == "ask"
    for elsewhere in (replace(bound, tool_hash="other"), replace(bound, server="srv-of-another-account")):
        assert decide(CALL, TOOL, grants=(elsewhere,)).verdict == "ask"
    unhashed = replace(TOOL, hash="")
    assert decide(CALL, unhashed, grants=(Grant("", "always", server=SERVER, covers="tool"),)).verdict == "ask"


def test_a_grant_for_a_server_holds_for_that_server_alone() -> None:
    grant = GRANTS["grant for the server"]
    assert decide(CALL, replace(TOOL, tool="other", hash="h2"), grants=(grant,)).verdict == "auto"
    assert decide(CALL, replace(TOOL, server="srv-2"), grants=(grant,)).verdict == "ask"
    assert decide(CALL, replace(TOOL, server=""), grants=(replace(grant, server=""),)).verdict == "ask"


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ('{"path": "/docs/a.txt", "content": "anything"}', "auto"),
        ('{"path": "/docs/../etc/passwd", "content": "x"}', "ask"),
        ('{"path": "/etc/passwd", "content": "x"}', "ask"),
        ('{"path": "/docs/a.txt", "recipient": "eve@example.org"}', "ask"),
        ('{"content": "x"}', "ask"),
        ("[", "ask"),
    ],
)
def test_a_grant_with_conditions_leaves_free_what_names_no_target(arguments: str, verdict: str) -> None:
    grant = replace(GRANTS["grant in this chat"], conditions={"path": "/docs/*"})
    assert decide(ToolCall("call_1", "write", arguments), TOOL, grants=(grant,)).verdict == verdict


@pytest.mark.parametrize("claim", ["destructive", "open_world"])
def test_a_grant_of_the_first_edition_is_worth_no_more_than_it_was(claim: str) -> None:
    heavy = replace(TOOL, **{claim: True})  # type: ignore[arg-type]
    always, twice = Grant(HASH, "always"), Grant(HASH, "always", emphatic=True)
    assert decide(CALL, heavy, grants=(always,)).verdict == "ask"
    assert decide(CALL, heavy, grants=(twice,)).verdict == "auto"
    assert decide(CALL, heavy, grants=(Grant(HASH, "conversation"),)).verdict == "auto"
    assert decide(CALL, TOOL, grants=(always,), read_outside=lambda: "fetch on web").verdict == "auto"


def test_c1_why_a_person_is_asked_is_said() -> None:
    named = replace(TOOL, named=True)
    asks = decide(CALL, named, read_outside=lambda: "fetch on web")
    assert OUTSIDE_READ in asks.rule
    assert asks.outside == "fetch on web"
    assert decide(CALL, replace(named, destructive=True)).rule == "the server says it may destroy something"
    assert decide(CALL, TOOL).rule == "it changes something, and nothing allows that yet"


def test_where_nobody_can_answer_the_refusal_names_the_rule_that_would_allow_it() -> None:
    judged = decide(CALL, TOOL, trust=TrustLevel(SLUG), can_ask=False)
    assert (judged.verdict, judged.refusal, judged.step) == ("refuse", "policy", 7)
    assert '[[policy]]\nserver = "box"\ntool = "write"\napproval = "auto"' in judged.reason
    judged = decide(CALL, TOOL, rules=RuleBook([PolicyRule("ask", id="file:1")]), can_ask=False)
    assert "file:1" in judged.reason and judged.step == 2
    judged = decide(CALL, TOOL, in_doubt=True, can_ask=False)
    assert (judged.verdict, judged.rule) == ("refuse", IN_DOUBT)


@pytest.mark.parametrize("name", ["write", 'a"b', "a\nserver = 'x'", "wri*", "[abc]", "\x7f", "naïve 👍", "a\\b"])
def test_d4_the_rule_in_a_refusal_allows_this_tool_and_no_other(name: str) -> None:
    tool = replace(TOOL, tool=name)
    refused = decide(CALL, tool, trust=TrustLevel(SLUG), can_ask=False)
    [rule] = tomllib.loads(refused.reason.partition("restart:\n")[2])["policy"]
    book = RuleBook([PolicyRule(rule["approval"], rule["server"], rule["tool"])])
    assert decide(CALL, tool, trust=TrustLevel(SLUG), rules=book, can_ask=False).verdict == "auto"
    for other in (f"{name}x", "write2", "a", "wri"):
        assert decide(CALL, replace(TOOL, tool=other), trust=TrustLevel(SLUG), rules=book).verdict == "ask"


def test_d4_a_refusal_names_the_line_that_allows_all_tools_of_the_operators_server() -> None:
    notice = all_enabled_notice(SLUG)
    assert 'approval = "auto" under [servers.box]' in notice
    assert notice in decide(CALL, TOOL, trust=TrustLevel(SLUG, operator=True), can_ask=False).reason
    named = replace(TOOL, named=True)
    for tool, trust in ((TOOL, TrustLevel(SLUG)), (named, TrustLevel(SLUG, operator=True))):
        refused = decide(CALL, tool, trust=trust, read_outside=lambda: "fetch on web", can_ask=False)
        assert refused.verdict == "refuse" and notice not in refused.reason


def test_what_the_chat_has_read_is_looked_up_only_where_it_matters() -> None:
    def never() -> str:
        raise AssertionError("nothing depends on it")

    decide(CALL, replace(TOOL, named=True, kind="reads"), read_outside=never)
    decide(CALL, TOOL, read_outside=never)
    decide(CALL, TOOL, rules=RuleBook([PolicyRule("auto")]), read_outside=never)


@pytest.mark.parametrize("hashes", [{"hash_now": "other"}, {"agreed_hash": "other"}])
def test_a_changed_definition_is_refused_whatever_was_granted(hashes: dict[str, str]) -> None:
    trust = replace(TrustLevel(SLUG, True, settings=settings_for(chat="auto", chat_id=CHAT)), **hashes)  # type: ignore[arg-type]
    judged = decide(CALL, TOOL, trust=trust, grants=tuple(GRANTS.values()), rules=RuleBook([PolicyRule("auto")]))
    assert (judged.verdict, judged.refusal, judged.step) == ("refuse", "changed", 0)


def test_an_unknown_tool_lists_the_nearest_and_runs_none() -> None:
    judged = decide(ToolCall("call_1", "read_fil"), None, offered=["read_file", "write_file", "list_directory"])
    assert (judged.verdict, judged.refusal) == ("refuse", "unknown_tool")
    assert "read_file" in judged.reason and "list_directory" not in judged.reason
    assert decide(ToolCall("call_1", "zzz"), None, offered=["read_file"]).reason == "There is no tool 'zzz'."


def test_bad_arguments_are_refused_with_the_reason() -> None:
    broken = ToolCall("call_1", "write", "{}", raw='{"path": ', broken="it ends in the middle")
    judged = decide(broken, TOOL)
    assert (judged.verdict, judged.refusal) == ("refuse", "bad_arguments") and "ends in the middle" in judged.reason
    judged = decide(CALL, TOOL, errors=["/path: 3 is not of type string"])
    assert (judged.verdict, judged.refusal) == ("refuse", "bad_arguments") and "/path: 3 is not" in judged.reason


def test_d6_a_call_that_reads_is_marked_as_such() -> None:
    assert decide(CALL, replace(TOOL, kind="reads")).reads
    assert decide(call_of("fetch", {"url": "https://a.example.org"}), offered("fetch")).reads
    assert not decide(CALL, TOOL).reads


def test_doubt_is_read_from_the_log() -> None:
    log = (
        TurnStarted((ChatMessage("user", "hi"),)),
        TurnClaimed(),
        ModelReplied("", (CALL,)),
        CallJudged(CALL.id, "auto"),
        ToolStarted(CALL.id),
    )
    again = ToolCall("call_2", "write", '{"path":"/docs/a.txt"}')
    other = ToolCall("call_3", "write", '{"path": "/docs/b.txt"}')
    assert not doubtful(again, log)
    ended = (*log, ToolFinished(CALL.id, "unknown"))
    assert doubtful(again, ended) and not doubtful(other, ended)
    assert not doubtful(again, (*log, ToolFinished(CALL.id, "ok")))


def test_what_a_person_made_of_a_call_is_what_is_in_doubt() -> None:
    log: list[Event] = [
        TurnStarted(()),
        ModelReplied("", (CALL,)),
        CallJudged(CALL.id, "ask"),
        CallDecided(CALL.id, allow=True, arguments='{"to": "somebody else"}'),
        ToolStarted(CALL.id),
        ToolFinished(CALL.id, "unknown"),
    ]
    as_edited = ToolCall("c2", CALL.name, '{"to":"somebody else"}')
    as_written = ToolCall("c3", CALL.name, CALL.arguments)
    assert doubtful(as_edited, log) and not doubtful(as_written, log)
