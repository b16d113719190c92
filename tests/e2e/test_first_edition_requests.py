"""The first edition's requests, sent to the present code: the same statuses, error codes and fields."""

import json
from pathlib import Path
from typing import Any

from tests.fixtures.edition_1.scene import REQUESTS
from tests.fixtures.edition_1.sending import Answer, Request, receiver

# What is answered otherwise on purpose, by operation and status then, each with its reason.
OTHERWISE: dict[tuple[str, int], str] = {}


async def test_the_first_editions_requests_get_the_same_statuses_codes_and_fields(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = json.loads(REQUESTS.read_text())
    assert len(rows) > 200
    differences: list[str] = []
    async with receiver(tmp_path) as send:
        for row in rows:
            request, then = Request(**row["request"]), Answer(**row["answer"])
            differences += compared(request, then, await send(request))
    assert differences == []


def compared(request: Request, then: Answer, now: Answer) -> list[str]:
    if (request.operation, then.status) in OTHERWISE:
        return []
    was, is_now = (then.status, then.code, then.mime), (now.status, now.code, now.mime)
    found = [f"was {was}, is {is_now}"] if was != is_now else []
    gone = sorted(set(then.fields) - set(now.fields))
    found += [f"{gone} is gone"] if gone else []
    return [f"{request.method} {request.path} {request.body}: {one}" for one in found]
