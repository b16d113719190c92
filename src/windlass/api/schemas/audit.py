"""The record of who changed what."""

from typing import Annotated

from msgspec import Meta, field

from windlass.api.schemas.base import PageQuery, Response, Time


class AuditQuery(PageQuery):
    from_: Annotated[str, Meta(max_length=40, description="Not before this time, ISO 8601")] = field(
        name="from", default=""
    )
    to: Annotated[str, Meta(max_length=40, description="Before this time, ISO 8601")] = ""


class AuditEntry(Response):
    id: str
    at: Time
    by: Annotated[
        str,
        Meta(
            description="The name of the token, or of the one that opened the session; `person` where none was needed",
            examples=["phone"],
        ),
    ]
    kind: Annotated[str, Meta(description="What was changed", examples=["server", "call", "permission", "token"])]
    action: Annotated[str, Meta(description="What was done to it", examples=["confirm", "allow", "deny", "revoke"])]
    target: Annotated[str, Meta(description="Which one: a slug or an id", examples=["files"])]
    summary: Annotated[
        str,
        Meta(
            description="Names of tools and of the fields that changed; no secrets, arguments or messages",
            examples=["files.write_file, scope=always"],
        ),
    ]


class AuditList(Response):
    entries: list[AuditEntry]
    count: int
    next_cursor: Annotated[str | None, Meta(description="For the next page; null on the last one")] = None
    success: bool = True
