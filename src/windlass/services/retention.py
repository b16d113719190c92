"""What is kept for a time only is deleted for good when that is over."""

import time
from contextlib import suppress

from windlass.bus import Bus
from windlass.core.errors import Conflict, NotFound
from windlass.store import Store

DAY_S = 24 * 3600.0
HIDDEN_S = DAY_S
CLIENT_S = 30 * DAY_S  # after the last call of a program over MCP, where nothing says how long chats are kept


class Retention:
    def __init__(self, store: Store, bus: Bus, keep_days: float | None) -> None:
        self._store = store
        self._bus = bus
        self.keep_days = keep_days

    async def purge(self) -> None:
        """Stateless requests after a day; conversations untouched for as long as the operator configures, those of
        programs that call over MCP after a month at most; entries of the audit after a year."""
        began = time.time()
        under_way = {turn.conversation_id for turn in self._store.conversations.unfinished()}
        due = [conversation_id for conversation_id in self._old(began) if conversation_id not in under_way]
        for conversation_id in due:
            with suppress(NotFound, Conflict):  # deleted, or used again, while others were purged
                await self._store.conversations.delete(conversation_id, untouched_since=began)
                self._bus.changed(conversation_id)
        if due:
            await self._store.empty_journal()
        await self._store.audit.drop_old(began)
        await self._store.sweep()

    def _old(self, now: float) -> list[str]:
        conversations = self._store.conversations
        old = conversations.hidden(now - HIDDEN_S)
        client_s = CLIENT_S if self.keep_days is None else min(CLIENT_S, self.keep_days * DAY_S)
        old += [one.id for one in conversations.of_clients() if one.updated_at < now - client_s]
        if self.keep_days is not None:
            old += conversations.untouched(now - self.keep_days * DAY_S)
        return old
