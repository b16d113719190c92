"""One request as it is written, without streaming: for checks that need what no turn sends."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from windlass.providers.answer import read_up_to
from windlass.providers.config import ProviderConfig, endpoint_for
from windlass.providers.failures import INVALID, BadAnswer, exception_failure, failure, http_failure, shown
from windlass.providers.http_client import HttpClient

_CAP = 1024 * 1024


async def post_chat(config: ProviderConfig, body: Mapping[str, Any], most_s: float) -> tuple[str, int]:
    """The text of the answer, reasoning if there is nothing else, and how many tokens it says it took."""
    client = HttpClient(endpoint_for(config, "/chat/completions"), most_s)
    try:
        async with asyncio.timeout(most_s):
            connection = await client.send("POST", msgspec.json.encode(body))
            try:
                status, answer = await connection.answered(), await read_up_to(connection, _CAP)
            finally:
                connection.close()
    except (OSError, ValueError, BadAnswer) as error:
        raise exception_failure(error, 0) from error
    finally:
        client.close()
    if not 200 <= status < 300:
        raise http_failure(status, connection.headers, answer, 0)
    try:
        read = msgspec.json.decode(answer, type=_Answer)
        message = read.choices[0].message
    except (msgspec.DecodeError, UnicodeDecodeError, IndexError) as error:
        raise failure(INVALID, shown(answer.decode(errors="replace"))) from error
    return message.content or message.reasoning_content or "", read.usage.total_tokens if read.usage else 0


class _Message(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Tokens(msgspec.Struct):
    total_tokens: int = 0


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    usage: _Tokens | None = None
