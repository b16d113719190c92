"""The tests themselves: each of them can fail, and none of them waits for time to pass."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# How helpers that fail a test are named.
CHECKING = ("assert", "check", "expect", "raises", "test_", "until", "verify", "fail")
WAITS = {"sleep", "wait_for_timeout"}

# Every sleep there is. Whoever needs another one says here why no event can be waited for.
SLEEPS = {
    "tests/faults/schedules.py": (3, "the pauses are the schedule that is explored"),
    "tests/faults/storm.py": (2, "the moment of a kill is drawn; a server that is down cannot tell when it is back"),
    "tests/faults/test_storage.py": (1, "space on a disk comes back in its own time"),
    "tests/faults/watching.py": (1, "a server that is down cannot tell when it is back"),
    "tests/kit/ledger/command.py": (1, "a file cannot tell when it is there"),
    "tests/kit/ledger/tools.py": (1, "a tool that is slow on purpose"),
    "tests/kit/proxies.py": (1, "another process's port is looked at"),
    "tests/kit/self_approving_server.py": (1, "a program of its own looks for its call, as an attacker would"),
    "tests/kit/waiting.py": (3, "the one way to wait for files and processes"),
    "tests/kit/windlass_process.py": (1, "the state of another process is looked at"),
    "tests/proof/test_measures.py": (4, "the pace of samples, of a model and of looking at another process"),
    "tests/providers/test_openai_chat.py": (1, "a model that is slow on purpose"),
    "tests/web/test_protocol.py": (1, "another process's memory is looked at"),
    "tests/servers/test_big_results.py": (3, "how late a sleep ends is what is measured"),
}


def test_every_test_can_fail() -> None:
    tests = [(name, test) for name, tree in _trees() for test in _tests(tree)]
    assert len(tests) > 1000
    assert [f"{name}::{test.name}" for name, test in tests if not _can_fail(test)] == []


def test_no_check_is_true_whatever_happens() -> None:
    checks = [(name, node) for name, tree in _trees() for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    assert [f"{name}:{check.lineno} {ast.unparse(check)}" for name, check in checks if _cannot_be_false(check)] == []


def test_every_sleep_has_its_reason() -> None:
    found = {name: _sleeps(tree) for name, tree in _trees()}
    assert {name: count for name, count in found.items() if count} == {name: n for name, (n, _) in SLEEPS.items()}


@pytest.mark.parametrize(
    "text",
    ["assert row.n or 1", "assert 'x'", "assert (a == b, 'why')", "assert (state, row.n or 1) == ('open', 1)"],
)
def test_a_check_that_is_always_true_is_found(text: str) -> None:
    assert _cannot_be_false(_check(text))


@pytest.mark.parametrize("text", ["assert row.n", "assert a or b", "assert (row.text or '') == ''", "assert a == 1"])
def test_a_check_that_can_be_false_is_let_be(text: str) -> None:
    assert not _cannot_be_false(_check(text))


@pytest.mark.parametrize(
    ("text", "sleeps"),
    [("time.sleep(1)", 1), ("asyncio.sleep(0)", 0), ("page.wait_for_timeout(500)", 1), ("code = 'time.sleep(9)'", 0)],
)
def test_a_sleep_is_found_where_it_takes_time(text: str, sleeps: int) -> None:
    assert _sleeps(ast.parse(text)) == sleeps


def test_a_test_that_only_calls_things_is_found() -> None:
    assert not _can_fail(_function("def test_it(site): site.post('/x')"))
    assert _can_fail(_function("def test_it(site): check_rows(site.post('/x'))"))


@cache
def _trees() -> list[tuple[str, ast.Module]]:
    return [(str(file.relative_to(ROOT)), ast.parse(file.read_text())) for file in _files(ROOT / "tests")]


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py":
            yield path
        elif path.is_dir() and path.name != "node_modules":
            yield from _files(path)


def _tests(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


def _called(node: ast.AST) -> str:
    match node:
        case ast.Call(ast.Name(name)) | ast.Call(ast.Attribute(_, name)):
            return name
    return ""


def _can_fail(test: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Assert | ast.Raise) or _called(node).removeprefix("_").startswith(CHECKING)
        for node in ast.walk(test)
    )


def _cannot_be_false(check: ast.Assert) -> bool:
    """`assert x or 1`, `assert (x, "why")`, `assert (n or 1) == 1`: true whatever the product does."""
    match check.test:
        case ast.Constant() | ast.Tuple():
            return True
        case ast.BoolOp(ast.Or(), values):
            return any(isinstance(value, ast.Constant) and bool(value.value) for value in values)
        case ast.Compare():
            sides = [check.test.left, *check.test.comparators]
            parts = [part for side in sides for part in (side.elts if isinstance(side, ast.Tuple) else [side])]
            return bool({_default(part) for part in parts} & {_constant(part) for part in parts} - {""})
    return False


def _default(part: ast.AST) -> str:
    match part:
        case ast.BoolOp(ast.Or(), [*_, ast.Constant(value)]) if value:
            return repr(value)
    return ""


def _constant(part: ast.AST) -> str:
    return repr(part.value) if isinstance(part, ast.Constant) else ""


def _sleeps(tree: ast.AST) -> int:
    return sum(
        _called(node) in WAITS and not (isinstance(node, ast.Call) and node.args and _constant(node.args[0]) == "0")
        for node in ast.walk(tree)
    )


def _check(text: str) -> ast.Assert:
    (check,) = (node for node in ast.parse(text).body if isinstance(node, ast.Assert))
    return check


def _function(text: str) -> ast.FunctionDef:
    (function,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return function
