"""Which models a server has, as its `/models` tells, and which model servers run on this machine."""

import asyncio
import re
from collections.abc import Iterable, Mapping

import msgspec

from windlass.core.values import value_object
from windlass.providers.answer import read_up_to
from windlass.providers.config import ProviderConfig, endpoint_for, host_of
from windlass.providers.failures import INVALID, BadAnswer, WireError, exception_failure, failure, http_failure, shown
from windlass.providers.http_client import HttpClient
from windlass.providers.model_facts import ModelFacts, reported_by

LOCAL_PORTS = (11434, 1234, 8080, 8000)
LIST_S = 20.0
LOOK_S = 0.5
_LIST_CAP = 4 * 1024 * 1024
_NO_CHAT = re.compile(
    r"embed|rerank|whisper|moderation|dall-e|(^|[-_/.])(tts|bge|gte|e5|minilm|transcribe)([-_/.:]|$)", re.IGNORECASE
)
_NAMES = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}


@value_object
class ListedModel:
    """One entry of a list, with what the server says of the model."""

    id: str
    facts: ModelFacts = ModelFacts()


@value_object
class FoundServer:
    name: str
    base_url: str
    models: tuple[str, ...]


async def fetch_models(config: ProviderConfig) -> tuple[ListedModel, ...]:
    """The entries at `/models`; none where the server has no such list. An error names the host."""
    try:
        return await _read_models(config)
    except WireError as error:
        error.name(host_of(config.base_url), "")
        raise


async def _read_models(config: ProviderConfig) -> tuple[ListedModel, ...]:
    try:
        status, headers, body = await _fetch_list(config, LIST_S)
    except (OSError, ValueError, BadAnswer) as error:
        raise exception_failure(error, 0) from error
    if status in (404, 405):
        return ()
    if status != 200:
        raise http_failure(status, headers, body, 0)
    found = listed_models(body)
    if found is None:
        raise failure(INVALID, f"no list of models: {shown(body.decode(errors='replace'))}")
    return found


async def detect_local(ports: tuple[int, ...] = LOCAL_PORTS) -> tuple[FoundServer, ...]:
    """Model servers that answer on this machine, in the order of the ports."""
    async with asyncio.TaskGroup() as looking:
        looks = [looking.create_task(_look(port)) for port in ports]
    return tuple(found for look in looks if (found := look.result()))


def chat_models(names: Iterable[str]) -> tuple[str, ...]:
    """Without those whose names say that they embed, rank, transcribe or draw: a list mixes them with chat models."""
    return tuple(name for name in names if not _NO_CHAT.search(name))


def listed_models(body: bytes) -> tuple[ListedModel, ...] | None:
    """The entries of `{"data": [{"id": ...}]}`; None for any other shape, so that a stray web server is no model."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    data = value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, list):
        return None
    found = tuple(_listed(entry) for entry in data if isinstance(entry, dict) and _has_id(entry))
    return found if len(found) == len(data) else None


def _has_id(entry: Mapping[str, object]) -> bool:
    return isinstance(entry.get("id"), str) and bool(entry["id"])


def _listed(entry: Mapping[str, object]) -> ListedModel:
    return ListedModel(str(entry["id"]), reported_by(entry))


async def _look(port: int) -> FoundServer | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        status, _, body = await _fetch_list(ProviderConfig("", base_url=base_url), LOOK_S)
    except (OSError, ValueError, BadAnswer):
        return None
    found = listed_models(body) if status == 200 else None
    names = tuple(one.id for one in found or ())
    return FoundServer(_NAMES.get(port, "Local server"), base_url, names) if names else None


async def _fetch_list(config: ProviderConfig, most_s: float) -> tuple[int, Mapping[str, str], bytes]:
    async with asyncio.timeout(most_s):
        connection = await HttpClient(endpoint_for(config, "/models"), most_s).send("GET", b"")
        try:
            return await connection.answered(), connection.headers, await read_up_to(connection, _LIST_CAP)
        finally:
            connection.close()
