"""Whether a provider may be what new chats use: it has a model, lets this key in and answers."""

import asyncio
from collections.abc import Awaitable, Callable

from windlass.core.errors import BadInput, Conflict, ModelError, WindlassError
from windlass.providers import DEMO, ProviderConfig, host_of

ANSWERS_WITHIN_S = 5.0
# A list that is busy, over its quota or in an odd format comes from a server that lives.
DEAD = frozenset(
    {"account", "auth", "bad_address", "connect_timeout", "first_byte_timeout", "forbidden", "proxy"}
    | {"redirected", "timeout", "tls", "unreachable"}
)

ReadList = Callable[[ProviderConfig], Awaitable[object]]


async def problem_with(config: ProviderConfig, read_list: ReadList) -> WindlassError | None:
    """None where nothing speaks against it. Reading the list of models costs nothing and needs the key."""
    if not config.base_url or config.wire == DEMO:  # a model of the program's own, or the demo
        return None
    if not config.model:
        return _without_model(config)
    try:
        async with asyncio.timeout(ANSWERS_WITHIN_S):
            await read_list(config)
    except TimeoutError:
        return _dead(config, f"{host_of(config.base_url)} did not answer within {ANSWERS_WITHIN_S:g} s.")
    except ModelError as error:
        if error.code in DEAD:
            return _dead(config, error.message)
    return None


def _without_model(config: ProviderConfig) -> BadInput:
    return BadInput(
        f"Choose a model first: {config.name or config.id} has none, so new chats can't use it.",
        hint="Set `model` to one that `windlass models list` or the Models page shows.",
        code="model_required",
        detail={"path": "model"},
    )


def _dead(config: ProviderConfig, why: str) -> Conflict:
    return Conflict(
        f"{why} New chats can't use {config.name or config.id}.",
        hint="Check its key and address, then make it the default.",
        code="provider_unusable",
        detail={"path": "default"},
    )
