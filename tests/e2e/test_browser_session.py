"""An everyday session with a browser: the tools, schemas and hints of Playwright's own MCP server, in eight messages.
Its pages are text from outside and nearly every tool claims to destroy, so this is where questions would pile up."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.kit.ledger_file import Ledger
from tests.proof.figures import note
from tests.web.kit import Site, open_site
from windlass.config import load
from windlass.testing import ChatRequest, Reply, StrictLLM, call, say

FIXTURES = Path(__file__).parents[1] / "fixtures" / "tools" / "build.json"
RULE = {"server": "browser", "approval": "auto"}
ALL_ON = 'tools = "*"\n'
FIELDS = [{"name": "From", "type": "textbox", "ref": "e4", "value": "Nanaimo"}]
SESSION: dict[str, tuple[Reply, ...]] = {
    "Open the ferry's page.": (call("browser_navigate", url="https://ferry.example.org"), call("browser_snapshot")),
    "What is on it?": (call("browser_snapshot"),),
    "Open the timetable.": (call("browser_click", element="Timetable", target="e12"), call("browser_snapshot")),
    "Take a picture.": (call("browser_take_screenshot", scale="css"),),
    "Fill in Nanaimo and search.": (call("browser_fill_form", fields=FIELDS), call("browser_press_key", key="Enter")),
    "Accept the question.": (call("browser_handle_dialog", accept=True), call("browser_snapshot")),
    "Are there errors?": (call("browser_console_messages", level="error"),),
    "How many ferries are listed?": (call("browser_evaluate", function="() => document.links.length"),),
}


def as_asked(request: ChatRequest) -> Reply:
    rounds = SESSION[request.user_text]
    return rounds[request.rounds] if request.rounds < len(rounds) else say("Done.")


def playwright() -> list[dict[str, Any]]:
    """As the server gives them, without the descriptions."""
    found = []
    for tool in json.loads(FIXTURES.read_text()):
        if tool["server"] == "@playwright/mcp":
            arguments = {name: dict(described) for name, described in tool["arguments"].items()}
            required = [name for name, described in arguments.items() if described.pop("required")]
            schema = {"type": "object", "properties": arguments, "required": required}
            found.append({"name": tool["tool"], "inputSchema": schema, "annotations": tool["annotations"]})
    return found


@asynccontextmanager
async def browsing(folder: Path, ledger: Ledger, settings: str = "") -> AsyncIterator[tuple[Site, StrictLLM]]:
    """`settings` is what the operator's file says beside the server itself."""
    tools, file = ledger.folder / "tools.json", folder / "windlass.toml"
    tools.write_text(json.dumps(playwright()))
    command, *args = ledger.argv("--only", "ask", "--tools", str(tools))
    server = f"[servers.browser]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n"
    file.write_text(server + settings)
    read = load(config=file)
    async with StrictLLM(as_asked) as llm:
        async with open_site(folder / "home", llm, servers=read.servers, policy=read.policy, lines=read.lines) as site:
            await site.app.servers.wait_ready("browser", 60)
            yield site, llm


async def session(site: Site) -> int:
    """How often the person was asked. They answer the first card for all tools of the server in this chat."""
    conversation = await site.conversation()
    await site.enable(conversation, *(tool["name"] for tool in playwright()), server="browser")
    questions = 0
    for message in SESSION:
        turn_id = (await site.post(f"/conversations/{conversation}/chat", {"content": message}))["turn_id"]
        turn = (await site.get(f"/turns/{turn_id}?wait=60"))["turn"]
        while turn["state"] == "awaiting_person":
            questions += len(turn["pending_calls"])
            for pending in turn["pending_calls"]:
                wanted = {"decision": "allow", "scope": "conversation", "covers": "server"}
                await site.post(pending["settle"]["path"], wanted)
            turn = (await site.get(f"/turns/{turn_id}?wait=60"))["turn"]
        assert turn["outcome"] == "answered" and {one["state"] for one in turn["calls"]} == {"ok"}, turn
    return questions


async def test_c2_a_browser_session_of_eight_messages_asks_twice_at_most_and_with_a_rule_never(
    tmp_path: Path, ledger: Ledger
) -> None:
    async with browsing(tmp_path, ledger) as (site, _):
        with_cards = await session(site)
        assert (await site.call("PUT", "/policy", {"rules": [RULE]})).status == 200
        with_a_rule = await session(site)
    note("browser session", questions=with_cards, with_a_rule=with_a_rule)
    assert len(SESSION) == 8 and 1 <= with_cards <= 2 and with_a_rule == 0


async def test_d4_a_browsing_agent_over_v1_works_once_the_line_of_its_refusal_is_followed(
    tmp_path: Path, ledger: Ledger
) -> None:
    asked = {"model": "strict-model", "messages": [{"role": "user", "content": next(iter(SESSION))}]}
    async with browsing(tmp_path, ledger, ALL_ON) as (site, llm):
        await site.post("/v1/chat/completions", asked)
        refused = [json.loads(text)["error"] for text in llm.requests[-1].results]
    assert len(refused) == 2 and all("nobody can be asked here" in text for text in refused)
    rules = [text.partition("restart:\n")[2].partition("\nThe server")[0] for text in refused]
    setting = 'approval = "auto"'
    assert all(f"put {setting} under [servers.browser] in windlass.toml and restart" in text for text in refused)
    for followed in ("\n".join((ALL_ON, *rules)), f"{ALL_ON}{setting}\n"):
        async with browsing(tmp_path, ledger, followed) as (site, llm):
            done = await site.post("/v1/chat/completions", asked)
            results = [text for request in llm.requests for text in request.results]
        assert done["choices"][0]["message"]["content"] == "Done." and results
        assert not any("error" in text for text in results), (followed, results)
