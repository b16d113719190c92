"""The `openai` package of Python."""

from typing import Any

from openai import BadRequestError, NotFoundError, OpenAI
from pydantic import BaseModel

from tests.clients.scenario import (
    ASKS_TOOL,
    KEY,
    MODEL,
    MOST,
    QUESTION,
    SEED,
    STOP,
    TEMPERATURE,
    TOOL,
    TOP_P,
    URL,
    report,
    weather,
)

client = OpenAI(base_url=URL, api_key=KEY, max_retries=0)
PARAMETERS: Any = {
    **{"temperature": TEMPERATURE, "top_p": TOP_P, "seed": SEED, "stop": [STOP], "max_tokens": MOST},
    **{"frequency_penalty": 0.1, "presence_penalty": 0.2, "logit_bias": {"5": 1}, "logprobs": True, "top_logprobs": 1},
    **{"user": "u", "metadata": {"a": "b"}, "store": False, "reasoning_effort": "low", "service_tier": "default"},
    **{"safety_identifier": "s", "prompt_cache_key": "k", "verbosity": "low"},
}


class Weather(BaseModel):
    city: str
    degrees: float


TOOLS: Any = [TOOL]


def _asked(text: str) -> Any:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


def parameters() -> object:
    done = client.chat.completions.create(model=MODEL, messages=_asked(QUESTION), **PARAMETERS)
    choice = done.choices[0]
    tokens = [one.token for one in (choice.logprobs.content if choice.logprobs else None) or []]
    return [choice.message.content, choice.finish_reason, tokens, done.service_tier, done.system_fingerprint]


def streamed() -> object:
    options: Any = {"include_usage": True}
    stream = client.chat.completions.create(
        model=MODEL, messages=_asked(QUESTION), stream=True, stream_options=options, **PARAMETERS
    )
    chunks = list(stream)
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    tokens = [one.token for choice in choices if choice.logprobs for one in choice.logprobs.content or []]
    text = "".join(choice.delta.content or "" for choice in choices)
    return [text, choices[-1].finish_reason, tokens, chunks[-1].usage is not None]


def tools() -> object:
    messages, offered = _asked(ASKS_TOOL), TOOLS
    made: Any = client.chat.completions.create(model=MODEL, messages=messages, tools=offered)
    [call] = made.choices[0].message.tool_calls
    messages += [made.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": weather("Nanaimo")}]
    done: Any = client.chat.completions.create(model=MODEL, messages=messages, tools=offered)
    return [call.function.name, call.function.arguments, done.choices[0].message.content]


def structured() -> object:
    done = client.chat.completions.parse(model=MODEL, messages=_asked(QUESTION), response_format=Weather)
    parsed = done.choices[0].message.parsed
    return parsed.model_dump() if parsed else None


def structured_stream() -> object:
    with client.chat.completions.stream(model=MODEL, messages=_asked(QUESTION), response_format=Weather) as stream:
        parsed = stream.get_final_completion().choices[0].message.parsed
    return parsed.model_dump() if parsed else None


def embeddings() -> object:
    made = client.embeddings.create(model=MODEL, input=["a", "b"], dimensions=3)
    return [one.embedding for one in made.data]


def models() -> object:
    return client.models.retrieve(MODEL).id


def refusals() -> object:
    found = []
    for kind, asked in ((BadRequestError, {"seed": "x"}), (NotFoundError, {"model": "nothing"})):
        try:
            client.chat.completions.create(**{"model": MODEL, "messages": _asked("Hello"), **asked})
        except kind as error:
            found.append([error.status_code, error.type])
    return found


if __name__ == "__main__":
    report(parameters, streamed, tools, structured, structured_stream, embeddings, models, refusals)
