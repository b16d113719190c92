"""The tester and the replay of permissions against what really happens: random rules, grants and settings, and calls
that a scripted model then makes."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.web.kit import Site, open_site
from windlass.core.values import value_object
from windlass.testing import StrictLLM, call, say

CALLS = 200
SERVERS = ("plain", "trusted")
TOOLS = ("record", "idempotent", "destroy", "read_only", "echo")
VALUES = ("a", "b", "a/../b", "A")
EFFECTS = ("auto", "ask", "deny")


@value_object
class Judged:
    """One call as the log has it."""

    call_id: str
    server: str
    tool: str
    arguments: dict[str, Any]
    verdict: str
    step: int
    permission: str
    allowed: bool | None


class RandomChats:
    """Chats, servers and permissions that change at random between calls."""

    def __init__(self, site: Site, llm: StrictLLM, dice: random.Random) -> None:
        self.site, self.llm, self.dice = site, llm, dice
        self.chats: list[str] = []
        self.log: list[Judged] = []
        self._rules: list[dict[str, Any]] = []

    async def begin(self, folder: Path) -> None:
        for slug in SERVERS:
            (folder / slug).mkdir()
            await self.site.add_ledger(Ledger(folder / slug), slug=slug, tools="*", trusted=slug == "trusted")
        self.chats = [await self.site.conversation() for _ in range(4)]

    async def change_something(self) -> None:
        pick = self.dice.random()
        chat, server, tool = self.dice.choice(self.chats), self.dice.choice(SERVERS), self.dice.choice(TOOLS)
        if pick < 0.3:
            rules = [self.rule() for _ in range(self.dice.choice((0, 0, 1, 2)))]
            self._rules = (await self.site.call("PUT", "/policy", {"rules": rules})).body["rules"]
        elif pick < 0.7:
            approval = self.dice.choice(("", "", "", "", *EFFECTS))
            await self.site.enable(chat, tool, server=server, **({"approval": approval} if approval else {}))
        elif pick < 0.8:
            setting = self.dice.choice((None, None, None, "auto", "ask"))
            await self.site.call("PATCH", f"/servers/{server}", {"approval": setting})
        elif pick < 0.9:
            grants = [
                one["id"] for one in (await self.site.get("/permissions"))["permissions"] if one["kind"] == "grant"
            ]
            for id in grants:
                await self.site.call("DELETE", f"/permissions/{id}")
        else:
            self.chats[self.dice.randrange(len(self.chats))] = await self.site.conversation()

    def rule(self) -> dict[str, Any]:
        arguments = {self.dice.choice(("effect_id", "text", "*")): self.dice.choice(("a", "a*", "b"))}
        return {
            "approval": self.dice.choice(EFFECTS),
            "server": self.dice.choice(("*", *SERVERS)),
            "tool": self.dice.choice(("*", "rec*", *TOOLS)),
            "arguments": arguments if self.dice.random() < 0.5 else {},
            "hint": self.dice.choice(("", "", "destructive", "read_only")),
        }

    def call(self) -> tuple[str, str, str, dict[str, Any]]:
        tool = self.dice.choice(TOOLS)
        arguments = {"text" if tool == "echo" else "effect_id": self.dice.choice(VALUES)}
        return self.dice.choice(self.chats), self.dice.choice(SERVERS), tool, arguments

    async def tested(self, chat: str, server: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        body = {"server": server, "tool": tool, "arguments": arguments, "conversation_id": chat}
        return dict(await self.site.post("/permissions/test", body))

    async def made(self, chat: str, server: str, tool: str, arguments: dict[str, Any]) -> Judged:
        """The same call by the model; one that asks is answered by a person who does not care."""
        self.llm.then(call(f"{server}__{tool}", **arguments), say("Done."))
        reply = (await self.site.call("POST", f"/conversations/{chat}/chat", {"content": "Go"})).body
        turn = f"/turns/{reply['turn_id']}"
        allowed = None
        for pending in reply.get("pending_calls", ()):
            allowed = self.dice.random() < 0.5
            await self._decide(f"{turn}/calls/{pending['call_id']}/decision", allowed)
            await self.site.get(f"{turn}?wait=60")
        events = (await self.site.get(f"{turn}/log"))["events"]
        [judged] = [event for event in events if event["event"] == "call_judged"]
        self.log.append(
            Judged(
                judged["call_id"],
                server,
                tool,
                arguments,
                judged["verdict"],
                judged.get("step", 0),
                judged.get("permission", ""),
                allowed,
            )
        )
        return self.log[-1]

    async def _decide(self, path: str, allowed: bool) -> None:
        scope = self.dice.choice(("once", "once", "once", "conversation", "always")) if allowed else "once"
        lasting = {"covers": self.dice.choice(("tool", "arguments", "arguments", "server"))} if scope != "once" else {}
        body = {"decision": "allow" if allowed else "deny", "scope": scope, **lasting}
        if (await self.site.call("POST", path, body)).status != 200:  # a rule asks: no grant is saved
            await self.site.post(path, {"decision": "allow"})


@pytest.fixture
def dice() -> random.Random:
    return random.Random(17)  # the same calls in every run


async def test_the_testers_verdict_is_what_the_same_call_then_gets(
    tmp_path: Path, strict_llm: StrictLLM, dice: random.Random
) -> None:
    async with open_site(tmp_path / "home", strict_llm, durability="normal") as site:
        chats = RandomChats(site, strict_llm, dice)
        await chats.begin(tmp_path)
        seen: Counter[tuple[str, int]] = Counter()
        for _ in range(CALLS):
            await chats.change_something()
            wanted = chats.call()
            tested = await chats.tested(*wanted)
            made = await chats.made(*wanted)
            foretold = (tested["verdict"], tested["step"], tested.get("permission_id", ""))
            assert foretold == (made.verdict, made.step, made.permission), wanted
            assert [one["decides"] for one in tested["trace"]].count(True) == 1, tested
            [winner] = [one for one in tested["trace"] if one["decides"]]
            assert winner["effect"] == {"auto": "auto", "ask": "ask", "refuse": "deny"}[made.verdict]
            assert winner.get("permission_id", "") == made.permission
            seen[made.verdict, made.step] += 1
        assert {step for _, step in seen} == set(range(1, 8)), "each step of the approval decided some call"
        await replay_equals_a_recount(chats)


async def replay_equals_a_recount(chats: RandomChats) -> None:
    """Of rules without arguments, whose matching is plain enough to be done here once more."""
    site, log = chats.site, chats.log
    await site.call("PUT", "/policy", {"rules": []})
    requests = len(chats.llm.requests)
    for approval in EFFECTS:
        for server, tool in (("*", "*"), ("plain", "*"), ("*", "record"), ("trusted", "destroy")):
            rule = {"approval": approval, "server": server, "tool": tool}
            found = await site.post("/permissions/replay", {"rule": rule, "last": 1000})
            would = {"auto": "auto", "ask": "ask", "deny": "refuse"}[approval]
            hits = [one for one in log if server in ("*", one.server) and tool in ("*", one.tool)]
            changed = [one for one in hits if one.verdict != would]
            freed = changed if would == "auto" else []
            assert (found["calls"], found["matched"]) == (len(log), len(hits))
            assert found["stopped"] == (len(changed) if would == "refuse" else 0)
            assert found["asked"] == sum(one.verdict == "auto" for one in changed if would == "ask")
            assert found["freed"] == len(freed)
            assert found["approved"] == sum(one.allowed is True for one in freed)
            totals = Counter(would if one in hits else one.verdict for one in log)
            assert [found[name] for name in ("would_run", "would_ask", "would_deny")] == [
                totals[verdict] for verdict in ("auto", "ask", "refuse")
            ]
            calls = {one.call_id: one for one in hits}
            for example in found["examples"]:
                past = calls[example["call_id"]]
                assert (example["was"], json.loads(example["arguments"])) == (past.verdict, past.arguments)
    for server in SERVERS:
        await coverage_equals_a_recount(chats, server)
    assert len(chats.llm.requests) == requests, "nothing was asked of the model"


async def coverage_equals_a_recount(chats: RandomChats, server: str) -> None:
    tools = (await chats.site.get(f"/servers/{server}/tools"))["tools"]
    [hash] = [tool["hash"] for tool in tools if tool["name"] == "record"]
    past = [one for one in chats.log if (one.server, one.tool) == (server, "record")]
    for value in ("a", "b"):
        tried = {"server": server, "tool": "record", "hash": hash, "conditions": {"effect_id": value}, "last": 1000}
        found = await chats.site.post("/permissions/coverage", tried)
        exact = sum(one.arguments == {"effect_id": value} for one in past)
        assert (found["calls"], found["covered"]) == (len(past), exact) and exact > 0
    stale = await chats.site.post(
        "/permissions/coverage", {"server": server, "tool": "record", "hash": "another", "last": 1000}
    )
    assert (stale["calls"], stale["covered"]) == (len(past), 0)
