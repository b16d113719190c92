"""What a model takes and costs: from its server where that tells, else from a table with a date."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, fields, replace
from fnmatch import fnmatchcase

from windlass.core.values import value_object
from windlass.providers.config import ModelSetting
from windlass.providers.model_table import TABLE, TableRow

_CONTEXT = ("context_length", "max_model_len", "loaded_context_length", "max_context_length", "context_window")
_MILLION = 1_000_000
_DIGITS = 6


@value_object
class ModelFacts:
    """None: not known. Prices are in US dollars for a million tokens."""

    context: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    images: bool | None = None
    tools: bool | None = None
    audio: bool | None = None


@value_object
class SourcedFacts:
    facts: ModelFacts = ModelFacts()
    reported: frozenset[str] = field(default_factory=frozenset)  # names of the facts that the server reports itself
    looked_up: frozenset[str] = field(default_factory=frozenset)  # and of those from the table


def reported_by(entry: Mapping[str, object]) -> ModelFacts:
    """The facts in one entry of a server's list, in the forms of OpenRouter, vLLM, llama.cpp, LM Studio and Mistral."""
    prices = _mapping(entry.get("pricing"))
    abilities = set(_abilities(entry))
    modalities = _names(_mapping(entry.get("architecture")).get("input_modalities") or entry.get("input_modalities"))
    parameters = _names(entry.get("supported_parameters") or entry.get("supported_features"))
    sees = "image" in modalities or "vision" in abilities or entry.get("type") == "vlm"
    calls = "tools" in parameters or bool(abilities & {"tools", "tool_use", "function_calling"})
    hears = "audio" in modalities or "audio" in abilities
    return ModelFacts(
        context=_context(entry),
        input_price=_price(prices.get("prompt")),
        output_price=_price(prices.get("completion")),
        images=sees if sees or modalities or "vision" in _mapping(entry.get("capabilities")) else None,
        audio=hears if hears or modalities else None,
        tools=calls if calls or parameters or "function_calling" in _mapping(entry.get("capabilities")) else None,
    )


def facts_about(base_url: str, model: str, reported: ModelFacts) -> SourcedFacts:
    """What the server reports, completed from the table. Prices of the table hold at the maker's own address alone."""
    row = _row(model)
    priced = row is not None and fnmatchcase(base_url.lower(), row.address)
    names = [one.name for one in fields(ModelFacts)]
    from_server = {name: value for name in names if (value := getattr(reported, name)) is not None}
    from_table = {
        name: value
        for name in names
        if name not in from_server and (priced or not name.endswith("_price"))
        if (value := getattr(row, name, None)) is not None
    }
    facts = ModelFacts(**from_table, **from_server)
    return SourcedFacts(facts, frozenset(from_server), frozenset(from_table))


def as_set(known: SourcedFacts, model: str, settings: Iterable[ModelSetting]) -> SourcedFacts:
    """As the operator's settings have it, where they say something."""
    fitting = [setting for setting in settings if fnmatchcase(model.lower(), setting.model.lower())]
    images = next((one.images for one in fitting if one.images is not None), known.facts.images)
    audio = next((one.audio for one in fitting if one.audio is not None), known.facts.audio)
    if (images, audio) == (known.facts.images, known.facts.audio):
        return known
    return replace(known, facts=replace(known.facts, images=images, audio=audio))


def _row(model: str) -> TableRow | None:
    name = model.lower().rpartition("/")[2].partition(":")[0]
    return next((row for row in TABLE if fnmatchcase(name, row.model)), None)


def _context(entry: Mapping[str, object]) -> int | None:
    meta = _mapping(entry.get("meta"))
    found = (*(entry.get(name) for name in _CONTEXT), meta.get("n_ctx"), meta.get("n_ctx_train"))
    return next((size for size in found if isinstance(size, int) and not isinstance(size, bool) and size > 0), None)


def _price(per_token: object) -> float | None:
    """OpenRouter writes dollars for one token as text, and -1 for a price that varies."""
    try:
        price = float(per_token) if isinstance(per_token, str) else -1.0
    except ValueError:
        return None
    return round(price * _MILLION, _DIGITS) if 0 <= price < 1 else None


def _abilities(entry: Mapping[str, object]) -> Iterator[str]:
    """A list of names, or names that are true or false."""
    found = entry.get("capabilities")
    yield from _names(found)
    yield from (name for name, value in _mapping(found).items() if value is True)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _names(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
