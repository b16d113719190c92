"""The ledger server's tools: a table of names, schemas, hints and functions."""

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from tests.kit.ledger.pictures import png
from tests.kit.ledger.running import Call, Json, RpcError


class Tool(NamedTuple):
    run: Callable[[Call], Json]
    description: str
    properties: Json
    required: tuple[str, ...] = ()
    hints: Json | None = None
    output: Json | None = None

    def definition(self, name: str) -> Json:
        schema = {"type": "object", "properties": self.properties, "required": list(self.required)}
        found = {"name": name, "description": self.description, "inputSchema": schema}
        if self.hints is not None:
            found["annotations"] = self.hints
        if self.output is not None:
            found["outputSchema"] = self.output
        return found


def text(words: str, is_error: bool = False) -> Json:
    return {"content": [{"type": "text", "text": words}], "isError": is_error}


def record(call: Call) -> Json:
    call.note("started")
    call.note("ended")
    return text(f"recorded {call['effect_id']}")


def record_slow(call: Call) -> Json:
    call.note("started")
    call.wait_for(call.gate)
    call.note("ended")
    return text(f"recorded {call['effect_id']} slowly")


def record_held(call: Call) -> Json:
    """Noted when it arrives, before it has any effect; the effect comes when the gate opens."""
    call.note("received")
    call.wait_for(call.gate)
    return record(call)


def read_only(call: Call) -> Json:
    call.note("started")
    call.note("ended")
    return text(f"read {call.get('effect_id', '')}".strip())


def fail(call: Call) -> Json:
    call.note("started")
    call.note("ended")
    return text(call.get("message", "it did not work"), is_error=True)


def raise_error(call: Call) -> Json:
    raise RpcError(call.get("code", -32000), call.get("message", "refused by the server"))


def progress(call: Call) -> Json:
    """Each step waits for the file GATE.1, GATE.2, ... when a gate is given."""
    steps = call.get("steps", 3)
    call.note("started")
    for step in range(1, steps + 1):
        if call.gate:
            call.wait_for(f"{call.gate}.{step}")
        call.progress(step, steps, f"step {step} of {steps}")
    call.note("ended")
    return text(f"{steps} steps done")


PROSE = 'She said "ahoy". At "C:\\ships" é.\n'


