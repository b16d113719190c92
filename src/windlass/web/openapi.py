"""`/openapi.json`, made of the route table and the schemas. Nothing is said twice, so nothing can disagree."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from windlass.api import schemas
from windlass.api.route import Route

TEMPLATE = "#/components/schemas/{name}"
INTRODUCTION = """
Windlass runs tool-calling turns between people, language models and MCP servers, and keeps every step.

Send `Authorization: Bearer TOKEN`; `windlass token` shows it. Bodies are JSON. Errors have one form:
`{"success": false, "error": {"code", "message", "hint"?, "detail"?}}`.

A first conversation: `POST /conversations`, then `GET /conversations/{id}/tools/available`, then
`POST /conversations/{id}/tools` for what the model may use, then `POST /conversations/{id}/chat`.
"""
TAGS = {
    "turns": "Chat, and the turns it creates: watch, stop, decide, continue",
    "conversations": "Make, find, change, export, import, delete",
    "messages": "What was said, up to the newest turn",
    "context": "Notes that are joined to the system prompt",
    "tools": "What the model may call in a conversation",
    "servers": "MCP servers: add, confirm, start, stop",
    "providers": "Where models come from; keys go in and never come out",
    "search": "Whether web search works",
    "gallery": "Known servers that come with Windlass: search, add as drafts",
    "personas": "A system prompt, a model and tools under one name",
    "policy": "Which calls run by themselves, which ask, which never run",
    "permissions": "What decides calls: list, revoke, try",
    "access": "Sessions and the token",
    "audit": "Who changed what",
    "system": "Health and figures",
    "v1": "For any OpenAI client, unchanged",
    "gateway": "Windlass as an MCP server; the protocol's own messages",
}
STATUS_TEXTS = {
    400: "The body is not valid JSON",
    401: "No token, or a wrong one",
    403: "From another site, or under a foreign name",
    404: "There is no such thing",
    409: "Not now: another turn runs, the id was used, the definition changed",
    413: "Too large",
    415: "Writes take JSON only",
    422: "Understood, but a value cannot be right; `detail.path` says which",
    429: "Too many requests",
    502: "The model or a server failed",
    503: "Not now: shutting down, or nothing can be written",
    504: "The model took too long",
}
CHAT_STATUSES = {
    202: "A person is needed first: see `pending_calls`",
    429: "The model's provider is limiting requests",
    502: "The model failed",
    504: "The model took too long",
}


EVENT = {  # one event of a stream, as clients take it apart
    "type": "object",
    "properties": {"id": {"type": "string"}, "event": {"type": "string"}, "data": {"type": "string"}},
}
MADE = {  # what a verb makes: the name of its id in paths, and where the answer has it
    "conversations.create": ("conversation_id", "/conversation/id"),
    "conversations.import_": ("conversation_id", "/conversation/id"),
    "turns.chat": ("turn_id", "/turn_id"),
    "messages.add": ("message_id", "/message/id"),
    "context.add": ("context_id", "/context_id"),
    "servers.add": ("server", "/server/id"),
    "providers.add": ("provider_id", "/provider/id"),
    "personas.add": ("persona_id", "/persona/id"),
}


def openapi(routes: Iterable[Route[..., Any]], version: str) -> dict[str, Any]:
    routes = list(routes)
    types = {id(shape): shape for route in routes for shape in (route.takes, route.gives) if shape is not None}
    types |= {id(shape): shape for shape in (schemas.Failed, schemas.V1Failed)}
    made, components = msgspec.json.schema_components(types.values(), ref_template=TEMPLATE)
    schema_of = dict(zip(types, made, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        operation = paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema_of)
        if links := _links(route, routes):
            operation["responses"][str(route.status)]["links"] = links
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Windlass",
            "version": version,
            "description": INTRODUCTION.strip(),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "security": [{"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "windlass_PORT"},
            },
        },
    }


def _operation(route: Route[..., Any], schema_of: dict[int, dict[str, Any]]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.summary,
        "tags": [route.group],
        "parameters": [*_path_parameters(route.path), *_query_parameters(route)],
        "responses": _responses(route, schema_of),
    }
    if (
        text := route.takes.__doc__
        if isinstance(route.takes, type) and issubclass(route.takes, schemas.Request)
        else ""
    ):
        operation["description"] = text
    if route.takes is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema_of[id(route.takes)]}},
        }
    if route.public:
        operation["security"] = []
    return operation


def _links(route: Route[..., Any], routes: list[Route[..., Any]]) -> dict[str, Any]:
    """Where one can go with the id that this verb made."""
    if f"{route.group}.{route.name}" not in MADE:
        return {}
    name, pointer = MADE[f"{route.group}.{route.name}"]
    known = {name: f"$response.body#{pointer}"}
    known |= {own: f"$request.path.{own}" for own in _parameters(route.path)}
    return {
        other.operation: {
            "operationId": other.operation,
            "parameters": {own: known[own] for own in _parameters(other.path)},
        }
        for other in routes
        if name in _parameters(other.path) and set(_parameters(other.path)) <= known.keys()
    }


def _parameters(path: str) -> list[str]:
    return re.findall(r"{(\w+)}", path)


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _parameters(path)
    ]


def _query_parameters(route: Route[..., Any]) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    [schema] = msgspec.json.schema(route.query)["$defs"].values()
    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema["required"],
            "schema": field,
            **({"description": field["description"]} if "description" in field else {}),
        }
        for name, field in schema["properties"].items()
    ]


def _responses(route: Route[..., Any], schema_of: dict[int, dict[str, Any]]) -> dict[str, Any]:
    given = schema_of[id(route.gives)]
    responses: dict[str, Any] = {str(route.status): {"description": route.summary, "content": _content(route, given)}}
    if route.kind == "chat":
        for status, text in CHAT_STATUSES.items():
            responses[str(status)] = {"description": text, "content": {"application/json": {"schema": given}}}
    refusal = schema_of[id(schemas.V1Failed if route.kind == "v1" else schemas.Failed)]
    failed = _content(route, given) if route.kind == "callback" else {"application/json": {"schema": refusal}}
    for status in _failures(route):
        responses.setdefault(str(status), {"description": STATUS_TEXTS[status], "content": failed})
    if route.kind == "chat":
        either = {"anyOf": [given, schema_of[id(schemas.Failed)]]}
        responses["429"]["content"] = {"application/json": {"schema": either}}
        responses["502"]["content"] = {"application/json": {"schema": either}}
    return dict(sorted(responses.items()))


def _content(route: Route[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    events = {"text/event-stream": {"schema": EVENT}}
    match route.kind:
        case "events":
            return {"text/event-stream": {"schema": {**EVENT, "description": given.get("description", "")}}}
        case "chat" | "v1" if route.kind == "chat" or route.takes is schemas.CompletionRequest:
            return {"application/json": {"schema": given}, **events}
        case "callback":
            return {"text/html": {"schema": {"type": "string"}}}
        case "mcp":
            return {"application/json": {"schema": given}, "text/event-stream": {"schema": given}}
        case "export":
            return {"application/json": {"schema": given}, "text/markdown": {"schema": {"type": "string"}}}
    if route.gives is schemas.Metrics:
        return {"text/plain": {"schema": given}}
    return {"application/json": {"schema": given}}


def _failures(route: Route[..., Any]) -> list[int]:
    found = [403, 503]
    if not route.public or route.takes is schemas.LogIn:
        found += [401, 429]
    names_something = {schemas.ChangesQuery, schemas.ServerLoginAnswer} & {route.query, route.takes}
    if "{" in route.path or route.group in {"permissions", "v1"} or names_something:
        found += [404]
    if route.method != "GET" and route.group != "v1":
        found += [409]
    if route.takes is not None:
        found += [400, 413, 415]
    if (route.takes is not None or route.query is not None) and route.group != "v1":
        found += [422]
    if route.group == "v1":
        found += [502, 504]
    if route.group in {"servers", "providers"}:
        found += [422, 502, 504]
    return sorted(set(found))
