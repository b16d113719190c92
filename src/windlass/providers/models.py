"""All configured providers behind one `Model`: each request goes to the provider its turn was started with."""

from collections.abc import Coroutine, Iterable
from typing import Any

from windlass.core.errors import ModelError
from windlass.core.ports import Emit, Model, ModelRequest, Reply
from windlass.providers.catalogue import fetch_models
from windlass.providers.config import ProviderConfig
from windlass.providers.demo import DEMO_MODEL, DemoModel
from windlass.providers.encoding import ByteCache
from windlass.providers.openai_chat import OpenAIChat
from windlass.providers.probe import Findings, probe


class Models:
    """Providers come and go while turns run; a turn whose provider is gone fails with words a person can act on.

    The first real provider is the default, unless `default` names another.
    """

    def __init__(self, providers: Iterable[ProviderConfig] = (), default: str = "") -> None:
        self._configs: dict[str, ProviderConfig] = {}
        self._models: dict[str, Model] = {}
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

    def reply(self, request: ModelRequest, emit: Emit) -> Coroutine[Any, Any, Reply]:
        return self.model(request.settings.provider).reply(request, emit)

    def model(self, provider: str = "") -> Model:
        config = self.config(provider)
        if config.id not in self._models:
            self._models[config.id] = self._made(config)
        return self._models[config.id]

    async def list_models(self, provider: str = "") -> tuple[str, ...]:
        """The names the provider's server gives; its configured model alone where it has no list."""
        config = self.config(provider)
        if config.kind == "demo":
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
        """The demo steps back the moment there is a real model."""
        real = (id for id, config in self._configs.items() if config.kind != "demo")
        return next(real, next(iter(self._configs), ""))

    def _made(self, config: ProviderConfig) -> Model:
        if config.kind == "demo":
            return DemoModel()
        return OpenAIChat(config, self._cache)

    def _retire(self, provider: str) -> None:
        model = self._models.pop(provider, None)
        if isinstance(model, OpenAIChat):
            model.close()
