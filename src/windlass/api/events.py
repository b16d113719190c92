"""Events as they are named on every stream, and one of them as a watcher gets it."""

import re
from typing import get_args

from windlass.api import schemas
from windlass.core.events import Event, TurnFinished
from windlass.core.ports import LiveEvent, MessagesDeleted, ReplySoFar, ResultAdded, Waiting
from windlass.core.values import value_object

Transient = LiveEvent | ReplySoFar | MessagesDeleted | ResultAdded  # not repeated: they have no id
NAMES: dict[type, str] = {  # `ToolStarted` is `tool_started` on the wire
    kind: re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower() for kind in (*get_args(Event), *get_args(Transient))
}
KINDS: dict[str, type] = {name: kind for kind, name in NAMES.items()}
ON_THE_WIRE: dict[type, type] = {Waiting: schemas.TurnWaiting}  # those whose fields are written otherwise there
DURABLE = frozenset(NAMES[kind] for kind in get_args(Event))


@value_object
class TurnEvent:
    """One thing that happened. `what` is the event itself, to be matched on; `number` counts the durable ones in the
    conversation, and is None for a transient one."""

    name: str
    turn_id: str
    what: Event | Transient
    number: int | None = None

    @property
    def is_end(self) -> bool:
        return isinstance(self.what, TurnFinished)
