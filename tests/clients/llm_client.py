"""`llm`, through its Python API."""

from typing import Any

import llm
from llm.default_plugins.openai_models import Chat

from tests.clients.scenario import (
    ASKS_TOOL,
    KEY,
    MODEL,
    MOST,
    QUESTION,
    SCHEMA,
    SEED,
    STOP,
    TEMPERATURE,
    TOP_P,
    URL,
    report,
)
from tests.clients.scenario import weather as weather_in

OPTIONS: Any = {"temperature": TEMPERATURE, "top_p": TOP_P, "seed": SEED, "stop": STOP, "max_tokens": MOST}
OPTIONS |= {"frequency_penalty": 0.1, "presence_penalty": 0.2}


def _model() -> Any:
    model = Chat(MODEL, model_name=MODEL, api_base=URL, supports_schema=True, supports_tools=True)
    model.key = KEY
    return model


def parameters() -> object:
    return _model().prompt(QUESTION, stream=False, **OPTIONS).text()


def streamed() -> object:
    return "".join(_model().prompt(QUESTION, stream=True, **OPTIONS))


def tools() -> object:
    def get_weather(city: str) -> str:
        """Weather"""
        return weather_in(city)

    return _model().chain(ASKS_TOOL, tools=[llm.Tool.function(get_weather)]).text()


def structured() -> object:
    return _model().prompt(QUESTION, schema=SCHEMA, stream=False).text()


if __name__ == "__main__":
    report(parameters, streamed, tools, structured)
