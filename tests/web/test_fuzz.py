"""Every route of the description, with whatever the schema allows and what it forbids: no 5xx, no answer that the
description does not promise."""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from schemathesis import CheckContext, Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.web.kit import TOKEN, Site, open_site
from windlass.config import WebSearch
from windlass.testing import StrictLLM, say
from windlass.web.openapi import openapi
from windlass.web.routes import ROUTES

Case = schemathesis.Case[Any]
REQUESTS = {"small": 1_000, "full": 20_000}[os.environ.get("SCALE", "small")]
# A chain of requests meets what is really there: a stream of a conversation never ends by itself, and the others would
# reach for addresses that the fuzzer made up.
NOT_IN_CHAINS = {
    "/conversations/{conversation_id}/events",
    "/providers/{provider_id}/test",
    "/providers/{provider_id}/models",
    "/servers/{server}/start",
}


def no_fault_of_ours(context: CheckContext, response: Response, case: Case) -> None:
    """A failing model may be a 502 or 504, where that is described; anything else from 500 up is a defect."""
    assert response.status_code < 500 or response.status_code in (502, 504), response.text


CHECKS = [no_fault_of_ours, status_code_conformance, content_type_conformance, response_schema_conformance]
SCHEMA = schemathesis.openapi.from_dict(openapi(ROUTES, "0.0.test"))
LINKED = schemathesis.openapi.from_dict(
    openapi([route for route in ROUTES if route.path not in NOT_IN_CHAINS], "0.0.test")
)


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server in a thread of its own, since the fuzzer is not asynchronous."""
    started, stop = threading.Event(), threading.Event()
    found: list[str] = []
    thread = threading.Thread(target=asyncio.run, args=[_serve(tmp_path_factory.mktemp("fuzz"), found, started, stop)])
    thread.start()
    assert started.wait(90)
    yield found[0]
    stop.set()
    thread.join(90)
    assert not thread.is_alive()


async def _serve(home: Path, found: list[str], started: threading.Event, stop: threading.Event) -> None:
    quiet = WebSearch(backend="off")  # `/search/test` would ask the web
    async with (
        StrictLLM(lambda request: say("Fine.")) as llm,
        open_site(home, llm, durability="normal", web_search=quiet) as site,
    ):
        await _furnish(site)
        found.append(site.url)
        started.set()
        await asyncio.to_thread(stop.wait)


async def _furnish(site: Site) -> None:
    conversation = await site.conversation(title="Seed")
    await site.post(f"/conversations/{conversation}/chat", {"content": "Hello"})


@pytest.mark.slow
@SCHEMA.parametrize()
@settings(
    max_examples=max(1, REQUESTS // len(ROUTES)),
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_request_breaks_the_promise(case: Case, base_url: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    case.call_and_validate(base_url=base_url, headers=headers, checks=CHECKS, timeout=90)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_chain_of_requests_breaks_the_promise(base_url: str) -> None:
    """Along the links: what one request made, the next ones use."""

    class Chain(LINKED.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Case) -> dict[str, object]:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            return {"base_url": base_url, "headers": headers, "timeout": 90}

        def validate_response(self, response: Response, case: Case, **options: object) -> None:
            case.validate_response(response, checks=CHECKS)

    run_state_machine_as_test(
        Chain,
        settings=settings(
            max_examples=REQUESTS // 50,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
