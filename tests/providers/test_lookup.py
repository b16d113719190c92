"""Which provider is asked for a model that was named."""

import pytest

from windlass.core.errors import BadInput
from windlass.providers.config import ProviderConfig
from windlass.providers.lookup import KnownModels, find_model


def known(id: str, *listed: str, name: str = "", model: str = "", unread: bool = False) -> KnownModels:
    return KnownModels(ProviderConfig(id, name, "http://x/v1", model=model), None if unread else frozenset(listed))


ROUTER = known("router", "openai/gpt-5", "router/auto", "shared", name="Router")
OPENAI = known("prov_1", "gpt-5", "gpt-5-mini", "shared", name="openai")
LOCAL = known("local", "llama3:latest", "qwen3:8b", model="llama3:latest", name="Ollama")
EVERY = (ROUTER, OPENAI, LOCAL)


@pytest.mark.parametrize(
    ("name", "own", "found"),
    [
        ("router/openai/gpt-5", "local", ("router", "openai/gpt-5")),  # by id; a model's id may contain a slash
        ("Router/shared", "local", ("router", "shared")),  # by name
        ("openai/gpt-5", "router", ("prov_1", "gpt-5")),  # a provider's name comes before the own provider's list
        ("router/auto", "router", ("router", "router/auto")),  # the whole name, where the provider lacks the rest
        ("router/auto", "local", ("router", "router/auto")),
        ("shared", "router", ("router", "shared")),  # the own provider, if it has it
        ("shared", "prov_1", ("prov_1", "shared")),
        ("gpt-5-mini", "router", ("prov_1", "gpt-5-mini")),  # the only other that has it
        ("llama3", "router", ("local", "llama3")),  # a suffix that the list has and the name has not
        ("Ollama/qwen3:32b", "router", ("local", "qwen3:32b")),
        ("prov_1/not-listed", "router", ("prov_1", "not-listed")),  # said in full, and no other has it
    ],
)
def test_a_model_is_asked_of_the_provider_that_has_it(name: str, own: str, found: tuple[str, str]) -> None:
    got = find_model(name, own, EVERY)
    assert (got.config.id, got.model) == found


@pytest.mark.parametrize(
    ("name", "own", "code", "models"),
    [
        ("shared", "local", "ambiguous_model", ["router/shared", "prov_1/shared"]),
        ("local/gpt-5-mini", "local", "unknown_model", ["prov_1/gpt-5-mini"]),
        ("gpt-5-nano", "router", "unknown_model", ["prov_1/gpt-5", "prov_1/gpt-5-mini"]),
        ("windlass/gpt-5-mini", "prov_1", "unknown_model", ["prov_1/gpt-5-mini", "prov_1/gpt-5"]),
    ],
)
def test_a_name_that_no_provider_can_be_asked_for_is_refused_with_those_that_have_it(
    name: str, own: str, code: str, models: list[str]
) -> None:
    with pytest.raises(BadInput) as refused:
        find_model(name, own, EVERY)
    assert refused.value.code == code
    assert isinstance(refused.value.detail, dict) and refused.value.detail["path"] == "model"
    assert sorted(refused.value.detail["models"]) == sorted(models)


def test_a_provider_whose_list_was_never_read_is_asked_unless_another_has_the_model() -> None:
    unread = known("default", unread=True)
    assert find_model("anything", "default", (unread, OPENAI)).config.id == "default"
    assert find_model("gpt-5", "default", (unread, OPENAI)).config.id == "prov_1"
    assert find_model("default/gpt-5", "prov_1", (unread, OPENAI)).config.id == "default"


def test_a_provider_named_windlass_before_the_name_was_reserved_is_found_by_its_id_alone() -> None:
    old = known("prov_9", "m", name="windlass")
    assert find_model("prov_9/m", "prov_9", (old,)).model == "m"
    with pytest.raises(BadInput):
        find_model("windlass/m", "prov_9", (old,))
