"""Readiness while the server goes down, on the main port and on the one for probes."""

from typing import Any

from starlette.types import Message

from tests.web.kit import Site
from windlass.web.ops import build_ops


async def asked(site: Site, path: str) -> int:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nothing is read")

    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [], "state": {}}
    await build_ops(site.app.services)(scope, receive, send)
    return int(sent[0]["status"])


async def test_a_server_that_drains_is_alive_and_not_ready(site: Site) -> None:
    assert (await site.call("GET", "/ready")).status == await asked(site, "/ready") == 200
    await site.app.runner.drain(0)

    refused = await site.call("GET", "/ready")
    assert (refused.status, refused.code, refused.headers["Retry-After"]) == (503, "shutting_down", "5")
    assert [await asked(site, path) for path in ("/health", "/ready", "/metrics")] == [200, 503, 200]
