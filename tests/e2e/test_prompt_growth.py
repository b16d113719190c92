"""Promise P11 over the whole server: each request begins with the one before it, byte for byte, or the log names what
moved it. The model server's own record of the requests is the witness."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.e2e.test_loop import with_ledger
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess, model_settings, windlass
from windlass.testing import StrictLLM, call, raw_call, say, think
from windlass.testing.recording import RecordedRequest
from windlass.testing.replies import Scripted

FOUND = [{"title": "Harbour", "link": "http://10.0.0.8/harbour", "content": "It opens at nine.", "refer": "ref_1"}]


class Chat:
    """One conversation, with what the model server was sent in it and what the log says of each request."""

    def __init__(self, server: WindlassProcess, llm: StrictLLM, conversation: str) -> None:
        self.server, self.llm, self.path = server, llm, f"/conversations/{conversation}"
        self.moved: list[list[str]] = []

    async def ask(self, content: str, *replies: Scripted, **more: object) -> dict[str, Any]:
        self.llm.then(*replies)
        said = await self.server.call("POST", f"{self.path}/chat", {"content": content, **more})
        assert isinstance(said.body, dict) and not self.llm.unused, said
        log = (await self.server.get(f"/turns/{said.body['turn_id']}/log"))["events"]
        self.moved += [event["moved"] for event in log if event["event"] == "model_replied"]
        return said.body


@asynccontextmanager
async def chat(home: Path, ledger: Ledger) -> AsyncIterator[Chat]:
    with_ledger(home, ledger, trusted=True)
    async with StrictLLM(dialect="zai", coding_plan=True, search=FOUND) as llm:
        async with windlass(home, env=model_settings(llm.base_url)) as server:
            await server.running("ledger")
            made = await server.post("/conversations", {})
            yield Chat(server, llm, made["conversation"]["id"])


def begins_with(request: RecordedRequest, before: RecordedRequest) -> bool:
    """As bytes: tools, then messages, the order in which chat templates render them."""

    def rendered(one: RecordedRequest) -> str:
        return json.dumps([one.model, one.tools, one.messages], ensure_ascii=False)

    return rendered(request).startswith(rendered(before)[:-2])


def check(talk: Chat) -> None:
    requests = talk.llm.requests
    assert len(requests) == len(talk.moved)
    for number, (before, request) in enumerate(pairwise(requests), 1):
        assert begins_with(request, before) == (not talk.moved[number]), (number, talk.moved[number])


async def test_a_conversation_with_tools_errors_thoughts_and_long_results_only_grows(
    tmp_path: Path, ledger: Ledger
) -> None:
    async with chat(tmp_path / "home", ledger) as talk:
        await talk.ask("Hello", say("Hello."))
        await talk.ask("Look", think("I should look.") + call("echo", text="a"), think("Good.") + say("It is a."))
        await talk.ask("More", call("echo", text="x" * 40_000), call("fail", message="no"), say("It is long."))
        await talk.ask("Odd", raw_call("echo", '{"text": '), call("no_such_tool"), say("That failed."))
        both = call("echo", text="b") + call("echo", text="c")
        await talk.ask("Cap", both, call("echo", text="d"), say("What I have."), max_rounds=2)
        await talk.ask("And?", say("That was all."))
        assert talk.moved == [[]] * len(talk.llm.requests) and len(talk.llm.requests) == 13
        check(talk)


async def test_whatever_moves_the_prompt_is_named_in_the_log(tmp_path: Path, ledger: Ledger) -> None:
    async with chat(tmp_path / "home", ledger) as talk:
        await talk.ask("Hello", say("Hello."))
        await talk.ask("// when does the harbour open?", call("web_search", query="harbour"), say("At nine [1]."))
        await talk.ask("Thanks", say("You are welcome."))
        await talk.ask("// hello", say("Hello."))
        await talk.ask("Look", call("echo", text="a"), say("It is a."))
        context = {"descriptive_name": "Plan", "content": "Paint it."}
        await talk.server.post(f"{talk.path}/context", context)
        await talk.ask("Now?", say("Paint."))
        await talk.server.call("PATCH", talk.path, {"system_prompt": "Be brief."})
        await talk.ask("Go on", say("Yes."))
        await talk.ask("Other", say("Indeed."), model="environment/glm-4.6")
        await talk.ask("Back", say("Yes."))
        first = (await talk.server.get(f"{talk.path}/messages"))["messages"][0]["id"]
        await talk.server.call("DELETE", f"{talk.path}/messages/{first}")
        await talk.ask("Still there?", say("Yes."))
        await talk.server.call("PATCH", talk.path, {"max_messages": 5})
        await talk.ask("Short", say("Yes."))
        await talk.server.call("PATCH", talk.path, {"max_messages": None})
        insists = call("echo", text="b"), call("echo", text="c"), call("echo", text="d").anyway()
        await talk.ask("Cap", *insists, say("Enough."), max_rounds=2)
        await talk.ask("End", say("Bye."))
        check(talk)
        named = [causes for causes in talk.moved if causes]
        assert named == [
            *(["tools"], ["tools"], ["tools"], ["tools"]),
            ["context"],
            ["persona", "system_prompt"],
            *(["model"], ["model"]),
            ["deleted"],
            *(["trimmed"], ["trimmed"], ["tools"], ["tools"]),
        ]


async def test_instructions_stay_byte_for_byte_and_are_named_when_they_move(tmp_path: Path, ledger: Ledger) -> None:
    held = {"instructions": "Echo before you record.", "resources": [{"uri": "doc://a", "text": "alpha"}]}
    home = tmp_path / "home"
    with_ledger(home, ledger, trusted=True, args=ledger.argv("--library", ledger.library(**held))[1:])
    async with StrictLLM(dialect="zai", coding_plan=True, search=FOUND) as llm:
        async with windlass(home, env=model_settings(llm.base_url)) as server:
            await server.running("ledger")
            talk = Chat(server, llm, (await server.post("/conversations", {}))["conversation"]["id"])
            await talk.ask("Hello", say("Hello."))
            await talk.ask("Look", call("resource_read", server="ledger", uri="doc://a"), say("It is alpha."))
            attached = [{"server": "ledger", "uri": "doc://a"}]
            await talk.ask("And this?", say("The same."), attachments=attached)
            await talk.ask("Thanks", say("You are welcome."))
            assert talk.moved == [[]] * 5 and "Echo before you record." in llm.requests[0].messages[0]["content"]
            ledger.library(instructions="Record at once.", resources=held["resources"])
            await server.post("/servers/ledger/stop")
            await server.post("/servers/ledger/start")
            await talk.ask("Now?", say("Yes."))
            assert talk.moved[-1] == ["instructions"]
            check(talk)
