"""Changes that come at the same time, each to another field: all of them are there afterwards."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from tests.web.kit import Site, open_site
from windlass.api import schemas

CHANGES: dict[str, list[dict[str, Any]]] = {
    "personas": [{"name": "B"}, {"system_prompt": "be b"}, {"temperature": 0.5}, {"model": "b"}],
    "providers": [{"name": "B"}, {"base_url": "http://127.0.0.1:9/v1"}, {"temperature": 0.5}, {"model": "b"}],
    "context": [{"descriptive_name": "B"}, {"content": "b"}, {"related_keywords": ["b"]}, {"related_files": ["/b"]}],
    "servers": [{"name": "B"}, {"timeout_s": 7}, {"retries": 2}, {"parallel": 3}],
    "conversations": [{"title": "B"}, {"description": "b"}, {"temperature": 0.5}, {"system_prompt": "be b"}],
}
NEW: dict[str, dict[str, Any]] = {
    "personas": {"name": "A"},
    "providers": {"name": "A", "base_url": "http://127.0.0.1:8/v1"},
    "context": {"descriptive_name": "A", "content": "a"},
    "servers": {"name": "A", "url": "http://127.0.0.1:9/mcp"},
    "conversations": {"title": "A"},
}
Change = Callable[[dict[str, Any]], Awaitable[Any]]


@pytest_asyncio.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """One that waits for the disk with every word it gives: meanwhile the next change is looked at."""
    async with open_site(tmp_path / "home", durability="full") as opened:
        yield opened


async def made(site: Site, kind: str) -> tuple[str, Change]:
    """The path of a new one, and the verb that changes it: its requests would not all arrive in one moment."""
    path = f"/conversations/{await site.conversation()}/context" if kind == "context" else f"/{kind}"
    body = await site.post(path, NEW[kind])
    id = body.get("context_id") or body[kind.removesuffix("s")]["id"]
    verb = getattr(site.app.services, kind).change
    takes = {
        "personas": schemas.PersonaChange,
        "providers": schemas.ProviderChange,
        "context": schemas.ContextItemChange,
        "servers": schemas.ServerChange,
        "conversations": schemas.ConversationChange,
    }[kind]
    place = (path.split("/")[2], id) if kind == "context" else (id,)
    return f"{path}/{id}", lambda change: verb(*place, msgspec.convert(change, takes))


@pytest.mark.parametrize("kind", CHANGES)
async def test_changes_at_the_same_time_all_last(site: Site, kind: str) -> None:
    path, change = await made(site, kind)
    await asyncio.gather(*(change(one) for one in CHANGES[kind]))
    now = (await site.get(path))[kind.removesuffix("s")]
    wanted = {name: value for one in CHANGES[kind] for name, value in one.items()}
    assert {name: now[name] for name in wanted} == wanted


@pytest.mark.parametrize("kind", CHANGES)
async def test_what_was_deleted_is_not_brought_back_by_a_change(site: Site, kind: str) -> None:
    path, change = await made(site, kind)
    deleted = asyncio.create_task(getattr(site.app.services, kind).delete(*_place(path)))
    await asyncio.gather(deleted, change(CHANGES[kind][0]), return_exceptions=True)
    assert (await site.call("GET", path)).status == 404


def _place(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "context", *CHANGES}]
