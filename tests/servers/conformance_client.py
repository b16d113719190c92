"""Windlass's own session code as the client under test of `@modelcontextprotocol/conformance`: lists the tools of the
address it is given, calls each once, and accepts every form with its defaults. Where it has to sign in, a stand-in for
the person's browser follows the authorization server's redirects."""

import asyncio
import json
import os
import sys
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from windlass.core.errors import ToolError
from windlass.servers import AuthorizationAnswer, InputReply, Question, ServerConfig, Servers, ServerStatus

ECHO = "json_schema_echo"
SIGN_INS = 2  # one more where the server moves to another authorization server
REDIRECT = "http://127.0.0.1:8420/oauth/callback"
CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json"  # the suite's own, which nobody fetches


async def main(url: str) -> None:
    checked = Checked(config_for(url))
    await checked.open()
    failed = [error for name, arguments in checked.wanted_calls() if (error := await checked.call(name, arguments))]
    await checked.servers.aclose()
    if failed:
        sys.exit("; ".join(failed))


def config_for(url: str) -> ServerConfig:
    config = ServerConfig("srv-1", "checked", transport="http", url=url, client_metadata_url=CLIENT_DOCUMENT)
    given = context()
    if "client_id" in given:
        config = replace(
            config,
            client_id=given["client_id"],
            client_secret=given.get("client_secret", given.get("private_key_pem", "")),
        )
    if "client-credentials" in os.environ.get("MCP_CONFORMANCE_SCENARIO", given.get("name", "")):
        config = replace(config, auth="client_credentials")
    return config


def context() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    return found


class Checked:
    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._moved = asyncio.Event()
        self.servers = Servers(on_change=lambda _: self._moved.set())

    async def open(self) -> None:
        await self.servers.put(self._config)
        self.servers.start("checked")
        for _ in range(SIGN_INS):
            if (await self._settled()).state == "needs_sign_in":
                await self.servers.sign_in("checked", REDIRECT, person)
        status = await self._settled()
        if status.state != "running":
            sys.exit(status.reason)

    def wanted_calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Those that the scenario names, else each tool once. One wants the other's schema back as it was read."""
        if named := context().get("toolCalls"):
            return [(call["name"], call["arguments"]) for call in named]
        tools = {tool.name: tool.input_schema or {} for tool in self.servers.tools("checked")}
        calls: dict[str, dict[str, Any]] = {
            name: dict.fromkeys(schema.get("properties", {}), 3) for name, schema in tools.items()
        }
        if ECHO in tools and len(tools) == 2:
            calls = {ECHO: {"schema": next(schema for name, schema in tools.items() if name != ECHO)}}
        return list(calls.items())

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """A scope that is missing, or another authorization server, is signed in for once, as a person would."""
        for _ in range(2):
            try:
                await self.servers.call("checked", tool, json.dumps(arguments), on_input=accept, timeout_s=15)
            except ToolError as error:
                if error.code != "unauthorized":
                    return error.message
                await self.servers.sign_in("checked", REDIRECT, person)
                await self._settled()
            else:
                return ""
        return f"{tool} was refused again"

    async def _settled(self) -> ServerStatus:
        while (status := self.servers.status("checked")).state not in ("running", "failed", "needs_sign_in"):
            self._moved.clear()
            await self._moved.wait()
        return status


async def person(address: str) -> AuthorizationAnswer:
    async with httpx2.AsyncClient() as browser:
        response = await browser.get(address)
        while not response.headers.get("location", "").startswith(REDIRECT):
            response = await browser.get(response.headers["location"])
    found = {name: values[0] for name, values in parse_qs(urlsplit(response.headers["location"]).query).items()}
    return AuthorizationAnswer(found["code"], found["state"], found.get("iss"))


async def accept(question: Question) -> InputReply:
    return InputReply("accept", {})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
