"""Every verb, with a running server and without: what it prints, what it exits with, and that `--json` keeps its
shape."""

import asyncio
import json
import re
import sys
import tarfile
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Commands
from tests.kit.app import RunningApp, running_app
from tests.kit.ledger.pictures import png
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import wait_for
from tests.kit.windlass_process import model_settings
from windlass.api import schemas
from windlass.cli.checks import CheckResult
from windlass.testing import StrictLLM, call, raw_call, say

CALCULATE = "/calculate expression=6*7"


def decoded(output: str, kind: type) -> object:
    return msgspec.json.decode(output, type=kind)


def test_ask_prints_the_answer_alone_and_the_calls_beside_it(windlass: Commands) -> None:
    done = windlass("ask", CALCULATE)
    assert done.code == 0
    assert done.out.startswith("The tool has answered.") and '"value": 42' in done.out
    assert "→ calculate expression=6*7" in done.err and "✓ calculate" in done.err


def test_ask_as_json_is_a_turn(windlass: Commands) -> None:
    done = windlass("ask", CALCULATE, "--json")
    turn = decoded(done.out, schemas.Turn)
    assert isinstance(turn, schemas.Turn) and turn.outcome == "answered"
    assert done.err == ""


def test_ask_reads_standard_input(windlass: Commands) -> None:
    assert '"value": 42' in windlass("ask", stdin=CALCULATE).out
    assert '"value": 42' in windlass("ask", "-", stdin=CALCULATE).out
    assert windlass("ask", "-", stdin="  ").code == 2


def test_ask_goes_on_in_a_conversation(windlass: Commands) -> None:
    first = windlass("ask", "/think hi", "--json").json
    second = windlass("ask", CALCULATE, "-c", first["conversation_id"], "--json").json
    assert second["parent_turn_id"] == first["id"]


@pytest.mark.parametrize("option", ["--tools=demo.calculate", "--no-tools", "--persona=researcher", "--system=Brief."])
def test_ask_refuses_in_a_conversation_what_only_a_new_one_takes(windlass: Commands, option: str) -> None:
    first = windlass("ask", "/think hi", "--json").json
    done = windlass("ask", "hello", "-c", first["conversation_id"], option)
    assert done.code == 2 and option.partition("=")[0] in done.err and "without --conversation" in done.err
    assert len(windlass("conversations", "show", first["conversation_id"], "--json").json) == 2


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["/fail"], 1),
        (["/limit", "--rounds", "2"], 4),
        (["/write_note title=a text=b", "--approve", "deny"], 3),
        (["/write_note title=a text=b", "--approve", "auto"], 0),
        (["/write_note title=a text=b"], 3),
    ],
)
def test_ask_exits_with_what_became_of_it(alone: Commands, argv: list[str], code: int) -> None:
    assert alone("ask", *argv).code == code


def test_ask_offers_the_tools_it_was_told_to(windlass: Commands) -> None:
    assert "no tool `get_time`" in windlass("ask", "/get_time", "--tools", "demo.calculate").out
    assert "No tools are enabled" in windlass("ask", "/help", "--no-tools").out
    done = windlass("ask", "hello", "--tools", "demo.fly")
    assert done.code == 1 and "error: No running server has a tool 'demo.fly'." in done.err


def test_ask_for_a_model_that_is_not_there_says_which_there_are(windlass: Commands) -> None:
    done = windlass("ask", "hello", "--model", "nosuch")
    assert (done.code, done.out) == (1, "")
    assert (
        "No model is connected that could answer as 'nosuch'; there is only 'demo'." in done.err
        and "OPENAI_API_KEY" in done.err
    )
    assert windlass("ask", CALCULATE, "--model", "demo").code == 0


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["conversations", "show", "zzz"], "`windlass conversations list` shows those that are there."),
        (["conversations", "delete", "zzz", "--yes"], "`windlass conversations list` shows those that are there."),
        (["ask", "hello", "-c", "zzz"], "`windlass conversations list` shows those that are there."),
        (["turns", "show", "zzz"], "`windlass conversations show ID --json` shows what is there, with its turns."),
        (["turns", "stop", "zzz"], "`windlass conversations show ID --json` shows what is there, with its turns."),
        (["servers", "start", "zzz"], "`windlass servers list` lists the servers."),
        (["tools", "list", "zzz"], "`windlass servers list` lists the servers."),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_what_is_not_there_can_be_looked_for_by_command(windlass: Commands, argv: list[str], hint: str) -> None:
    done = windlass(*argv)
    assert done.code == 1
    assert done.err.splitlines()[1:] == [f"hint: {hint}"], done.err


