"""Where models come from. Keys go into the vault and never come out."""

import asyncio
import time
from dataclasses import asdict, replace
from typing import Any

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.config import LimitSettings
from windlass.core.errors import BadInput, Conflict, ModelError, NotFound
from windlass.core.ids import new_id
from windlass.core.values import value_object
from windlass.providers import (
    AS_OF,
    DEMO,
    RESERVED_NAME,
    KeptList,
    Models,
    Patience,
    ProviderConfig,
    chat_models,
    detect_local,
    fetch_models,
)
from windlass.servers import Servers
from windlass.services.origins import moved
from windlass.services.provider_check import problem_with
from windlass.store import Documents, Store
from windlass.store.vault import PREFIX, Vault


@value_object
class KeptProvider:
    id: str
    name: str
    base_url: str
    model: str = ""
    temperature: float | None = None
    has_key: bool = False
    default: bool = False
    barred: bool = False  # it had no model or did not answer when it would have become the default by itself


class Providers:
    def __init__(self, store: Store, models: Models, vault: Vault, patience: Patience, servers: Servers) -> None:
        self._models = models
        self._servers = servers
        self._vault = vault
        self._patience = patience
        self._kept: Documents[KeptProvider] = store.documents("provider", KeptProvider)
        self._lists: Documents[KeptList] = store.documents("model_list", KeptList)
        self._changes = asyncio.Lock()  # one for all: a new default changes the old one's row too

    def load(self) -> None:
        """At start: what was added earlier, beside what the settings name."""
        every = self._kept.all()
        self._vault.keep_only(_slot(""), [_slot(kept.id) for kept in every])
        for kept in every:
            self._use(kept)
        for known in self._lists.all():
            self._models.lists.restore(known)
        self._models.lists.keep = lambda known: self._lists.put(known.provider, known)

    def be_patient(self, patience: Patience) -> None:
        """For requests that begin from now on."""
        if patience == self._patience:
            return
        self._patience = patience
        for config in self._models.configs():
            if config.wire != DEMO and config.base_url:
                self._models.put(replace(config, patience=patience))

    def has(self, id: str) -> bool:
        return any(config.id == id for config in self._models.configs())

    @serves(routes.providers.add)
    async def add(self, new: schemas.NewProvider) -> schemas.ProviderAnswer:
        _check_name(new.name)
        id = new_id("prov")
        kept = KeptProvider(id, new.name, new.base_url, new.model, new.temperature, bool(new.api_key), new.default)
        kept, note = await self._judged(kept, new.api_key)
        if new.api_key:
            self._vault.put(_slot(id), new.api_key)
        async with self._changes:
            await self._keep(kept)
        return self._answer(id, f"Provider added{note}")

    @serves(routes.providers.all)
    async def all(self) -> schemas.ProviderList:
        shown = [self._shown(config) for config in self._models.configs()]
        return schemas.ProviderList(shown, len(shown))

    @serves(routes.providers.get)
    async def get(self, provider_id: str) -> schemas.ProviderAnswer:
        return self._answer(provider_id)

    @serves(routes.providers.change)
    async def change(self, provider_id: str, change: schemas.ProviderChange) -> schemas.ProviderAnswer:
        given: dict[str, Any] = {
            name: value for name, value in msgspec.structs.asdict(change).items() if value is not msgspec.UNSET
        }
        _check_name(given.get("name", ""))
        key = given.pop("api_key", None)
        async with self._changes:
            kept = self._own(provider_id)
            moves = key is None and kept.has_key and moved(kept.base_url, given.get("base_url", kept.base_url))
            used = "" if moves else self._key_of(kept) if key is None else key
            changed, note = await self._judged(replace(kept, **given, has_key=bool(used)), used, kept)
            if moves:
                return await self._move_without_key(changed)
            if key is not None:
                self._vault.drop(_slot(provider_id))
                if key:
                    self._vault.put(_slot(provider_id), key)
            await self._keep(changed)
        return self._answer(provider_id, f"Provider changed{note}")

    @serves(routes.providers.delete)
    async def delete(self, provider_id: str) -> schemas.Acknowledged:
        async with self._changes:
            kept = self._own(provider_id)
            was_default = self._models.default_id == kept.id
            await self._kept.delete(kept.id)
            self._models.remove(kept.id)
            self._vault.drop(_slot(kept.id))
            await self._lists.delete(kept.id)
            if self._models.default == kept.id:
                self._models.default = ""
            note = await self._pass_on_default() if was_default else ""
            await self._offer_demo_tools()
        return schemas.Acknowledged(message=f"Provider and key deleted{note}")

    @serves(routes.providers.test)
    async def test(self, provider_id: str) -> schemas.ProviderTest:
        """That it fails is an answer, not an error."""
        config = self._found(provider_id)
        began = time.monotonic()
        findings = await self._models.probe(config.id)
        if findings.usable:
            await self._unbar(config.id)
        took = round((time.monotonic() - began) * 1000)
        answer = "; ".join(f"{one.question}: {one.answer}" + (f" ({one.detail})" if one.detail else "")
                         for one in findings.findings)  # fmt: skip
        found = [schemas.Finding(one.question, one.answer, one.detail) for one in findings.findings]
        return schemas.ProviderTest(
            findings.usable, took, findings.model, answer, findings=found, missing=list(findings.missing)
        )

    @serves(routes.providers.local)
    async def local(self) -> schemas.LocalServers:
        """Model servers that answer on this machine, whether they are providers or not."""
        found = await detect_local()
        servers = [schemas.LocalServer(one.name, one.base_url, list(one.models)) for one in found]
        return schemas.LocalServers(servers, len(servers))

    @serves(routes.providers.models)
    async def models(self, provider_id: str) -> schemas.ModelList:
        """That the list cannot be had is an answer too: the configured model may work all the same."""
        config = self._found(provider_id)
        try:
            listed = await self._models.listed_models(config.id)
        except ModelError as error:
            known = [self._model(config, name) for name in self._last_known(config)]
            failed = schemas.Error(error.code, error.message, error.hint or msgspec.UNSET)
            return schemas.ModelList(known, len(known), failed, success=False)
        return schemas.ModelList([self._model(config, one.id) for one in listed], len(listed))

    def _last_known(self, config: ProviderConfig) -> list[str]:
        names = [one.id for one in self._models.lists.models(config)]
        return names if not config.model or config.model in names else [config.model, *names]

    def _model(self, config: ProviderConfig, name: str) -> schemas.ModelInfo:
        known = self._models.lists.facts(config, name)
        info = schemas.ModelInfo(name, config.id, **asdict(known.facts))
        info.chats = bool(chat_models([name]))
        info.source = "provider" if known.reported else "table" if known.looked_up else ""
        info.from_table = sorted(known.looked_up) if known.reported else []
        info.as_of = AS_OF if known.looked_up else ""
        return info

    async def _judged(
        self, kept: KeptProvider, key: str, before: KeptProvider | None = None
    ) -> tuple[KeptProvider, str]:
        """A provider that a person makes the default must be able to answer. One that would become it by itself, since
        there is no other, is barred while it cannot; the note says so."""
        becomes = kept.default and not (before and before.default and kept.model)
        takes_over = not kept.default and self._stands_alone(kept.id)
        problem = await problem_with(self._config(kept, key), fetch_models) if becomes or takes_over else None
        if problem and becomes:
            raise problem
        note = f". New chats don't use it yet: {problem.message}" if problem else ""
        return replace(kept, barred=problem is not None), note

    def _stands_alone(self, id: str) -> bool:
        """Whether this one would be the default if it could answer: no other real one is."""
        now = self._models.default_id
        return now in ("", id) or self._models.config(now).wire == DEMO

    async def _pass_on_default(self) -> str:
        """To the next provider that can answer. A note says who has it."""
        for config in self._models.configs():
            if config.wire == DEMO:
                continue
            if await problem_with(config, fetch_models):
                self._models.barred.add(config.id)
                continue
            if kept := self._kept.get(config.id):
                await self._keep(replace(kept, default=True, barred=False))
            else:
                self._models.default = config.id
            return f". New chats use {config.name or config.id}"
        return ". No other provider can answer: choose one for new chats"

    async def _unbar(self, id: str) -> None:
        async with self._changes:
            if (kept := self._kept.get(id)) and kept.barred:
                await self._keep(replace(kept, barred=False))

    async def _move_without_key(self, kept: KeptProvider) -> schemas.ProviderAnswer:
        """The row comes first: a change that could not be kept leaves the key where it was."""
        await self._keep(kept)
        self._vault.drop(_slot(kept.id))
        return self._answer(
            kept.id,
            "Provider changed. Its key was deleted, because the address is another server's: enter a key for it",
        )

    async def _keep(self, kept: KeptProvider) -> None:
        """All rows are enqueued before any is awaited: a caller that disconnects in between leaves no server without
        a default."""
        others = [other for other in self._kept.all() if kept.default and other.default and other.id != kept.id]
        waiting = [self._kept.put(other.id, replace(other, default=False)) for other in others]
        for one in [*waiting, self._kept.put(kept.id, kept)]:
            await one
        self._use(kept)
        await self._offer_demo_tools()

    async def _offer_demo_tools(self) -> None:
        """In new chats, while the demo model is the default: beside a real one they would clash with the tools of the
        servers that people use."""
        tools = "*" if self._models.config().wire == DEMO else ""
        for config in self._servers.configs():
            if config.bundled and config.tools != tools:
                await self._servers.put(replace(config, tools=tools))

    def _use(self, kept: KeptProvider) -> None:
        self._models.put(self._config(kept, self._key_of(kept)))
        if kept.barred:
            self._models.barred.add(kept.id)
        else:
            self._models.barred.discard(kept.id)
        if kept.default:
            self._models.default = kept.id
        elif self._models.default == kept.id:
            self._models.default = ""

    def _config(self, kept: KeptProvider, key: str) -> ProviderConfig:
        return ProviderConfig(
            kept.id, kept.name, kept.base_url, key, kept.model, kept.temperature, patience=self._patience
        )

    def _key_of(self, kept: KeptProvider) -> str:
        return self._vault.reveal(PREFIX + _slot(kept.id)) if kept.has_key else ""

    def _found(self, provider_id: str) -> ProviderConfig:
        for config in self._models.configs():
            if config.id == provider_id:
                return config
        raise NotFound(f"There is no provider {provider_id[:100]}.", hint="GET /providers shows those that are there.")

    def _own(self, provider_id: str) -> KeptProvider:
        kept = self._kept.get(self._found(provider_id).id)
        if kept is None:
            raise Conflict("This provider comes from the settings.", hint="Change it there.", code="from_config")
        return kept

    def _answer(self, provider_id: str, message: str = "") -> schemas.ProviderAnswer:
        return schemas.ProviderAnswer(self._shown(self._found(provider_id)), message=message)

    def _shown(self, config: ProviderConfig) -> schemas.Provider:
        return schemas.Provider(
            id=config.id,
            name=config.name or config.id,
            base_url=config.base_url,
            model=config.model,
            temperature=config.temperature,
            has_key=bool(config.api_key),
            default=config.id == self._models.default_id,
            demo=config.wire == DEMO,
            from_config=self._kept.get(config.id) is None,
            fallback=list(config.fallback),
        )


def patience_of(limits: LimitSettings) -> Patience:
    return Patience(
        connect_s=limits.connect_s,
        first_byte_s=limits.first_byte_s,
        silence_s=limits.silence_s,
        total_s=limits.reply_s,
    )


def _check_name(name: str) -> None:
    if name.casefold() == RESERVED_NAME:
        raise BadInput(
            f"name: {name!r} is reserved: `{RESERVED_NAME}/NAME` names a persona.",
            hint="Choose another name for the provider.",
            detail={"path": "name"},
        )


def _slot(provider_id: str) -> str:
    return f"provider/{provider_id}"
