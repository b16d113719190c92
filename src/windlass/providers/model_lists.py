"""The last known lists of models. One that was read is kept until a newer one comes, so that a server that does not
answer hides nothing; reading them never keeps a turn waiting while the known ones decide."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence

from windlass.core.errors import ModelError
from windlass.core.values import value_object
from windlass.providers.catalog import ListedModel, fetch_models
from windlass.providers.config import ProviderConfig
from windlass.providers.lookup import FoundModel, KnownModels, decides, find_model
from windlass.providers.model_facts import ModelFacts, SourcedFacts, as_set, facts_about

FIND_S = 5.0  # the longest that looking up a name waits for lists
SILENT_FIND_S = 0.5  # the same for a provider whose last read failed
OLD_S = 3600.0
AGAIN_S = 30.0  # a list that could not be read, or did not have a name, is not read again sooner


@value_object
class KeptList:
    """A list as it was last read, good for one address."""

    provider: str
    base_url: str
    models: tuple[ListedModel, ...]


class ModelLists:
    """`keep` is called with each list that was read, to store it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.keep: Callable[[KeptList], object] = lambda kept: None
        self._clock = clock
        self._kept: dict[str, KeptList] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._facts: dict[str, dict[str, ModelFacts]] = {}
        self._asked_at: dict[str, float] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}
        self._silent: set[str] = set()  # whose last read failed

    def restore(self, kept: KeptList) -> None:
        self._kept[kept.provider] = kept
        self._names[kept.provider] = frozenset(one.id for one in kept.models)
        self._facts[kept.provider] = {one.id: one.facts for one in kept.models}

    def models(self, config: ProviderConfig) -> tuple[ListedModel, ...]:
        """The last known list; empty where there was none, or where the provider has another address now."""
        kept = self._kept.get(config.id)
        return kept.models if kept and kept.base_url == config.base_url else ()

    def known(self, config: ProviderConfig) -> KnownModels:
        return KnownModels(config, self._names[config.id] if self.models(config) else None)

    async def fetch(self, config: ProviderConfig) -> tuple[ListedModel, ...]:
        self._asked_at[config.id] = self._clock()
        found = await fetch_models(config)
        if found and found != self.models(config):
            kept = KeptList(config.id, config.base_url, found)
            self.restore(kept)
            self.keep(kept)
        return found

    def refresh_if_old(self, config: ProviderConfig, age_s: float = OLD_S) -> None:
        """In the background; for the next look-up."""
        if config.base_url and self._age(config) > age_s and config.id not in self._reading:
            self._asked_at[config.id] = self._clock()
            task = asyncio.create_task(self._read(config))
            self._reading[config.id] = task
            task.add_done_callback(lambda done: self._reading.pop(config.id, None))

    def find_known(self, name: str, own: str, configs: Sequence[ProviderConfig]) -> FoundModel:
        """By the last known lists alone."""
        return find_model(name, own, [self.known(config) for config in configs])

    def facts(self, config: ProviderConfig, model: str) -> SourcedFacts:
        reported = self._facts[config.id].get(model, ModelFacts()) if self.models(config) else ModelFacts()
        return as_set(facts_about(config.base_url, model, reported), model, config.model_settings)

    async def find(self, name: str, own: str, configs: Sequence[ProviderConfig]) -> FoundModel:
        """A list that was never read, or that is too old to refuse a name, is read first."""
        decided = decides(name, own, [self.known(config) for config in configs])
        for config in configs:
            self.refresh_if_old(config, OLD_S if decided else AGAIN_S)
        if not decided:
            await self._wait_for_lists(configs)
        return self.find_known(name, own, configs)

    async def _wait_for_lists(self, configs: Sequence[ProviderConfig]) -> None:
        """A read is waited for once, and briefly where the one before it failed: a server that hangs holds up one
        look-up, not all that follow."""
        left = {
            config.id: self._patience(config) - self._age(config) for config in configs if config.id in self._reading
        }
        awaited = [self._reading[id] for id, left_s in left.items() if left_s > 0]
        if awaited:
            await asyncio.wait(awaited, timeout=max(left.values()))

    def _patience(self, config: ProviderConfig) -> float:
        return SILENT_FIND_S if config.id in self._silent else FIND_S

    async def aclose(self) -> None:
        reading = list(self._reading.values())
        for task in reading:
            task.cancel()
        if reading:
            await asyncio.wait(reading)

    def _age(self, config: ProviderConfig) -> float:
        return self._clock() - self._asked_at.get(config.id, -math.inf)

    async def _read(self, config: ProviderConfig) -> None:
        try:
            await self.fetch(config)
        except ModelError:  # the last known list holds
            self._silent.add(config.id)
        else:
            self._silent.discard(config.id)
