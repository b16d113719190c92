"""All configured providers behind one `Model`: each request goes to the provider its turn was started with. Also which
models a provider has."""

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from windlass.core.errors import BadInput, ModelError
from windlass.core.ports import Emit, Model, ModelRequest, Reply
from windlass.providers.byte_cache import ByteCache
from windlass.providers.catalog import ListedModel
from windlass.providers.config import ProviderConfig
from windlass.providers.demo import DEMO_MODEL, DemoModel
from windlass.providers.embeddings import fetch_embeddings
from windlass.providers.lookup import FoundModel
from windlass.providers.media import Abilities, KeptMedia, Media
from windlass.providers.model_facts import ModelFacts
from windlass.providers.model_lists import ModelLists
from windlass.providers.openai_chat import OpenAIChat
from windlass.providers.probe import Findings, probe
from windlass.providers.profiles import profile_for
from windlass.providers.structured import structured_reply

log = logging.getLogger("windlass")
DEMO = "demo"
WIRES: dict[str, Callable[[ProviderConfig, ByteCache, Media | None], Model]] = {
    "openai": lambda config, cache, media: OpenAIChat(config, cache, media=media),
    DEMO: lambda config, cache, media: DemoModel(),
}


class Models:
    """Providers come and go while turns run; a turn whose provider is gone fails with an error that says what to do.

    The first real provider that has a model and is not barred is the default, unless `default` names another.
    """

    def __init__(
        self,
        providers: Iterable[ProviderConfig] = (),
        default: str = "",
        redact: Callable[[str], str] = str,
        media: KeptMedia | None = None,
    ) -> None:
        """`redact` takes secrets out of errors: some servers quote the key that they refuse. Without `media`, no model
        is shown a picture."""
        self.redact = redact
        self._media = media
        self._configs: dict[str, ProviderConfig] = {}
        self._models: dict[str, Model] = {}
        self._built: set[str] = set()  # of those, the ones this class made
        self._cache = ByteCache()
        self.default = default
        self.barred: set[str] = set()  # found without a model or dead: no default unless a person chooses them
        self.lists = ModelLists()
        self._warned: set[str] = set()
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
        self.barred.discard(provider)
        self._retire(provider)

    def config(self, provider: str = "") -> ProviderConfig:
        """The provider of this id; the default one for ""."""
        wanted = provider or self.default or self._first()
        if wanted not in self._configs:
            raise ModelError(
                "no_provider",
                f"There is no provider '{wanted}'." if wanted else "No model provider is configured.",
                hint=("Choose another model for this chat, or connect one" if wanted else "Connect one")
                + " under Models, or with OPENAI_API_KEY, OPENAI_BASE_URL and LLM_MODEL.",
            )
        return self._configs[wanted]

    @property
    def default_id(self) -> str:
        """Of the provider that new chats use; "" where none can answer."""
        id = self.default or self._first()
        usable = id == self.default or (id in self._configs and (self._is_ready(id) or id in self._demo()))
        return id if usable else ""

    def configs(self) -> tuple[ProviderConfig, ...]:
        return tuple(self._configs.values())

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        current = request.prompt.current
        if any(message.role == "tool" for message in current):
            count = len(current) + sum(len(turn.messages) for turn in request.prompt.past)
            log.info("Sending tool results to model (messages: %d)", count)
        try:
            return await self._ask(request, emit)
        except ModelError as error:
            error.message, error.partial = self.redact(error.message), self.redact(error.partial)
            raise

    async def _ask(self, request: ModelRequest, emit: Emit) -> Reply:
        settings = request.settings
        model = self.model(settings.provider)
        if not settings.output:
            return await model.reply(request, emit)
        config = self.config(settings.provider)
        profile = profile_for(config.base_url, settings.model or config.model, config.profile)
        return await structured_reply(model, profile, request, emit)

    def model(self, provider: str = "") -> Model:
        config = self.config(provider)
        if config.id not in self._models:
            self._models[config.id] = self._build(config)
            self._built.add(config.id)
        return self._models[config.id]

    async def list_models(self, provider: str = "") -> tuple[str, ...]:
        """The names the provider's server gives; its configured model alone where it has no list."""
        return tuple(one.id for one in await self.listed_models(provider))

    async def listed_models(self, provider: str = "") -> tuple[ListedModel, ...]:
        """The same with what the server says of each. The list is kept for looking names up."""
        config = self.config(provider)
        if config.wire == DEMO:
            return (ListedModel(DEMO_MODEL),)
        return await self.lists.fetch(config) or ((ListedModel(config.model),) if config.model else ())

    async def find(self, name: str, provider: str = "") -> FoundModel:
        """The provider to ask for this model, and the name it is known by there. Lists are read only where the last
        known ones do not decide."""
        own = self.config(provider)
        return await self.lists.find(name, own.id, [one for one in self.configs() if one.wire != DEMO or one is own])

    def fallbacks(self, config: ProviderConfig, model: str, tools: bool) -> tuple[tuple[str, str], ...]:
        """The provider and model of each fallback that can take over a turn of this one, by the last known lists."""
        found: dict[tuple[str, str], None] = {}
        for name in config.fallback:
            try:
                other = self.lists.find_known(name, "", self.configs())
            except BadInput as error:
                self._warn_once(f"Fallback of {config.name or config.id}: {error.message}")
                continue
            if not tools or self.facts(other.config, other.model).tools is not False:
                found[other.config.id, other.model] = None
        found.pop((config.id, model), None)
        return tuple(found)

    def most_tools(self, config: ProviderConfig, model: str) -> int:
        """As many as one request may list; 0 for the demo, which reads no definitions and cannot search for tools."""
        if config.wire == DEMO:
            return 0
        return profile_for(config.base_url, model or config.model, config.profile).most_tools

    def facts(self, config: ProviderConfig, model: str) -> ModelFacts:
        """What is known of a model, from its server or from the table."""
        return self.lists.facts(config, model).facts

    def abilities(self, config: ProviderConfig, model: str) -> Abilities:
        facts = self.facts(config, model)
        return Abilities(facts.images, facts.audio)

    async def embeddings(self, provider: str, request: dict[str, object]) -> dict[str, object]:
        try:
            return await fetch_embeddings(self.config(provider), request)
        except ModelError as error:
            error.message = self.redact(error.message)
            raise

    async def probe(self, provider: str = "", model: str = "") -> Findings:
        """Ask the model a few small questions and see what it can do."""
        config = self.config(provider)
        return await probe(self.model(provider), config.id, model or config.model)

    async def aclose(self) -> None:
        for provider in list(self._models):
            self._retire(provider)
        await self.lists.aclose()

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            log.warning("%s", text)

    def _first(self) -> str:
        """The demo model is the default only while there is no real one that could answer. Where there is no demo
        either, one that cannot answer is asked all the same: its failure says more than that there is none."""
        return next(chain(filter(self._is_ready, self._configs), self._demo(), self._configs), "")

    def _is_ready(self, id: str) -> bool:
        config = self._configs[id]
        has_model = bool(config.model) or not config.base_url  # a model of the program's own needs no name
        return config.wire != DEMO and has_model and id not in self.barred

    def _demo(self) -> Iterator[str]:
        return (id for id, config in self._configs.items() if config.wire == DEMO)

    def _build(self, config: ProviderConfig) -> Model:
        if config.wire not in WIRES:
            known = ", ".join(WIRES)
            raise ModelError(
                "unknown_wire", f"There is no wire '{config.wire}'.", hint=f"Set `wire` to one of: {known}."
            )
        media = Media(self._media, lambda model: self.abilities(config, model)) if self._media else None
        return WIRES[config.wire](config, self._cache, media)

    def _retire(self, provider: str) -> None:
        """Closes a model that was built here; one that a program brought is the program's own."""
        close = getattr(self._models.pop(provider, None), "close", None)
        if close and provider in self._built:
            close()
        self._built.discard(provider)
