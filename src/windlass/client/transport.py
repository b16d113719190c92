"""How calls reach Windlass: a port with two ends, one over HTTP and one in the same process."""

from collections.abc import AsyncIterator
from typing import ParamSpec, Protocol, TypeVar

from windlass.api import schemas
from windlass.api.events import TurnEvent
from windlass.api.route import Route

P = ParamSpec("P")
R = TypeVar("R")


class Transport(Protocol):
    async def call(self, route: Route[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Carry out a route with the types of its row. Raises `WindlassError`."""

    async def ask(self, conversation_id: str, request: schemas.ChatRequest) -> schemas.Turn:
        """Begin a turn and wait until it has ended or needs a person."""

    def chat(self, conversation_id: str, request: schemas.ChatRequest) -> AsyncIterator[TurnEvent]:
        """Begin a turn and watch it to its end."""

    def watch(self, turn_id: str, after: int = 0) -> AsyncIterator[TurnEvent]:
        """A turn from this event on, to its end."""

    async def raw(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Any request of the API, with the status and the answer as they come."""

    async def aclose(self) -> None: ...