def test_ask_shows_sources(windlass: Commands) -> None:
    assert "[1] Approval of tool calls  https://modelcontextprotocol.io" in windlass("ask", "/search_docs approval").err


def test_ask_says_that_no_search_was_made(alone: Commands) -> None:
    alone.home.mkdir(parents=True)
    (alone.home / "windlass.toml").write_text('[web_search]\nbackend = "off"\n')
    done = alone("ask", "// what's the weather in Nanaimo?")
    assert done.code == 0 and "Web search is off, so no search was made." in done.err
    assert "no search was made" not in alone("ask", "what's the weather in Nanaimo?").err


def test_nothing_that_moves_the_cursor_leaves_a_tool_or_a_model(alone: Commands) -> None:
    done = alone("ask", "/think \x1b[31mred\x1b]0;title\x07 \u202eback")
    assert "\x1b" not in done.out + done.err and "\x07" not in done.out and "\u202e" not in done.out
    assert "You asked: red" in done.out


def test_a_waiting_call_is_approved_from_the_command_line(windlass: Commands) -> None:
    waiting = windlass("ask", "/write_note title=Waits text=b")
    assert waiting.code == 3
    ids = waiting.err.split("windlass turns approve ")[1].split()
    done = windlass("turns", "approve", *ids[:2])
    assert done.code == 0 and "waits.md" in done.out
    again = windlass("turns", "approve", *ids[:2])
    assert again.code == 1 and "There is no such call." in again.err


def test_a_waiting_call_is_denied_with_a_reason_and_json(windlass: Commands) -> None:
    turn = windlass("ask", "/write_note title=a text=b", "--json").json
    assert turn["state"] == "awaiting_person"
    done = windlass("turns", "approve", turn["id"], "--deny", "--reason", "not now", "--json")
    decided = decoded(done.out, schemas.Turn)
    assert isinstance(decided, schemas.Turn) and decided.calls[0].state == "denied" and done.code == 3
    assert "not now" in (decided.calls[0].result or "")


def test_a_waiting_turn_is_stopped(windlass: Commands) -> None:
    turn = windlass("ask", "/write_note title=a text=b", "--json").json
    stopped = decoded(windlass("turns", "stop", turn["id"], "--json").out, schemas.Turn)
    assert isinstance(stopped, schemas.Turn) and stopped.outcome == "stopped"


def test_a_call_whose_outcome_is_known_cannot_be_resolved(windlass: Commands) -> None:
    turn = windlass("ask", CALCULATE, "--json").json
    done = windlass("turns", "resolve", turn["id"], "skip")
    assert done.code == 1 and "error: There is no such call." in done.err


def test_a_turn_is_shown_as_a_timeline(windlass: Commands) -> None:
    turn = windlass("ask", CALCULATE, "--json").json
    lines = windlass("turns", "show", turn["id"]).out.splitlines()
    names = [line.split()[2] for line in lines]
    assert names[0] == "turn_started" and names[-1] == "turn_finished"
    assert "→ calculate expression=6*7" in "\n".join(lines)
    held = windlass("turns", "show", turn["id"], "--json").json
    assert msgspec.convert(held["turn"], schemas.Turn).id == turn["id"]
    assert [event["event"] for event in held["events"]] == names


