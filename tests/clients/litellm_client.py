"""`litellm`, as a library."""

from typing import Any

import litellm

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
    TOOL,
    TOP_P,
    URL,
    report,
    weather,
)

SETTINGS: Any = {"model": f"openai/{MODEL}", "api_base": URL, "api_key": KEY, "max_retries": 0}
PARAMETERS: Any = {
    **{"temperature": TEMPERATURE, "top_p": TOP_P, "seed": SEED, "stop": [STOP], "max_tokens": MOST},
    **{"presence_penalty": 0.2, "frequency_penalty": 0.1, "logit_bias": {"5": 1}, "user": "u"},
}


def _asked(text: str) -> Any:
    return [{"role": "user", "content": text}]


def parameters() -> object:
    done: Any = litellm.completion(messages=_asked(QUESTION), **SETTINGS, **PARAMETERS)
    return [done.choices[0].message.content, done.choices[0].finish_reason]


def streamed() -> object:
    chunks: Any = litellm.completion(messages=_asked(QUESTION), stream=True, **SETTINGS, **PARAMETERS)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def tools() -> object:
    messages = _asked(ASKS_TOOL)
    made: Any = litellm.completion(messages=messages, tools=[TOOL], **SETTINGS)
    [call] = made.choices[0].message.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": weather("Nanaimo")}
    said = {"role": "assistant", "content": None, "tool_calls": [call.model_dump()]}
    done: Any = litellm.completion(messages=[*messages, said, result], tools=[TOOL], **SETTINGS)
    return [call.function.name, call.function.arguments, done.choices[0].message.content]


def structured() -> object:
    form = {"type": "json_schema", "json_schema": {"name": "weather", "schema": SCHEMA, "strict": True}}
    done: Any = litellm.completion(messages=_asked(QUESTION), response_format=form, **SETTINGS)
    return done.choices[0].message.content


def embeddings() -> object:
    made: Any = litellm.embedding(input=["a", "b"], **SETTINGS)
    return [one["embedding"] for one in made.data]


if __name__ == "__main__":
    report(parameters, streamed, tools, structured, embeddings)
