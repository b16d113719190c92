"""What errors tell people to do: everybody is told in terms of what stands before them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import windlass
from windlass.api.routes import ROUTES
from windlass.cli.program import COMMANDS

SOURCE = Path(windlass.__file__).parent
PLACES = Path(__file__).parents[1] / "ui" / "src" / "api" / "hints.ts"
ROUTE = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE) /[\w/{}-]*")
SHAPES = {f"{route.method} {re.sub('{.*?}', '{id}', route.path)}" for route in ROUTES}


def texts() -> Iterator[tuple[Path, str]]:
    """Every text in the code that speaks to people, docstrings aside."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.parent.name in {"web", "cli"}:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path, node.value


NAMED = sorted({route for _, text in texts() for route in ROUTE.findall(text)})


def test_every_route_in_a_hint_is_there_and_has_a_command_and_a_place_on_the_page() -> None:
    assert NAMED and set(NAMED) <= SHAPES
    assert set(NAMED) <= set(COMMANDS)
    places = PLACES.read_text()
    assert [route for route in NAMED if f'"{route}":' not in places] == []


def test_a_route_begins_the_sentence_it_stands_in() -> None:
    """Or neither a command nor the name of a place could take its place."""
    wrong = [
        (path.name, text)
        for path, text in texts()
        for found in ROUTE.finditer(text)
        if not re.search(r"(^|[.] )$", text[: found.start()])
    ]
    assert wrong == []


def test_what_is_not_there_is_told_with_a_way_on() -> None:
    bare = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "NotFound":
                if not any(keyword.arg == "hint" for keyword in node.keywords):
                    bare.append(f"{path.name}:{node.lineno}")
    assert bare == []


def test_no_word_of_a_route_stands_where_people_choose_an_id() -> None:
    """Such an id could be named, and never be looked at."""
    chosen = ("/providers/", "/servers/", "/personas/")
    ids = {(route.method, route.path.split("/")[1]) for route in ROUTES if re.fullmatch(r"/\w+/{\w+}", route.path)}
    words = [
        (route.method, route.path)
        for route in ROUTES
        if re.fullmatch(r"/\w+/[a-z-]+", route.path) and route.path.startswith(chosen)
    ]
    hidden = [path for method, path in words if (method, path.split("/")[1]) in ids]
    assert hidden == ["/servers/found"], "which no server may be called: McpServers refuses it as a slug"
