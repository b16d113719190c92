"""Writes the pages that follow from the code: `make docs`. A test fails while they are out of date."""

import io
import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from docs.public_names import description, listing
from tests.proof.incidents import INCIDENTS, NOT_OURS, PAINS
from windlass.api.route import Route
from windlass.api.routes import ROUTES
from windlass.cli.program import VERBS, run
from windlass.services.v1_parameters import PARAMETERS

DOCS = Path(__file__).parent


def main() -> None:
    for name, text in pages().items():
        (DOCS / name).write_text(text)


def pages() -> dict[str, str]:
    written = {"routes.md": _routes(), "cli.md": _cli(), "incidents.md": _incidents()}
    written["openai-parameters.md"] = _parameters()
    return {**written, "public-names.txt": listing(), "openapi.json": description()}


def _routes() -> str:
    head = "# All routes\n\nMade from the code by `docs/generate.py`. Shapes are at `/openapi.json` and `/docs`;\n"
    head += "[access.md](access.md) explains scopes and what a browser confirms.\n"
    groups: dict[str, list[Route[..., Any]]] = {}
    for route in ROUTES:
        groups.setdefault(route.group, []).append(route)
    return head + "".join(f"\n## {tag}\n\n{_table(routes)}" for tag, routes in groups.items())


def _table(routes: list[Route[..., Any]]) -> str:
    rows = "".join(
        f"| `{route.method} {route.path}` | {_scope(route)} | {route.summary} | {_name(route.takes)} "
        f"| {_name(route.gives)} |\n"
        for route in routes
    )
    return "| route | scope | what | takes | gives |\n|---|---|---|---|---|\n" + rows


def _scope(route: Route[..., Any]) -> str:
    if route.public:
        return "none"
    confirmed = {"always": ", confirmed", "depends": ", may be confirmed"}.get(route.sudo or "", "")
    return f"{route.scope}{confirmed}"


def _name(shape: Any) -> str:
    name = getattr(shape, "__name__", "")
    return f"`{name}`" if name and name != "Annotated" else ""


def _parameters() -> str:
    head = (
        "# Parameters of `/v1/chat/completions`\n\nMade from `services/v1_parameters.py` by `docs/generate.py`."
        " *Passed*: sent to the model's provider with every\nrequest of the turn, as you wrote it. *Honoured*: Windlass"
        " does it. *Refused*: 400 with `param` and the reason. A parameter\nthat is not listed here, such as `top_k` or"
        " `thinking`, is passed: your provider may know it, and a provider that does not\nrefuses it by name, which you"
        " get as a 400. `null` counts as left out. [openai-clients.md](openai-clients.md) has the rest.\n"
    )
    rows = "".join(f"| `{one.name}` | {one.treatment} | {one.note} |\n" for one in PARAMETERS)
    return f"{head}\n| parameter | | |\n|---|---|---|\n{rows}"


def _incidents() -> str:
    head = (
        "# Incidents of the field\n\nMade from `tests/proof/incidents.py` by `docs/generate.py`. What went wrong"
        " elsewhere, and the\ntests that would have caught it here; the first of each row is named after it."
        " `make proof` runs them all.\n"
    )
    rows = {**INCIDENTS, **PAINS}
    table = "".join(f"| {name} | {', '.join(map(_test, tests))} |\n" for name, tests in rows.items())
    apart = "".join(f"- {name}: {why}.\n" for name, why in NOT_OURS.items())
    return f"{head}\n| incident | shown by |\n|---|---|\n{table}\nCannot happen here:\n\n{apart}"


def _test(named: str) -> str:
    test, _, case = named.partition("[")
    return f"`{test}`" + (f" [{case}" if case else "")


def _cli() -> str:
    head = "# Command line\n\nMade from the code by `docs/generate.py`. Exit codes: see operations.md.\n"
    return head + "".join(f"\n## {' '.join(['windlass', *words])}\n\n{_help(words)}" for words in _commands())


def _commands() -> Iterator[list[str]]:
    yield []
    for verb, (module, _) in VERBS.items():
        yield [verb]
        found = getattr(import_module(f"windlass.cli.{module}"), verb)
        if isinstance(found, typer.Typer):
            for command in found.registered_commands:
                yield [verb, str(command.name or getattr(command.callback, "__name__", ""))]


def _help(words: list[str]) -> str:
    os.environ |= {"COLUMNS": "80", "TERMINAL_WIDTH": "80"}
    told = io.StringIO()
    with redirect_stdout(told):
        run([*words, "--help"])
    return "".join(f"    {line}".rstrip() + "\n" for line in told.getvalue().splitlines())


if __name__ == "__main__":
    main()
