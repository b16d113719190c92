"""One word for one thing: names that stood for too many things do not come back, and a class name exists once."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "windlass"
RETIRED = {
    "word": "decision, request or setting",
    "place": "position, index, path or slot",
    "said": "text, message or partial_text",
    "told": "notified, acknowledged or shown",
    "house": "app or system",
    "hear": "emit",
    "heard": "event",
}
ON_THE_WIRE = {  # a field of the API keeps its name
    ("api/schemas/system.py", "told"),
    ("services/system.py", "told"),
    ("cli/search.py", "told"),
}


def test_retired_names_are_not_used() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}: say {RETIRED[bare(name)]}"
        for path in sources()
        for line, name in names(ast.parse(path.read_text()))
        if bare(name) in RETIRED and (str(path.relative_to(PACKAGE)), bare(name)) not in ON_THE_WIRE
    ]
    assert not found, "\n".join(found)


def test_a_class_name_exists_once() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    twice = {name: where for name, where in homes.items() if len(where) > 1}
    assert not twice


@pytest.mark.parametrize(
    "code",
    [
        "word = 1",
        "def told(): ...",
        "def f(place): ...",
        "self._said",
        "f(house=1)",
        "class Heard: ...",
        "import a.place",
    ],
)
def test_a_retired_name_is_found_however_it_is_used(code: str) -> None:
    assert any(bare(name) in RETIRED for _, name in names(ast.parse(code)))


def bare(name: str) -> str:
    return name.strip("_").lower()


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.alias(name=name, asname=alias):
                yield node.lineno, alias or name.rpartition(".")[2]
