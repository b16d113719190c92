"""What differs between models and servers on the chat-completions wire, as data. To add a model, add an entry."""

from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

from windlass.core.messages import Choice
from windlass.core.values import value_object

Format = Literal["json_object", "json_schema"]


@value_object
class Range:
    """The temperatures a model takes. An open one gets `nudge` at its ends, as the maker's own client does."""

    low: float = 0.0
    high: float = 2.0
    open: bool = False
    nudge: float = 0.01

    def fit(self, value: float) -> float:
        inset = self.nudge if self.open else 0.0
        return min(max(value, self.low + inset), self.high - inset)


@value_object
class Profile:
    """Matched by the server's address and the model's name, both as shell patterns; the first that fits is used.
    Entries of one family share its name."""

    name: str
    address: str = "*"
    model: str = "*"
    temperature: Range | None = Range()  # None: the model takes none
    greedy: str = ""  # a flag to send as false when the temperature asked for is 0
    reasoning_field: str = ""  # where the reasoning goes when it is sent back within a turn; "" sends none
    choices: frozenset[Choice] = frozenset({"auto", "none", "required"})
    most_field: str = "max_tokens"  # where the limit of a reply's length goes
    usage_option: bool = True  # usage in a stream has to be asked for
    body: str = ""  # fields of every request, as JSON without its braces
    tools_body: str = ""  # the same, for requests with tools
    finish: tuple[tuple[str, str], ...] = ()  # the server's own finish reasons, and ours for them
    searches: bool = False  # has a web search of its own, run by the provider
    formats: frozenset[Format] = frozenset({"json_object", "json_schema"})  # values of `response_format` it takes
    format_beside_tools: bool = False  # it takes one in a request that offers tools
    most_tools: int = 128  # that one request may list: OpenAI's limit, which others have taken over


_AUTO_OR_NONE: frozenset[Choice] = frozenset({"auto", "none"})
_NO_SCHEMA: frozenset[Format] = frozenset({"json_object"})

DEFAULT = Profile("default")

GLM = Profile(
    "glm",
    address="*/paas/v4*",
    temperature=Range(0, 1, open=True),
    greedy="do_sample",
    reasoning_field="reasoning_content",
    choices=_AUTO_OR_NONE,
    usage_option=False,
    finish=(("model_context_window_exceeded", "context_overflow"),),
    searches=True,
    formats=_NO_SCHEMA,
)
_GLM_THINKING = replace(GLM, body='"thinking":{"type":"enabled"}')
_GLM_STREAMS_CALLS = replace(_GLM_THINKING, tools_body='"tool_stream":true')
_OPENAI = Profile("openai", "*//api.openai.com*", most_field="max_completion_tokens", format_beside_tools=True)

PROFILES: tuple[Profile, ...] = (
    replace(_GLM_STREAMS_CALLS, model="glm-4.6*"),
    replace(_GLM_STREAMS_CALLS, model="glm-4.7*"),
    replace(_GLM_STREAMS_CALLS, model="glm-5*"),
    replace(_GLM_THINKING, model="glm-4.5*"),
    GLM,
    replace(_OPENAI, model="o[0-9]*", temperature=None),
    replace(_OPENAI, model="gpt-5*", temperature=None),
    _OPENAI,
    Profile(
        "deepseek",
        "*deepseek.com*",
        "*reasoner*",
        temperature=None,
        reasoning_field="reasoning_content",
        choices=_AUTO_OR_NONE,
        finish=(("insufficient_system_resource", "interrupted"),),
        formats=_NO_SCHEMA,
    ),
    Profile(
        "deepseek",
        "*deepseek.com*",
        reasoning_field="reasoning_content",
        finish=(("insufficient_system_resource", "interrupted"),),
        formats=_NO_SCHEMA,
    ),
    Profile("qwen", "*dashscope*", choices=_AUTO_OR_NONE, temperature=Range(0, 1.99), formats=_NO_SCHEMA),
    Profile("ollama", "*:11434*", choices=frozenset({"auto"}), reasoning_field="reasoning"),
    Profile("lmstudio", "*:1234*", formats=frozenset({"json_schema"})),
    Profile("llama.cpp", "*:8080*", reasoning_field="reasoning_content"),
    Profile("vllm", "*:8000*", reasoning_field="reasoning_content"),
    Profile("glm-elsewhere", model="*glm-*", reasoning_field="reasoning_content"),
    Profile("deepseek-elsewhere", model="*deepseek*", reasoning_field="reasoning_content"),
    Profile("qwen-elsewhere", model="*qwen*"),
    DEFAULT,
)


@lru_cache(maxsize=256)  # asked for by every turn
def profile_for(base_url: str, model: str, name: str = "") -> Profile:
    """The profile of that name, else the first that fits the address and the model."""
    if name:
        named = [profile for profile in PROFILES if profile.name == name]
        fitting = [profile for profile in named if fnmatchcase(model.lower(), profile.model)]
        return (fitting or named or [DEFAULT])[0]
    address, model = base_url.lower(), model.lower()
    return next(
        profile for profile in PROFILES if fnmatchcase(address, profile.address) and fnmatchcase(model, profile.model)
    )
