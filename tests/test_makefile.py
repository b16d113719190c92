"""Every command of the Makefile: it is in the help, it can be planned, and what its recipe starts is there."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.findall(r"[\w-]+", "".join(re.findall(r"^\.PHONY:(.*)$", MAKEFILE, re.MULTILINE)))


def make(*words: str) -> str:
    """Not as a part of the make that runs the tests, whose jobs it would wait for."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PART"))}
    done = subprocess.run(["make", *words], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_help_has_every_command_once() -> None:
    shown = [line.split()[1] for line in make("help").splitlines()]
    assert sorted(shown) == sorted(TARGETS) == sorted(set(TARGETS))
    assert "quick" in shown and "proof" in shown


@pytest.mark.parametrize("target", TARGETS)
def test_a_command_can_be_planned(target: str) -> None:
    assert "No rule" not in make("--dry-run", target)


def test_what_the_recipes_start_is_there() -> None:
    assert missing(MAKEFILE) == []


@pytest.mark.parametrize(
    ("recipe", "wanted"),
    [
        ("\tnpm --prefix ui run beautify", ["npm script ui beautify"]),
        ("\t@scripts/no-such-script here", ["script no-such-script"]),
        ("\t$(BIN)/python -m tests.nothing", ["module tests.nothing"]),
        ("\t$(BIN)/python -m tests.kit", ["module tests.kit"]),
        ("\t$(BIN)/no-such-program .", ["program no-such-program"]),
        ("\tnpm --prefix ui test && scripts/find-node x && $(BIN)/python -m benchmarks", []),
    ],
)
def test_what_is_not_there_is_found(recipe: str, wanted: list[str]) -> None:
    assert missing(f"target:\n{recipe}\n") == wanted


def test_the_quick_tests_are_there() -> None:
    chosen = shlex.split(make("--dry-run", "quick").partition("/pytest -q ")[2].splitlines()[0])
    names = [name.partition("::") for name in chosen]
    assert len(names) > 5
    assert [file for file, _, _ in names if not (ROOT / file).exists()] == []
    assert [test for file, _, test in names if test and f"def {test}(" not in (ROOT / file).read_text()] == []


def test_the_proof_takes_a_part() -> None:
    assert "tests.proof --only 'kills'" in make("--dry-run", "proof", "PART=kills")
    assert "--only" not in make("--dry-run", "proof")


def missing(makefile: str) -> list[str]:
    """What recipes name and the repository or the environment lacks."""
    recipes = "\n".join(line for line in makefile.splitlines() if line.startswith("\t"))
    return [
        " ".join([kind, *named.groups()])
        for kind, (pattern, is_there) in KINDS.items()
        for named in re.finditer(pattern, recipes)
        if not is_there(*named.groups())
    ]


def _script_is_there(name: str) -> bool:
    return os.access(ROOT / "scripts" / name, os.X_OK)


def _npm_script_is_there(folder: str, name: str) -> bool:
    return name in json.loads((ROOT / folder / "package.json").read_text())["scripts"]


def _module_is_there(name: str) -> bool:
    try:
        found = find_spec(name)
        return found is not None and bool(found.submodule_search_locations is None or find_spec(f"{name}.__main__"))
    except ModuleNotFoundError:
        return False


def _program_is_there(name: str) -> bool:
    return os.access(Path(sys.executable).parent / name, os.X_OK)


KINDS: dict[str, tuple[str, Callable[..., bool]]] = {
    "script": (r"\bscripts/([\w-]+)", _script_is_there),
    "npm script": (r"npm --prefix (\w+) (?:run )?(?!ci\b|run\b)([\w-]+)", _npm_script_is_there),
    "module": (r"python -m ([\w.]+)", _module_is_there),
    "program": (r"\$\(BIN\)/([\w-]+)", _program_is_there),
}
