"""What comes with a reply and only API clients ask for: probabilities of tokens, a refusal, the server's own marks."""

import json


class Extras:
    """`text` is a JSON object, or "" where nothing came."""

    def __init__(self) -> None:
        self._found: dict[str, object] = {}
        self._logprobs: dict[str, list[object]] = {}
        self._refusal = ""

    def take(self, chunk: dict[str, object]) -> None:
        for name in ("system_fingerprint", "service_tier"):
            if isinstance(chunk.get(name), str):
                self._found[name] = chunk[name]
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        logprobs = choice.get("logprobs")
        for name, tokens in logprobs.items() if isinstance(logprobs, dict) else ():
            if isinstance(tokens, list):
                self._logprobs.setdefault(str(name), []).extend(tokens)
        message = choice.get("delta") or choice.get("message")
        refusal = message.get("refusal") if isinstance(message, dict) else None
        self._refusal += refusal if isinstance(refusal, str) else ""

    def text(self) -> str:
        more = {"logprobs": self._logprobs, "refusal": self._refusal}
        found = self._found | {name: value for name, value in more.items() if value}
        return json.dumps(found, ensure_ascii=False) if found else ""
