"""Which provider is asked for a model that was named. Pure: it works on the last known lists."""

import difflib
from collections.abc import Sequence

from windlass.core.errors import BadInput
from windlass.core.values import value_object
from windlass.providers.config import RESERVED_NAME, ProviderConfig

MOST_SHOWN = 10


@value_object
class KnownModels:
    """A provider with what is known of its models. `listed` is None while no list was ever read."""

    config: ProviderConfig
    listed: frozenset[str] | None = None

    def has(self, name: str) -> bool:
        return bool(name) and (name == self.config.model or name in (self.listed or ()))

    def has_like(self, name: str) -> bool:
        """`llama3:latest` is `llama3`, and some servers take more suffixes than they list."""
        base = name.partition(":")[0]
        return any(base == one.partition(":")[0] for one in (self.config.model, *(self.listed or ())))


@value_object
class FoundModel:
    config: ProviderConfig
    model: str


def find_model(name: str, own: str, providers: Sequence[KnownModels]) -> FoundModel:
    """`own` is the id of the conversation's provider, or the default one. A name goes to no provider that is known not
    to have it while another has it."""
    addressed = _addressed(name, providers)
    for one, rest in addressed:
        if one.listed is None or one.has(rest):
            return FoundModel(one.config, rest)
    if found := _held(name, own, [one for one in providers if one.has(name)]):
        return found
    for one, rest in addressed:
        if others := [other for other in providers if other.has(rest)]:
            raise _elsewhere(one, rest, others)
        return FoundModel(one.config, rest)  # said in full: lists are often not complete
    if found := _held(name, own, [one for one in providers if one.has_like(name)]):
        return found
    for one in providers:
        if one.config.id == own and one.listed is None:  # without a list nobody can say that it lacks the model
            return FoundModel(one.config, name)
    raise _unknown(name, providers)


def decides(name: str, own: str, providers: Sequence[KnownModels]) -> bool:
    """Whether newer lists could not change which provider is found."""
    if addressed := _addressed(name, providers):
        return addressed[0][0].has(addressed[0][1])
    holders = [one for one in providers if one.has(name)]
    if any(one.config.id == own for one in holders):
        return True
    return len(holders) == 1 and all(one.listed is not None for one in providers)


def first_edition(name: str, own: ProviderConfig, configs: Sequence[ProviderConfig]) -> FoundModel:
    """As names were read before they were looked up: `ID/rest`, else a model of the own provider."""
    id, _, rest = name.partition("/")
    for config in configs:
        if rest and config.id == id:
            return FoundModel(config, rest)
    return FoundModel(own, name)


def _addressed(name: str, providers: Sequence[KnownModels]) -> list[tuple[KnownModels, str]]:
    """The providers that `PROVIDER/model` names, each with the model's part. One named by its id comes first."""
    by_id = [(one, name.removeprefix(f"{one.config.id}/")) for one in providers if _names(name, one.config.id)]
    by_name = [(one, name.removeprefix(f"{one.config.name}/")) for one in providers if _names(name, one.config.name)]
    return [*by_id, *(pair for pair in by_name if pair not in by_id)]


def _names(name: str, provider: str) -> bool:
    prefix = f"{provider}/"
    return bool(provider) and provider.casefold() != RESERVED_NAME and name.startswith(prefix) and name != prefix


def _held(name: str, own: str, holders: Sequence[KnownModels]) -> FoundModel | None:
    """Asked of the own provider if it is among the holders, else of the only one."""
    for one in holders:
        if one.config.id == own or len(holders) == 1:
            return FoundModel(one.config, name)
    if holders:
        raise _ambiguous(name, holders)
    return None


def _elsewhere(asked: KnownModels, model: str, holders: Sequence[KnownModels]) -> BadInput:
    full = [f"{one.config.id}/{model}" for one in holders]
    return BadInput(
        f"{_title(asked.config)} does not have the model {model}; {', '.join(_title(one.config) for one in holders)} "
        f"{'has' if len(holders) == 1 else 'have'} it.",
        hint=f"Name {' or '.join(full[:MOST_SHOWN])}.",
        code="unknown_model",
        detail={"path": "model", "models": full},
    )


def _ambiguous(name: str, holders: Sequence[KnownModels]) -> BadInput:
    full = [f"{one.config.id}/{name}" for one in holders]
    return BadInput(
        f"Several providers have the model {name}: {', '.join(_title(one.config) for one in holders)}.",
        hint=f"Name one: {' or '.join(full[:MOST_SHOWN])}.",
        code="ambiguous_model",
        detail={"path": "model", "models": full},
    )


def _unknown(name: str, providers: Sequence[KnownModels]) -> BadInput:
    full = {f"{one.config.id}/{model}": model for one in providers for model in (*(one.listed or ()), one.config.model)}
    near = difflib.get_close_matches(name.rpartition("/")[2], set(full.values()), MOST_SHOWN, 0.5)
    shown = sorted((one for one, model in full.items() if model in near), key=lambda one: near.index(full[one]))
    others = ", ".join(_title(one.config) for one in providers if one.listed is not None)
    like = f"Like it: {', '.join(shown[:MOST_SHOWN])}. " if shown else ""
    return BadInput(
        f"No provider has the model {name[:200]}." + (f" Looked at: {others}." if others else ""),
        hint=f"{like}`windlass models list` shows all; one that no list has can be named as PROVIDER/MODEL.",
        code="unknown_model",
        detail={"path": "model", "models": shown[:MOST_SHOWN]},
    )


def _title(config: ProviderConfig) -> str:
    return config.name or config.id
