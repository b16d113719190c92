"""What is read does not grow with what is kept: no table is walked through, and no index made up for one question."""

import re
from pathlib import Path

from windlass.core.events import ModelReplied, ToolFinished, TurnFinished, TurnStarted
from windlass.core.messages import ChatMessage, ToolCall, ToolOutput
from windlass.store import ConversationRow, Store

WALKS = re.compile(r"^SCAN \w+$|AUTOMATIC")
HELLO = TurnStarted((ChatMessage("user", "hello"),), client_message_id="message-1")


async def test_no_question_of_a_turn_walks_through_a_table(tmp_path: Path) -> None:
    store = Store(tmp_path)
    asked: list[str] = []
    store._connection.set_trace_callback(asked.append)
    conversation = await store.conversations.create(ConversationRow(""))
    created = await store.logs.create(conversation.id, HELLO, driver="d")
    unknown = ToolFinished("c1", "unknown", ToolOutput("who knows"))
    await store.logs.append(created.turn_id, [ModelReplied("", (ToolCall("c1", "look"),)), unknown])
    await store.logs.append(created.turn_id, [ModelReplied("done"), TurnFinished("answered")])
    store.logs.forget()
    assert not (await store.logs.create(conversation.id, HELLO)).is_new
    await store.logs.create(conversation.id, TurnStarted((ChatMessage("user", "again"),)))
    store.conversations.get(conversation.id)
    store.conversations.recent()
    store.conversations.turns(conversation.id)
    store.conversations.log(created.turn_id)
    store.conversations.events_after(conversation.id, 2)
    store.conversations.unknown_calls(conversation.id)
    store.conversations.outside_log(conversation.id)
    store.conversations.tokens_since(1.0)
    assert len(store.conversations.unfinished()) == 1
    store.history.up_to(created.turn_id, conversation.id)
    store._connection.set_trace_callback(None)
    plans = [
        (statement, step[3])
        for statement in asked
        if statement.startswith(("select", "update", "delete"))
        for step in store._connection.execute(f"explain query plan {statement}")
    ]
    assert len(plans) > 20
    assert [plan for plan in plans if WALKS.search(plan[1])] == []
    await store.close()
