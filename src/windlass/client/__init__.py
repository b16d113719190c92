"""The library: the verbs of the API for Python programs."""

from windlass.bus import MessagesDeleted, SoFar
from windlass.client.windlass import Approve, Windlass, ask_sync
from windlass.client.wire import TurnEvent

__all__ = ["Approve", "MessagesDeleted", "SoFar", "TurnEvent", "Windlass", "ask_sync"]
