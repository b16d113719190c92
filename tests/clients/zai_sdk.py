"""The `zai-sdk` package."""

from typing import Any

from zai import ZaiClient

from tests.clients.scenario import ASKS_TOOL, KEY, MODEL, MOST, QUESTION, SEED, STOP, TOOL, TOP_P, URL, report, weather

client = ZaiClient(api_key=KEY, base_url=f"{URL}/", max_retries=0)
PARAMETERS: Any = {"temperature": 0.25, "top_p": TOP_P, "seed": SEED, "stop": [STOP], "max_tokens": MOST}


def _asked(text: str) -> Any:
    return [{"role": "user", "content": text}]


def parameters() -> object:
    done: Any = client.chat.completions.create(model=MODEL, messages=_asked(QUESTION), **PARAMETERS)
    return [done.choices[0].message.content, done.choices[0].finish_reason]


def streamed() -> object:
    chunks: Any = client.chat.completions.create(model=MODEL, messages=_asked(QUESTION), stream=True, **PARAMETERS)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def tools() -> object:
    messages, offered = _asked(ASKS_TOOL), [TOOL]
    made: Any = client.chat.completions.create(model=MODEL, messages=messages, tools=offered)
    message = made.choices[0].message
    [call] = message.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": weather("Nanaimo")}
    said = {"role": "assistant", "content": message.content, "tool_calls": [call.model_dump(exclude_none=True)]}
    done: Any = client.chat.completions.create(model=MODEL, messages=[*messages, said, result], tools=offered)
    return [call.function.name, call.function.arguments, done.choices[0].message.content]


def structured() -> object:
    form: Any = {"type": "json_object"}
    done: Any = client.chat.completions.create(model=MODEL, messages=_asked(QUESTION), response_format=form)
    return done.choices[0].message.content


if __name__ == "__main__":
    report(parameters, streamed, tools, structured)
