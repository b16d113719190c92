"""The messages of a conversation: read, put in by hand, blanked."""

import asyncio
import re
from collections.abc import Sequence

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.bus import Bus
from windlass.core.errors import BadInput, NotFound
from windlass.core.events import TurnFinished, TurnStarted
from windlass.core.ids import new_id
from windlass.services.conversations import title_from
from windlass.services.imports import repaired, with_own_ids
from windlass.services.slices import sliced
from windlass.store import Store
from windlass.turns.records import TurnRecords
from windlass.turns.views import TurnRecord, messages_shown

_ID = re.compile(r"msg-([0-9a-z]+)-(\d{1,9})(?:\.(\d{1,9}))?")


class Messages:
    def __init__(self, store: Store, bus: Bus, records: TurnRecords) -> None:
        self._store = store
        self._bus = bus
        self._records = records

    @serves(routes.messages.get_all)
    async def get_all(self, conversation_id: str, query: schemas.MessagesQuery) -> schemas.MessageList:
        self._store.conversations.get(conversation_id)
        if query.limit or query.cursor:
            return await self._page(conversation_id, query)
        messages = await all_messages(
            [record async for record in sliced(self._records.path(conversation_id, query.head))]
        )
        return schemas.MessageList(messages, len(messages))

    @serves(routes.messages.add)
    async def add(self, conversation_id: str, new: schemas.NewMessage) -> schemas.MessageAnswer:
        """A finished turn of its own. No provider takes a call without a result, so each call gets a note that it has
        none, which a tool message added next replaces."""
        if new.role == "tool":
            return await self._add_result(conversation_id, new)
        if new.role != "assistant" and new.tool_calls:
            raise BadInput("tool_calls: only the assistant makes calls.", detail={"path": "tool_calls"})
        turns = repaired([_plain(new)]).turns
        if not turns:
            raise BadInput("content: a message needs some text.", detail={"path": "content"})
        turn_id = new_id("turn")
        started = TurnStarted(with_own_ids(turn_id, turns[0]), origin="added")
        await self._store.logs.create(conversation_id, started, TurnFinished("added"), turn_id=turn_id)
        return schemas.MessageAnswer(messages_shown(self._records.get(turn_id))[0])

    async def _add_result(self, conversation_id: str, new: schemas.NewMessage) -> schemas.MessageAnswer:
        self._store.conversations.get(conversation_id)
        content = new.content or "(no output)"
        turn_id, part = await self._store.conversations.add_result(conversation_id, new.tool_call_id or "", content)
        self._bus.result_added(conversation_id, turn_id, part, content)
        added = messages_shown(self._records.get(turn_id))
        return schemas.MessageAnswer(next(one for one in added if one.id.endswith(f".{part}")))

    @serves(routes.messages.delete)
    async def delete(self, conversation_id: str, message_id: str) -> schemas.Deleted:
        title = self._store.conversations.get(conversation_id).title
        found = _ID.fullmatch(message_id)
        if not found:
            raise _unknown(message_id)
        turn_id = f"turn-{found[1]}"
        before = self._texts_by_id(conversation_id, turn_id)
        if message_id not in before:
            raise _unknown(message_id)
        await self._store.conversations.blank(turn_id, int(found[2]), int(found[3] or 0))
        after = self._texts_by_id(conversation_id, turn_id)
        gone = [one for one in before if one not in after]
        if title and any(title == title_from(before[one]) for one in gone):
            await self._store.conversations.change(conversation_id, {"title": self._title(conversation_id)})
        await self._store.empty_journal()
        self._bus.deleted(conversation_id, turn_id, gone)
        return schemas.Deleted(gone, message="Message deleted")

    async def _page(self, conversation_id: str, query: schemas.MessagesQuery) -> schemas.MessageList:
        """In order; the cursor is the id of the last message that was shown."""
        last = _ID.fullmatch(query.cursor)
        if query.cursor and not last:
            raise _not_a_cursor()
        first = f"turn-{last[1]}" if last else ""
        found: list[schemas.Message] = []
        async for record in sliced(self._records.path(conversation_id, query.head, first)):
            found += _after(await all_messages([record]), query.cursor if record.id == first else "")
            if query.limit and len(found) > query.limit:
                found = found[: query.limit]
                return schemas.MessageList(found, len(found), next_cursor=found[-1].id)
        return schemas.MessageList(found, len(found))

    def _texts_by_id(self, conversation_id: str, turn_id: str) -> dict[str, str]:
        """The texts of a turn's messages."""
        record = self._records.in_conversation(conversation_id, turn_id)
        return {message.id: message.content or "" for message in messages_shown(record)}

    def _title(self, conversation_id: str) -> str:
        """From the first user message that is left; otherwise the title would still show what was deleted."""
        path = self._records.path(conversation_id)
        messages = (message for record in path for message in messages_shown(record) if message.role == "user")
        return title_from(next((message.content or "" for message in messages), ""))


async def all_messages(records: Sequence[TurnRecord]) -> list[schemas.Message]:
    """In a thread: of many, or of one that was imported whole, they take longer than others should wait."""
    return await asyncio.to_thread(lambda: [message for record in records for message in messages_shown(record)])


def _after(messages: list[schemas.Message], last: str) -> list[schemas.Message]:
    if not last:
        return messages
    for index, message in enumerate(messages, 1):
        if message.id == last:
            return messages[index:]
    raise _not_a_cursor()


def _not_a_cursor() -> BadInput:
    hint = "Use `next_cursor` of the page before; if that message was deleted meanwhile, start again without."
    return BadInput("cursor: this is none of ours.", hint=hint, detail={"path": "cursor"})


def _plain(new: schemas.NewMessage) -> dict[str, object]:
    calls = [
        {"id": call.id, "function": {"name": call.function.name, "arguments": call.function.arguments}}
        for call in new.tool_calls or []
    ]
    return {"role": new.role, "content": new.content, "tool_calls": calls}


def _unknown(message_id: str) -> NotFound:
    hint = "GET /conversations/{id}/messages shows those that are there."
    return NotFound(f"There is no message {message_id[:100]} in this chat.", hint=hint)
