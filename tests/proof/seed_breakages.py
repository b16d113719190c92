"""The statements of the seeds, each made untrue on purpose: the tests that docs/seeds.md names for it must notice."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.proof.mutations import Mutation

PAGE = Path(__file__).parents[2] / "docs" / "seeds.md"
ROW = re.compile(r"^\| (\d+) \| .+ \| (`tests/.+`) \|$", re.MULTILINE)
NAMED = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")


@dataclass(frozen=True, slots=True)
class Breakage:
    """What makes the statements of these rows untrue. `old` must be in the file exactly once."""

    rows: tuple[int, ...]
    file: str
    old: str
    new: str

    @property
    def name(self) -> str:
        return "rows " + ", ".join(map(str, self.rows))

    def mutation(self) -> Mutation:
        return Mutation(self.name, self.file, self.old, self.new, ())


def named_tests() -> dict[int, tuple[str, ...]]:
    return {int(number): tuple(NAMED.findall(shown)) for number, shown in ROW.findall(PAGE.read_text())}


# The script is the statement, and a page of the documentation: nothing in the product makes them untrue.
WITHOUT = frozenset({*range(92, 99), 52})

BREAKAGES = (
    Breakage(
        (1, 70, 83),
        "providers/encoding.py",
        """b',"parameters":' + tool.schema.encode(errors="replace")""",
        """b',"parameters":' + b'{"type":"object","properties":{}}'""",
    ),
    Breakage(
        (2,),
        "providers/calls.py",
        'wire_id, name = _index(part.get("index")), _text(part.get("id"))',
        'wire_id, name = _index(part.get("index")), ""',
    ),
    Breakage(
        (3, 84),
        "toolbox/turn.py",
        "                call.arguments,\n                key=call.id,",
        '                "{}",\n                key=call.id,',
    ),
    Breakage(
        (4, 7),
        "core/prompt.py",
        'yield ChatMessage("tool", _numbered_result(',
        'yield ChatMessage("assistant", _numbered_result(',
    ),
    Breakage(
        (5,),
        "providers/encoding.py",
        'if request.prompt.offers and request.tools.tools else b""',
        'if request.tools.tools and len(request.prompt.current) < 2 else b""',
    ),
    Breakage(
        (6, 11, 17, 75),
        "core/steps.py",
        "    if last and not last.calls and not last.reply.promised:\n",
        "    if last and (not last.calls or last.reply.text):\n",
    ),
    Breakage(
        (8, 16),
        "search/search.py",
        "return ToolOutput(report(query, backend, hits, readings, failures), sources",
        'return ToolOutput("", sources',
    ),
    Breakage(
        (9, 47),
        "providers/assembly.py",
        'if found := chunk.get("web_search"):',
        'if found := chunk.get("web_search_"):',
    ),
    Breakage((10,), "search/rules.py", "    if due and not reply.sources:\n", "    if not view:\n"),
    Breakage((12,), "search/intent.py", "plain = text[prefix.end() :].rstrip() if prefix else text", "plain = text"),
    Breakage((13, 39), "search/intent.py", "    return (len(tokens), True) in reached", "    return False"),
    Breakage((14,), "search/tool.py", "name=SEARCH_TOOL", 'name="search_web"'),
    Breakage(
        (15,),
        "core/prompt.py",
        'yield ChatMessage("assistant", reply.text or None, calls, reasoning',
        'yield ChatMessage("assistant", reply.text or "", (), reasoning',
    ),
    Breakage(
        (18,),
        "core/steps.py",
        "    if last and not last.calls and not last.reply.promised:\n",
        "    if last and not last.calls and len(view.rounds) > 1:\n",
    ),
    Breakage(
        (19,),
        "providers/encoding.py",
        "if temperature is not None and profile.temperature:",
        "if temperature is not None and profile.temperature and len(request.prompt.current) < 2:",
    ),
    Breakage((20,), "config.py", 'ZAI_MODEL = "glm-4.7"', 'ZAI_MODEL = "glm-4.5"'),
    Breakage((21,), "providers/calls.py", "slot.id = slot.id or wire_id", 'slot.id = slot.id or part["id"]'),
    Breakage((22, 60, 79), "turns/views.py", "    if message.name:\n        shown.name = message.name\n", ""),
    Breakage((23, 86), "core/prompt.py", 'return json.dumps({"error": text}, ensure_ascii=False)', "return text"),
    Breakage((24,), "providers/config.py", 'base_url.rstrip("/") + path', "base_url + path"),
    Breakage((25,), "providers/assembly.py", 'data = chunk.get("data")', "data = None"),
    Breakage((26,), "services/providers.py", "first_byte_s=limits.first_byte_s,", "first_byte_s=limits.connect_s,"),
    Breakage(
        (27,),
        "telemetry/metrics.py",
        'log.warning("Model call failed: %s (%s)"',
        'log.debug("Model call failed: %s (%s)"',
    ),
    Breakage((28,), "core/engine.py", "    if not reply.text and not reply.calls:\n", "    if reply.text is None:\n"),
    Breakage((29,), "providers/assembly.py", "unexpected keys {sorted(map(str, value))[:10]}", "a mapping"),
    Breakage((30,), "runner.py", '(StopRequested("defect"),)', '(StopRequested("person"),)'),
    Breakage(
        (31,), "core/steps.py", "view.started.settings.limits.rounds == 1", "view.started.settings.limits.rounds == 0"
    ),
    Breakage((32,), "telemetry/metrics.py", "Tool calls detected: %d tools", "Tools detected: %d"),
    Breakage((33,), "telemetry/metrics.py", "Processing tool: %s (id: %s)", "Processing: %s (id: %s)"),
    Breakage((34,), "providers/models.py", "Sending tool results to model", "Sending to model"),
    Breakage((35,), "telemetry/metrics.py", "Tool execution completed: %s", "Tool completed: %s"),
    Breakage((36,), "telemetry/metrics.py", "Final response received: %d chars", "Final response: %d chars"),
    Breakage(
        (37,),
        "telemetry/metrics.py",
        'log.info("Tool calls detected: %d tools", len(reply.calls))',
        'log.info("Tool calls detected: %d tools %s", len(reply.calls), reply.calls)',
    ),
    Breakage((38,), "search/search.py", "tuple(SourceLink(hit.title, hit.url) for hit in hits)", "()"),
    Breakage((40,), "config.py", "timeout_s: float = 240\n", "timeout_s: float = 60\n"),
    Breakage((41,), "config.py", 'env.get("LLM_MODEL", "")', 'env.get("MODEL", "")'),
    Breakage((42, 71), "config.py", "    rounds: int = 10\n", "    rounds: int = 3\n"),
    Breakage(
        (43, 100, 103),
        "core/engine.py",
        "                    for call in calls:\n                        harmless",
        "                    for call in calls[:1]:\n                        harmless",
    ),
    Breakage((44, 101), "web/endpoints.py", "if wants_events(scope):", "if not scope:"),
    Breakage((45, 106), "servers/lifecycle.py", "tries = self.config.retries_of(tool)", "tries = 0"),
    Breakage((46,), "search/mcp.py", "await self.call({argument: query})", "await self.call({})"),
    Breakage(
        (48,),
        "search/intent.py",
        'return "auto" if setting == BUILTIN and not searches_itself(base_url) else setting',
        "return setting",
    ),
    Breakage((49,), "search/intent.py", "_PREFIX.match(text) if prefix_enabled else None", "_PREFIX.match(text)"),
    Breakage((50,), "services/turns.py", 'web_search=search, origin="retry"', 'origin="retry"'),
    Breakage((51,), "search/intent.py", "query=_query(plain), unmet=True)", "query=_query(plain))"),
    Breakage(
        (53, 72), "core/engine.py", "for n, d in enumerate(reply.calls)", "for n, d in enumerate(reply.calls[:0])"
    ),
    Breakage((54,), "turns/views.py", "return f\"msg-{turn_id.partition('-')[2]}-{position}\"", "return position"),
    Breakage(
        (55,),
        "api/schemas/conversations.py",
        'role: Literal["user", "assistant", "system", "tool"]\n    content: Annotated',
        'role: Literal["user", "assistant", "tool"]\n    content: Annotated',
    ),
    Breakage(
        (56,),
        "api/schemas/conversations.py",
        "content: Annotated[str, Meta(max_length=1_000_000)] | None = None",
        'content: Annotated[str, Meta(max_length=1_000_000)] = ""',
    ),
    Breakage((57,), "turns/views.py", "{ms:03d}Z", "{ms:03d}"),
    Breakage(
        (58,),
        "turns/views.py",
        "    if message.calls:\n        shown.tool_calls",
        "    if not shown:\n        shown.tool_calls",
    ),
    Breakage((59,), "turns/views.py", "    if message.call_id:\n", "    if not shown:\n"),
    Breakage(
        (61,),
        "services/messages.py",
        "return await self._add_result(conversation_id, new)",
        'raise BadInput("role: no.")',
    ),
    Breakage(
        (62,),
        "services/messages.py",
        "return schemas.MessageList(messages, len(messages))",
        "return schemas.MessageList(messages[:1], len(messages))",
    ),
    Breakage(
        (63,),
        "services/messages.py",
        "await self._store.conversations.blank(turn_id, int(found[2]), int(found[3] or 0))",
        "int(found[2])",
    ),
    Breakage(
        (64,), "api/routes.py", '"/conversations/{conversation_id}/chat"', '"/conversations/{conversation_id}/chats"'
    ),
    Breakage(
        (65,),
        "api/schemas/turns.py",
        "class ChatRequest(Request):\n    content: MessageText",
        'class ChatRequest(Request, rename={"content": "text"}):\n    content: MessageText',
    ),
    Breakage((66,), "api/schemas/turns.py", 'COMPLETED = "Chat completed successfully"', 'COMPLETED = "Done"'),
    Breakage(
        (67,),
        "turns/setup.py",
        "_context_text(item) for item in context",
        "_context_text(item) for item in context[1:]",
    ),
    Breakage(
        (68, 82),
        "servers/lifecycle.py",
        '        return self._connection.tools if self._connection and self._state == "running" else ()',
        '        if self._connection and self._state == "running":\n            self._seen = self._connection.tools\n'
        '        return getattr(self, "_seen", ())',
    ),
    Breakage(
        (69,),
        "turns/views.py",
        "        if part not in started.blanked:\n",
        "        if part not in started.blanked and record.outcome:\n",
    ),
    Breakage(
        (73, 81),
        "toolbox/turn.py",
        "                spec.server,\n                spec.tool,\n",
        "                self._context.servers.configs()[0].id,\n                spec.tool,\n",
    ),
    Breakage(
        (74, 87),
        "turns/views.py",
        "            if end := ends.get(call.call.id):\n",
        "            if view.finished and (end := ends.get(call.call.id)):\n",
    ),
    Breakage((76,), "turns/views.py", "last.promised else messages[-1]", "last.promised else None"),
    Breakage(
        (77,), "turns/views.py", "        if part not in started.blanked:\n", "        if part in started.blanked:\n"
    ),
    Breakage(
        (78,),
        "turns/views.py",
        'ChatMessage("assistant", reply.text or None, reply.calls',
        'ChatMessage("assistant", reply.text, reply.calls',
    ),
    Breakage(
        (80,),
        "turns/views.py",
        "        if reply.blanked:\n            continue",
        "        if reply.blanked or not reply.calls:\n            continue",
    ),
    Breakage(
        (85,),
        "servers/supervisor.py",
        "        return self._lifecycle(server).call(\n            tool,\n",
        "        return self._lifecycle(server).call(\n            server,\n",
    ),
    Breakage(
        (88,),
        "toolbox/box.py",
        "return any(fnmatchcase(offer.tool.name, pattern) for pattern in offer.server.enabled_tools)",
        "return True",
    ),
    Breakage(
        (89,),
        "services/tools.py",
        "await self._toolbox.enable(conversation_id, wanted.server_id, wanted.tool_name, approval)",
        "self._store.conversations.get(conversation_id)",
    ),
    Breakage(
        (90,),
        "services/tools.py",
        "return schemas.AvailableTools(found, len(found)",
        "return schemas.AvailableTools(found[:1], 1",
    ),
    Breakage(
        (91,),
        "services/tools.py",
        "return schemas.EnabledTools(found, len(found), message=message)",
        "return schemas.EnabledTools(found[1:], len(found), message=message)",
    ),
    Breakage(
        (99,),
        "services/turns.py",
        "request)).turn_id\n        await self._waiting.settled(turn_id)\n",
        "request)).turn_id\n",
    ),
    Breakage(
        (102,),
        "runner.py",
        "await self._append(turn_id, *broken_off, StopRequested(call_id=call_id))",
        "await self._append(turn_id, *broken_off)",
    ),
    Breakage(
        (104,),
        "core/fold.py",
        'return self.judged.verdict == "auto" or (',
        'return self.judged.verdict != "refuse" or (',
    ),
    Breakage(
        (105,),
        "servers/values.py",
        "return override.timeout_s if override and override.timeout_s is not None else self.timeout_s",
        "return self.timeout_s",
    ),
)
