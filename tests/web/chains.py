"""Chains of requests, where the later ones use what the earlier ones made. All of them are drawn before the first is
sent, and a seed says how they follow each other: the server remembers, so nothing drawn may hang on an answer."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode, Response
from schemathesis.schemas import APIOperation

Case = schemathesis.Case[Any]
Operation = APIOperation[Any, Any, Any, Any]
ALIKE = settings(
    deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None
)
IN_THE_ANSWER = "$response.body#/"
PLAIN: dict[str, tuple[str, dict[str, str]]] = {  # how a chain surely comes to a thing, by the name of its id in paths
    "conversation_id": ("POST /conversations", {}),
    "turn_id": ("POST /conversations/{conversation_id}/chat", {"content": "Hello"}),
    "message_id": ("POST /conversations/{conversation_id}/messages", {"role": "user", "content": "Hello"}),
    "context_id": ("POST /conversations/{conversation_id}/context", {"descriptive_name": "Plain", "content": "Hello"}),
    "server": ("POST /servers", {"name": "Plain", "command": "true"}),
    "provider_id": ("POST /providers", {"name": "Plain", "base_url": "http://127.0.0.1:9/v1"}),
    "persona_id": ("POST /personas", {"name": "Plain"}),
}
MEANS = {  # what other fields than the path's own may name; nothing that a chain makes is a provider that answers
    **{"parent_turn_id": "turn_id", "head": "turn_id", "persona": "persona_id", "server_id": "server"},
    "provider": "",
}
BAD, STRAY = 0.25, 0.1  # how often the schema forbids a request, and its ids are made up


@dataclass(frozen=True, slots=True)
class Drawn:
    """Requests to one route, as the schema allows them and as it forbids them."""

    operation: Operation
    good: list[Case]
    bad: list[Case]

    def any(self, rng: random.Random) -> Case:
        return rng.choice(self.bad if self.bad and rng.random() < BAD else self.good)


def drawn(schema: Any, count: int) -> dict[str, Drawn]:
    """So many good requests to each route, and a third as many bad ones; chains may share them."""
    operations = [found.ok() for found in schema.get_all_operations()]
    return {
        one.label: Drawn(
            one, _cases(one, GenerationMode.POSITIVE, count), _cases(one, GenerationMode.NEGATIVE, count // 3)
        )
        for one in operations
    }


def _cases(operation: Operation, mode: GenerationMode, count: int) -> list[Case]:
    found: list[Case] = []
    if mode.is_negative and not (operation.body or any(operation.iter_parameters())):
        return found  # nothing in it could be wrong

    @settings(ALIKE, max_examples=count)
    @given(operation.as_strategy(generation_mode=mode))
    def draw(case: Case) -> None:
        found.append(case)

    try:
        draw()
    except Unsatisfiable:
        assert mode.is_negative, operation.label  # whatever is sent is right, as in a query of free texts
    return found


def chain(requests: dict[str, Drawn], steps: int, rng: random.Random) -> list[Case]:
    """Any routes, each after what it needs; those that make things come twice as often."""
    makers = [one for one in requests.values() if _links(one.operation)]
    cases: list[Case] = []
    there: set[str] = set()
    while len(cases) < steps:
        one = rng.choice([*requests.values(), *makers])
        cases += [*_needs(one, requests, there), one.any(rng)]
    return cases[:steps]


def _needs(one: Drawn, requests: dict[str, Drawn], there: set[str]) -> Iterator[Case]:
    for name in re.findall(r"{(\w+)}", one.operation.path):
        if name in PLAIN and name not in there:
            there.add(name)
            label, body = PLAIN[name]
            yield from _needs(requests[label], requests, there)
            case = requests[label].good[0].derive()
            case.body = dict(body)
            yield case


@dataclass(frozen=True, slots=True)
class Things:
    """What one chain has made so far, by the name that its id has in paths, and what was there before."""

    rng: random.Random
    made: dict[str, list[str]] = field(default_factory=lambda: {"model": ["strict-model"]})

    def used_in(self, case: Case) -> Case:
        case = case.derive()
        if self.rng.random() > STRAY:
            for values in (case.path_parameters, case.query, case.body):
                if isinstance(values, dict):
                    self._name_what_is_there(values)
        return case

    def _name_what_is_there(self, values: dict[str, Any]) -> None:
        for name in list(values):
            if ids := self.made.get(MEANS.get(name, name)):
                values[name] = self.rng.choice(ids)
            elif name in MEANS:
                del values[name]

    def learn(self, case: Case, response: Response) -> None:
        if response.headers["content-type"] == ["application/json"]:
            for name, pointer in _links(case.operation, response.status_code):
                self.made.setdefault(name, []).append(reduce(getitem, pointer.split("/"), response.json()))


def _links(operation: Operation, status: int | None = None) -> set[tuple[str, str]]:
    """The ids that an answer brings, and where it has them, as the description's links say."""
    return set(_expressions(operation.definition.raw["responses"], status))


def _expressions(responses: dict[str, Any], status: int | None) -> Iterator[tuple[str, str]]:
    for code, response in responses.items():
        for link in response.get("links", {}).values() if status is None or code == str(status) else ():
            for name, expression in link["parameters"].items():
                if expression.startswith(IN_THE_ANSWER):
                    yield name, expression.removeprefix(IN_THE_ANSWER)