def big(call: Call) -> Json:
    size = call.get("chars") or int(call.get("megabytes", 1) * 1024 * 1024)
    match call.get("kind", "text"):
        case "structured":
            rows = [{"n": n, "name": f"row {n}"} for n in range(size // 32)]
            return {**text(f"{len(rows)} rows"), "structuredContent": {"rows": rows}}
        case "prose":
            return {**text(PROSE * (size // len(PROSE))), "structuredContent": {"lines": size // len(PROSE)}}
        case "blocks":
            return {"content": [{"type": "text", "text": "x"}] * size}
        case "image":
            data = base64.b64encode(png(padding=size - len(png()))).decode()
            words = {"type": "text", "text": "A large picture."}
            return {"content": [words, {"type": "image", "data": data, "mimeType": "image/png"}]}
    return text("0123456789abcdef" * (size // 16) + "x" * (size % 16))


ODD: Json = {
    "image": [{"type": "image", "data": base64.b64encode(png()).decode(), "mimeType": "image/png"}],
    "audio": [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}],
    "resource_link": [
        {"type": "resource_link", "uri": "file:///docs/a.txt", "name": "a.txt", "mimeType": "text/plain"}
    ],
    "resource": [
        {"type": "resource", "resource": {"uri": "file:///docs/a.txt", "text": "hello", "mimeType": "text/plain"}}
    ],
    "blob": [{"type": "resource", "resource": {"uri": "file:///docs/a.bin", "blob": "AAEC"}}],
    "empty": [],
    "blank": [{"type": "text", "text": ""}],
    "many": [{"type": "text", "text": f"block {n}"} for n in range(100)],
    "control": [{"type": "text", "text": "\x1b[31mred\x1b[0m \u202eevil\u200b \x00"}],
    "unknown": [{"type": "hologram", "light": 1}],
    "malformed": [{"type": "text"}],
}


def odd(call: Call) -> Json:
    kind = call.get("kind", "image")
    if kind == "structured":
        return {"content": [], "structuredContent": {"temperature": 21.5, "unit": "C"}}
    if kind == "mixed":
        return {"content": [*ODD["image"], {"type": "text", "text": "a picture"}, *ODD["resource_link"]]}
    return {"content": ODD[kind]}


def wrong_output(call: Call) -> Json:
    return {**text("seven"), "structuredContent": {"n": "seven"}}


def crash(call: Call) -> Json:
    """Exits without an answer; `after` an effect was recorded, or before."""
    if call.get("effect_id") is not None and call.get("when", "before") == "after":
        call.note("started")
        call.note("ended")
    sys.stderr.write("ledger: crashing as asked\n")
    sys.stderr.flush()
    os._exit(call.get("code", 3))


def hang(call: Call) -> Json:
    call.note("started")
    call.wait_for(None)
    raise AssertionError("unreachable")


FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name"},
        "number": {"type": "integer", "minimum": 1, "maximum": 10, "title": "A number"},
    },
    "required": ["name", "number"],
}


def ask(call: Call) -> Json:
    answer = call.ask({"mode": "form", "message": "Who are you, and how many?", "requestedSchema": FORM})
    call.note("answered", answer=answer)
    if answer.get("action") != "accept":
        return text(f"the person said {answer.get('action')}")
    content = answer.get("content") or {}
    return text(f"{content.get('name')} wants {content.get('number')}")


def sleep_ms(call: Call) -> Json:
    call.note("started")
    time.sleep(call.get("ms", 0) / 1000)
    call.note("ended")
    return text(f"slept {call.get('ms', 0)} ms")


def echo(call: Call) -> Json:
    """The text, or a whole result as it is given."""
    result: Json | None = call.get("result")
    return result if result is not None else text(call.get("text", ""))


def env_dump(call: Call) -> Json:
    return text(json.dumps(dict(os.environ)))


def spawn(call: Call) -> Json:
    """A grandchild that outlives the server for a minute unless someone ends it; with `setsid` it leaves the group."""
    sleeper = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(60)"]
    pipe = None if call.get("hold_pipes") else subprocess.DEVNULL
    child = subprocess.Popen(sleeper, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=bool(call.get("setsid")))
    call.note("spawned", child=child.pid)
    return text(str(child.pid))


STRING, INTEGER, BOOLEAN = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
EFFECT: Json = {"effect_id": STRING}
GATED: Json = {**EFFECT, "gate": STRING, "stubborn": BOOLEAN}
READ_ONLY: Json = {"readOnlyHint": True, "openWorldHint": False}
IDEMPOTENT: Json = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True}
DESTRUCTIVE: Json = {"readOnlyHint": False, "destructiveHint": True}
SEVEN: Json = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


TOOLS: dict[str, Tool] = {
    "record": Tool(record, "Record an effect once.", EFFECT, ("effect_id",)),
    "record_slow": Tool(record_slow, "Record an effect that ends when its gate opens.", GATED, ("effect_id",)),
    "record_held": Tool(record_held, "Record an effect once its gate opens.", GATED, ("effect_id",)),
    "read_only": Tool(read_only, "Read without changing anything.", GATED, (), READ_ONLY),
    "read_slow": Tool(record_slow, "Read until its gate opens.", GATED, ("effect_id",), READ_ONLY),
    "idempotent": Tool(record, "Record an effect; doing it twice changes nothing.", EFFECT, ("effect_id",), IDEMPOTENT),
    "idempotent_slow": Tool(record_slow, "The same, until its gate opens.", GATED, ("effect_id",), IDEMPOTENT),
    "destroy": Tool(record, "Destroy something for good.", EFFECT, ("effect_id",), DESTRUCTIVE),
    "fail": Tool(fail, "Answer with an error result.", {**EFFECT, "message": STRING}),
    "raise_error": Tool(raise_error, "Answer with a protocol error.", {"code": INTEGER, "message": STRING}),
    "progress": Tool(progress, "Report progress in steps.", {**GATED, "steps": INTEGER}),
    "big": Tool(big, "Return a lot.", {"chars": INTEGER, "megabytes": {"type": "number"}, "kind": STRING}),
    "odd": Tool(odd, "Return content other than text.", {"kind": STRING}),
    "wrong_output": Tool(wrong_output, "Break its own output schema.", {}, (), None, SEVEN),
    "crash": Tool(crash, "End the server in mid-call.", {**EFFECT, "when": STRING, "code": INTEGER}),
    "hang": Tool(hang, "Never answer.", EFFECT),
    "ask": Tool(ask, "Ask the person for a name and a number.", EFFECT),
    "sleep_ms": Tool(sleep_ms, "Take some time.", {**EFFECT, "ms": INTEGER}, (), READ_ONLY),
    "echo": Tool(echo, "Say the same again.", {"text": STRING}, (), READ_ONLY),
    "env_dump": Tool(env_dump, "Show the environment.", {}, (), READ_ONLY),
    "spawn": Tool(spawn, "Start a grandchild process.", {"setsid": BOOLEAN, "hold_pipes": BOOLEAN}),
}
