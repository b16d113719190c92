"""The library: the verbs of the API for Python programs."""

from windlass.api.events import TurnEvent
from windlass.client.windlass import Approve, Windlass, ask_sync

__all__ = ["Approve", "TurnEvent", "Windlass", "ask_sync"]
