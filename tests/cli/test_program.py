"""The program around the verbs: fast to start, plain in its errors, exact in its exit codes."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM, Commands
from tests.kit.cpu import modules_loaded
from windlass import __version__
from windlass.cli import serve
from windlass.cli.program import VERBS, build

ROOT = Path(__file__).parents[2]


def test_help_and_version_load_little_and_so_are_there_at_once() -> None:
    assert modules_loaded(*PROGRAM, "--version") < 200
    assert modules_loaded(*PROGRAM, "--help") < 250


def test_the_version_is_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert __version__ == project["version"]


def loaded_by(code: str, *names: str) -> list[str]:
    """Which of these modules a program of these lines has loaded at its end."""
    code = f"import sys\n{code}\nprint([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    found: list[str] = ast.literal_eval(done.stdout.splitlines()[-1])
    return found


def test_help_and_version_load_no_heavy_module() -> None:
    code = "sys.argv = ['windlass', '--help']\nfrom windlass.cli import main\ntry: main()\nexcept SystemExit: pass"
    assert loaded_by(code, "aiohttp", "mcp", "starlette", "sqlite3", "rich") == []


def test_a_server_starts_without_loading_what_only_clients_and_searches_need() -> None:
    code = "import windlass.cli.program, windlass.cli.serve"
    assert loaded_by(code, "windlass.client", "aiohttp", "mcp", "pydantic", "importlib.metadata") == []
    assert loaded_by(code, "windlass.app", "starlette") == ["windlass.app", "starlette"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str, alone: Commands) -> None:
    done = alone(verb, "--help")
    assert done.code == 0 and f"windlass {verb}" in done.out
    assert not alone.home.exists(), "help opens nothing"


def test_every_verb_is_listed(alone: Commands) -> None:
    listed = alone("--help").out
    assert all(f"  {verb} " in listed for verb in VERBS)
    assert alone().code == 2


def test_wrong_usage_exits_with_2(alone: Commands) -> None:
    for argv in (["fly"], ["ask", "--wings"], ["ask", "x", "--approve", "maybe"], ["turns", "show"], ["ask"]):
        done = alone(*argv)
        assert done.code == 2, (argv, done)
        assert "Traceback" not in done.err


def test_an_open_server_on_all_addresses_is_refused(alone: Commands) -> None:
    done = alone("serve", "--host", "0.0.0.0", "--no-auth")
    assert done.code == 2
    assert done.err.startswith("error: Refusing to listen on 0.0.0.0 without a token")
    assert "hint: " in done.err


@pytest.mark.parametrize("verb", ["serve", "demo"])
@pytest.mark.parametrize("token", ["1", "fifteen-letters", "fifteen-letters   \n"])
def test_a4_a_short_token_ends_the_start_with_the_way_to_make_one(alone: Commands, verb: str, token: str) -> None:
    done = alone(verb, "--port", "0", WINDLASS_TOKEN=token)
    assert done.code == 2
    [line] = done.err.splitlines()
    assert line.startswith("error: WINDLASS_TOKEN is too short")
    assert "secrets.token_urlsafe" in line and "fifteen" not in line
    assert not alone.home.exists(), "nothing was opened"


def test_a_missing_page_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "PAGE", tmp_path / "nowhere")
    serve._print_urls(["http://127.0.0.1:8420/"])
    written = capsys.readouterr()
    assert written.out == "Windlass is at http://127.0.0.1:8420/\n"
    assert written.err.count("\n") == 1 and "install Node" in written.err


def test_a_known_error_is_one_line_and_a_hint(alone: Commands) -> None:
    alone.home.mkdir()
    (alone.home / "windlass.toml").write_text("port = 'many'\n")
    done = alone("servers", "list")
    assert done.code == 1
    assert done.err.startswith("error: ") and "windlass.toml, line 1" in done.err
    assert "hint: Correct that line; docs/settings.md lists every setting." in done.err
    assert "Traceback" not in done.err


def test_an_internal_error_shows_its_traceback_only_with_debug(alone: Commands) -> None:
    broken = "import windlass.cli.token as t, sys\ndef bad(ctx): raise RuntimeError('boom')\nt.saved_token = bad\n"
    for flags, shown in (([], False), (["--debug"], True)):
        code = f"{broken}from windlass.cli.program import run; sys.exit(run({[*flags, 'token']!r}))"
        done = subprocess.run([sys.executable, "-c", code], env=alone.env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert ("Traceback" in done.stderr) == shown
        assert "error: Internal error in Windlass: RuntimeError: boom\nhint: Run `windlass --debug`" in done.stderr


def test_a_server_that_does_not_answer_is_reported_in_one_line(alone: Commands) -> None:
    done = alone("--url", "http://127.0.0.1:9", "servers", "list")
    assert done.code == 1
    assert done.err.startswith("error: No Windlass answers at http://127.0.0.1:9")
    assert "hint: Start one with `windlass serve`." in done.err


def test_a_malformed_address_is_reported_in_one_line(alone: Commands) -> None:
    done = alone("--url", "nonsense", "servers", "list")
    assert done.code == 1
    assert done.err.splitlines() == [
        "error: nonsense is not the address of a server.",
        "hint: Such as http://127.0.0.1:8420.",
    ]


@pytest.mark.parametrize("argv", [["ask", "hello"], ["serve", "--port", "0"], ["chat"], ["servers", "list"]])
def test_a_data_folder_that_cannot_be_made_is_a_known_error(tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / "file").write_text("")
    done = Commands(tmp_path / "file" / "home")(*argv)
    assert done.code == 1
    assert done.err.startswith("error: The data folder ") and "Not a directory" in done.err
    assert "hint: Make it writable for the user who runs Windlass, or set WINDLASS_HOME to another folder." in done.err


def test_a_closed_pipe_is_not_an_internal_error(alone: Commands) -> None:
    shown = subprocess.run(
        ["bash", "-c", f"{' '.join(PROGRAM)} ask /long | head -1"],
        env=alone.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert shown.stdout == "## A windlass, in some detail\n"
    assert "Traceback" not in shown.stderr and "BrokenPipe" not in shown.stderr


def test_only_the_verb_asked_for_is_loaded() -> None:
    names = {command.name for command in build(["ask"]).registered_commands}
    assert "token" in names and "ask" in names
    assert {group.name for group in build(["servers"]).registered_groups} == {"servers"}


def test_the_shell_can_complete(alone: Commands) -> None:
    done = alone(_WINDLASS_COMPLETE="complete_bash", COMP_WORDS="windlass serv", COMP_CWORD="1")
    assert {"serve", "servers"} <= set(done.out.split())
