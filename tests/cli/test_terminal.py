"""A person at a terminal: streaming, approvals in place, Ctrl-C."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.conftest import PROGRAM, Commands
from tests.cli.terminal import CTRL_C, CTRL_D, Terminal, terminal
from tests.kit.app import RunningApp, running_app
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import wait_for

LEFT, STOPPED = 130, 3


@contextmanager
def typed(commands: Commands, *argv: str) -> Iterator[Terminal]:
    with terminal([*PROGRAM, *argv], commands.env) as screen:
        yield screen
        assert screen.now() == screen.before, "the terminal is as it was"


def test_the_answer_streams_and_the_call_is_shown(windlass: Commands) -> None:
    with typed(windlass, "ask", "/calculate expression=6*7") as screen:
        screen.expect("✓ calculate expression=6*7")
        screen.expect("The tool has answered.")
        screen.expect('"value": 42')
        assert screen.wait() == 0


def test_progress_is_shown_while_a_tool_runs(alone: Commands) -> None:
    with typed(alone, "ask", "/count_slowly to=20 pause_ms=50") as screen:
        screen.expect("of 20")
        screen.expect("✓ count_slowly")
        assert screen.wait() == 0


def test_approval_is_asked_in_place(windlass: Commands) -> None:
    with typed(windlass, "ask", "/write_note title=Terminal text=allowed") as screen:
        screen.expect("write_note on demo wants to run")
        screen.expect("title: Terminal")
        screen.expect("text: allowed")
        screen.expect("[y]es")
        screen.send("y\n")
        screen.expect("✓ write_note")
        assert screen.wait() == 0
    assert (windlass.home / "notes" / "terminal.md").exists()


def test_a_denial_with_its_reason_reaches_the_model(alone: Commands) -> None:
    with typed(alone, "ask", "/write_note title=No text=denied") as screen:
        screen.expect("[y]es")
        screen.send("n too early\n")
        screen.expect("denied")
        screen.expect("too early")
        assert screen.wait() == STOPPED
    assert not list((alone.home / "notes").glob("*"))


def test_arguments_can_be_edited_before_they_are_allowed(alone: Commands) -> None:
    with typed(alone, "ask", "/write_note title=First text=x") as screen:
        screen.expect("[y]es")
        screen.send("e\n")
        screen.expect("as JSON:")
        screen.send('{"title": "Second", "text": "y"}\n')
        screen.expect("[y]es")
        screen.send("y\n")
        assert screen.wait() == 0
    assert [path.name for path in (alone.home / "notes").iterdir()] == ["second.md"]


def test_ctrl_c_stops_the_turn_and_says_so(windlass: Commands) -> None:
    with typed(windlass, "ask", "/count_slowly to=1000 pause_ms=20") as screen:
        screen.expect("of 1000")
        screen.send(CTRL_C)
        screen.expect("Stopping. Ctrl-C again leaves.")
        screen.expect("Stopped.")
        assert screen.wait() == STOPPED


def test_ctrl_c_at_an_approval_stops_the_turn(alone: Commands) -> None:
    with typed(alone, "ask", "/write_note title=a text=b") as screen:
        screen.expect("[y]es")
        screen.interrupt("Stopped.")
        assert screen.wait() == STOPPED


@pytest.mark.slow
def test_a_second_ctrl_c_leaves_even_when_the_server_is_frozen(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_app(tmp_path_factory.mktemp("frozen") / "home") as app:
        with typed(Commands(app.home), "ask", "/count_slowly to=1000 pause_ms=20") as screen:
            screen.expect("of 1000")
            app.process.send_signal(signal.SIGSTOP)
            try:
                screen.interrupt("Ctrl-C again leaves.")
                assert screen.interrupt_and_wait() == LEFT
            finally:
                app.process.kill()  # told to go, it would wait for the turn
                app.process.wait()


def test_a_chat_goes_on_after_a_stopped_turn_and_ends_with_ctrl_d(windlass: Commands) -> None:
    with typed(windlass, "chat") as screen:
        screen.expect("/help shows what you can do")
        screen.expect("> ")
        screen.send("/calculate expression=6*7\n")
        screen.expect('"value": 42')
        screen.expect("> ")
        screen.send("/count_slowly to=1000 pause_ms=20\n")
        screen.expect("of 1000")
        screen.send(CTRL_C)
        screen.expect("Stopped.")
        screen.expect("> ")
        screen.send("/calculate expression=1+1\n")
        screen.expect('"value": 2')
        screen.expect("> ")
        screen.send(CTRL_D)
        assert screen.wait() == 0


def test_a_message_of_several_lines_is_one_message_and_its_calls_run_together(alone: Commands) -> None:
    with typed(alone, "chat") as screen:
        screen.expect("> ")
        screen.send("/get_time \\\n")
        screen.send("/calculate expression=2+2\n")
        screen.expect("All 2 calls have ended.")
        screen.expect("> ")
        screen.send("/quit\n")
        assert screen.wait() == 0


def test_a_chats_own_commands_switch_tools_models_and_branches(alone: Commands) -> None:
    with typed(alone, "chat") as screen:
        screen.expect("> ")
        screen.send("/tools off demo.get_time\n")
        screen.expect("off  demo.get_time")
        screen.send("/get_time\n")
        screen.expect("no tool `get_time`")
        screen.send("/tools off nothing.*\n")
        screen.expect("No running server has a tool")
        screen.send("/model demo\n")
        screen.expect("Model: demo")
        screen.send("/branch\n")
        screen.expect("turn-")
        screen.send("/new\n")
        screen.expect("Chat conv-")
        screen.send("/help\n")
        screen.expect("/branch [TURN]")
        screen.send("/quit\n")
        assert screen.wait() == 0


def test_ctrl_c_at_the_prompt_only_says_how_to_leave(alone: Commands) -> None:
    with typed(alone, "chat") as screen:
        screen.expect("> ")
        screen.send("half a thou")
        screen.expect("half a thou")
        screen.interrupt("Ctrl-D leaves.")
        screen.expect("> ")
        screen.send(CTRL_D)
        assert screen.wait() == 0


def test_what_was_typed_is_remembered_for_its_owner_only(alone: Commands) -> None:
    with typed(alone, "chat") as screen:
        screen.expect("> ")
        screen.send("/model mine\n")
        screen.expect("Model: mine")
        screen.expect("> ")
        screen.send(CTRL_D)
        assert screen.wait() == 0
    kept = alone.home / "chat_history"
    assert "/model mine" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_server_at_a_terminal_prints_one_url_and_ctrl_c_ends_it(alone: Commands, served: RunningApp) -> None:
    with typed(alone, "demo", "--port", "0") as screen:
        screen.expect("Windlass is at http://127.0.0.1:")
        screen.expect("?key=")
        screen.send(CTRL_C)
        assert screen.wait() == 0
    assert not (alone.home / "server.json").exists()


def with_ledger(commands: Commands, ledger: Ledger) -> None:
    commands.home.mkdir(exist_ok=True)
    command, *args = ledger.argv()
    run = f"command = {json.dumps(command)}\nargs = {json.dumps(args)}"
    text = f"[servers.ledger]\n{run}\ntools = '*'\napproval = 'auto'\n"
    (commands.home / "windlass.toml").write_text(text)


def test_what_a_tool_asks_is_answered_in_place(alone: Commands, ledger: Ledger) -> None:
    with_ledger(alone, ledger)
    with typed(alone, "ask", "/ask") as screen:
        screen.expect("ask asks: Who are you, and how many?")
        screen.expect("empty to decline")
        screen.send("Ada\n")
        screen.expect("empty to decline")
        screen.send("7\n")
        screen.expect("Ada wants 7")
        assert screen.wait() == 0


@pytest.mark.slow
def test_a_call_that_a_crash_left_unknown_is_resolved_from_the_command_line(alone: Commands, ledger: Ledger) -> None:
    with_ledger(alone, ledger)
    slow = f"/record_slow effect_id=x gate={ledger.gate()}"
    with running_app(alone.home) as app:
        with terminal([*PROGRAM, "ask", slow], alone.env) as screen:
            wait_for(lambda: "x" in [event.get("effect_id") for event in ledger.events()], "the call")
            app.process.kill()
            app.process.wait()
            assert screen.wait() != 0
    with running_app(alone.home):
        listed = alone("conversations", "list", "--json").json
        turn = alone("api", "GET", f"/conversations/{listed[0]['id']}/turns").json["turns"][0]["id"]
        wait_for(lambda: "unknown" in alone("turns", "show", turn, "--json").out, "the recovered turn")
        shown = alone("turns", "show", turn)
        assert f"windlass turns resolve {turn}" in shown.err
        done = alone("turns", "resolve", turn, "skip", "--json")
    assert done.code == 0 and done.json["calls"][0]["state"] == "unknown"
    assert [effect.effect_id for effect in ledger.effects()] == ["x"], "it was not sent again"
