"""Where models come from, the personas that use them, and the policy over what they may call."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from windlass.api.schemas.base import Approval, Error, Name, Prose, Request, Response, Temperature, Time, WebSearch
from windlass.api.schemas.servers import Secret, Url

ToolNames = Annotated[list[Annotated[str, Meta(max_length=300)]], Meta(max_length=1000, examples=[["files.*"]])]
Pattern = Annotated[str, Meta(max_length=300, description="`*` stands for anything", examples=["create_*"])]


class NewProvider(Request):
    name: Name
    base_url: Url
    api_key: Annotated[Secret, Meta(description="Kept in a file of its own, never returned")] = ""
    model: Annotated[str, Meta(max_length=200, description="Default model")] = ""
    temperature: Temperature | None = None
    default: bool = False


class ProviderChange(Request):
    name: Name | UnsetType = UNSET
    base_url: Url | UnsetType = UNSET
    api_key: Secret | UnsetType = UNSET
    model: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    temperature: Temperature | UnsetType | None = UNSET
    default: bool | UnsetType = UNSET


class Provider(Response):
    id: str
    name: str
    base_url: str
    model: str
    temperature: float | None
    has_key: bool
    default: bool
    demo: Annotated[bool, Meta(description="The built-in demo model: fixed replies, no key")]
    from_config: bool
    fallback: Annotated[
        list[str], Meta(description="`provider/model`, asked in this order when this one cannot answer")
    ] = field(default_factory=list)


class ProviderAnswer(Response):
    provider: Provider
    success: bool = True
    message: str = ""


class ProviderList(Response):
    providers: list[Provider]
    count: int
    success: bool = True


class Finding(Response):
    question: Annotated[str, Meta(examples=["calls a tool"])]
    answer: Literal["yes", "no", "failed"]
    detail: str = ""


class ProviderTest(Response):
    ok: bool
    took_ms: int
    model: str
    message: Annotated[str, Meta(description="What it said, or what went wrong")]
    hint: str = ""
    findings: Annotated[list[Finding], Meta(description="What the model can do, found by asking it")] = field(
        default_factory=list
    )
    missing: Annotated[list[str], Meta(description="Of those, what Windlass needs and the model does not do")] = field(
        default_factory=list
    )
    success: bool = True


class LiveRow(Response):
    check: Annotated[str, Meta(examples=["tools"])]
    result: Annotated[
        Literal["ok", "no", "failed", "skipped"], Meta(description="`no`: the account or the model does not have it")
    ]
    detail: str
    took_ms: int


class LiveReport(Response):
    """What an account can do, found by trying. It holds no secret and may be passed on."""

    provider: str
    address: str
    model: str
    version: str
    at: Time
    rows: list[LiveRow]
    requests: Annotated[int, Meta(description="That were sent to models and searches; 12 at most")]
    ok: Annotated[bool, Meta(description="No row failed")]
    success: bool = True


class ModelInfo(Response):
    """null: not known."""

    id: str
    provider_id: str
    chats: Annotated[bool, Meta(description="False where its name says that it embeds, ranks, draws or speaks")] = True
    context: Annotated[int | None, Meta(description="Tokens that fit into a request and its reply")] = None
    input_price: Annotated[float | None, Meta(description="US dollars for a million tokens")] = None
    output_price: Annotated[float | None, Meta(description="US dollars for a million tokens")] = None
    images: Annotated[bool | None, Meta(description="Takes pictures")] = None
    tools: Annotated[bool | None, Meta(description="Calls tools")] = None
    audio: Annotated[bool | None, Meta(description="Takes sounds")] = None
    source: Annotated[
        Literal["", "provider", "table"], Meta(description="Who says so: the provider's list, or Windlass's own table")
    ] = ""
    from_table: Annotated[
        list[str], Meta(description="The fields that come from the table although the provider tells others")
    ] = field(default_factory=list)
    as_of: Annotated[str, Meta(description="The table's date, where it is used", examples=["2026-11-18"])] = ""


class ModelList(Response):
    models: list[ModelInfo]
    count: int
    error: Annotated[Error, Meta(description="Why the list could not be had")] | UnsetType = UNSET
    success: bool = True


class LocalServer(Response):
    name: Annotated[str, Meta(examples=["Ollama"])]
    base_url: str
    models: list[str]


class LocalServers(Response):
    servers: list[LocalServer]
    count: int
    success: bool = True


class NewPersona(Request):
    name: Name
    system_prompt: Prose = ""
    model: Annotated[str, Meta(max_length=200)] = ""
    temperature: Temperature | None = None
    web_search: WebSearch = "auto"
    tools: ToolNames = field(default_factory=list)


class PersonaChange(Request):
    name: Name | UnsetType = UNSET
    system_prompt: Prose | UnsetType = UNSET
    model: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    temperature: Temperature | UnsetType | None = UNSET
    web_search: WebSearch | UnsetType = UNSET
    tools: ToolNames | UnsetType = UNSET


class Persona(Response):
    id: str
    name: str
    system_prompt: str
    model: str
    temperature: float | None
    web_search: WebSearch
    tools: list[str]
    builtin: bool


class PersonaAnswer(Response):
    persona: Persona
    success: bool = True
    message: str = ""


class PersonaList(Response):
    personas: list[Persona]
    count: int
    success: bool = True


class Rule(Request):
    """The first rule that fits a call decides. `arguments` maps an argument's name or JSON pointer to a pattern over
    its text; `*` stands for all of them as compact JSON. `then` is the earlier spelling of `approval`: either is
    accepted, both are given."""

    approval: Approval | UnsetType = UNSET
    server: Pattern = "*"
    tool: Pattern = "*"
    arguments: Annotated[dict[str, Pattern], Meta(max_length=50)] = field(default_factory=dict)
    hint: Annotated[
        Literal["", "read_only", "not_read_only", "destructive", "open_world"],
        Meta(description="Only tools whose server claims this"),
    ] = ""
    name: Annotated[str, Meta(max_length=200, description="Shown on the approval card")] = ""
    then: Annotated[Approval, Meta(description="The earlier spelling of `approval`")] | UnsetType = UNSET
    id: Annotated[str, Meta(max_length=200, description="Given by the server; send it back to keep it")] = ""
    by: Annotated[str, Meta(max_length=200, description="Who set it; ignored in requests")] | UnsetType = UNSET
    at: Annotated[Time, Meta(description="When; ignored in requests")] | UnsetType = UNSET
    other_arguments: Annotated[
        bool, Meta(description="Of a rule that says `auto`: arguments that it does not name may be anything")
    ] = False
    expires_at: Annotated[Time, Meta(description="When the rule ends")] | UnsetType = UNSET

    def __post_init__(self) -> None:
        self.approval = self.then if self.approval is UNSET else self.approval
        self.then = self.approval if self.then is UNSET else self.then
        if self.approval is UNSET:
            raise ValueError("`approval` is required: auto, ask or deny")
        if self.approval != self.then:
            raise ValueError("`approval` and `then` differ: give `approval` alone")

    @property
    def decides(self) -> Approval:
        return self.approval or "ask"


class Policy(Request):
    rules: Annotated[list[Rule], Meta(max_length=1000)]
    version: (
        Annotated[str, Meta(max_length=200, description="As it was read: refused if the rules changed since then")]
        | UnsetType
    ) = UNSET


class PolicyAnswer(Response):
    rules: list[Rule]
    count: int
    operator_rules: Annotated[list[Rule], Meta(description="From windlass.toml: they come first, and stay there")]
    version: Annotated[str, Meta(description="Of `rules`; send it back with a change")] = ""
    success: bool = True
    message: str = ""
