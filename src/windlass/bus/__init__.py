"""Fan-out to watchers."""

from windlass.bus.bus import Bus, Frame, Watcher
from windlass.bus.changes import ConversationChanged
from windlass.bus.streams import Stream

__all__ = ["Bus", "ConversationChanged", "Frame", "Stream", "Watcher"]
