"""An MCP server on standard input and output with the tools that the protocol's conformance suite calls."""

import asyncio
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
OPTIONS = [f"option{n}" for n in (1, 2, 3)]
CHOICES = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
FORMS: dict[str, tuple[str, str, dict[str, Any]]] = {  # tool -> key of the question, its text, its fields
    "test_elicitation": ("person", "Who are you?", {"username": {"type": "string"}, "email": {"type": "string"}}),
    "test_elicitation_sep1034_defaults": (
        "person",
        "Check these values",
        {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": True},
        },
    ),
    "test_elicitation_sep1330_enums": (
        "person",
        "Choose",
        {
            "untitledSingle": {"type": "string", "enum": OPTIONS},
            "titledSingle": {"type": "string", "oneOf": CHOICES},
            "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
            "titledMulti": {"type": "array", "items": {"anyOf": CHOICES}},
        },
    ),
    "test_input_required_result_elicitation": ("user_name", "What is your name?", {"name": {"type": "string"}}),
    "test_input_required_result_request_state": ("confirm", "Please confirm", {"ok": {"type": "boolean"}}),
    "test_input_required_result_tampered_state": ("confirm", "Please confirm", {"ok": {"type": "boolean"}}),
    "test_streaming_elicitation": ("person", "Who are you?", {"name": {"type": "string"}}),
}
CONTENT: dict[str, list[types.ContentBlock]] = {
    "test_simple_text": [types.TextContent(type="text", text="This is a simple text response for testing.")],
    "test_image_content": [types.ImageContent(type="image", data=PIXEL, mime_type="image/png")],
    "test_audio_content": [types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")],
    "test_embedded_resource": [
        types.EmbeddedResource(
            type="resource",
            resource=types.TextResourceContents(
                uri="test://embedded-resource", mime_type="text/plain", text="This is an embedded resource content."
            ),
        )
    ],
    "test_logging_tool": [types.TextContent(type="text", text="nothing is logged")],
    "test_reconnection": [types.TextContent(type="text", text="still here")],
    "json_schema_2020_12_tool": [types.TextContent(type="text", text="fits")],
}
CONTENT["test_multiple_content_types"] = [
    types.TextContent(type="text", text="Multiple content types test:"),
    *CONTENT["test_image_content"],
    types.EmbeddedResource(
        type="resource",
        resource=types.TextResourceContents(
            uri="test://mixed-content-resource", mime_type="application/json", text='{"test":"data","value":123}'
        ),
    ),
]
HEADED: dict[str, Any] = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
ROUNDS = {
    "step1": ("What is your name?", {"name": {"type": "string"}}),
    "step2": ("What is your favorite color?", {"color": {"type": "string"}}),
}
NAMES = [
    *CONTENT,
    *FORMS,
    "test_error_handling",
    "test_tool_with_progress",
    "test_headers",
    "test_input_required_result_multi_round",
]
SCHEMAS = {"json_schema_2020_12_tool": SCHEMA_2020_12, "test_headers": HEADED}


async def listed(ctx: Any, params: Any) -> types.ListToolsResult:
    tools = [
        types.Tool(
            name=name,
            description=f"{name} of the conformance suite",
            input_schema=SCHEMAS.get(name, OBJECT),
        )
        for name in NAMES
    ]
    return types.ListToolsResult(tools=tools)


async def called(
    ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    if params.name in FORMS:
        return answered(params, *FORMS[params.name])
    if params.name == "test_input_required_result_multi_round":
        step = "step2" if params.request_state == "step1" else "step1"
        if params.request_state == "step2":
            return types.CallToolResult(content=[types.TextContent(type="text", text="done")])
        return question(step, *ROUNDS[step], state=step)
    if params.name == "test_headers":
        return types.CallToolResult(content=[types.TextContent(type="text", text=str(params.arguments))])
    if params.name == "test_error_handling":
        text = types.TextContent(type="text", text="This tool intentionally returns an error for testing")
        return types.CallToolResult(content=[text], is_error=True)
    if params.name == "test_tool_with_progress":
        for done in (0, 50, 100):
            await ctx.session.report_progress(done, 100)
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])
    return types.CallToolResult(content=CONTENT[params.name])


def answered(
    params: types.CallToolRequestParams, key: str, message: str, fields: dict[str, Any]
) -> types.CallToolResult | types.InputRequiredResult:
    answer = (params.input_responses or {}).get(key)
    if not isinstance(answer, types.ElicitResult):
        return question(key, message, fields, state="s" if "state" in params.name else None)
    text = f"state-ok Hello, {(answer.content or {}).get('name')}! action={answer.action}, content={answer.content}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def question(key: str, message: str, fields: dict[str, Any], state: str | None = None) -> types.InputRequiredResult:
    schema = {"type": "object", "properties": fields, "required": list(fields)[:1]}
    form = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.InputRequiredResult(input_requests={key: types.ElicitRequest(params=form)}, request_state=state)


async def main() -> None:
    server = Server[Any]("conformance-tools", version="1", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
