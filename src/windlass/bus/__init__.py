"""Fan-out to watchers."""

from windlass.bus.bus import PASSING, Bus, Frame, MessagesDeleted, ReplySoFar, Watcher

__all__ = ["PASSING", "Bus", "Frame", "MessagesDeleted", "ReplySoFar", "Watcher"]
