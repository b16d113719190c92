"""What is kept: the log of turns, and the plain rows around them."""

from windlass.store.audit import AuditRow
from windlass.store.conversations import NAMES_EDITION, ConversationRow, Found, Listed, TurnRow, UnknownCall
from windlass.store.past_calls import PastCall
from windlass.store.sqlite import Document, Documents, Durability, KeptResult, Store
from windlass.store.turnlog import HEAD, NO_TURN, Created, TurnLog

__all__ = [
    "HEAD",
    "NAMES_EDITION",
    "NO_TURN",
    "AuditRow",
    "ConversationRow",
    "Created",
    "Document",
    "Documents",
    "Durability",
    "Found",
    "KeptResult",
    "Listed",
    "PastCall",
    "Store",
    "TurnLog",
    "TurnRow",
    "UnknownCall",
]
