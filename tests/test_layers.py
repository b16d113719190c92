"""The package keeps its layers: what each part of the package may import, read from the source itself."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "windlass"

# Lowest floor first. A part may import itself and the parts named beside it; none but app.py and the package's own
# front door knows more than it needs.
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "version": set(),
    "demo": set(),
    "api": {"core"},
    "toml_lines": set(),
    "sentences": set(),
    "addresses": set(),
    "hardening": set(),
    "config": {"core", "toml_lines"},
    "json_schema": {"core"},
    "providers": {"core", "json_schema", "sentences"},
    "search": {"core", "addresses"},
    "servers": {"core", "sentences", "addresses"},
    "store": {"core"},
    "bus": {"core"},
    "telemetry": {"core", "bus"},
    "runner": {"core", "bus", "store"},
    "toolbox": {"core", "config", "json_schema", "providers", "search", "servers", "store"},
    "turns": {
        *("core", "api", "config", "sentences", "providers", "search", "servers", "store", "bus", "runner", "toolbox"),
    },
    "services": {
        *("version", "core", "api", "config", "providers", "search", "servers", "store", "bus", "telemetry", "runner"),
        *("toolbox", "turns"),
    },
    "gateway": {"version", "core", "api", "bus", "toolbox", "turns", "services"},
    "web": {"core", "api", "config", "bus", "turns", "services"},  # and `gateway`, loaded late
    "app": {
        *("version", "core", "demo", "config", "providers", "servers", "store", "bus", "telemetry", "runner"),
        *("toolbox", "turns", "services", "web"),
    },
    "reload": {"core", "config", "providers", "servers", "web", "app"},
    "client": {"core", "api", "bus", "config", "services", "toolbox", "app"},  # and `gateway`, loaded late
    "testing": {"core", "providers"},
    "cli": {"version", "core", "api", "config", "hardening", "telemetry", "client"},
    "__main__": {"cli"},
    "__init__": {"version", "core", "api", "config", "client"},
}
SERVE = Path("cli", "serve.py")  # the one command that is the server
SERVER = {"app", "web", "reload"}


def test_every_part_imports_only_what_its_floor_allows() -> None:
    forbidden = [
        f"{path.relative_to(PACKAGE)}:{line}: {part} may not import {target}"
        for path in sources()
        for part in [part_of(path)]
        for line, target in imported_parts(path)
        if target != part and target not in MAY_IMPORT.get(part, set())
        if not (path.relative_to(PACKAGE) == SERVE and target in SERVER)
    ]
    assert not forbidden, "\n".join(forbidden)


def test_every_part_has_a_layer() -> None:
    parts = {part_of(path) for path in sources()}
    assert parts <= MAY_IMPORT.keys(), f"name these in MAY_IMPORT: {sorted(parts - MAY_IMPORT.keys())}"


def test_imports_point_only_downwards() -> None:
    floors = list(MAY_IMPORT)
    upwards = [
        f"{part} -> {target}"
        for part, targets in MAY_IMPORT.items()
        for target in targets
        if floors.index(target) >= floors.index(part)
    ]
    assert not upwards


def test_the_core_needs_nothing_but_the_standard_library() -> None:
    foreign = [
        f"{path.relative_to(PACKAGE)}:{line}: {module}"
        for path in sources("core")
        for line, module in imports(path)
        if module.partition(".")[0] not in sys.stdlib_module_names | {"windlass"}
    ]
    assert not foreign, "\n".join(foreign)


def test_the_core_stays_small_enough_to_be_read_in_one_go() -> None:
    assert sum(len(path.read_text().splitlines()) for path in sources("core")) < 1800


def test_mcp_is_imported_in_one_file_of_each_side() -> None:
    files = {
        str(path.relative_to(PACKAGE))
        for path in sources()
        for _, module in imports(path)
        if module.partition(".")[0] in {"mcp", "mcp_types"}
    }
    assert files <= {"servers/sdk.py", "gateway/sdk.py"}, sorted(files)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import windlass.store.sqlite", "store"),
        ("from windlass.store import sqlite", "store"),
        ("from windlass import store", "store"),
        ("from windlass import Windlass", "__init__"),
        ("import windlass", "__init__"),
        ("def late():\n    from windlass.web import routes", "web"),
    ],
)
def test_an_import_is_seen_however_it_is_written(code: str, found: str, tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(code)
    assert [part for _, part in imported_parts(file)] == [found]


def sources(part: str = "") -> list[Path]:
    return sorted((PACKAGE / part).rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> Iterator[tuple[int, str]]:
    """The parts of windlass that a file imports, anywhere in it; a name from the package's front is `__init__`."""
    for line, module in imports(path):
        root, *rest = module.split(".")
        if root == "windlass":
            yield line, rest[0] if rest and rest[0] in MAY_IMPORT else "__init__"


def imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(level=0, module="windlass", names=names):
                yield from ((node.lineno, f"windlass.{alias.name}") for alias in names)
            case ast.ImportFrom(level=0, module=str(module)):
                yield node.lineno, module
            case ast.ImportFrom():
                raise AssertionError(f"{path}:{node.lineno}: imports are absolute")
