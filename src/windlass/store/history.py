"""The turns before a turn, as its prompt shows them: core's `History` port. Kept in memory per turn and per path, since
a long conversation asks for the same ones again with every message."""

import asyncio
import sqlite3
from collections import OrderedDict
from collections.abc import Sequence

from windlass.core.events import NO_HISTORY, Event
from windlass.core.fold import fold
from windlass.core.messages import PastTurn
from windlass.core.ports import Fence
from windlass.core.prompt import past_turn
from windlass.store.codec import DECODERS, VERSION, decode
from windlass.store.turnlog import OF_TURN

MOST_PATHS = 256
SLICE = 200  # turns that are read before others get their turn
MOST_PARENTS = 1024


class PastTurns:
    def __init__(self, reader: sqlite3.Connection, fence: Fence) -> None:
        self.fence = fence
        self._reader = reader
        self._paths: OrderedDict[str, tuple[PastTurn, ...]] = OrderedDict()  # turn -> the path that ends with it
        self._conversations: dict[str, str] = {}
        self._parents: dict[str, tuple[str | None, str]] = {}  # turn -> its parent and its conversation

    async def before(self, turn_id: str, history_from: str) -> tuple[PastTurn, ...]:
        parent, conversation_id = self._parent(turn_id)
        if parent is None or history_from == NO_HISTORY:
            return ()
        if parent not in self._paths:
            await self._read_in_slices(parent, conversation_id)
        path = self.up_to(parent, conversation_id)
        if not history_from:
            return path
        # From the end: of a long past, only the last of it is shown.
        start = next((index for index in range(len(path) - 1, -1, -1) if path[index].turn_id == history_from), 0)
        return path[start:]

    async def shorten(self, turn_id: str, log: Sequence[Event]) -> str | None:
        past = await self.before(turn_id, fold(log).history_from)
        if not past:
            return None
        return past[(len(past) + 1) // 2].turn_id if len(past) > 1 else NO_HISTORY

    def know(self, turn_id: str, parent_id: str | None, conversation_id: str) -> None:
        while len(self._parents) >= MOST_PARENTS:
            del self._parents[next(iter(self._parents))]
        self._parents[turn_id] = parent_id, conversation_id

    def _parent(self, turn_id: str) -> tuple[str | None, str]:
        """A turn's parent and conversation, which never change; asked for with every request of a turn."""
        if turn_id not in self._parents:
            found = self._reader.execute(
                "select t.parent_id, c.id from turns t join conversations c on c.n = t.conversation where t.id = ?",
                (turn_id,),
            ).fetchone()
            if not found:
                return None, ""
            self.know(turn_id, *found)
        return self._parents[turn_id]

    def up_to(self, turn_id: str, conversation_id: str) -> tuple[PastTurn, ...]:
        """The path that ends with this turn. Kept once the turn has finished: only the last of a path may go on."""
        missing: list[tuple[str, int]] = []
        finished = True
        ancestor: str | None = turn_id
        while ancestor and ancestor not in self._paths:
            parent, revision, state = self._reader.execute(
                "select parent_id, revision, state from turns where id = ?", (ancestor,)
            ).fetchone()
            missing.append((ancestor, revision))
            finished = finished and state == "finished"
            ancestor = parent
        path = self._paths[ancestor] if ancestor else ()
        path += tuple(self._past(id, revision) for id, revision in reversed(missing))
        if finished:
            self._keep(turn_id, conversation_id, path)
        return path

    async def _read_in_slices(self, turn_id: str, conversation_id: str) -> None:
        """A long path that is not known yet takes as long as others should not wait."""
        missing: list[str] = []
        ancestor: str | None = turn_id
        while ancestor and ancestor not in self._paths:
            missing.append(ancestor)
            ancestor, _ = self._parent(ancestor)
            if len(missing) % SLICE == 0:
                await asyncio.sleep(0)
        for end in missing[::-1][SLICE - 1 :: SLICE]:
            self.up_to(end, conversation_id)
            await asyncio.sleep(0)

    def forget(self, conversation_id: str) -> None:
        for turn_id in [id for id, owner in self._conversations.items() if owner == conversation_id]:
            del self._conversations[turn_id]
            self._paths.pop(turn_id, None)

    def _past(self, turn_id: str, revision: int) -> PastTurn:
        rows = self._reader.execute(f"select e.kind, e.body, e.version {OF_TURN}", (turn_id,))
        log = [DECODERS[kind].decode(body) if v == VERSION else decode(kind, body, v) for kind, body, v in rows]
        return past_turn(turn_id, log, self.fence, revision)

    def _keep(self, turn_id: str, conversation_id: str, path: tuple[PastTurn, ...]) -> None:
        self._paths[turn_id] = path
        self._paths.move_to_end(turn_id)
        self._conversations[turn_id] = conversation_id
        while len(self._paths) > MOST_PATHS:
            old, _ = self._paths.popitem(last=False)
            self._conversations.pop(old, None)
