"""The documentation is complete, true to the code, and its examples run."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import msgspec
import pytest

from tests.kit.app import RunningApp, clean_environment, running_app
from windlass import config
from windlass.api.events import KINDS, ON_THE_WIRE
from windlass.api.routes import ROUTES
from windlass.cli.program import VERBS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), ROOT / "README.md"])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED_TEST = re.compile(r"`(tests/[\w/]*(?:\.py)?)(?:::(test_\w+))?`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


def blocks(kind: str) -> list[tuple[str, str]]:
    return [(page.name, code) for page in PAGES for found, code in BLOCK.findall(page.read_text()) if found == kind]


def test_generated_pages_are_up_to_date() -> None:
    code = "import sys; sys.path.insert(0, 'docs'); import generate, json; print(json.dumps(generate.pages()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, timeout=60)
    made = msgspec.json.decode(done.stdout, type=dict[str, str])
    old = [name for name, text in made.items() if (DOCS / name).read_text() != text]
    assert not old, f"run `make docs`: {old} are out of date; a changed public name needs a line in CHANGELOG.md too"


def test_every_route_is_documented() -> None:
    told = (DOCS / "routes.md").read_text()
    assert [f"{route.method} {route.path}" for route in ROUTES if f"`{route.method} {route.path}`" not in told] == []


def test_every_verb_is_documented() -> None:
    told = (DOCS / "cli.md").read_text()
    assert [verb for verb in VERBS if f"## windlass {verb}\n" not in told] == []


def test_every_event_and_each_of_its_fields_is_documented() -> None:
    told = (DOCS / "events.md").read_text()
    rows = {line.split("`")[1]: line for line in told.splitlines() if line.startswith("| `")}
    assert KINDS.keys() | {"ping"} == rows.keys()
    names = {
        name: [field.encode_name for field in msgspec.structs.fields(ON_THE_WIRE[kind])]
        if kind in ON_THE_WIRE
        else [field.name for field in fields(kind)]
        for name, kind in KINDS.items()
    }
    assert [f"{name}.{field}" for name in names for field in names[name] if f"`{field}`" not in rows[name]] == []


def test_the_settings_page_names_every_setting_and_can_be_read() -> None:
    told = (DOCS / "settings.md").read_text()
    [example] = [code for page, code in blocks("toml") if page == "settings.md"]
    shapes = (
        config._File,
        config.ProviderSettings,
        config.ServerSettings,
        config.ToolSettings,
        config.WebSearchSettings,
        config.Listener,
        config.GatewaySettings,
        config.LimitSettings,
        config.RuleSettings,
    )
    names = [name for shape in shapes for name in shape.__struct_encode_fields__]
    assert [name for name in names if not re.search(rf"\b{name}\b", example) and name != "providers"] == []
    assert "[[providers]]" in told


@pytest.mark.parametrize(("page", "code"), blocks("toml"), ids=lambda value: value if len(value) < 30 else "")
def test_every_example_of_settings_is_valid(page: str, code: str, tmp_path: Path) -> None:
    file = tmp_path / "windlass.toml"
    file.write_text(code.replace("file:~/.config/zai-key", "a key"))
    assert config.load(config=file, env={"WINDLASS_HOME": str(tmp_path), "REMOTE_AUTH": "x"})


def test_every_variable_is_documented() -> None:
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    used = set(re.findall(r'"(WINDLASS_[A-Z]+|OPENAI_[A-Z_]+|LLM_MODEL|ZAI_API_KEY)"', source))
    told = (DOCS / "settings.md").read_text()
    for_tests = {"WINDLASS_FAULT", "WINDLASS_FROZEN"}
    assert [name for name in sorted(used - for_tests) if f"`{name}`" not in told] == []


def test_every_test_that_is_named_exists() -> None:
    missing = []
    for page in PAGES:
        for path, name in NAMED_TEST.findall(page.read_text()):
            file = ROOT / path
            if not file.exists() or (name and f"def {name}(" not in file.read_text()):
                missing.append(f"{page.name}: {path}::{name}")
    assert missing == []


def test_every_link_leads_somewhere() -> None:
    dead = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in LINK.findall(page.read_text())
        if not (page.parent / target).exists()
    ]
    assert dead == []


def test_the_diffs_of_the_page_on_adding_fit_the_code() -> None:
    """Each line that a diff keeps or takes away is in the file; a file marked as new is not there yet."""
    unfit = []
    for _, diff in blocks("diff"):
        for part in diff.split("+++ ")[1:]:
            (path, _, new), *lines = part.splitlines()[0].partition(" ("), *part.splitlines()[1:]
            code = (ROOT / path).read_text().splitlines() if not new else []
            unfit += [f"{path}: {line}" for line in lines if not line.startswith("+") and line[1:] not in code]
            unfit += [f"{path}: is there already"] if new and (ROOT / path).exists() else []
    assert blocks("diff") and unfit == []


def test_every_page_is_reached_from_the_readme() -> None:
    linked = set(LINK.findall((ROOT / "README.md").read_text()))
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} <= linked


def test_every_place_in_the_seeds_page_exists() -> None:
    told = (DOCS / "seeds.md").read_text()
    places = re.findall(r"`((?:src/windlass|examples|docs)/[\w/.]+)`", told)
    assert places and [place for place in places if not (ROOT / place).exists()] == []


STATEMENTS = 106  # in the two seeds
STATEMENT = re.compile(r"^\| (\d+) \| (.+) \| `([\w/.]+)` \| (.+) \|$", re.MULTILINE)
A_TEST = re.compile(r"`tests/[\w/]+\.py::test_\w+`")


def test_every_statement_of_the_seeds_is_numbered_placed_and_shown_by_a_test() -> None:
    """That the tests exist is asked above, of every page."""
    rows = STATEMENT.findall((DOCS / "seeds.md").read_text())
    assert [int(number) for number, *_ in rows] == [*range(1, STATEMENTS + 1)]
    assert len({statement for _, statement, *_ in rows}) == STATEMENTS
    roots = (ROOT / "src/windlass", ROOT)
    assert [place for *_, place, _ in rows if not any((root / place).is_file() for root in roots)] == []
    assert [number for number, *_, shown in rows if not all(map(A_TEST.fullmatch, shown.split(", ")))] == []


def test_every_row_that_differs_from_the_seeds_says_why() -> None:
    table, _, reasons = (DOCS / "seeds.md").read_text().partition("## Where we differ, and why")
    differs = [int(number) for number, statement, *_ in STATEMENT.findall(table) if statement.endswith("(differs)")]
    given = re.findall(r"^- ([\d, ]+): \w", reasons, re.MULTILINE)
    assert differs and differs == [int(number) for numbers in given for number in numbers.split(", ")]


@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=lambda value: value if len(value) < 30 else "")
def test_every_python_example_runs(page: str, code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "answered" in done.stdout or "ok" in done.stdout


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    with running_app(tmp_path_factory.mktemp("docs") / "home") as running:
        yield running


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="the guide's commands need curl and jq")
def test_the_guides_commands_run_as_they_stand(app: RunningApp) -> None:
    script = "set -eo pipefail\n" + "".join(code for page, code in blocks("sh") if page == "api.md")
    env = clean_environment(app.home, URL=app.url, TOKEN=app.token)
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert '\\"value\\": 42' in done.stdout and "event: tool_progress" in done.stdout and '"answered"' in done.stdout
