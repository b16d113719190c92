"""All configured providers behind one `Model`: each request goes to the provider its turn was started with. Also which
models a server has, and which model servers run on this machine."""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping

import msgspec

from windlass.core.errors import ModelError
from windlass.core.ports import Emit, Model, ModelRequest, Reply
from windlass.core.values import value_object
from windlass.providers.answer import read_up_to
from windlass.providers.config import ProviderConfig, endpoint_for
from windlass.providers.demo import DEMO_MODEL, DemoModel
from windlass.providers.encoding import ByteCache
from windlass.providers.failures import INVALID, BadAnswer, exception_failure, failure, http_failure, shown
from windlass.providers.http_client import HttpClient
from windlass.providers.openai_chat import OpenAIChat
from windlass.providers.probe import Findings, probe

log = logging.getLogger("windlass")
DEMO = "demo"
WIRES: dict[str, Callable[[ProviderConfig, ByteCache], Model]] = {
    "openai": OpenAIChat,
    DEMO: lambda config, cache: DemoModel(),
}
LOCAL_PORTS = (11434, 1234, 8080, 8000)
LIST_S = 20.0
LOOK_S = 0.5
_LIST_CAP = 4 * 1024 * 1024
_NO_CHAT = re.compile(
    r"embed|rerank|whisper|moderation|dall-e|(^|[-_/.])(tts|bge|gte|e5|minilm|transcribe)([-_/.:]|$)", re.IGNORECASE
)
_NAMES = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}


class Models:
    """Providers come and go while turns run; a turn whose provider is gone fails with an error that says what to do.

    The first real provider is the default, unless `default` names another.
    """

    def __init__(
        self, providers: Iterable[ProviderConfig] = (), default: str = "", redact: Callable[[str], str] = str
    ) -> None:
        """`redact` takes secrets out of errors: some servers quote the key that they refuse."""
        self._redact = redact
        self._configs: dict[str, ProviderConfig] = {}
        self._models: dict[str, Model] = {}
        self._built: set[str] = set()  # of those, the ones this class made
        self._cache = ByteCache()
        self.default = default
        for config in providers:
            self.put(config)

    def put(self, config: ProviderConfig) -> None:
        """Add a provider, or replace the one with this id."""
        self._configs[config.id] = config
        self._retire(config.id)

    def use(self, provider: str, model: Model) -> None:
        """Let any `Model` answer for a provider: a scripted one in a test, another wire in a program."""
        self._configs.setdefault(provider, ProviderConfig(provider))
        self._retire(provider)
        self._models[provider] = model

    def remove(self, provider: str) -> None:
        self._configs.pop(provider, None)
        self._retire(provider)

    def config(self, provider: str = "") -> ProviderConfig:
        """The provider of this id; the default one for ""."""
        wanted = provider or self.default or self._first()
        if wanted not in self._configs:
            raise ModelError(
                "no_provider",
                f"There is no provider '{wanted}'." if wanted else "No model provider is configured.",
                hint=("Choose another model for this conversation, or connect one" if wanted else "Connect one")
                + " under Models, or with OPENAI_API_KEY, OPENAI_BASE_URL and LLM_MODEL.",
            )
        return self._configs[wanted]

    def configs(self) -> tuple[ProviderConfig, ...]:
        return tuple(self._configs.values())

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        current = request.prompt.current
        if any(message.role == "tool" for message in current):
            count = len(current) + sum(len(turn.messages) for turn in request.prompt.past)
            log.info("Sending tool results to model (messages: %d)", count)
        try:
            return await self.model(request.settings.provider).reply(request, emit)
        except ModelError as error:
            error.message, error.partial = self._redact(error.message), self._redact(error.partial)
            raise

    def model(self, provider: str = "") -> Model:
        config = self.config(provider)
        if config.id not in self._models:
            self._models[config.id] = self._build(config)
            self._built.add(config.id)
        return self._models[config.id]

    async def list_models(self, provider: str = "") -> tuple[str, ...]:
        """The names the provider's server gives; its configured model alone where it has no list."""
        config = self.config(provider)
        if config.wire == DEMO:
            return (DEMO_MODEL,)
        found = await fetch_models(config)
        return found or ((config.model,) if config.model else ())

    async def probe(self, provider: str = "", model: str = "") -> Findings:
        """Ask the model a few small questions and see what it can do."""
        config = self.config(provider)
        return await probe(self.model(provider), config.id, model or config.model)

    async def aclose(self) -> None:
        for provider in list(self._models):
            self._retire(provider)

    def _first(self) -> str:
        """The demo model is the default only while there is no real one."""
        real = (id for id, config in self._configs.items() if config.wire != DEMO)
        return next(real, next(iter(self._configs), ""))

    def _build(self, config: ProviderConfig) -> Model:
        if config.wire not in WIRES:
            known = ", ".join(WIRES)
            raise ModelError(
                "unknown_wire", f"There is no wire '{config.wire}'.", hint=f"Set `wire` to one of: {known}."
            )
        return WIRES[config.wire](config, self._cache)

    def _retire(self, provider: str) -> None:
        """Closes a model that was built here; one that a program brought is the program's own."""
        close = getattr(self._models.pop(provider, None), "close", None)
        if close and provider in self._built:
            close()
        self._built.discard(provider)


@value_object
class FoundServer:
    name: str
    base_url: str
    models: tuple[str, ...]


async def fetch_models(config: ProviderConfig) -> tuple[str, ...]:
    """The names at `/models`; none where the server has no such list."""
    try:
        status, headers, body = await _fetch_list(config, LIST_S)
    except (OSError, ValueError, BadAnswer) as error:
        raise exception_failure(error, 0) from error
    if status in (404, 405):
        return ()
    if status != 200:
        raise http_failure(status, headers, body, 0)
    names = model_names(body)
    if names is None:
        raise failure(INVALID, f"no list of models: {shown(body.decode(errors='replace'))}")
    return names


async def detect_local(ports: tuple[int, ...] = LOCAL_PORTS) -> tuple[FoundServer, ...]:
    """Model servers that answer on this machine, in the order of the ports."""
    async with asyncio.TaskGroup() as looking:
        looks = [looking.create_task(_look(port)) for port in ports]
    return tuple(found for look in looks if (found := look.result()))


def chat_models(names: Iterable[str]) -> tuple[str, ...]:
    """Without those whose names say that they embed, rank, transcribe or draw: a list mixes them with chat models."""
    return tuple(name for name in names if not _NO_CHAT.search(name))


def model_names(body: bytes) -> tuple[str, ...] | None:
    """The ids in `{"data": [{"id": ...}]}`; None for any other shape, so that a stray web server is no model."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    data = value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, list):
        return None
    names = [entry.get("id") if isinstance(entry, dict) else None for entry in data]
    found = tuple(name for name in names if isinstance(name, str) and name)
    return found if len(found) == len(names) else None


async def _look(port: int) -> FoundServer | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        status, _, body = await _fetch_list(ProviderConfig("", base_url=base_url), LOOK_S)
    except (OSError, ValueError, BadAnswer):
        return None
    names = model_names(body) if status == 200 else None
    return FoundServer(_NAMES.get(port, "Local server"), base_url, names) if names else None


async def _fetch_list(config: ProviderConfig, most_s: float) -> tuple[int, Mapping[str, str], bytes]:
    async with asyncio.timeout(most_s):
        connection = await HttpClient(endpoint_for(config, "/models"), most_s).send("GET", b"")
        try:
            return await connection.answered(), connection.headers, await read_up_to(connection, _LIST_CAP)
        finally:
            connection.close()
