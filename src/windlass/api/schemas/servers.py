"""MCP servers: what is configured, what really runs, and their tools."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from windlass.api.schemas.base import Approval, Name, Object, Request, Response, Seconds, Slug, Time, ToolClass
from windlass.api.schemas.tools import ResultFile, ToolCost

Argument = Annotated[str, Meta(max_length=10_000)]
Secret = Annotated[str, Meta(max_length=10_000, description="Kept, never returned")]
Pairs = Annotated[dict[Annotated[str, Meta(min_length=1, max_length=200)], Secret], Meta(max_length=200)]
Value = Annotated[
    str,
    Meta(
        max_length=10_000,
        description="Kept. A draft shows it, unless the name is or ends in KEY, TOKEN, SECRET or PASSWORD",
    ),
]
Variables = Annotated[dict[Annotated[str, Meta(min_length=1, max_length=200)], Value], Meta(max_length=200)]
Values = Annotated[dict[Annotated[str, Meta(min_length=1, max_length=200)], Secret], Meta(max_length=200)]
Url = Annotated[
    str, Meta(pattern=r"^https?://[^\s/?#@]+([/?#]|$)", max_length=2000, examples=["https://example.com/mcp"])
]
Transport = Literal["stdio", "http", "sse"]
Sandbox = Annotated[
    Literal["default", "strict", "off", "bwrap"],
    Meta(description="How far its program is isolated; `bwrap` is another name of `strict`"),
]
Folder = Annotated[str, Meta(min_length=1, max_length=4000)]


class Inside(Request):
    """What an isolated program may touch besides. A change must be confirmed again."""

    read: Annotated[list[Folder], Meta(max_length=200)] = field(default_factory=list)
    write: Annotated[list[Folder], Meta(max_length=200)] = field(default_factory=list)
    network: Annotated[bool, Meta(description="Asked of `strict` alone")] = False
    keep_home: Annotated[bool, Meta(description="`strict`: a home of its own that outlives it")] = False
    memory_mib: Annotated[int, Meta(ge=0, le=1 << 24, description="0 for no bound")] = 2048
    processes: Annotated[int, Meta(ge=0, le=1 << 20, description="0 for no bound")] = 256


class ShownInside(Response):
    read: list[str] = field(default_factory=list)
    write: list[str] = field(default_factory=list)
    network: bool = False
    keep_home: bool = False
    memory_mib: int = 2048
    processes: int = 256


class RefusedPath(Response):
    """Something isolation kept from a server that it seems to need."""

    path: str
    access: Literal["read", "write"]
    line: Annotated[str, Meta(description="What to write in windlass.toml to allow it")]
    inside: Annotated[ShownInside, Meta(description="What to send as `inside` to allow it")]


class ServerIsolation(Response):
    wanted: Literal["default", "strict", "off"]
    level: Annotated[Literal["bwrap", "landlock", "none"], Meta(description="What really holds")]
    why: Annotated[str, Meta(description="In words, where it is less than the most this machine can do")]
    refused: list[RefusedPath]


Auth = Annotated[
    Literal["", "oauth", "client_credentials"],
    Meta(description="How to sign in where the server asks for it: a person does, or Windlass with its own secret"),
]
ClientField = Annotated[str, Meta(max_length=500, description="Of a client registered by hand; else one is registered")]


Instructions = Annotated[
    bool, Meta(description="What it says about its use goes to the model, fenced, while its tools are enabled")
]


class NewServer(Request):
    """A stdio server needs `command`, the others `url`. A new stdio server is a draft until its argv is confirmed. All
    of it may also stand under `server`, as mcp-open-client sends it."""

    name: Name
    slug: Annotated[Slug, Meta(description="Made from the name when left out")] | UnsetType = UNSET
    transport: Transport | UnsetType = UNSET
    command: Annotated[str, Meta(max_length=1000, examples=["npx"])] = ""
    args: Annotated[list[Argument], Meta(max_length=500)] = field(default_factory=list)
    env: Variables = field(default_factory=dict)
    cwd: Annotated[str, Meta(max_length=4000)] = ""
    url: Url | UnsetType = UNSET
    headers: Pairs = field(default_factory=dict)
    auth: Auth = ""
    client_id: ClientField = ""
    client_secret: Annotated[str, Meta(max_length=10_000, description="Goes into the vault and never comes out")] = ""
    scopes: Annotated[str, Meta(max_length=1000, description="With spaces between; else those it asks for")] = ""
    issuer: Annotated[str, Meta(max_length=1000, description="Who may get the secret; else whom the server names")] = ""
    client_metadata_url: Annotated[str, Meta(max_length=1000, description="A public https page about this client")] = ""
    trusted: Annotated[bool, Meta(description="Its read-only and idempotent hints are believed")] = False
    tools: Annotated[str, Meta(max_length=4000, description="On in new chats, as a pattern; `*` is all")] = ""
    approval: Approval | None = None
    timeout_s: Seconds = 120
    retries: Annotated[int, Meta(ge=0, le=10)] = 0
    parallel: Annotated[int, Meta(ge=1, le=64)] = 8
    sandbox: Sandbox = "default"
    inside: Inside | UnsetType = UNSET
    instructions: Instructions = True


class ServerChange(Request):
    """Changing what would be run, or its environment, makes a stdio server a draft again; secrets rotate freely."""

    name: Name | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    transport: Transport | UnsetType = UNSET
    command: Annotated[str, Meta(min_length=1, max_length=1000)] | UnsetType = UNSET
    args: Annotated[list[Argument], Meta(max_length=500)] | UnsetType = UNSET
    env: Variables | UnsetType = UNSET
    cwd: Annotated[str, Meta(max_length=4000)] | UnsetType = UNSET
    url: Url | UnsetType = UNSET
    headers: Pairs | UnsetType = UNSET
    auth: Auth | UnsetType = UNSET
    client_id: ClientField | UnsetType = UNSET
    client_secret: Annotated[str, Meta(max_length=10_000)] | UnsetType = UNSET
    scopes: Annotated[str, Meta(max_length=1000)] | UnsetType = UNSET
    issuer: Annotated[str, Meta(max_length=1000)] | UnsetType = UNSET
    client_metadata_url: Annotated[str, Meta(max_length=1000)] | UnsetType = UNSET
    trusted: bool | UnsetType = UNSET
    tools: Annotated[str, Meta(max_length=4000)] | UnsetType = UNSET
    approval: Approval | UnsetType | None = UNSET
    timeout_s: Seconds | UnsetType = UNSET
    retries: Annotated[int, Meta(ge=0, le=10)] | UnsetType = UNSET
    parallel: Annotated[int, Meta(ge=1, le=64)] | UnsetType = UNSET
    sandbox: Sandbox | UnsetType = UNSET
    inside: Inside | UnsetType = UNSET
    instructions: Instructions | UnsetType = UNSET
    instructions_hash: (
        Annotated[str, Meta(description="As it was shown with the text that is accepted")] | UnsetType
    ) = UNSET
    values: Annotated[Values, Meta(description="For what `missing` asks for, by name")] | UnsetType = UNSET


class MissingValue(Response):
    """Something a person has to give before a draft can be confirmed or started."""

    name: str
    label: Annotated[str, Meta(description="What it is, in the words of the file it came from")]
    secret: Annotated[bool, Meta(description="Goes into the vault and never comes out")]
    default: Annotated[str | None, Meta(description="Proposed; with one, an empty value counts as given")]
    where: Annotated[list[str], Meta(description="The parts it stands in, such as `argument 3` or `env TOKEN`")]


class ServerSignIn(Response):
    """A person was sent to sign in."""

    host: str
    error: Annotated[str, Meta(description="Why it failed; empty while it is waited for")] = ""


class Server(Response):
    id: str
    name: str
    slug: str
    transport: Transport
    argv: Annotated[list[str], Meta(description="The exact command; send it back to confirm")]
    command: str
    args: list[str]
    env_names: list[str]
    cwd: str
    url: str
    header_names: list[str]
    trusted: bool
    tools: str
    approval: Approval | None
    timeout_s: float
    retries: int
    parallel: int
    sandbox: str
    status: Annotated[
        Literal["draft", "configured", "starting", "running", "failed", "stopped", "needs_sign_in"],
        Meta(description="The truth, now"),
    ]
    error: str | None
    note: Annotated[str | None, Meta(description="What a person should know of it although it runs")]
    tool_count: int
    latency_ms: float | None
    era: Annotated[str, Meta(description="The protocol version it speaks")]
    from_config: Annotated[bool, Meta(description="Named in windlass.toml; edit it there")]
    calls: Annotated[int, Meta(description="Since Windlass started")] = 0
    errors: Annotated[int, Meta(description="How many of the calls failed")] = 0
    retry_at: Annotated[Time | None, Meta(description="When a failed one is tried again; null: not by itself")] = None
    created_at: Time | None = None
    auth: Auth = ""
    client_id: str = ""
    scopes: str = ""
    issuer: str = ""
    signed_in: Annotated[bool, Meta(description="Somebody signed in to it, and that has not ended")] = False
    sign_in_ends_at: Annotated[Time | None, Meta(description="When somebody must sign in again; null: renewed")] = None
    sign_in: Annotated[ServerSignIn | None, Meta(description="A sign-in under way, or the last one if it failed")] = (
        None
    )
    inside: Annotated[ShownInside, Meta(description="What it may touch besides")] = field(default_factory=ShownInside)
    isolation: Annotated[ServerIsolation | None, Meta(description="Null for one that is reached by an address")] = None
    env_values: Annotated[
        dict[str, str],
        Meta(description="Of a draft: the variables that are confirmed with its command. Secrets are only named"),
    ] = field(default_factory=dict)
    missing: Annotated[
        list[MissingValue], Meta(description="To be given as `values` before it can be confirmed or started")
    ] = field(default_factory=list)
    instructions: Instructions = True
    instructions_text: Annotated[str, Meta(description="Them, while it runs; empty where it sends none")] = ""
    instructions_hash: Annotated[
        str,
        Meta(description="Of that text. Sent back with `instructions: true`, it accepts this text and no later one"),
    ] = ""
    instructions_changed: Annotated[
        bool, Meta(description="Since they were first used; they stay out until `instructions: true` is sent")
    ] = False
    has_resources: Annotated[bool, Meta(description="It runs, and says that it has resources")] = False
    has_prompts: Annotated[bool, Meta(description="It runs, and says that it has prompts")] = False


class ServerLogin(Request):
    redirect_uri: Annotated[
        str,
        Meta(
            max_length=2000,
            description="Where a program on this machine waits for the browser (http on 127.0.0.1 or localhost). "
            "Windlass's own /oauth/callback when left out",
        ),
    ] = ""


class SignInScope(Response):
    name: str
    text: Annotated[str, Meta(description="In words; empty where none are known")] = ""


class ServerLoginBegun(Response):
    authorize_url: Annotated[str, Meta(description="To be opened in a browser within ten minutes")]
    host: Annotated[str, Meta(description="Who is asked")] = ""
    scopes: Annotated[list[SignInScope], Meta(description="What it is asked for")] = field(default_factory=list)
    success: bool = True
    message: str = ""


class ServerLoginAnswer(Request):
    """What the authorization server adds to the address it sends the browser back to."""

    state: Annotated[str, Meta(max_length=1000)] = ""
    code: Annotated[str, Meta(max_length=4000)] = ""
    iss: Annotated[str, Meta(max_length=2000)] = ""
    error: Annotated[str, Meta(max_length=200)] = ""
    error_description: Annotated[str, Meta(max_length=2000)] = ""


class ServerAnswer(Response):
    server: Server
    success: bool = True
    message: str = ""


class ServerList(Response):
    servers: list[Server]
    count: int
    success: bool = True
    message: str = ""
    cost: Annotated[ToolCost, Meta(description="Of the tools that a new chat has")] | UnsetType = UNSET


class Confirm(Request):
    argv: Annotated[list[Argument], Meta(min_length=1, max_length=501, description="Exactly as `argv` shows it")]
    env_values: (
        Annotated[dict[str, str], Meta(description="As `env_values` shows it; refused when it is outdated")] | UnsetType
    ) = UNSET


class ServerTool(Response):
    name: str
    title: str
    description: str
    input_schema: Object
    annotations: Object
    hash: str
    tokens: int
    changed: Annotated[bool, Meta(description="Its definition changed after it was allowed")] = False
    problem: Annotated[str, Meta(description="Why it cannot be offered")] = ""
    output_schema: Object = field(default_factory=dict)
    was: Annotated[Object, Meta(description="What was agreed to, where it is another one now")] | UnsetType = UNSET
    kind: Annotated[ToolClass, Meta(description="What it does; decides whether it asks where nothing was set")] = (
        "changes"
    )
    kind_by: Annotated[str, Meta(description="Who corrected the kind; empty where it is a guess")] = ""


class ToolKind(Request):
    kind: Annotated[ToolClass | None, Meta(description="What it does; null returns to Windlass's guess")]


class AcceptTool(Request):
    hash: Annotated[str, Meta(min_length=1, max_length=200, description="Of the definition that was looked at")]


class ServerTools(Response):
    tools: list[ServerTool]
    count: int
    status: str
    success: bool = True


class CallTool(Request):
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    arguments: Object = field(default_factory=dict)
    file_data: Annotated[bool, Meta(description="Send the bytes of pictures, sounds and files along")] = False


class ToolResult(Response):
    text: str
    state: Literal["ok", "error"]
    result_id: str | None
    size: int
    shortened: bool
    took_ms: int
    files: list[ResultFile] = field(default_factory=list)


class ToolResultAnswer(Response):
    result: ToolResult
    success: bool = True


class ServerLog(Response):
    lines: Annotated[list[str], Meta(description="The end of what the server wrote to stderr")]
    count: int
    success: bool = True
