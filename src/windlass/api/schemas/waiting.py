"""What a turn waits for, as turns, lists of conversations and event streams show it."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from windlass.api.schemas.base import Response, Time
from windlass.core.ports import WaitingFor


class TurnWaiting(Response):
    """What the turn waits for just now. Fields that say nothing here are left out."""

    for_: WaitingFor = field(name="for")
    since: Time
    until: Annotated[Time, Meta(description="When the wait ends, or is given up")] | UnsetType = UNSET
    host: Annotated[str, Meta(description="Of the model's provider")] | UnsetType = UNSET
    model: str | UnsetType = UNSET
    server: Annotated[str, Meta(description="Slug of the MCP server")] | UnsetType = UNSET
    call_id: str | UnsetType = UNSET
    attempt: Annotated[int, Meta(description="The retry that comes next, of `attempts`")] | UnsetType = UNSET
    attempts: int | UnsetType = UNSET
    ahead: Annotated[int, Meta(description="How many wait in front of it")] | UnsetType = UNSET
    usual_s: Annotated[float, Meta(description="How long this usually takes, in seconds")] | UnsetType = UNSET
