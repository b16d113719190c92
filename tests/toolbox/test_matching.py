"""Rules over arguments: what denies or asks is not dodged by another spelling, what allows is not stretched by one."""

import json
from typing import Any

import pytest

from windlass.core.messages import ToolCall, ToolSpec
from windlass.toolbox.matching import allowed_by, caught_by, hides
from windlass.toolbox.permissions import PolicyRule, RuleBook, decide

ETC = [
    "/etc/passwd",
    "//etc/passwd",
    "/etc//passwd",
    "/./etc/passwd",
    "/etc/./passwd",
    "/etc/../etc/passwd",
    "/docs/../etc/passwd",
    "../../etc/passwd",
    "/ETC/passwd",
    "/%65tc/passwd",
    "/docs/%2e%2e/etc/passwd",
    "/docs/%252e%252e%252fetc/passwd",
    "%2fetc%2fpasswd",
    "%252fetc%252fpasswd",
    "\uff0fetc\uff0fpasswd",  # fullwidth
    "/\uff45\uff54\uff43/passwd",
    "/e\u200btc/passwd",
    "/etc\u00ad/passwd",
    "\ufeff/etc/passwd",
    "/etc\0/passwd",
    "/docs/a.txt\0/etc/passwd",
    "\\etc\\passwd",
    "/etc\\passwd",
    "/docs\\..\\etc\\passwd",
    "/proc/self/root/etc/passwd",
    "/proc/1/root/proc/self/root/etc/passwd",
    "/proc/self/task/1/cwd/../etc/passwd",
    "/tmp/link/../etc/passwd",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    " /etc/passwd ",
    "/etc/passwd/",
    "/etc/",
    "/etc",
]
ORDINARY = [
    "/docs/a.txt",
    "/docs/etc/passwd",
    "/home/Me/Documents/Straße 1.txt",
    "/home/me/100% sure.txt",
    "notes.txt",
    "/etcetera",
    "https://example.org/a%20b/c?x=%2Fetc%2Fpasswd",
    "Wait… it is 20° 👨‍👩‍👧 outside, and/or so.",
    "",
]


@pytest.mark.parametrize("path", ETC)
@pytest.mark.parametrize("choice", ["deny", "ask"])
def test_c4_no_spelling_gets_around_a_rule_that_denies_or_asks(path: str, choice: Any) -> None:
    for arguments in ({"path": path}, {"path": [path]}, {"path": {"name": path}}):
        assert verdict({"path": "/etc/*"}, arguments, choice) == {"deny": "refuse", "ask": "ask"}[choice]
        assert verdict({"*": "/etc/*"}, {"other": arguments}, choice) != "auto"


@pytest.mark.parametrize("path", ORDINARY)
def test_c4_an_ordinary_value_is_not_taken_for_another(path: str) -> None:
    assert verdict({"path": "/etc/*"}, {"path": path}, "deny") == "auto"
    assert verdict({"*": "/etc/*"}, {"path": [{"x": path}]}, "deny") == "auto"
    assert not hides(path)


@pytest.mark.parametrize(
    "text",
    ["SECRET", "the Secret plan", "\uff53\uff45\uff43\uff52\uff45\uff54", "se\u200bcret", "%73ecret", "x%53ECRETx"],
)
def test_c4_a_pattern_in_text_is_found_whatever_its_letters(text: str) -> None:
    assert verdict({"*": "*secret*"}, {"note": {"inner": ["a", text]}}, "deny") == "refuse"
    assert verdict({"*": "*secret*"}, {text: 1}, "deny") == "refuse"  # names of fields too
    assert verdict({"*": "*SECRET*"}, {"note": "a secret"}, "ask") == "ask"


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/x",
        "https://EVIL.example/x",
        "https://evil.example:443/x",
        "https://evil.example:/x",
        "https://evil.example./x",
        "https://me@evil.example/x",
        "https:/evil.example/x",
        "https:\\\\evil.example/x",
        "https:evil.example/x",
        "https://ev\til.example/x",
        "https://evil\n.example/x",
        "https://evil\u3002example/x",
    ],
)
def test_c4_no_spelling_of_a_host_gets_around_a_rule(address: str) -> None:
    assert verdict({"url": "https://evil.example/*"}, {"url": address}, "deny") == "refuse"
    assert verdict({"url": "https://*.example/*"}, {"url": address}, "auto", otherwise="ask") == (
        "auto" if address.casefold() == "https://evil.example/x" else "ask"
    )


def test_c4_a_whole_number_is_one_however_it_is_written() -> None:
    for port in (22, 22.0):
        assert verdict({"port": "22"}, {"port": port}, "deny") == "refuse"
    assert verdict({"port": "22"}, {"port": 22.5}, "deny") == "auto"


def test_c4_a_rule_that_denies_reads_the_default_of_an_absent_argument() -> None:
    schema = '{"type":"object","properties":{"path":{"default":"/etc/hosts"},"other":{}}}'
    for globs in ({"path": "/etc/*"}, {"/path": "/etc/*"}, {"*": "/etc/*"}):
        assert verdict(globs, {"other": "x"}, "deny", schema) == "refuse"
        assert verdict(globs, {"path": "/docs/a"}, "deny", schema) == "auto"
    assert verdict({"path": "/etc/*"}, {"other": "x"}, "deny") == "auto"