def test_conversations_are_listed_found_shown_exported_imported_and_deleted(windlass: Commands, tmp_path: Path) -> None:
    turn = windlass("ask", "/calculate expression=123+321", "--json").json
    conversation_id = turn["conversation_id"]
    listed = decoded(windlass("conversations", "list", "--json").out, list[schemas.Conversation])
    assert isinstance(listed, list) and conversation_id in [one.id for one in listed]
    assert conversation_id in windlass("conversations", "list").out
    wait_for(
        lambda: conversation_id in windlass("conversations", "list", "--find", "123").out,
        "the index, made in quiet moments",
    )
    messages = decoded(windlass("conversations", "show", conversation_id, "--json").out, list[schemas.Message])
    assert isinstance(messages, list) and [one.role for one in messages] == ["user", "assistant", "tool", "assistant"]
    assert "→ calculate expression=123+321" in windlass("conversations", "show", conversation_id).out
    exported = windlass("conversations", "export", conversation_id)
    assert decoded(exported.out, schemas.Export)
    assert "calculate" in windlass("conversations", "export", conversation_id, "--format", "markdown").out
    file = tmp_path / "export.json"
    file.write_text(exported.out)
    brought = decoded(windlass("conversations", "import", str(file), "--json").out, schemas.Imported)
    assert isinstance(brought, schemas.Imported) and brought.count == 4
    assert windlass("conversations", "delete", conversation_id, "--yes").code == 0
    assert windlass("conversations", "show", conversation_id).code == 1


def test_deleting_asks_first(windlass: Commands) -> None:
    conversation_id = windlass("ask", "/think hi", "--json").json["conversation_id"]
    assert windlass("conversations", "delete", conversation_id, stdin="n\n").code == 1
    assert windlass("conversations", "show", conversation_id).code == 0


def test_servers_are_listed(windlass: Commands) -> None:
    found = decoded(windlass("servers", "list", "--json").out, list[schemas.Server])
    assert isinstance(found, list) and [(one.slug, one.status) for one in found if one.slug == "demo"] == [
        ("demo", "running")
    ]
    assert "demo" in windlass("servers", "list").out


def test_a_server_is_added_tested_stopped_started_and_removed(
    windlass: Commands, ledger: Ledger, tmp_path: Path
) -> None:
    done = windlass("servers", "add", "Ledger", "--json", "--", *ledger.argv())
    made = decoded(done.out, schemas.Server)
    assert isinstance(made, schemas.Server) and made.status == "running" and made.argv == ledger.argv()
    try:
        assert "echo" in windlass("servers", "test", "ledger").out
        assert decoded(windlass("servers", "stop", "ledger", "--json").out, schemas.Server)
        assert decoded(windlass("servers", "start", "ledger", "--json").out, schemas.Server)
        assert decoded(windlass("servers", "log", "ledger", "--json").out, list[str]) == []
        assert "hello" in windlass("tools", "call", "ledger.echo", "text=hello").out
        for _ in range(2):  # the second is written beside the first
            saved = windlass("tools", "call", "ledger.odd", "kind=image", "--save", str(tmp_path))
        assert "[image, image/png, " in saved.out and f"Saved {tmp_path / 'odd-2.png'}" in saved.err
        assert [(tmp_path / f"odd-{n}.png").read_bytes() for n in (1, 2)] == [png()] * 2
        assert "--save DIR" in windlass("tools", "call", "ledger.odd", "kind=image").err
    finally:
        assert windlass("servers", "remove", "ledger").code == 0
    assert windlass("servers", "test", "ledger").code == 1


def test_a_server_that_does_not_start_says_why(windlass: Commands) -> None:
    code = "import sys; sys.exit('no configuration found')"
    done = windlass("servers", "add", "Broken", "--", sys.executable, "-c", code)
    try:
        assert done.code == 1
        assert "no configuration found" in done.err
    finally:
        windlass("servers", "remove", "broken")
    assert windlass("servers", "add", "Nothing").code == 1


