"""`instructor`."""

from typing import Any

import instructor
from openai import OpenAI
from pydantic import BaseModel

from tests.clients.scenario import KEY, MODEL, QUESTION, SEED, TEMPERATURE, URL, report


class Weather(BaseModel):
    city: str
    degrees: float


ASKED: Any = {"model": MODEL, "messages": [{"role": "user", "content": QUESTION}], "response_model": Weather}


def _client(mode: str) -> Any:
    return instructor.from_openai(OpenAI(base_url=URL, api_key=KEY, max_retries=0), mode=instructor.Mode[mode])


def _asked(mode: str) -> object:
    return (
        _client(mode).chat.completions.create(**ASKED, temperature=TEMPERATURE, seed=SEED, max_retries=0).model_dump()
    )


def by_tools() -> object:
    return _asked("TOOLS")


def by_schema() -> object:
    return _asked("JSON_SCHEMA")


def streamed() -> object:
    return [part.model_dump() for part in _client("TOOLS").chat.completions.create_partial(**ASKED)][-1]


if __name__ == "__main__":
    report(by_tools, by_schema, streamed)
