"""Servers that are brought in as drafts: from the config of another client, found on this machine, from the gallery."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from windlass.api.schemas.base import Request, Response
from windlass.api.schemas.servers import MissingValue, Server, Transport, Values

ImportServers = Annotated[
    dict[str, Any],
    Meta(
        description="A server list as other clients write it: the object itself, with `mcpServers`, `servers`, "
        "`context_servers`, `mcp_servers` or `extensions` in it; or `text`, the file as it is (JSON with comments, "
        "YAML or TOML); or `found`, ids of configs found on this machine, with `only`, names of servers. `values` "
        "has what placeholders such as `${env:TOKEN}` ask for, by name. Nothing starts: all become drafts.",
        examples=[
            {"mcpServers": {"files": {"command": "npx", "args": ["-y", "some-server", "/docs"]}}},
            {"text": "[mcp_servers.docs]\nurl = 'https://docs.example/mcp'\n", "values": {}},
        ],
    ),
]


class ImportNote(Response):
    name: str
    problem: Annotated[str, Meta(description="Why it was left out; empty when it came in")]
    warnings: Annotated[list[str], Meta(description="What of it was not taken, and what to look at")]
    slug: Annotated[str, Meta(description="Of the draft; empty when it was left out")] = ""


class ImportedServers(Response):
    servers: list[Server]
    count: int
    notes: list[ImportNote]
    success: bool = True
    message: str = ""
    unread: Annotated[list[str], Meta(description="Keys of the file that name no server")] = field(default_factory=list)


class ImportRequest(Request):
    """What the import takes beside the object of another client."""

    text: Annotated[str, Meta(max_length=20 << 20)] = ""
    found: Annotated[list[str], Meta(max_length=100)] = field(default_factory=list)
    only: Annotated[list[str], Meta(max_length=1000)] | UnsetType = UNSET
    values: Values = field(default_factory=dict)


class FoundEntry(Response):
    """As far as it is shown before it is imported: names alone, no argument and no value."""

    name: str
    transport: Transport | None
    runs: Annotated[str, Meta(description="Its program, or the host it is reached at")]
    env_names: list[str]
    header_names: list[str]
    problem: Annotated[str, Meta(description="Why it cannot be imported")] = ""
    added: Annotated[bool, Meta(description="The same command or address is here already")] = False


class FoundConfig(Response):
    id: str
    client: Annotated[str, Meta(examples=["Claude Desktop"])]
    path: str
    servers: list[FoundEntry]
    count: Annotated[int, Meta(description="Of those that are not here yet and can be imported")]
    problem: Annotated[str, Meta(description="Why the file cannot be read")] = ""


class FoundConfigs(Response):
    configs: list[FoundConfig]
    count: Annotated[int, Meta(description="Of the servers that could be imported")]
    success: bool = True
    message: str = ""


class GalleryQuery(Request):
    q: Annotated[str, Meta(max_length=200, description="Words; without any, all entries")] = ""


class GalleryEntry(Response):
    id: str
    name: str
    description: str
    publisher: str
    needs: Annotated[
        list[Literal["key", "sign_in", "address", "folder"]], Meta(description="What it needs of you; empty for none")
    ]
    transport: Transport
    argv: Annotated[list[str], Meta(description="With its version; parts to fill in stand as `${name}`")]
    url: str
    version: Annotated[str, Meta(description="Of its package; empty for one that is reached by an address")]
    asks: Annotated[list[MissingValue], Meta(description="What to send as `values`")]
    homepage: str
    note: Annotated[str, Meta(description="What to know before adding it")] = ""
    added: Annotated[list[str], Meta(description="Slugs of servers that were added from it")] = field(
        default_factory=list
    )


class GalleryList(Response):
    entries: list[GalleryEntry]
    count: int
    success: bool = True


class GalleryAdd(Request):
    name: Annotated[str, Meta(max_length=100, description="The entry's own when left out")] = ""
    values: Values = field(default_factory=dict)
