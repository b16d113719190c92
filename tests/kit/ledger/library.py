"""What the ledger server offers besides tools: a JSON file that every request reads anew, so that a test can change it.

    {"instructions": "...", "announces": true, "page": 2,
     "resources": [{"uri": "doc://a", "name": "a", "text": "..."}, {"uri": "doc://b", "blob": "aGk="}],
     "templates": [{"uriTemplate": "doc://{name}", "name": "doc"}],
     "prompts": [{"name": "greet", "arguments": [{"name": "who", "required": true}], "text": "Greet {who}."}],
     "completions": {"who": ["Ada", "Alan"]}}

A resource may say `times` (its text is repeated so often), `dies` (the server ends when it is read) or `listed: false`;
a prompt may have `messages` instead of `text`; a list of completions that is null never comes."""

import json
import os
import threading
from pathlib import Path
from urllib.parse import unquote

from tests.kit.ledger.running import Cancelled, Json, RpcError

_NOT_LISTED = ("text", "blob", "times", "dies", "listed", "messages")


class Library:
    def __init__(self, path: str | None) -> None:
        self._path = Path(path) if path else None
        self._seen = self._read()
        self._lock = threading.Lock()

    @property
    def instructions(self) -> Json:
        text = self._read().get("instructions")
        return {"instructions": text} if text else {}

    @property
    def capabilities(self) -> Json:
        held = self._read()
        announces = {"listChanged": bool(held.get("announces"))}
        has: Json = {}
        if "resources" in held or "templates" in held:
            has["resources"] = announces
        if "prompts" in held:
            has["prompts"] = announces
        if "completions" in held:
            has["completions"] = {}
        return has

    def changed(self) -> list[str]:
        """Which lists changed since this was asked last, if the server announces changes."""
        with self._lock:
            before, now = self._seen, self._read()
            self._seen = now
        if not now.get("announces"):
            return []
        return [kind for kind in ("resources", "prompts") if before.get(kind) != now.get(kind)]

    def answer(self, method: str, params: Json) -> Json | None:
        held = self._read()
        match method:
            case "resources/list" if "resources" in held or "templates" in held:
                listed = [one for one in held.get("resources", []) if one.get("listed", True)]
                return self._page(held, "resources", listed, params)
            case "resources/templates/list" if "templates" in held:
                return self._page(held, "resourceTemplates", held["templates"], params)
            case "prompts/list" if "prompts" in held:
                return self._page(held, "prompts", held["prompts"], params)
            case "resources/read":
                return self._resource(held, params["uri"])
            case "prompts/get":
                return self._prompt(held, params["name"], params.get("arguments") or {})
            case "completion/complete" if "completions" in held:
                return self._completion(held, params["argument"])
        return None

    def _page(self, held: Json, name: str, every: list[Json], params: Json) -> Json:
        start = int(params.get("cursor") or 0)
        end = start + int(held.get("page") or len(every) or 1)
        shown = [{key: value for key, value in one.items() if key not in _NOT_LISTED} for one in every[start:end]]
        shown = [one if "uri" not in one else {"name": one["uri"], **one} for one in shown]
        return {name: shown, **({"nextCursor": str(end)} if end < len(every) else {})}

    def _resource(self, held: Json, uri: str) -> Json:
        found = next((one for one in held.get("resources", []) if one["uri"] == uri), None)
        if found is None and held.get("templates"):
            found = {"text": f"This is {unquote(uri.rpartition('/')[2])}."}
        if found is None:
            raise RpcError(-32002, "Resource not found", {"uri": uri})
        if found.get("dies"):
            os._exit(3)
        content: Json = {"uri": uri, "mimeType": found.get("mimeType", "text/plain")}
        if "blob" in found:
            return {"contents": [{**content, "blob": found["blob"]}]}
        return {"contents": [{**content, "text": found.get("text", "") * found.get("times", 1)}]}

    def _prompt(self, held: Json, name: str, arguments: Json) -> Json:
        found = next((one for one in held.get("prompts", []) if one["name"] == name), None)
        if found is None:
            raise RpcError(-32602, f"Unknown prompt: {name}")
        for argument in found.get("arguments", []):
            if argument.get("required") and argument["name"] not in arguments:
                raise RpcError(-32602, f"Missing argument: {argument['name']}")
        messages = found.get("messages")
        if messages is None:
            text = found["text"]
            for key, value in arguments.items():
                text = text.replace("{" + key + "}", value)
            messages = [{"role": "user", "content": {"type": "text", "text": text}}]
        return {"description": found.get("description", ""), "messages": messages}

    def _completion(self, held: Json, argument: Json) -> Json:
        known = held["completions"].get(argument["name"], [])
        if known is None:
            raise Cancelled  # it never answers
        values = [value for value in known if value.lower().startswith(argument["value"].lower())]
        return {"completion": {"values": values[:100], "hasMore": len(values) > 100}}

    def _read(self) -> Json:
        held: Json = json.loads(self._path.read_text()) if self._path else {}
        return held
