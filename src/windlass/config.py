"""What the operator wants, from flags, environment, `windlass.toml` and defaults, in that order. Wrong settings end the
start with the line that is wrong."""

import ipaddress
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec
from platformdirs import user_data_path

from windlass.core.errors import BadInput
from windlass.toml_lines import setting_lines

OPENAI_URL = "https://api.openai.com/v1"
ZAI_URL = "https://api.z.ai/api/paas/v4"
ZAI_HOSTS = ("api.z.ai", "bigmodel.cn")
ZAI_PATH = "/paas/v4"  # below any host: a proxy in front of Z.AI keeps it
ZAI_MODEL = "glm-4.7"
ENVIRONMENT = "environment"  # the name of the provider that the environment sets
KEYS = ("OPENAI_API_KEY", "ZAI_API_KEY", "WINDLASS_TOKEN")
HOST_NAME = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?")
RESERVED_NAME = "windlass"  # of a provider: `windlass/NAME` names a persona
BASE_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*")  # nothing that a cookie or markup would need to escape
USUAL_PORTS = {"http": ":80", "https": ":443"}  # which browsers leave out
UNSPECIFIED = {"0.0.0.0", "[::]"}  # noqa: S104 - refused: an address to listen on is not a name to reach it by
SHORTEST_TOKEN = 16
HOW_TO_MAKE_ONE = (
    'Make one with `python3 -c "import secrets; print(secrets.token_urlsafe(32))"`, or unset WINDLASS_TOKEN: one is '
    "then created and saved."
)
KEYLESS_SEARCH = (
    "Where no other backend works, web searches go to public search engines without a key, and with them what people "
    "search for"
)
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
FIX = "Correct that line; docs/settings.md lists every setting."
Approval = Literal["auto", "ask", "deny"]
KeyedBackend = Literal["brave", "tavily", "exa", "serper"]
SearchBackend = Literal["auto", KeyedBackend, "searxng", "mcp", "zai", "zai-mcp", "ddgs", "builtin", "off"]


class AbilitySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    images: bool | None = None
    audio: bool | None = None


class ProviderSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    base_url: str = OPENAI_URL
    model: str = ""
    api_key: str = ""
    temperature: float | None = None
    name: str = ""
    profile: str = ""
    ca_file: str = ""
    wire: Literal["openai"] = "openai"
    fallback: list[str] = []  # "provider/model", asked in this order when this provider cannot answer
    images: bool | None = (
        None  # whether its models take pictures; unset: as its list and our table say, else it is tried
    )
    audio: bool | None = None  # the same of sounds, which are not sent where nothing is known
    models: dict[str, AbilitySettings] = {}  # the same for single models, by name or pattern


class ToolSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    timeout_s: float | None = None
    retries: int | None = None
    approval: Approval | None = None
    class_: Literal["reads", "changes", "sends"] | None = msgspec.field(name="class", default=None)


class SandboxSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    read: list[str] = []
    write: list[str] = []
    network: bool = False  # asked of strict alone
    keep_home: bool = False  # strict: a home of its own that outlives it, for the caches of npx and uvx
    memory_mib: Annotated[int, msgspec.Meta(ge=0)] = 2048  # 0 for no bound
    processes: Annotated[int, msgspec.Meta(ge=0)] = 256


class ServerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    transport: Literal["stdio", "http", "sse"] | None = None
    headers: dict[str, str] = {}
    auth: Literal["", "oauth", "client_credentials"] = ""
    client_id: str = ""
    client_secret: str = ""
    scopes: str | list[str] = ""
    issuer: str = ""
    client_metadata_url: str = ""
    name: str = ""
    trusted: bool = False
    tools: str | list[str] | dict[str, ToolSettings] = ""
    approval: Approval | None = None
    timeout_s: float = 120
    progress_s: float = 600  # progress renews timeout_s, up to this
    retries: int = 0
    parallel: int = 8
    sandbox: Literal["default", "strict", "off", "bwrap"] = "default"  # "bwrap": strict, as it was called before
    inside: SandboxSettings = SandboxSettings()  # what an isolated server may touch besides
    pin: Literal["", "ask"] = ""  # "ask": after its program changed it waits for a confirmation
    instructions: bool = True  # what the server says about its use goes to the model
    enabled: str | list[str] = ""  # the names or globs of `tools`, for a file that also sets single tools


class WebSearchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    backend: SearchBackend = "auto"
    prefix: bool = True
    keyless: bool | None = None  # may queries go to public engines without a key; None: yes, and it is said at start
    brave_key: str = ""
    tavily_key: str = ""
    exa_key: str = ""
    serper_key: str = ""
    searxng_url: str = ""
    mcp_tool: str = ""  # "slug.tool"
    argument: str = ""  # of that tool, for the question; found in its schema where it is not set
    allow_hosts: list[str] = []  # private hosts that pages may be fetched from
    timeout_s: float = 240
    pages: Annotated[int, msgspec.Meta(ge=0, le=10)] = 3  # of the hits, read in full

    @property
    def says_keyless(self) -> bool:
        """Queries may go to public engines, and the operator has not said whether they should."""
        return self.keyless is None and self.backend in ("auto", "builtin")

    @property
    def keys(self) -> dict[str, str]:
        """As they are written in the file: by the name of the setting, a key or a reference to one."""
        return {
            "brave_key": self.brave_key,
            "tavily_key": self.tavily_key,
            "exa_key": self.exa_key,
            "serper_key": self.serper_key,
        }


class Listener(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[server]`: how this server is reached."""

    public_url: str = ""  # the address people open, with the path of a proxy
    allow_hosts: list[str] = []  # further names it goes by, besides the address it listens on
    trusted_proxies: list[str] = []  # addresses or networks whose X-Forwarded headers count
    ops_port: Annotated[int, msgspec.Meta(ge=0, le=65535)] | None = None  # /health, /ready, /metrics without a token


class GatewaySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[gateway]`: Windlass as an MCP server. `page`: a call that asks first is decided on the page, or by whoever else
    may approve; `client`: the calling program may ask its own person, where its token has the scope `approve`."""

    approve: Literal["page", "client"] = "page"


class LimitSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rounds: int = 10
    calls: int = 128
    tools: Annotated[int, msgspec.Meta(ge=1)] = 40
    tool_tokens: Annotated[int, msgspec.Meta(ge=1)] = 15_000
    attempts: int = 4
    repeats: Annotated[int, msgspec.Meta(ge=2)] = 8
    bad_arguments: Annotated[int, msgspec.Meta(ge=1)] = 3
    crashes: Annotated[int, msgspec.Meta(ge=1)] = 3
    result_chars: Annotated[int, msgspec.Meta(ge=2_000)] = 16_000
    message_chars: Annotated[int, msgspec.Meta(ge=1_000)] = 1_000_000
    pictures: Annotated[int, msgspec.Meta(ge=0)] = 20
    picture_bytes: Annotated[int, msgspec.Meta(ge=1)] = 5 << 20
    pictures_bytes: Annotated[int, msgspec.Meta(ge=1)] = 20 << 20
    attached_chars: Annotated[int, msgspec.Meta(ge=1_000)] = 200_000  # of resources that come with a message
    instructions_chars: Annotated[int, msgspec.Meta(ge=0)] = 2_000  # of what one server says about its use
    instructions_total: Annotated[int, msgspec.Meta(ge=0)] = 8_000  # and of all servers of a chat
    turn_s: float = 1800
    turn_tokens: int | None = None
    day_tokens: int | None = None
    at_once: int = 32
    connect_s: float = 60
    first_byte_s: float = 240
    silence_s: float = 240
    reply_s: float = 1200
    body_bytes: int = 4 << 20
    import_bytes: int = 20 << 20
    requests_min: Annotated[int, msgspec.Meta(ge=1)] | None = None
    keep_days: float | None = None


class RuleSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    server: str = "*"
    tool: str = "*"
    approval: Approval = "ask"
    arguments: dict[str, str] = {}
    other_arguments: bool = False  # of a rule that says auto: arguments it does not name may be anything


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    provider: ProviderSettings | None = None
    providers: list[ProviderSettings] = []
    servers: dict[str, ServerSettings] = {}
    web_search: WebSearchSettings = WebSearchSettings()
    limits: LimitSettings = LimitSettings()
    policy: list[RuleSettings] = []
    server: Listener = Listener()
    gateway: GatewaySettings = GatewaySettings()
    host: str = ""
    port: int | None = None
    durability: Literal["full", "normal"] | None = None


class Config(msgspec.Struct, frozen=True):
    home: Path
    host: str = "127.0.0.1"
    port: int = 8420
    token: str = ""
    auth: bool = True
    durability: Literal["full", "normal"] = "full"
    providers: list[ProviderSettings] = []
    servers: dict[str, ServerSettings] = {}
    web_search: WebSearchSettings = WebSearchSettings()
    limits: LimitSettings = LimitSettings()
    policy: list[RuleSettings] = []
    gateway: GatewaySettings = GatewaySettings()
    demo: bool = False
    allow_hosts: list[str] = []
    public_url: str = ""
    trusted_proxies: list[str] = []
    ops_port: int | None = None
    lines: dict[str, int] = {}  # where settings stand in the file, by their dotted names
    files: list[Path] = []  # that settings and secrets were read from
    environment: Mapping[str, str] | None = None  # as it was at start; None: the process's own, as it is
    keys_read: list[str] = []  # variables of it that hold keys
    limits_set: list[str] = []  # those that the file names, be it with their defaults

    @property
    def on_loopback(self) -> bool:
        return self.host in LOOPBACK

    def secret(self, text: str) -> str:
        """What a setting stands for. The process may have forgotten the variables that it names."""
        return resolve_secret(text, os.environ if self.environment is None else self.environment)


def load(
    *,
    config: Path | None = None,
    host: str | None = None,
    port: int | None = None,
    auth: bool = True,
    demo: bool = False,
    allow_hosts: Iterable[str] = (),
    public_url: str = "",
    trusted_proxies: Iterable[str] = (),
    ops_port: int | None = None,
    env: Mapping[str, str] = os.environ,
) -> Config:
    home = Path(env.get("WINDLASS_HOME") or user_data_path("windlass"))
    path = config or home / "windlass.toml"
    file = _read(path, must_exist=config is not None)
    found = Config(
        home=home,
        host=host or env.get("WINDLASS_HOST") or file.host or "127.0.0.1",
        port=port if port is not None else _port(env, "WINDLASS_PORT", file.port, 8420),
        token=env.get("WINDLASS_TOKEN", "").strip(),  # a header has no blanks around it
        auth=auth,
        durability=_durability(env, file),
        providers=[_with_key(provider, env) for provider in _providers(file, env)],
        servers=file.servers,
        web_search=file.web_search,
        limits=file.limits,
        limits_set=_limits_set(path),
        policy=file.policy,
        gateway=file.gateway,
        demo=demo,
        allow_hosts=[_host_name(text) for text in (*file.server.allow_hosts, *allow_hosts)],
        public_url=_public_url(public_url or env.get("WINDLASS_PUBLIC_URL") or file.server.public_url),
        trusted_proxies=[_network(text) for text in _proxies(file, env, trusted_proxies)],
        ops_port=ops_port if ops_port is not None else _port(env, "WINDLASS_OPS_PORT", file.server.ops_port, None),
        lines=_lines(path),
        files=[path, Path(".env"), *_secret_files(file)],
        environment=dict(env),
        keys_read=[name for name in (*KEYS, *_named(file, "env:")) if name in env],
    )
    if not found.auth and not found.on_loopback:
        raise BadInput(
            f"Refusing to listen on {found.host} without a token: anyone who reaches it could run commands here.",
            hint="Drop --no-auth, or listen on 127.0.0.1.",
        )
    return found


def check_token(token: str) -> None:
    """Refuse one that can be guessed; none at all is fine, since one is made then."""
    if 0 < len(token) < SHORTEST_TOKEN:
        raise BadInput(f"WINDLASS_TOKEN is too short: {SHORTEST_TOKEN} characters are the least. {HOW_TO_MAKE_ONE}")


def resolve_secret(text: str, env: Mapping[str, str] = os.environ) -> str:
    """`env:NAME` and `file:PATH` are references; anything else is the secret itself."""
    kind, _, where = text.partition(":")
    if kind == "env":
        if where not in env:
            raise BadInput(f"The environment variable {where} is not set.", hint=f"Set {where}, or change {text!r}.")
        return env[where]
    if kind == "file":
        try:
            return Path(where).expanduser().read_text().strip()
        except OSError as error:
            raise BadInput(f"The secret file {where} cannot be read: {error.strerror}.") from None
    return text


def _providers(file: _File, env: Mapping[str, str]) -> list[ProviderSettings]:
    """The environment's provider comes first: it is the one a person set for this run."""
    model = env.get("LLM_MODEL", "").strip()
    found: list[ProviderSettings] = []
    if env.get("OPENAI_API_KEY") or env.get("OPENAI_BASE_URL"):
        url = env.get("OPENAI_BASE_URL") or OPENAI_URL
        if _has_password(url):
            raise _password_in("OPENAI_BASE_URL")
        model = model or (ZAI_MODEL if _is_zai(url) else "")
        key = env.get("OPENAI_API_KEY") or (env.get("ZAI_API_KEY", "") if _is_zai(url) else "")
        found.append(ProviderSettings(url, model, key, name=ENVIRONMENT))
    elif env.get("ZAI_API_KEY"):
        found.append(ProviderSettings(ZAI_URL, model or ZAI_MODEL, env["ZAI_API_KEY"], name=ENVIRONMENT))
    in_file = [file.provider] if file.provider else []
    return [*found, *in_file, *file.providers]


def _is_zai(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    return ZAI_PATH in parts.path or any(host == name or host.endswith(f".{name}") for name in ZAI_HOSTS)


def _with_key(provider: ProviderSettings, env: Mapping[str, str]) -> ProviderSettings:
    return msgspec.structs.replace(provider, api_key=resolve_secret(provider.api_key, env))


def _secret_files(file: _File) -> list[Path]:
    return [Path(name).expanduser() for name in _named(file, "file:")]


def _named(file: _File, prefix: str) -> list[str]:
    """What settings refer to in this way instead of holding it."""
    texts = [provider.api_key for provider in (*file.providers, *([file.provider] if file.provider else []))]
    texts += [text for server in file.servers.values() for text in (*server.env.values(), *server.headers.values())]
    texts += file.web_search.keys.values()
    return [text.removeprefix(prefix) for text in texts if text.startswith(prefix)]


P = TypeVar("P", int, int | None)


def _port(env: Mapping[str, str], name: str, in_file: int | None, usual: P) -> int | P:
    text = env.get(name)
    if not text:
        return in_file if in_file is not None else usual
    if not text.isdecimal() or int(text) > 65535:
        raise BadInput(f"{name} is {text!r}; it must be a number from 0 to 65535.")
    return int(text)


def _proxies(file: _File, env: Mapping[str, str], flags: Iterable[str]) -> list[str]:
    named = env.get("WINDLASS_TRUSTED_PROXIES", "").split(",")
    return [text for text in (*file.server.trusted_proxies, *named, *flags) if text.strip()]


def _host_name(text: str) -> str:
    """As a Host header writes it. An address that was pasted whole loses its scheme and path."""
    scheme, _, rest = text.strip().rpartition("://")
    name = rest.partition("/")[0] if scheme else rest.removesuffix("/")
    if found := _as_host(name):
        return found
    raise BadInput(
        f"allow_hosts: {text!r} is not a host name.",
        hint="Write NAME or NAME:PORT, such as mybox.local or 192.168.1.5:8420; each name is listed in full.",
    )


def _as_host(name: str) -> str:
    """A name with or without a port, as browsers send it; "" for what cannot be one."""
    with suppress(ValueError):
        name = f"[{ipaddress.IPv6Address(name)}]"
    with suppress(UnicodeError):
        name = name if name.isascii() else name.encode("idna").decode()
    found = HOST_NAME.fullmatch(name.lower())
    if found is None or found[1] in UNSPECIFIED or int(found[2] or 0) > 65535:
        return ""
    return found[0]


def _public_url(text: str) -> str:
    """Scheme, host and path as browsers send them: small letters, without the usual port and the last slash."""
    scheme, _, rest = text.strip().partition("://")
    host, _, path = rest.partition("/")
    scheme, path = scheme.lower(), f"/{path}".rstrip("/")
    name = _as_host(host)
    if not text.strip():
        return ""
    if scheme not in USUAL_PORTS or not name or not BASE_PATH.fullmatch(path):
        raise BadInput(
            f"public_url: {text!r} is not the address of a page.",
            hint="Write it as people open it, such as https://chat.example.org or https://example.org/windlass; its "
            "path has letters, digits and . _ ~ - only, and no query.",
        )
    return f"{scheme}://{name.removesuffix(USUAL_PORTS[scheme])}{path}"


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text.strip(), strict=False))
    except ValueError:
        raise BadInput(
            f"trusted_proxies: {text!r} is neither an address nor a network.",
            hint="Write the proxy's address as Windlass sees it, such as 127.0.0.1, or its network: 172.18.0.0/16.",
        ) from None