def test_c4_a_rule_that_names_two_arguments_needs_both() -> None:
    globs = {"path": "/etc/*", "mode": "w"}
    assert verdict(globs, {"path": "/etc/hosts", "mode": "w"}, "deny") == "refuse"
    assert verdict(globs, {"path": "/etc/hosts", "mode": "r"}, "deny") == "auto"


def test_c4_arguments_that_cannot_be_read_are_denied_and_never_allowed() -> None:
    broken = ToolCall("call_1", "read", "{")
    assert decide(broken, spec(), rules=RuleBook([PolicyRule("deny", arguments={"path": "x"})])).verdict == "refuse"
    rules = RuleBook([PolicyRule("auto", arguments={"path": "*"}), PolicyRule("ask")])
    assert decide(broken, spec(), rules=rules).verdict == "ask"


@pytest.mark.parametrize(
    ("globs", "arguments", "matches"),
    [
        ({"path": "/docs/*"}, {"path": "/docs/a.txt"}, True),
        ({"path": "/docs/*"}, {"path": "/docs/Straße/b c.txt"}, True),
        ({"path": "/docs/*"}, {"path": "/Docs/a.txt"}, False),
        ({"path": "/docs/*"}, {"path": "/etc/passwd"}, False),
        ({"path": "/docs/*"}, {"path": "/docs/../etc/passwd"}, False),
        ({"path": "/docs/*"}, {"path": "/docs/..\\..\\etc"}, False),
        ({"path": "/docs/*"}, {"path": "/docs/%2e%2e/etc"}, False),
        ({"path": "/docs/*"}, {"path": "/docs//a.txt"}, False),
        ({"path": "/docs/*"}, {"path": "/docs/a\u200b.txt"}, False),
        ({"path": "/docs/*"}, {"path": "/docs/\uff41.txt"}, False),
        ({"path": "/docs/*"}, {"path": ["/docs/a", "/docs/b"]}, True),
        ({"path": "/docs/*"}, {"path": ["/docs/a", "/etc/b"]}, False),
        ({"path": "/docs/*"}, {"path": []}, False),
        ({"path": "/docs/*"}, {}, False),
        ({"path": "C:\\docs\\*"}, {"path": "C:\\docs\\a.txt"}, True),
        ({"path": "*"}, {"path": "/docs/../etc/passwd"}, True),
        ({"url": "https://api.example.org/*"}, {"url": "https://api.example.org/a%20b?q=1%2F2"}, True),
        ({"url": "https://api.example.org/*"}, {"url": "https://api.example.org/%2e%2e/x"}, False),
        ({"/to/0/name": "bob"}, {"to": [{"name": "bob"}]}, True),
        ({"/to/0/name": "bob"}, {"to": [{"name": "bob"}, {"name": "eve"}]}, False),
        ({"/to/0/name": "bob"}, {"to": [{"name": "bob", "cc": "eve"}]}, False),
        ({"/to/1/name": "bob"}, {"to": [{"name": "bob"}]}, False),
        ({"/a~1b": "x"}, {"a/b": "x"}, True),
        ({"count": "3"}, {"count": 3}, True),
        ({"*": '*"path":"/docs*'}, {"path": "/docs"}, True),
    ],
)
def test_c4_a_rule_that_allows_compares_the_value_as_it_stands(
    globs: dict[str, str], arguments: dict[str, Any], matches: bool
) -> None:
    assert allowed_by(globs, arguments, {}) == matches


def test_c4_what_a_rule_does_not_name_must_be_absent_or_the_default() -> None:
    schema = '{"type":"object","properties":{"path":{},"mode":{"default":"r"},"cc":{}}}'
    globs = {"path": "/docs/*"}
    assert verdict(globs, {"path": "/docs/a"}, "auto", schema, "ask") == "auto"
    assert verdict(globs, {"path": "/docs/a", "mode": "r"}, "auto", schema, "ask") == "auto"
    assert verdict(globs, {"path": "/docs/a", "mode": "w"}, "auto", schema, "ask") == "ask"
    assert verdict(globs, {"path": "/docs/a", "cc": "eve@example.org"}, "auto", schema, "ask") == "ask"
    free = PolicyRule("auto", arguments=globs, other_arguments=True)
    call = ToolCall("call_1", "read", '{"path": "/docs/a", "cc": "bob"}')
    assert decide(call, spec(schema), rules=RuleBook([free, PolicyRule("ask")])).verdict == "auto"
    whole = PolicyRule("auto")  # names no argument: it is about the tool
    assert decide(call, spec(schema), rules=RuleBook([whole, PolicyRule("ask")])).verdict == "auto"


def test_c4_a_long_or_deep_value_is_denied_rather_than_passed() -> None:
    assert hides("a" * ((1 << 20) + 1))
    deep: Any = "/etc/passwd"
    for _ in range(400):
        deep = [deep]
    assert caught_by({"*": "/etc/*"}, {"path": deep}, {})


def verdict(
    globs: dict[str, str], arguments: dict[str, Any], choice: Any, schema: str = "{}", otherwise: Any = "auto"
) -> str:
    rules = RuleBook([PolicyRule(choice, arguments=globs), PolicyRule(otherwise)])
    call = ToolCall("call_1", "read", json.dumps(arguments))
    return decide(call, spec(schema), rules=rules).verdict


def spec(schema: str = "{}") -> ToolSpec:
    return ToolSpec("read", "srv-1", "read", schema=schema, hash="h1", kind="reads")
