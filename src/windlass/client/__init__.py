"""The library: the verbs of the API for Python programs."""

from windlass.bus import MessagesDeleted, ReplySoFar
from windlass.client.transport import TurnEvent
from windlass.client.windlass import Approve, Windlass, ask_sync

__all__ = ["Approve", "MessagesDeleted", "ReplySoFar", "TurnEvent", "Windlass", "ask_sync"]
