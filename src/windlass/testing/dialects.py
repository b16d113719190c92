"""How providers on the chat-completions wire differ: paths, error bodies, what they refuse."""

from typing import Literal

from windlass.core.values import value_object
from windlass.testing.replies import Failure
from windlass.testing.strict_history import OPENAI as OPENAI_RULES
from windlass.testing.strict_history import ZAI as ZAI_RULES
from windlass.testing.strict_history import Rules

Ground = Literal["no key", "wrong key", "parameter", "history", "model", "script"]


@value_object
class Dialect:
    name: Literal["openai", "zai"]
    base_path: str
    rules: Rules
    refusals: dict[Ground, tuple[int, str | None]]
    usage_at_end: bool = False
    searches: bool = False

    def refusal(self, ground: Ground, message: str) -> Failure:
        status, code = self.refusals[ground]
        return Failure(status, code, message, {})

    def error_body(self, failure: Failure) -> dict[str, object]:
        if self.name == "zai":
            return {"error": {"code": failure.code or "1210", "message": failure.message}}
        kind = _OPENAI_KINDS.get(failure.status, "server_error" if failure.status >= 500 else "invalid_request_error")
        return {"error": {"message": failure.message, "type": kind, "param": None, "code": failure.code}}


_OPENAI_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}

OPENAI = Dialect(
    name="openai",
    base_path="/v1",
    rules=OPENAI_RULES,
    refusals={
        "no key": (401, None),
        "wrong key": (401, "invalid_api_key"),
        "parameter": (400, None),
        "history": (400, None),
        "model": (404, "model_not_found"),
        "script": (400, "script"),
    },
)

ZAI = Dialect(
    name="zai",
    base_path="/api/paas/v4",
    rules=ZAI_RULES,
    refusals={
        "no key": (401, "1001"),
        "wrong key": (401, "1000"),
        "parameter": (400, "1210"),
        "history": (400, "1214"),
        "model": (400, "1211"),
        "script": (400, "1210"),
    },
    usage_at_end=True,
    searches=True,
)

ZAI_CODING = Dialect(
    name="zai",
    base_path="/api/coding/paas/v4",
    rules=ZAI_RULES,
    refusals=ZAI.refusals,
    usage_at_end=True,
)
