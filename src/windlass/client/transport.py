"""How verbs reach the house: a port with two ends, one over HTTP and one in the same process."""

from collections.abc import AsyncIterator
from functools import cache
from typing import Any, Protocol, get_args

from windlass.api import schemas
from windlass.api.routes import ROUTES, Route
from windlass.bus import PASSING, MessagesDeleted, ReplySoFar
from windlass.core.events import Event, TurnFinished
from windlass.core.ports import LiveEvent
from windlass.core.values import value
from windlass.turns.views import NAMES

KINDS: dict[str, type] = {name: kind for kind, name in (NAMES | PASSING).items()}
DURABLE = frozenset(NAMES[kind] for kind in get_args(Event))


@value
class TurnEvent:
    """One thing that happened. `what` is the event itself, to be matched on; `number` counts the durable ones in the
    conversation, and is None for what only passes by."""

    name: str
    turn_id: str
    what: Event | LiveEvent | ReplySoFar | MessagesDeleted
    number: int | None = None

    @property
    def is_end(self) -> bool:
        return isinstance(self.what, TurnFinished)


class Transport(Protocol):
    async def call(
        self, verb: str, *path: str, query: schemas.Request | None = None, body: object = None
    ) -> Any:  # what the verb's route gives
        """Carry out a verb of the route table. Raises `WindlassError`."""

    def chat(self, conversation_id: str, request: schemas.ChatRequest) -> AsyncIterator[TurnEvent]:
        """Begin a turn and watch it to its end."""

    def watch(self, turn_id: str, after: int = 0) -> AsyncIterator[TurnEvent]:
        """A turn from this event on, to its end."""

    async def raw(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Any request of the API, with the status and the answer as they come."""

    async def aclose(self) -> None: ...


@cache
def route_of(verb: str) -> Route:
    return next(route for route in ROUTES if route.verb == verb)
