"""A server that sends a person to an address in the middle of a call: the address is there to be read again."""

import asyncio
import sys

from tests.kit.waiting import PATIENCE_S
from tests.web.kit import Site
from windlass.testing import StrictLLM, call, say

ADDRESS = "https://bank.example/confirm?x=1"
ASKS = """
import json, sys
def put(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n"); sys.stdout.flush()
waiting = None
for line in sys.stdin:
    request = json.loads(line)
    match request.get("method"):
        case "initialize":
            info = {"name": "s", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            put({"id": request["id"], "result": result})
        case "tools/list":
            put({"id": request["id"], "result": {"tools": [{"name": "pay", "inputSchema": {"type": "object"}}]}})
        case "tools/call":
            waiting = request["id"]
            params = {"mode": "url", "message": "Confirm it.", "url": sys.argv[1], "elicitationId": "e1"}
            put({"id": "q1", "method": "elicitation/create", "params": params})
        case None if request.get("id") == "q1":
            put({"id": waiting, "result": {"content": [{"type": "text", "text": request["result"]["action"]}]}})
        case _ if "id" in request:
            put({"id": request["id"], "error": {"code": -32601, "message": "no"}})
"""


async def test_the_address_of_a_question_is_in_every_answer_and_for_a_page_that_is_loaded_again(
    site: Site, strict_llm: StrictLLM
) -> None:
    argv = [sys.executable, "-S", "-E", "-c", ASKS, ADDRESS]
    await site.post("/servers", {"name": "bank", "command": argv[0], "args": argv[1:]})
    await site.post("/servers/bank/confirm", {"argv": argv})
    assert (await site.post("/servers/bank/start"))["server"]["status"] == "running"
    conversation = await site.conversation()
    await site.enable(conversation, "pay", server="bank", approval="auto")
    strict_llm.then(call("pay"), say("Paid."))
    asked = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "pay"})
    [pending] = asked.body["pending_calls"]
    assert (asked.status, pending["kind"], pending["question"]) == (202, "input", "Confirm it.")
    assert pending["question_url"] == ADDRESS
    turn = (await site.get(f"/turns/{asked.body['turn_id']}"))["turn"]
    assert turn["pending_calls"][0]["question_url"] == ADDRESS
    async with asyncio.timeout(PATIENCE_S), site.events(f"/conversations/{conversation}/events") as joined:
        async for event in joined:
            if event.event == "input_needed":
                assert event.data["url"] == ADDRESS
                break
    path = f"/turns/{asked.body['turn_id']}/calls/{pending['call_id']}/input"
    await site.post(path, {"action": "accept"})
    done = (await site.get(f"/turns/{asked.body['turn_id']}?wait=60"))["turn"]
    assert done["answer"] == "Paid." and "accept" in strict_llm.requests[-1].results[0]
