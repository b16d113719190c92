"""`windlass servers login`: with a port that the browser comes back to, and with a pasted address."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.cli.conftest import PROGRAM, Commands
from tests.kit.app import RunningApp
from tests.kit.authorized_server import AuthorizedServer, authorized_server, final_address
from tests.kit.waiting import PATIENCE_S

Program = asyncio.subprocess.Process


@asynccontextmanager
async def started(home: Path, *argv: str) -> AsyncIterator[Program]:
    pipe = asyncio.subprocess.PIPE
    program = await asyncio.create_subprocess_exec(
        *PROGRAM, *argv, stdin=pipe, stdout=pipe, stderr=pipe, env=Commands(home).env
    )
    try:
        yield program
    finally:
        if program.returncode is None:
            program.kill()
        await program.communicate()


async def address_in(program: Program) -> str:
    assert program.stdout
    async with asyncio.timeout(PATIENCE_S):
        return (await program.stdout.readline()).decode().strip()


async def finished(program: Program, text: str = "") -> tuple[int | None, str]:
    async with asyncio.timeout(PATIENCE_S):
        out, err = await program.communicate(text.encode() or None)
    return program.returncode, out.decode() + err.decode()


async def run(home: Path, *argv: str) -> tuple[int | None, str]:
    async with started(home, *argv) as program:
        return await finished(program)


async def added(home: Path, site: AuthorizedServer, *more: str) -> None:
    code, text = await run(home, "servers", "add", "Guarded", "--at", site.url, *more)
    assert code == 1 and "guarded: needs_sign_in" in text and "windlass servers login guarded" in text


async def opens(address: str, program: Program) -> tuple[int | None, str]:
    async with httpx2.AsyncClient() as browser:
        elsewhere = await browser.get(address.partition("?")[0].rpartition("/")[0] + "/favicon.ico")
        assert elsewhere.status_code == 404
        page = await browser.get(address)
        assert "Signed in to Guarded" in page.text and "<script" not in page.text
    return await finished(program)


async def pastes(address: str, program: Program) -> tuple[int | None, str]:
    return await finished(program, f"  {address}\n")


@pytest.mark.parametrize(("options", "come_back"), [([], opens), (["--paste"], pastes)], ids=["port", "paste"])
async def test_a_person_signs_in_from_the_terminal_and_out_again(
    served: RunningApp, options: list[str], come_back: Callable[[str, Program], Awaitable[tuple[int | None, str]]]
) -> None:
    async with authorized_server() as site:
        await added(served.home, site)
        listed = (await run(served.home, "servers", "list"))[1]
        assert "sign in: windlass servers login guarded" in listed
        assert "windlass servers login guarded" in (await run(served.home, "doctor"))[1]
        async with started(served.home, "servers", "login", "guarded", *options) as program:
            code, text = await come_back(await final_address(await address_in(program)), program)
        assert code == 0 and "guarded: running, 1 tools" in text
        assert not any(secret in text for secret in site.authority.secrets)
        called = await run(served.home, "tools", "call", "guarded.keep", "text=x")
        assert called[0] == 0 and site.calls == ["x"]
        assert "Signed out of guarded" in (await run(served.home, "servers", "logout", "guarded"))[1]
        kept = json.loads((served.home / "secrets.json").read_text())
        assert not [name for name in kept if "/oauth/" in name]
        await run(served.home, "servers", "remove", "guarded")


async def test_a_refusal_is_named_and_nothing_is_saved(served: RunningApp) -> None:
    async with authorized_server() as site:
        await added(served.home, site, "--scopes", "notes:read openid")
        async with started(served.home, "servers", "login", "guarded") as program:
            address = httpx2.URL(await address_in(program))
            async with httpx2.AsyncClient() as browser:
                back = httpx2.URL(address.params["redirect_uri"])
                refusal = {"state": address.params["state"], "error": "access_denied"}
                page = await browser.get(back, params=refusal)
            code, text = await finished(program)
        assert code == 1 and "127.0.0.1 refused: access_denied. Nothing was saved." in text
        assert "read notes (notes:read)" in text and "know which account you use (openid)" in text
        assert "Not signed in" in page.text and site.requests["POST /token"] == 0
        await run(served.home, "servers", "remove", "guarded")


def test_a_client_secret_is_no_argument(alone: Commands) -> None:
    done = alone("servers", "add", "x", "--at", "http://127.0.0.1:9/mcp", "--auth", "client_credentials")
    assert done.code == 1 and "--client-id" in done.err
    done = alone("servers", "add", "x", "--at", "http://127.0.0.1:9/mcp", "--auth=client_credentials", "--client-id=me")
    assert done.code == 1 and "WINDLASS_CLIENT_SECRET" in done.err
    done = alone("servers", "add", "x", "--at", "http://127.0.0.1:9/mcp", "--transport", "carrier-pigeon")
    assert done.code == 1 and "neither http nor sse" in done.err


async def test_ask_names_the_sign_in_that_a_call_waits_for(served: RunningApp) -> None:
    async with authorized_server() as site:
        await added(served.home, site)
        async with started(served.home, "servers", "login", "guarded", "--paste") as program:
            assert (await pastes(await final_address(await address_in(program)), program))[0] == 0
        site.authority.revoke_all()
        code, text = await run(served.home, "ask", "/keep text=x", "--tools", "guarded.keep", "--approve", "auto")
        assert code == 3 and site.calls == []
        assert "guarded needs you to sign in. Calls are waiting, nothing is lost." in text
        assert "keep waits, nothing is lost: windlass servers login guarded" in text
        await run(served.home, "servers", "remove", "guarded")
