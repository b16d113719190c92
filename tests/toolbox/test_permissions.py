"""The approval matrix: hints, trust, what was said, and what a person granted. Each case says what must come of it."""

import itertools
import json

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
from windlass.toolbox.offers import arguments_hash
from windlass.toolbox.permissions import Grant, PolicyRule, TrustLevel, doubtful, judge

HASH = "h1"
CALL = ToolCall("call_1", "write", '{"path": "/docs/a.txt"}')
HINTS = {
    "none": {},
    "read_only": {"read_only": True},
    "destructive": {"destructive": True},
    "open_world": {"open_world": True},
}
GRANTS = {
    "no grant": (),
    "conversation": (Grant(HASH, "conversation"),),
    "always": (Grant(HASH, "always"),),
}
RULES = {
    "no rule": (),
    "ask unless read-only": (PolicyRule("ask", hint="not_read_only", name="careful"),),
    "auto if read-only, else ask": (PolicyRule("auto", hint="read_only"), PolicyRule("ask")),
    "deny": (PolicyRule("deny", tool="wr*", name="hands off"),),
}


def spec(**claims: bool) -> ToolSpec:
    return ToolSpec("write", "srv-1", "write", hash=HASH, **claims)  # type: ignore[arg-type]


def expected(hint: str, trusted: bool, rules: str, grant: str) -> str:
    """The table in words, written apart from the code it checks."""
    if rules == "deny":
        return "refuse"
    believed_harmless = hint == "read_only" and trusted
    if rules == "no rule":
        asks = hint == "destructive"
    else:
        asks = not believed_harmless
    if not asks:
        return "auto"
    lasting = grant == "conversation" or (grant == "always" and hint not in ("destructive", "open_world"))
    return "auto" if lasting else "ask"


MATRIX = list(itertools.product(HINTS, (False, True), RULES, GRANTS))


def test_the_matrix_has_its_96_cases() -> None:
    assert len(MATRIX) == 96


@pytest.mark.parametrize(("hint", "trusted", "rules", "grant"), MATRIX)
def test_a_call_is_judged_as_the_table_says(hint: str, trusted: bool, rules: str, grant: str) -> None:
    judged = judge(
        CALL,
        spec(**HINTS[hint]),
        trust=TrustLevel("files", trusted=trusted, hash_now=HASH),
        rules=RULES[rules],
        grants=GRANTS[grant],
    )
    assert judged.verdict == expected(hint, trusted, rules, grant)
    assert judged.rule and judged.tool_hash == HASH


@pytest.mark.parametrize("server", ["", "auto", "ask", "deny"])
@pytest.mark.parametrize("here", ["", "auto", "ask", "deny"])
@pytest.mark.parametrize("destructive", [False, True])
def test_what_was_said_decides_and_the_stricter_word_wins(server: str, here: str, destructive: bool) -> None:
    tool = ToolSpec("write", "srv-1", "write", hash=HASH, approval=here, destructive=destructive)
    judged = judge(CALL, tool, trust=TrustLevel("files", approval=server))
    words = [word for word in (server, here) if word]
    strictest = max(words, key=["auto", "ask", "deny"].index) if words else "ask" if destructive else "auto"
    assert judged.verdict == {"auto": "auto", "ask": "ask", "deny": "refuse"}[strictest]


def test_the_asking_rule_is_named() -> None:
    rules = (PolicyRule("auto", tool="read_*"), PolicyRule("ask", name="writes need a look"))
    assert judge(CALL, spec(), rules=rules).rule == "writes need a look"
    assert judge(CALL, spec(), rules=(PolicyRule("ask"),)).rule == "rule 1"
    assert judge(CALL, spec(destructive=True)).rule == "the server says it may destroy something"


def test_a_refusal_by_policy_names_its_rule() -> None:
    judged = judge(CALL, spec(), rules=(PolicyRule("deny", name="hands off"),))
    assert (judged.refusal, judged.rule) == ("policy", "hands off") and "hands off" in judged.reason


@pytest.mark.parametrize(
    ("rule", "arguments", "fits"),
    [
        (PolicyRule("auto", arguments={"path": "/docs/*"}), {"path": "/docs/a.txt"}, True),
        (PolicyRule("auto", arguments={"path": "/docs/*"}), {"path": "/etc/passwd"}, False),
        (PolicyRule("auto", arguments={"path": "/docs/*"}), {"path": "/docs/../etc/passwd"}, False),
        (PolicyRule("auto", arguments={"path": "/docs/*"}), {"path": "/docs/..\\..\\etc"}, False),
        (PolicyRule("auto", arguments={"path": "/docs/*"}), {}, False),
        (PolicyRule("auto", arguments={"/to/0/name": "bob"}), {"to": [{"name": "bob"}]}, True),
        (PolicyRule("auto", arguments={"/to/1/name": "bob"}), {"to": [{"name": "bob"}]}, False),
        (PolicyRule("auto", arguments={"count": "3"}), {"count": 3}, True),
        (PolicyRule("auto", arguments={"*": '*"path":"/docs*'}), {"path": "/docs"}, True),
        (PolicyRule("auto", server="file?", tool="w*e"), {}, True),
        (PolicyRule("auto", server="FILES"), {}, False),
    ],
)
def test_a_rule_fits_when_all_that_it_names_fits(rule: PolicyRule, arguments: dict[str, object], fits: bool) -> None:
    call = ToolCall("call_1", "write", json.dumps(arguments))
    judged = judge(call, spec(), trust=TrustLevel("files"), rules=(rule, PolicyRule("ask")))
    assert judged.verdict == ("auto" if fits else "ask")


