"""Embeddings, passed on: the request goes to the provider under its key, and the answer comes back as it is."""

import asyncio

import msgspec

from windlass.providers.answer import read_up_to
from windlass.providers.config import ProviderConfig, endpoint_for, host_of
from windlass.providers.failures import INVALID, BadAnswer, WireError, exception_failure, failure, http_failure, shown
from windlass.providers.http_client import HttpClient

MOST_BYTES = 64 * 1024 * 1024


async def fetch_embeddings(config: ProviderConfig, request: dict[str, object]) -> dict[str, object]:
    """One try: clients of this endpoint try again by themselves."""
    try:
        return await _fetched(config, request)
    except WireError as error:
        error.name(host_of(config.base_url), str(request["model"]))
        if config.api_key:  # a server may quote the key that it refuses
            error.message = error.message.replace(config.api_key, "[key]")
        raise


async def _fetched(config: ProviderConfig, request: dict[str, object]) -> dict[str, object]:
    try:
        async with asyncio.timeout(config.patience.first_byte_s):
            status, headers, body = await _send(config, msgspec.json.encode(request))
    except (OSError, ValueError, BadAnswer) as error:
        raise exception_failure(error, 0) from error
    if not 200 <= status < 300:
        raise http_failure(status, headers, body, 0)
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("data"), list):
        raise failure(INVALID, f"no embeddings: {shown(body[:1000].decode(errors='replace'))}")
    return answer


async def _send(config: ProviderConfig, body: bytes) -> tuple[int, dict[str, str], bytes]:
    client = HttpClient(endpoint_for(config, "/embeddings"), config.patience.connect_s)
    connection = await client.send("POST", body)
    try:
        return await connection.answered(), connection.headers, await read_up_to(connection, MOST_BYTES)
    finally:
        connection.close()