def test_imported_servers_are_drafts_until_their_command_was_looked_at(windlass: Commands, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    argv = [sys.executable, "-m", "windlass.demo.server", "--notes", str(tmp_path)]
    file.write_text(json.dumps({"mcpServers": {"imported": {"command": argv[0], "args": argv[1:]}}}))
    done = windlass("servers", "import", str(file), "--json")
    found = decoded(done.out, schemas.ImportedServers)
    assert isinstance(found, schemas.ImportedServers)
    assert [(one.slug, one.status) for one in found.servers] == [("imported", "draft")]
    try:
        assert windlass("servers", "start", "imported").code == 1
        refused = windlass("servers", "confirm", "imported", stdin="n\n")
        assert refused.code == 1 and "windlass.demo.server" in refused.err
        assert windlass("servers", "confirm", "imported", "--yes").code == 0
    finally:
        windlass("servers", "remove", "imported")
    file.write_text("{}")
    assert "No servers were found" in windlass("servers", "import", str(file)).err


def test_b4_a_draft_is_confirmed_with_its_environment_in_view(windlass: Commands, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    env = {"PERLLIB": "/tmp/lib", "API_KEY": "hidden-value", "NOTE": "a\n  LOOKS=like another\u202e"}
    argv = [sys.executable, "-m", "windlass.demo.server", "--notes", str(tmp_path)]
    file.write_text(json.dumps({"mcpServers": {"viewed": {"command": argv[0], "args": argv[1:], "env": env}}}))
    assert windlass("servers", "import", str(file)).code == 0
    try:
        refused = windlass("servers", "confirm", "viewed", stdin="n\n")
        lines = refused.err.splitlines()
        assert refused.code == 1 and "hidden-value" not in refused.err
        assert "  PERLLIB=/tmp/lib" in lines and "  API_KEY (value hidden)" in lines
        assert r"  NOTE='a\n  LOOKS=like another\u202e'" in lines
        assert windlass("servers", "confirm", "viewed", "--yes").code == 0
    finally:
        windlass("servers", "remove", "viewed")


def test_an_imported_address_is_looked_at_before_it_is_reached(alone: Commands, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(json.dumps({"mcpServers": {"far": {"url": "http://127.0.0.1:9/mcp"}}}))
    assert "far: draft. http://127.0.0.1:9/mcp" in alone("servers", "import", str(file)).err
    assert "It was imported and never started." in alone("doctor", "--json").out
    refused = alone("servers", "confirm", "far", stdin="n\n")
    assert refused.code == 1 and "http://127.0.0.1:9/mcp" in refused.err and "Connect to this address?" in refused.err
    assert "far: failed" in alone("servers", "confirm", "far", "--yes").err


def test_settings_of_an_editor_are_read_with_their_comments(alone: Commands, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(
        """// Zed settings
        {
          "theme": "One Dark", /* mine */
          "context_servers": {
            "docs": {"url": "https://docs.example/mcp"}, // "https:" is no comment
            "files": {"command": {"path": "npx", "args": ["-y", "a // b, ]",],},},
          },
        }"""
    )
    found = alone("servers", "import", str(file), "--json").json["servers"]
    assert [one["url"] or one["argv"] for one in found] == [
        "https://docs.example/mcp",
        ["npx", "-y", "a // b, ]"],
    ]
    file.write_text("{ // only this")
    assert "The import is not valid JSON" in alone("servers", "import", str(file)).err
    assert "nothing.json cannot be read:" in alone("servers", "import", str(tmp_path / "nothing.json")).err


def test_tools_are_listed_and_called(windlass: Commands, tmp_path: Path) -> None:
    listed = windlass("tools", "list", "--json").json
    assert {"server", "name", "input_schema", "annotations", "hash"} <= listed[0].keys()
    assert "demo.calculate" in windlass("tools", "list", "demo").out
    result = decoded(windlass("tools", "call", "demo.calculate", "expression=2+2", "--json").out, schemas.ToolResult)
    assert isinstance(result, schemas.ToolResult) and result.state == "ok" and '"value": 4' in result.text
    file = tmp_path / "arguments.json"
    file.write_text('{"to": 2}')
    assert "Counted to 2." in windlass("tools", "call", "demo.count_slowly", "pause_ms=0", "-f", str(file)).out
    assert "Counted to 3." in windlass("tools", "call", "demo.count_slowly", '{"to": 3, "pause_ms": 0}').out
    failed = windlass("tools", "call", "demo.calculate", "expression=1/0")
    assert failed.code == 1 and "Division by zero." in failed.out
    unknown = windlass("tools", "call", "demo.fly")
    assert unknown.code == 1 and "There are: " in unknown.err


def test_models_are_listed(windlass: Commands) -> None:
    assert windlass("models", "list", "--json").json[0]["provider"]["demo"] is True
    assert "Demo model" in windlass("models", "list").out


@pytest.mark.slow
def test_models_of_a_server_are_tested(served: RunningApp) -> None:
    """Once: the demo model takes its time between words. Without a server it is the table below."""
    done = Commands(served.home)("models", "test", "--json")
    [tested] = done.json
    assert msgspec.convert(tested["test"], schemas.ProviderTest).ok and done.code == 0


def test_a_model_that_nobody_added_cannot_be_tested(windlass: Commands) -> None:
    assert windlass("models", "test", "nobody").code == 1


async def test_a_model_that_calls_no_tool_fails_its_test(alone: Commands, strict_llm: StrictLLM) -> None:
    counted = say(*(f"{number}, " for number in range(1000)))
    strict_llm.then(counted, *(say("No tools here.") for _ in range(3)))
    done = await asyncio.to_thread(alone, "models", "test", **model_settings(strict_llm.base_url))
    assert (done.code, done.err.splitlines()[-1]) == (1, "environment does not do what is needed: calls a tool.")


async def test_what_is_known_of_a_model_is_listed_with_its_source(alone: Commands) -> None:
    async with StrictLLM(dialect="zai", models=["glm-4.7", "house-model"]) as llm:
        env = model_settings(llm.base_url)
        shown = await asyncio.to_thread(alone, "models", "list", **env)
        details = (await asyncio.to_thread(alone, "models", "list", "--json", **env)).json[0]["details"]
    assert [one["source"] for one in details] == ["table", ""]
    assert (details[0]["context"], details[0]["input_price"], details[0]["tools"]) == (204800, 0.6, True)
    assert (details[1]["context"], details[1]["tools"], details[1]["as_of"]) == (None, None, "")
    row = next(line for line in shown.out.splitlines() if "glm-4.7" in line)
    assert re.split(r"\s{2,}", row)[2:] == ["glm-4.7", "204,800", "0.6 / 2.2", "no", "yes", "table", "default"]
    assert f"Table as of {details[0]['as_of']}" in shown.err


@pytest.mark.parametrize("ids", [("a", "b"), ("a", "a")], ids=["own ids", "one id for all"])
async def test_what_a_model_can_do_is_a_table(alone: Commands, strict_llm: StrictLLM, ids: tuple[str, str]) -> None:
    oslo, lima = (
        raw_call("get_weather", f'{{"city": "{city}"}}', id) for city, id in zip(("Oslo", "Lima"), ids, strict=True)
    )
    # Pieces that arrive together are one piece, so there are more than fit into one read.
    counted = say(*(f"{number}, " for number in range(1000)))
    strict_llm.then(counted, call("get_weather", city="Oslo"), oslo + lima, say("Hello."))
    done = await asyncio.to_thread(alone, "models", "test", **model_settings(strict_llm.base_url))
    assert done.code == 0
    assert dict(re.split(r"\s{2,}", line)[2:4] for line in done.out.splitlines()) == {
        "question": "answer",
        "answers": "yes",
        "streams": "yes",
        "calls a tool": "yes",
        "several calls at once": "yes",
        "honours required": "no",
        "repeats call ids": "yes" if ids[0] == ids[1] else "no",
    }


def test_any_request_can_be_sent(windlass: Commands) -> None:
    made = windlass("api", "POST", "/conversations", '{"title": "By hand"}')
    assert made.code == 0 and made.json["conversation"]["title"] == "By hand"
    assert windlass("api", "get", "/conversations?limit=1").json["count"] == 1
    missing = windlass("api", "GET", "/conversations/conv-none")
    assert missing.code == 1 and missing.json["error"]["code"] == "not_found"
    assert "is not valid JSON" in windlass("api", "POST", "/conversations", "{").err


def test_a_request_of_an_unknown_method_is_wrong_usage(windlass: Commands) -> None:
    done = windlass("api", "BREW", "/conversations")
    assert done.code == 2
    assert "BREW is not one of GET" in done.err


def test_search_test_without_a_backend_says_so(alone: Commands) -> None:
    alone.home.mkdir()
    (alone.home / "windlass.toml").write_text('[web_search]\nbackend = "off"\n')
    done = alone("search", "test", "weather", "--json")
    assert done.code == 1 and done.json == []


async def test_search_is_tried_with_what_the_running_server_has(tmp_path: Path) -> None:
    """The provider, and so its search, is known to the server only."""
    found = [{"title": "Harbour", "link": "http://10.0.0.8/harbour", "content": "Wind."}]
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "windlass.toml").write_text('[web_search]\nbackend = "zai"\n')
    async with StrictLLM([], dialect="zai", search=found) as llm:
        settings = model_settings(llm.base_url)
        with running_app(tmp_path / "home", verb="serve", **settings) as app:
            commands = Commands(app.home)
            done = await asyncio.to_thread(commands, "search", "test", "wind", "today", "--json")
            shown = await asyncio.to_thread(commands, "search", "test", "wind")
    [trial] = msgspec.json.decode(done.out, type=list[schemas.SearchTrial])
    assert trial.works and trial.hits[0].url == "http://10.0.0.8/harbour"
    assert done.code == shown.code == 0 and "✓ zai: 1 results" in shown.err


def test_the_token_is_shown_and_replaced(tmp_path: Path) -> None:
    with running_app(tmp_path / "home") as app:
        commands, old = Commands(app.home), app.token
        assert commands("token").out.strip() == old
        assert commands("token", "--url").out.startswith(app.url + "/?key=")
        new = commands("token", "--rotate").out.strip()
        assert new not in ("", old) and commands("token").out.strip() == new == app.token
        assert commands("servers", "list").code == 0
        assert "needs the access token" in commands("servers", "list", WINDLASS_TOKEN=old).err


def test_a2_tokens_are_made_listed_and_revoked_in_the_terminal(tmp_path: Path) -> None:
    with running_app(tmp_path / "home") as app:
        commands = Commands(app.home)
        made = commands("token", "new", "phone", "--scope", "chat,approve", "--days", "30")
        secret = made.out.strip()
        assert made.code == 0 and secret.startswith("wl_") and "shown this once" in made.err
        assert commands("conversations", "list", WINDLASS_TOKEN=secret).code == 0
        refused = commands("servers", "stop", "demo", WINDLASS_TOKEN=secret)
        assert "needs the scope `admin`" in refused.err and "windlass token new NAME --scope admin" in refused.err
        listed = commands("token", "list").out
        assert "phone" in listed and "approve,chat" in listed and secret not in listed
        assert [one["name"] for one in json.loads(commands("token", "list", "--json").out)] == ["token", "phone"]
        assert "already" in commands("token", "new", "phone", "--scope", "read").err
        for scopes in ([], ["--scope", "root"]):
            assert "ops, read, chat, approve, admin" in commands("token", "new", "x", *scopes).err
        assert "There is no token tablet" in commands("token", "revoke", "tablet").err
        assert commands("token", "revoke", "phone").code == 0
        assert "needs the access token" in commands("conversations", "list", WINDLASS_TOKEN=secret).err


def test_a2_the_audit_is_listed_in_the_terminal(windlass: Commands) -> None:
    rule = '{"rules": [{"approval": "ask", "server": "demo", "tool": "write_note"}]}'
    assert windlass("api", "PUT", "/policy", rule).code == 0
    listed = windlass("audit", "--limit", "1")
    assert listed.code == 0 and "replace" in listed.out and "1 rules; ask demo.write_note" in listed.out
    [entry] = windlass("audit", "--json", "--limit", "1").json
    assert (entry["kind"], entry["action"]) == ("rules", "replace") and entry["by"] in {"token", "person"}
    later = windlass("audit", "--from", "2999-01-01")
    assert later.code == 0 and "Nothing was changed in that time." in later.err
    assert "is not a time" in windlass("audit", "--to", "soon").err


def test_f6_a_server_without_a_token_says_what_that_means(tmp_path: Path) -> None:
    with running_app(tmp_path / "home", "--no-auth") as app:
        assert "tool servers included, can approve calls" in Commands(app.home)("doctor").err
    assert "tool servers included, can approve calls" in (tmp_path / "home.log").read_text()


def test_log_lines_can_be_json(tmp_path: Path) -> None:
    with running_app(tmp_path / "home", "--log-format", "json") as app:
        assert Commands(app.home)("ask", CALCULATE).code == 0
    lines = [json.loads(line) for line in (tmp_path / "home.log").read_text().splitlines()]
    assert "Tool calls detected: 1 tools" in [line["message"] for line in lines]
    assert all(line.keys() >= {"time", "level", "logger", "message"} for line in lines)


@pytest.mark.parametrize(
    ("argv", "answer"), [(['{"name": "Ada", "number": 7}'], "Ada wants 7"), (["--decline"], "decline")]
)
def test_what_a_tool_asks_is_answered_later(served: RunningApp, ledger: Ledger, argv: list[str], answer: str) -> None:
    windlass = Commands(served.home)
    assert windlass("servers", "add", "Asks", "--", *ledger.argv()).code == 0
    try:
        waiting = windlass("ask", "/ask", "--tools", "asks.ask")
        assert waiting.code == 3
        turn = waiting.err.split("windlass turns answer ")[1].split()[0]
        assert windlass("turns", "answer", turn, "[]").code == 1
        done = windlass("turns", "answer", turn, *argv, "--json")
        ended = decoded(done.out, schemas.Turn)
        assert isinstance(ended, schemas.Turn) and ended.outcome == "answered" and done.code == 0
        assert answer in (ended.calls[0].result or "")
    finally:
        windlass("servers", "remove", "asks")


def test_without_a_server_there_is_no_login_url(alone: Commands) -> None:
    assert "There is no token yet." in alone("token").err
    assert "No server is running." in alone("token", "--url").err


def test_a_backup_opens_as_a_data_folder(windlass: Commands, tmp_path: Path) -> None:
    turn = windlass("ask", CALCULATE, "--json").json
    file = tmp_path / "backup.tar.gz"
    assert windlass("backup", str(file)).code == 0
    assert windlass("backup", str(file)).code == 1, "a backup replaces nothing"
    assert file.stat().st_mode & 0o077 == 0
    home = tmp_path / "restored"
    with tarfile.open(file) as packed:
        assert not {"token", "secrets.json", "lock"} & set(packed.getnames())
        packed.extractall(home, filter="data")
    restored = Commands(home)("turns", "show", turn["id"], "--json").json
    assert restored["turn"]["answer"] == turn["answer"]


def test_a_backup_to_a_folder_that_is_not_there_says_so(windlass: Commands, tmp_path: Path) -> None:
    windlass("ask", CALCULATE)
    done = windlass("backup", str(tmp_path / "missing" / "backup.tar.gz"))
    assert done.code == 1
    assert (
        "cannot be written: No such file or directory" in done.err
        and "Internal error" not in done.err
        and "hint: Choose a folder" in done.err
    )


def test_a_second_server_on_one_folder_is_refused(served: RunningApp) -> None:
    done = Commands(served.home)("serve", "--port", "0")
    assert done.code == 1
    assert f"A server is already running at {served.url}" in done.err


def test_a_server_that_died_hard_is_not_mistaken_for_a_running_one(alone: Commands) -> None:
    alone.home.mkdir()
    (alone.home / "server.json").write_text('{"url": "http://127.0.0.1:9/", "pid": 1}')
    assert alone("ask", CALCULATE).code == 0


def test_doctor_as_json_is_a_list_of_findings(windlass: Commands) -> None:
    found = decoded(windlass("doctor", "--json").out, list[CheckResult])
    assert isinstance(found, list) and {"settings", "folder"} <= {finding.about for finding in found}


def test_resources_and_prompts_of_a_server_at_the_terminal(windlass: Commands, ledger: Ledger) -> None:
    library = ledger.library(
        resources=[{"uri": "doc://a", "name": "a", "text": "alpha \x1b[31mred"}],
        prompts=[{"name": "greet", "arguments": [{"name": "who", "required": True}], "text": "Greet {who}."}],
    )
    assert windlass("servers", "add", "docs", "--tools", "*", "--", *ledger.argv("--library", library)).code == 0
    assert "doc://a" in windlass("servers", "resources", "docs").out
    assert windlass("servers", "read", "docs", "doc://a").out == "alpha red\n"
    assert "who=" in windlass("servers", "prompts", "docs").out
    assert windlass("servers", "prompt", "docs", "greet", "who=Ada").out == "Greet Ada.\n"
    refused = windlass("servers", "prompt", "docs", "greet")
    assert refused.code == 1 and "Missing argument: who" in refused.err
    asked = windlass("ask", "What is it?", "--attach", "docs:doc://a", "--json").json
    assert asked["outcome"] == "answered"
    unread = windlass("ask", "What is it?", "--attach", "docs:doc://none")
    assert unread.code == 1 and "was not attached" in unread.err
    chatted = windlass("chat", stdin="/docs.greet who=Ada\n/calculate expression=6*7\n")
    assert "Greet Ada." in chatted.err and '"value": 42' in chatted.out
