"""The kit's own small parts: reading a ledger, waiting, and the fixture that watches for refusals."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.ledger.journal import Journal
from tests.kit.ledger.protocol import STATELESS_VERSION, Protocol
from tests.kit.ledger.running import Json
from tests.kit.ledger.toolbox import Toolbox
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S, turns_of_the_loop, until


def line(event: str, at: float, call: int, effect_id: str = "a", pid: int = 1) -> str:
    fields = {"event": event, "at": at, "call": call, "effect_id": effect_id, "pid": pid, "tool": "record", "meta": {}}
    return json.dumps(fields) + "\n"


def test_starts_and_ends_are_paired_across_processes(ledger: Ledger) -> None:
    lines = [
        line("started", 1.0, 0),
        line("started", 2.0, 0, "b", pid=2),
        line("ended", 3.0, 0),
        line("started", 4.0, 1),
        line("cancelled", 5.0, 0, "b", pid=2),
        '{"event": "sta',
    ]
    ledger.path.write_text("".join(lines))
    assert [(e.effect_id, e.started, e.ended, e.cancelled) for e in ledger.effects()] == [
        ("a", 1.0, 3.0, False),
        ("b", 2.0, None, True),
        ("a", 4.0, None, False),
    ]
    assert ledger.counts() == {"a": 2, "b": 1}
    assert ledger.most_at_once() == 2


def test_a_ledger_that_was_never_written_is_empty(ledger: Ledger) -> None:
    assert (ledger.effects(), ledger.most_at_once(), ledger.pids()) == ([], 0, [])


async def test_waiting_in_vain_fails_with_a_sentence(ledger: Ledger) -> None:
    with pytest.raises(AssertionError, match=r"waited 0\.01 s in vain for rain"):
        await until(lambda: False, "rain", patience_s=0.01)


async def test_an_event_is_seen_once_it_is_there_as_often_as_wanted(ledger: Ledger) -> None:
    ledger.path.write_text(line("started", 1.0, 0))
    seeing = asyncio.create_task(ledger.seen("started", "a", times=2))
    await turns_of_the_loop()
    assert not seeing.done()
    ledger.path.write_text(line("started", 1.0, 0) + line("started", 2.0, 1))
    await asyncio.wait_for(seeing, PATIENCE_S)


def ledger_protocol(ledger: Ledger) -> Protocol:
    toolbox = Toolbox(0, None, [], 0, "echo,change_tools")
    return Protocol(True, None, toolbox, Journal(str(ledger.path)))


def test_a_subscription_is_registered_before_it_is_acknowledged(ledger: Ledger) -> None:
    protocol = ledger_protocol(ledger)
    notified: list[str] = []
    unread: list[Json] = []

    def send(message: Json) -> None:
        notified.append(message["method"].rpartition("/")[2])
        if notified[-1] == "acknowledged":  # the client may change a tool from this moment on
            protocol.answer(request("tools/call", 2, name="change_tools", arguments={"name": "echo"}), unread.append)

    protocol.answer(request("subscriptions/listen", 1, notifications={"toolsListChanged": True}), send)
    assert notified == ["acknowledged", "list_changed"]


def test_a_subscription_that_was_cancelled_on_its_way_is_not_made(ledger: Ledger) -> None:
    protocol = ledger_protocol(ledger)
    notified: list[Json] = []
    unread: list[Json] = []
    protocol.cancel(1)
    protocol.answer(request("subscriptions/listen", 1), notified.append)
    protocol.answer(request("tools/call", 2, name="change_tools", arguments={"name": "echo"}), unread.append)
    assert notified == []
    protocol.answer(request("subscriptions/listen", 1), notified.append)
    assert [message["method"] for message in notified] == ["notifications/subscriptions/acknowledged"]


def request(method: str, id: int, **params: object) -> Json:
    meta = {"io.modelcontextprotocol/protocolVersion": STATELESS_VERSION}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": meta}}


def test_the_fixture_fails_a_test_whose_request_was_refused(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    settings = f"[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\npythonpath = {root}"
    (tmp_path / "pytest.ini").write_text(settings)
    (tmp_path / "conftest.py").write_text("from tests.kit.fixtures import strict_llm")
    (tmp_path / "test_it.py").write_text("async def test_it(strict_llm):\n    strict_llm.refused.append('why')")
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # the others take longer to load than it runs
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_asyncio.plugin"]
    run = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert "1 passed, 1 error" in run.stdout
    assert "the model server refused a request" in run.stdout