def _durability(env: Mapping[str, str], file: _File) -> Literal["full", "normal"]:
    match env.get("WINDLASS_DURABILITY") or file.durability or "full":
        case "full":
            return "full"
        case "normal":
            return "normal"
        case text:
            raise BadInput(f"WINDLASS_DURABILITY is {text!r}; it must be full or normal.")


def _read(path: Path, must_exist: bool) -> _File:
    try:
        text = path.read_text()
    except (FileNotFoundError, NotADirectoryError):
        if must_exist:
            raise BadInput(f"There is no file {path}.") from None
        return _File()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text.", hint="Save it as UTF-8, or restore it from a backup.") from None
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: {error}", hint=FIX) from None
    except msgspec.ValidationError as error:
        raise BadInput(f"{path}{_line(text, str(error))}: {error}", hint=FIX) from None
    for provider in (*file.providers, *([file.provider] if file.provider else [])):
        if _has_password(provider.base_url):
            lines = [number for number, line in enumerate(text.splitlines(), 1) if provider.base_url in line]
            raise _password_in(f"{path}, line {lines[0]}: base_url" if lines else f"{path}: base_url")
        if provider.name.casefold() == RESERVED_NAME:
            raise BadInput(
                f"{path}: the provider's name {provider.name!r} is reserved.",
                hint=f"Choose another one: `{RESERVED_NAME}/NAME` names a persona.",
            )
    return file


def _lines(path: Path) -> dict[str, int]:
    with suppress(OSError):
        return setting_lines(path.read_text())
    return {}


def _limits_set(path: Path) -> list[str]:
    with suppress(OSError):
        return list(tomllib.loads(path.read_text()).get("limits", {}))
    return []


def _has_password(address: str) -> bool:
    return "@" in address.partition("://")[2].partition("/")[0]


def _password_in(where: str) -> BadInput:
    """The address itself is not repeated: what is said here ends up in logs."""
    return BadInput(
        f"{where} has a password in it, which is shown wherever the address is.",
        hint='Leave it out of the address and set api_key, for example to "env:MY_KEY".',
    )


def _line(text: str, error: str) -> str:
    """Where the setting that the error names stands, as `, line N`."""
    if "unknown field `" in error:
        key = error.partition("unknown field `")[2].partition("`")[0]
    else:
        key = error.rpartition(".")[2].rstrip("`").partition("[")[0]
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith((key, f"[{key}")) and key:
            return f", line {number}"
    return ""


def example() -> dict[str, Any]:
    """The defaults as plain values, for the reference in the docs."""
    shown: dict[str, Any] = msgspec.to_builtins(_File())
    return shown
