"""A server that repeats the secrets it was given, in every way it has: none is kept, logged, shown or sent on."""

import asyncio
import base64
import json
from pathlib import Path
from urllib.parse import quote

from tests.kit.ledger_file import Ledger
from tests.web.kit import Site
from windlass.testing import StrictLLM, call, calls, say

SECRET = "s3cr3t/value+of=this&server"
SHORT = "short1"
SERVER = """
import json, os, sys
SECRET = os.environ["SERVICE_TOKEN"]
sys.stderr.write("starting with " + SECRET + "\\n"); sys.stderr.flush()
def send(message): sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n"); sys.stdout.flush()
SCHEMA = {"type": "object", "properties": {"how": {"type": "string", "description": "default " + SECRET}}}
TOOL = {"name": "tell", "title": SECRET, "description": "Uses " + SECRET, "inputSchema": SCHEMA}
for line in sys.stdin:
    asked = json.loads(line)
    id, method, params = asked.get("id"), asked.get("method"), asked.get("params") or {}
    if method == "initialize":
        info = {"name": "teller " + SECRET, "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": id, "result": result})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [TOOL]}})
    elif method == "tools/call":
        how = params["arguments"].get("how", "text")
        if how == "progress":
            done = {"progressToken": params["_meta"]["progressToken"], "progress": 1, "message": SECRET}
            send({"method": "notifications/progress", "params": done})
        if how == "error":
            send({"id": id, "error": {"code": -32000, "message": "no: " + SECRET}})
        elif how == "question":
            form = {"type": "object", "properties": {"a": {"type": "string", "title": SECRET}}}
            asks = {"message": "Is " + SECRET + " right?", "requestedSchema": form}
            send({"id": 900, "method": "elicitation/create", "params": asks})
            waiting = id
        elif how == "links":
            link = {"type": "resource_link", "uri": "https://a.example/?k=" + SECRET, "name": SECRET, "title": SECRET}
            send({"id": id, "result": {"content": [link], "structuredContent": {"key": SECRET}}})
        elif how == "long":
            send({"id": id, "result": {"content": [{"type": "text", "text": "x" * 8995 + SECRET + "y" * 30000}]}})
        elif how == "exit":
            sys.stderr.write("last words: " + SECRET + "\\n"); sys.stderr.flush(); os._exit(3)
        else:
            text = os.environ["TEXT"] if how == "spelled" else SECRET + " and " + os.environ["PIN_CODE_KEY"]
            send({"id": id, "result": {"content": [{"type": "text", "text": text}], "isError": how == "failure"}})
    elif id == 900:
        send({"id": waiting, "result": {"content": [{"type": "text", "text": "answered"}]}})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
"""
WAYS = ["text", "failure", "error", "progress", "links", "long", "spelled"]


async def teller(site: Site, folder: Path) -> str:
    program = folder / "teller.py"
    program.write_text(SERVER)
    spelled = " ".join([quote(SECRET), quote(SECRET, safe=""), base64.b64encode(f"ada:{SECRET}".encode()).decode()])
    env = {"SERVICE_TOKEN": SECRET, "PIN_CODE_KEY": SHORT, "TEXT": spelled}
    body = {"name": "teller", "slug": "teller", "command": "python3", "args": [str(program)], "env": env}
    added = await site.post("/servers", body)
    server = added["server"]
    await site.post("/servers/teller/confirm", {"argv": server["argv"], "env_values": {"TEXT": spelled}})
    await site.post("/servers/teller/start")
    conversation = await site.conversation()
    await site.enable(conversation, "tell", server="teller", approval="auto")
    return conversation


def spellings() -> list[str]:
    encoded = base64.b64encode(f"ada:{SECRET}".encode()).decode()
    return [SECRET, json.dumps(SECRET)[1:-1], quote(SECRET), quote(SECRET, safe=""), encoded, encoded[8:40]]


async def test_f5_a_secret_that_its_server_repeats_is_nowhere(
    site: Site, strict_llm: StrictLLM, tmp_path: Path
) -> None:
    conversation = await teller(site, tmp_path)
    strict_llm.then(calls(*(call("tell", how=how) for how in WAYS)), say("Done."))
    async with site.events(f"/conversations/{conversation}/events") as events:
        turn_id = (await site.post(f"/conversations/{conversation}/chat", {"content": "go"}))["turn_id"]
        seen = await events.until("turn_finished")
    tools = json.dumps(await site.get("/servers/teller/tools"))
    strict_llm.then(call("tell", how="exit"), say("Gone."))
    await site.post(f"/conversations/{conversation}/chat", {"content": "go"})
    paths = [
        *("/servers", "/servers/teller/log", f"/conversations/{conversation}/messages"),
        *(f"/turns/{turn_id}{part}" for part in ("", "/log", "/prompt?request=1", "/prompt?request=2")),
        f"/conversations/{conversation}/tools",
    ]
    everything = [json.dumps(await site.get(path), ensure_ascii=False) for path in paths]
    everything += [json.dumps(request.messages + request.tools, ensure_ascii=False) for request in strict_llm.requests]
    everything += [repr(seen), (tmp_path / "home" / "windlass.db-wal").read_bytes().decode("utf-8", "replace")]
    assert [text[:80] for text in everything if any(spelled in text for spelled in spellings())] == []
    assert tools.count("[secret SERVICE_TOKEN]") == 3 and SECRET not in tools
    assert "[secret SERVICE_TOKEN]" in everything[1]
    assert SHORT in everything[2], "short values are not redacted"
    results = strict_llm.requests[1].results
    assert len(results) == len(WAYS)
    assert all("[secret SERVICE_TOKEN]" in result for result in results if "yyyy" not in result)


async def test_f5_a_question_does_not_show_its_servers_secret(
    site: Site, strict_llm: StrictLLM, tmp_path: Path
) -> None:
    conversation = await teller(site, tmp_path)
    strict_llm.then(call("tell", how="question"), say("Done."))
    async with site.events(f"/conversations/{conversation}/events") as events:
        asking = asyncio.create_task(site.post(f"/conversations/{conversation}/chat", {"content": "go"}))
        needed = (await events.until("input_needed"))[-1].data
    assert SECRET not in json.dumps(needed)
    turn_id = needed["turn_id"]
    turn = (await site.get(f"/turns/{turn_id}"))["turn"]
    [pending] = turn["pending_calls"]
    assert pending["question"] == "Is [secret SERVICE_TOKEN] right?" and SECRET not in json.dumps(turn)
    await site.post(f"/turns/{turn_id}/calls/{pending['call_id']}/input", {"action": "decline"})
    await asking


async def test_f5_keys_of_providers_are_taken_out_of_what_tools_say(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.post("/providers", {"name": "other", "base_url": "http://127.0.0.1:9/v1", "api_key": "zz-the-key-1234"})
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "echo")
    strict_llm.then(call("echo", text="I found zz-the-key-1234."), say("Done."))
    await site.post(f"/conversations/{conversation}/chat", {"content": "go"})
    assert "I found [secret provider key]." in strict_llm.requests[1].results[0]
