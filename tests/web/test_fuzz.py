"""Every route of the description, with whatever the schema allows and what it forbids: no 5xx, no answer that the
description does not promise."""

import asyncio
import os
import random
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import CheckContext, Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.proof.figures import note
from tests.web.chains import Case, Things, chain, drawn
from tests.web.kit import TOKEN, Site, open_site
from windlass.api.routes import ROUTES
from windlass.config import WebSearchSettings
from windlass.testing import StrictLLM, say
from windlass.web.openapi import openapi

REQUESTS, CASES = {"small": (400, 3), "full": (20_000, 60)}[os.environ.get("SCALE", "small")]
STEPS = 20
SEED = 5
# A chain of requests meets what is really there: a stream of a conversation never ends by itself, and the others would
# reach for addresses that the fuzzer made up.
NOT_IN_CHAINS = {
    "/events",
    "/conversations/{conversation_id}/events",
    "/providers/{provider_id}/check",
    "/providers/{provider_id}/test",
    "/providers/{provider_id}/models",
    "/servers/{server}/start",
}


def no_fault_of_ours(context: CheckContext, response: Response, case: Case) -> None:
    """A failing model may be a 502 or 504, where that is described; anything else from 500 up is a defect."""
    assert response.status_code < 500 or response.status_code in (502, 504), response.text


WORDS = {route.path.rpartition("/")[2] for route in ROUTES}  # made-up ids may be such words: another route answers then
CHECKS = [no_fault_of_ours, status_code_conformance, content_type_conformance, response_schema_conformance]
OWN = [route for route in ROUTES if route.kind != "mcp"]  # what MCP answers is held by the protocol's own suite
SCHEMA = schemathesis.openapi.from_dict(
    openapi([route for route in OWN if route.path != "/events"], "0.0.test")  # a stream that never ends
)
LINKED = schemathesis.openapi.from_dict(
    openapi([route for route in OWN if route.path not in NOT_IN_CHAINS], "0.0.test")
)


@dataclass(frozen=True, slots=True)
class Target:
    url: str
    answers: Counter[int] = field(default_factory=Counter)

    def check(self, case: Case) -> Response:
        if isinstance(case.body, dict) and case.body.get("default") is True:
            case.body["default"] = False  # a provider at a made-up address would speak for the rest of the test
        for name, value in case.path_parameters.items():
            case.path_parameters[name] = f"{value}-" if value in WORDS else value
        headers = {"Authorization": f"Bearer {TOKEN}"}
        response = case.call_and_validate(base_url=self.url, headers=headers, checks=CHECKS, timeout=90)
        self.answers[response.status_code] += 1
        return response

    @property
    def refused(self) -> int:
        return sum(count for status, count in self.answers.items() if 400 <= status < 500)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """The server in a thread of its own, since the fuzzer is not asynchronous."""
    started, stop = threading.Event(), threading.Event()
    found: list[str] = []
    thread = threading.Thread(target=asyncio.run, args=[_serve(tmp_path_factory.mktemp("fuzz"), found, started, stop)])
    thread.start()
    assert started.wait(90)
    target = Target(found[0])
    yield target
    note("bad inputs", count=target.refused, sent=target.answers.total())
    stop.set()
    thread.join(90)
    assert not thread.is_alive()


async def _serve(home: Path, found: list[str], started: threading.Event, stop: threading.Event) -> None:
    quiet = WebSearchSettings(backend="off")  # `/search/test` would ask the web
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
def test_no_request_breaks_the_promise(case: Case, target: Target) -> None:
    target.check(case)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_chain_of_requests_breaks_the_promise(target: Target) -> None:
    """Along the links: what one request made, the next ones use."""
    before, requests = target.answers.copy(), drawn(LINKED, CASES)
    for number in range(REQUESTS // STEPS):
        order, ids = random.Random(f"{SEED} {number} order"), random.Random(f"{SEED} {number} ids")
        sent: list[Case] = []
        try:
            _send(chain(requests, STEPS, order), Things(ids), target, sent)
        except BaseException as problem:
            problem.add_note(f"seed {SEED}, chain {number}:\n" + "\n".join(f"{one.path} {one!r}" for one in sent))
            raise
    answers = target.answers - before
    assert answers.total() == REQUESTS
    assert answers[200] + answers[201] > REQUESTS / 2, "chains that come to nothing show nothing"


def _send(cases: Iterable[Case], things: Things, target: Target, sent: list[Case]) -> None:
    for case in map(things.used_in, cases):
        sent.append(case)
        things.learn(case, target.check(case))
