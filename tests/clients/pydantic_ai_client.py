"""`pydantic-ai`."""

import asyncio
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.clients.scenario import ASKS_TOOL, KEY, MODEL, MOST, QUESTION, SEED, STOP, TEMPERATURE, TOP_P, URL, report
from tests.clients.scenario import weather as weather_in

model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=URL, api_key=KEY))
SETTINGS: Any = {
    **{"temperature": TEMPERATURE, "top_p": TOP_P, "seed": SEED, "stop_sequences": [STOP], "max_tokens": MOST},
    **{"presence_penalty": 0.2, "frequency_penalty": 0.1, "logit_bias": {"5": 1}},
}


class Weather(BaseModel):
    city: str
    degrees: float


def get_weather(city: str) -> str:
    """Weather"""
    return weather_in(city)


def parameters() -> object:
    return Agent(model).run_sync(QUESTION, model_settings=SETTINGS).output


def streamed() -> object:
    async def read() -> str:
        async with Agent(model).run_stream(QUESTION, model_settings=SETTINGS) as result:
            return str(await result.get_output())

    return asyncio.run(read())


def tools() -> object:
    return Agent(model, tools=[get_weather]).run_sync(ASKS_TOOL).output


def structured() -> object:
    kinds: Any = (Weather, NativeOutput(Weather))
    return [Agent(model, output_type=kind).run_sync(QUESTION).output.model_dump() for kind in kinds]


if __name__ == "__main__":
    report(parameters, streamed, tools, structured)
