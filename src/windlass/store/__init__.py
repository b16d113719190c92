"""What is kept: the log of turns, and the plain rows around them."""

from windlass.store.conversations import Conversation, Found, Listed, Turn
from windlass.store.documents import Documents
from windlass.store.sqlite import Durability, KeptResult, Store
from windlass.store.turnlog import HEAD, NO_TURN, Created, TurnLog

__all__ = [
    "HEAD",
    "NO_TURN",
    "Conversation",
    "Created",
    "Documents",
    "Durability",
    "Found",
    "KeptResult",
    "Listed",
    "Store",
    "Turn",
    "TurnLog",
]