def test_a_rule_may_ask_for_what_reaches_out() -> None:
    rules = (PolicyRule("ask", hint="open_world"), PolicyRule("deny", hint="destructive"))
    assert judge(CALL, spec(open_world=True), rules=rules).verdict == "ask"
    assert judge(CALL, spec(destructive=True), rules=rules).verdict == "refuse"
    assert judge(CALL, spec(), rules=rules).verdict == "auto"


def test_a_rule_over_arguments_does_not_fit_what_it_cannot_read() -> None:
    rules = (PolicyRule("auto", arguments={"path": "*"}), PolicyRule("ask"))
    assert judge(ToolCall("call_1", "write", "{"), spec(), rules=rules).verdict == "ask"


def test_a_rule_that_denies_is_not_dodged_by_climbing() -> None:
    call = ToolCall("call_1", "write", '{"path": "/etc/../etc/passwd"}')
    assert judge(call, spec(), rules=(PolicyRule("deny", arguments={"path": "/etc/*"}),)).verdict == "refuse"


def test_a_grant_holds_for_the_definition_and_arguments_it_was_given_for() -> None:
    asks = (PolicyRule("ask"),)
    bound = Grant(HASH, "conversation", arguments_hash(CALL.arguments))
    spaced = ToolCall("call_2", "write", '{"path":"/docs/a.txt"}')
    swapped = ToolCall("call_3", "write", '{"path": "/etc/passwd"}')
    assert judge(CALL, spec(), rules=asks, grants=(bound,)).verdict == "auto"
    assert judge(spaced, spec(), rules=asks, grants=(bound,)).verdict == "auto"
    assert judge(swapped, spec(), rules=asks, grants=(bound,)).verdict == "ask"
    assert judge(CALL, spec(), rules=asks, grants=(Grant("other", "always"),)).verdict == "ask"
    elsewhere = Grant(HASH, "always", server="srv-of-another-account")
    assert judge(CALL, spec(), rules=asks, grants=(elsewhere,)).verdict == "ask"
    unhashed = ToolSpec("write", "srv-1", "write")
    assert judge(CALL, unhashed, rules=asks, grants=(Grant("", "always"),)).verdict == "ask"


def test_always_is_said_twice_for_what_destroys_or_reaches_out() -> None:
    for claim in ("destructive", "open_world"):
        tool = spec(**{claim: True})
        asks = (PolicyRule("ask"),)
        assert judge(CALL, tool, rules=asks, grants=(Grant(HASH, "always"),)).verdict == "ask"
        assert judge(CALL, tool, rules=asks, grants=(Grant(HASH, "always", emphatic=True),)).verdict == "auto"


@pytest.mark.parametrize("known", [{"hash_now": "other"}, {"agreed_hash": "other"}])
def test_a_changed_definition_is_refused_whatever_was_granted(known: dict[str, str]) -> None:
    tool = ToolSpec("write", "srv-1", "write", hash=HASH, approval="auto")
    judged = judge(CALL, tool, trust=TrustLevel("files", trusted=True, **known), grants=(Grant(HASH, "always"),))
    assert (judged.verdict, judged.refusal) == ("refuse", "changed")


def test_an_unknown_tool_lists_the_nearest_and_runs_none() -> None:
    judged = judge(ToolCall("call_1", "read_fil"), None, offered=["read_file", "write_file", "list_directory"])
    assert (judged.verdict, judged.refusal) == ("refuse", "unknown_tool")
    assert "read_file" in judged.reason and "list_directory" not in judged.reason
    assert judge(ToolCall("call_1", "zzz"), None, offered=["read_file"]).reason == "There is no tool 'zzz'."


def test_bad_arguments_are_refused_with_the_reason() -> None:
    broken = ToolCall("call_1", "write", "{}", raw='{"path": ', broken="it ends in the middle")
    judged = judge(broken, spec())
    assert (judged.verdict, judged.refusal) == ("refuse", "bad_arguments") and "ends in the middle" in judged.reason
    judged = judge(CALL, spec(), errors=["/path: 3 is not of type string"])
    assert (judged.verdict, judged.refusal) == ("refuse", "bad_arguments") and "/path: 3 is not" in judged.reason


def test_a_call_that_once_ended_unknown_always_asks() -> None:
    tool = ToolSpec("write", "srv-1", "write", hash=HASH, approval="auto")
    judged = judge(CALL, tool, grants=(Grant(HASH, "always"),), in_doubt=True)
    assert (judged.verdict, judged.rule) == ("ask", "the same call once ended unknown")


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
