"""What becomes of each parameter of `/v1/chat/completions`, as data: passed on to the model's provider, honoured here,
or refused with the reason. `docs/openai-clients.md` shows this table. Names that are not in it are passed on: a
provider may know them, and refuses them by name where it does not."""

from typing import Any, Literal

import msgspec

from windlass.api import schemas
from windlass.core.errors import BadInput
from windlass.core.values import value_object

LONGEST_NAME = 100


@value_object
class Parameter:
    name: str
    treatment: Literal["passed", "honoured", "refused"]
    note: str = ""


HONOURED = (
    Parameter("model", "honoured", "A model, `PROVIDER/model`, or `windlass/PERSONA`. Unknown: 404 `model_not_found`."),
    Parameter("messages", "honoured", "Text only for now; see Messages below."),
    Parameter("stream", "honoured"),
    Parameter("stream_options", "honoured", "`include_usage`, `include_obfuscation` (nothing is ever padded)."),
    Parameter("n", "honoured", "Only 1: each answer is a turn with tools of its own."),
    Parameter("temperature", "honoured", "Sent within the range that the model's profile allows."),
    Parameter("max_tokens", "honoured", "The limit of each reply, under the name that the provider wants."),
    Parameter("max_completion_tokens", "honoured", "The same; not both with different values."),
    Parameter("tools", "honoured", "Functions, `strict` included. They come back as `tool_calls`."),
    Parameter(
        "tool_choice", "honoured", "`auto`, `none`, `required`, one function, or `allowed_tools`; see Tools below."
    ),
    Parameter("response_format", "honoured", "`text`, `json_object`, `json_schema`: checked; see Structured output."),
    Parameter("modalities", "honoured", 'Only `["text"]`.'),
    Parameter("windlass", "honoured", "Our own: `{tools: ...}` chooses the server's tools. Never passed on."),
)
PASSED = (
    *(Parameter(name, "passed") for name in ("top_p", "frequency_penalty", "presence_penalty", "logit_bias")),
    Parameter("logprobs", "passed", "They come back with the answer; in a stream with its last piece of text."),
    Parameter("top_logprobs", "passed"),
    *(Parameter(name, "passed") for name in ("seed", "stop")),
    Parameter("parallel_tool_calls", "passed", "In requests that offer tools; servers refuse it in others."),
    *(Parameter(name, "passed") for name in ("reasoning_effort", "verbosity", "service_tier", "prediction")),
    Parameter("web_search_options", "passed", "The provider's own search; `windlass/researcher` uses Windlass's."),
    Parameter("store", "passed", "About what the provider keeps; Windlass keeps the turn for 24 hours."),
    *(Parameter(name, "passed") for name in ("metadata", "user", "safety_identifier")),
    *(Parameter(name, "passed") for name in ("prompt_cache_key", "prompt_cache_retention")),
)
REFUSED = (
    Parameter("functions", "refused", "Deprecated by OpenAI: declare them in `tools`."),
    Parameter("function_call", "refused", "Deprecated by OpenAI: use `tool_choice`."),
    Parameter("audio", "refused", "Answers are text."),
)
PARAMETERS = (*HONOURED, *PASSED, *REFUSED)
_REFUSALS = {one.name: one.note for one in REFUSED}
_HONOURED = frozenset(one.name for one in HONOURED)


@value_object
class CompletionWanted:
    """A request that was read: the fields we honour, and the parameters to pass on, as the caller wrote them."""

    request: schemas.CompletionRequest
    passed: dict[str, Any]


def read_request(body: dict[str, Any]) -> CompletionWanted:
    """Raises `BadInput` for what is refused, and msgspec's error where a field has the wrong type. A parameter that is
    null counts as left out, as clients write it so."""
    given = {name: value for name, value in body.items() if value is not None}
    for name in given:
        if name in _REFUSALS:
            raise refusal(name, _REFUSALS[name])
        if (meant := name.casefold()) != name and (meant in _HONOURED or meant in _REFUSALS):
            raise refusal(name, f"Did you mean `{meant}`? Some servers read both as one name.")
        if not name.isprintable() or len(name) > LONGEST_NAME:
            raise refusal(name[:LONGEST_NAME], "This is not the name of a parameter.")
    request = msgspec.convert(given, schemas.CompletionRequest)
    _check(request)
    passed = {name: value for name, value in given.items() if name not in _HONOURED}
    if request.temperature is not None:
        passed["temperature"] = given["temperature"]  # for a model whose profile takes none: its server then decides
    return CompletionWanted(request, passed)


def refusal(path: str, reason: str) -> BadInput:
    return BadInput(f"{path}: {reason}", detail={"path": path}, code="unsupported_parameter")


def _check(request: schemas.CompletionRequest) -> None:
    if request.modalities not in (None, ["text"]):
        raise refusal("modalities", "Answers are text.")
    limits = {request.max_tokens, request.max_completion_tokens} - {None}
    if len(limits) > 1:
        raise refusal("max_tokens", "It differs from max_completion_tokens. Send one of the two.")
