"""The description: valid, complete, with examples that the server itself accepts."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import msgspec
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.web.kit import Site, open_site
from windlass.api.routes import ROUTES
from windlass.web.openapi import openapi

SPEC = openapi(ROUTES, "0.0.test")


def test_the_description_is_valid_openapi() -> None:
    assert list(OpenAPIV31SpecValidator(SPEC).iter_errors()) == []


def test_every_operation_has_its_own_name_and_words() -> None:
    operations = [one for methods in SPEC["paths"].values() for one in methods.values()]
    assert len({one["operationId"] for one in operations}) == len(operations) == len(ROUTES)
    assert all(one["summary"] and one["responses"] for one in operations)
    assert {tag for one in operations for tag in one["tags"]} <= {tag["name"] for tag in SPEC["tags"]}


async def test_a_model_that_nobody_has_is_answered_as_described(site: Site) -> None:
    body = {"model": "nobody-has-it", "messages": [{"role": "user", "content": "Hello"}]}
    reply = await site.call("POST", "/v1/chat/completions", body)
    described = SPEC["paths"]["/v1/chat/completions"]["post"]["responses"][str(reply.status)]
    assert reply.status == 404
    assert _validator(described["content"]["application/json"]["schema"]).is_valid(reply.body)


def test_examples_in_the_description_fit_their_schemas() -> None:
    found = list(_with_examples(SPEC))
    assert len(found) > 20
    for schema in found:
        for example in schema["examples"]:
            assert _validator(schema).is_valid(example), schema


def _with_examples(part: object) -> Iterator[dict[str, Any]]:
    """Every schema anywhere in the description that shows an example of itself."""
    if isinstance(part, dict) and isinstance(part.get("examples"), list):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _with_examples(inner)


def test_every_body_that_the_schema_allows_least_is_decoded() -> None:
    """The smallest body the description promises must be one that the server takes."""
    decoded = 0
    for route in ROUTES:
        if route.takes is None:
            continue
        schema = SPEC["paths"][route.path][route.method.lower()]["requestBody"]["content"]["application/json"]["schema"]
        least = _least(schema)
        if isinstance(route.takes, type):
            msgspec.convert(least, route.takes)
            decoded += 1
    assert decoded > 10, "nearly every route that takes a body says which"


async def test_the_docs_page_draws_from_our_own_files_only(site: Site) -> None:
    page = await site.call("GET", "/docs", token="")
    assert page.status == 200 and "/docs/docs.js" in page.text
    for name in ("docs.js", "docs.css"):
        file = await site.call("GET", f"/docs/{name}", token="")
        assert file.status == 200 and "://" not in file.text
    assert (await site.call("GET", "/docs/other.js", token="")).status == 404
    assert (await site.get("/openapi.json"))["openapi"] == "3.1.0"


def _validator(schema: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator({**schema, "components": SPEC["components"]})


def _least(schema: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _least(SPEC["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if schema.get("examples"):
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _least(schema["anyOf"][0])
    match schema.get("type"):
        case "object":
            return {name: _least(schema["properties"][name]) for name in schema.get("required", [])}
        case "array":
            return [_least(schema["items"])] * schema.get("minItems", 0)
        case "string":
            return "https://example.com" if "https" in schema.get("pattern", "") else "x" * schema.get("minLength", 1)
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
    return None


async def test_below_a_proxys_path_the_description_names_it(site: Site) -> None:
    async with open_site(site.app.config.home / "other", public_url="https://chat.example.org/windlass") as other:
        described = await other.get("/windlass/openapi.json")
    assert described["servers"] == [{"url": "/windlass"}]
    assert "servers" not in await site.get("/openapi.json")
