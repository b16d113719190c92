"""The bytes of pictures, read back from the results that hold them."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.kit.ledger.pictures import png
from windlass.core.messages import MediaRef
from windlass.store import ConversationRow, Store
from windlass.toolbox.kept_media import read_media

TEXT = {"type": "text", "text": "a chart"}
UNKNOWN = {"type": "hologram", "light": 1}


@asynccontextmanager
async def kept(folder: Path, body: object) -> AsyncIterator[tuple[Store, str]]:
    store = Store(folder / "data")
    try:
        conversation = await store.conversations.create(ConversationRow(""))
        yield store, await store.keep_result(conversation.id, "turn-1", json.dumps(body).encode(), "application/json")
    finally:
        await store.close()


def image(data: str) -> dict[str, object]:
    return {"type": "image", "mimeType": "image/png", "data": data}


@pytest.mark.parametrize("padding", [0, 200_000], ids=["small", "in a thread"])
@pytest.mark.parametrize("whole", [True, False], ids=["as its whole answer", "as the result alone"])
async def test_a_part_is_found_beside_others_of_any_kind(tmp_path: Path, padding: int, whole: bool) -> None:
    data = png(1, padding)
    folded = "\n".join(b64encode(data).decode()[at : at + 76] for at in range(0, len(data) * 4 // 3 + 4, 76))
    blob = {"type": "resource", "resource": {"uri": "file:///a.png", "blob": b64encode(data).decode()}}
    body: dict[str, object] = {"content": [TEXT, UNKNOWN, image(folded), blob, image("no base64!"), image("AAEC")]}
    async with kept(tmp_path, {"jsonrpc": "2.0", "result": body} if whole else body) as (store, result_id):
        found = [await read_media(store, MediaRef(result_id, at, "image/png", 1)) for at in range(7)]
        assert found == [None, None, data, data, None, None, None]
        assert await read_media(store, MediaRef(result_id, 2, "image/gif", 1)) is None
        assert await read_media(store, MediaRef("result-gone", 2, "image/png", 1)) is None
