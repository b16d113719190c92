"""`langchain-openai`."""

from typing import Any

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel, SecretStr

from tests.clients.scenario import ASKS_TOOL, KEY, MODEL, MOST, QUESTION, SEED, STOP, TEMPERATURE, TOP_P, URL, report
from tests.clients.scenario import weather as weather_in

settings: Any = {"base_url": URL, "api_key": SecretStr(KEY), "model": MODEL, "max_retries": 0}
model = ChatOpenAI(
    **settings, temperature=TEMPERATURE, top_p=TOP_P, seed=SEED, stop_sequences=[STOP], max_tokens=MOST, logprobs=True
)
bare = ChatOpenAI(**settings)


class Weather(BaseModel):
    city: str
    degrees: float


@tool  # type: ignore[untyped-decorator]
def get_weather(city: str) -> str:
    """Weather"""
    return weather_in(city)


def parameters() -> object:
    done = model.invoke(QUESTION)
    return [done.content, done.response_metadata["finish_reason"]]


def streamed() -> object:
    return "".join(str(chunk.content) for chunk in model.stream(QUESTION))


def tools() -> object:
    with_tools = bare.bind_tools([get_weather])
    made = with_tools.invoke(ASKS_TOOL)
    result = get_weather.invoke(made.tool_calls[0])
    done = with_tools.invoke([("user", ASKS_TOOL), made, result])
    return [[call["name"], call["args"]] for call in made.tool_calls] + [done.content]


def structured() -> object:
    return [
        bare.with_structured_output(Weather, method=method).invoke(QUESTION).model_dump()
        for method in ("json_schema", "function_calling")
    ]


def embeddings() -> object:
    return OpenAIEmbeddings(
        base_url=URL, api_key=SecretStr(KEY), model=MODEL, check_embedding_ctx_length=False
    ).embed_documents(["a", "b"])


if __name__ == "__main__":
    report(parameters, streamed, tools, structured, embeddings)
