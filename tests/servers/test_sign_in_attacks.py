"""Servers and authorization servers that mean harm: what they name, what they answer, and what they never get."""

import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.kit.served import served
from windlass.core.errors import Unavailable
from windlass.servers import AuthorizationAnswer, ServerConfig, SignInCredentials
from windlass.servers.sign_in import LONGEST_LIFE_S, Challenge, CredentialsForNow, SignIn
from windlass.services.sign_ins import VaultCredentials
from windlass.store.vault import Vault

REDIRECT = "http://127.0.0.1:8420/oauth/callback"
SECRET = "the-secret-of-the-client"


class Place:
    """A server and an authorization server in one; a test changes what it answers."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.names = self.url  # as its authorization server
        self.issuer = self.url
        self.metadata_at = f"{self.url}/resource"
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.token: dict[str, object] = {"access_token": "access", "token_type": "Bearer", "expires_in": 1}
        self.forms: list[dict[str, list[str]]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        status, answer = self._answer(scope["path"], body)
        challenge = f'Bearer resource_metadata="{self.metadata_at}"'.encode()
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", challenge)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    def _answer(self, path: str, body: bytes) -> tuple[int, bytes]:
        if path == "/token":
            self.forms.append(parse_qs(body.decode()))
        if path in self.answers:
            return self.answers[path]
        found: dict[str, dict[str, object]] = {
            "/resource": {"resource": f"{self.url}/mcp", "authorization_servers": [self.names]},
            "/.well-known/oauth-authorization-server": {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "response_types_supported": ["code"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            },
            "/token": self.token,
        }
        return (200, json.dumps(found[path]).encode()) if path in found else (401 if path == "/mcp" else 404, b"{}")


@asynccontextmanager
async def place() -> AsyncIterator[Place]:
    listening = socket.create_server(("127.0.0.1", 0))
    made = Place(listening.getsockname()[1])
    async with served(made, listening):
        yield made


def server(site: Place, **more: Any) -> ServerConfig:
    return ServerConfig("srv-1", "far", transport="http", url=f"{site.url}/mcp", **more)


def own_client(site: Place, **more: Any) -> ServerConfig:
    return server(site, auth="client_credentials", client_id="mine", client_secret=SECRET, **more)


async def nobody(address: str) -> AuthorizationAnswer:
    raise AssertionError(address)


async def another_token(vault: Path, config: ServerConfig) -> str:
    """As after a restart, with the token of before refused."""
    sign_in = SignIn(VaultCredentials(Vault(vault)))
    return await sign_in.token_instead(config, "access")


@pytest.mark.parametrize("way", ["another issuer", "one that registers", "one that refuses to register", "no metadata"])
async def test_the_secret_of_a_client_goes_to_no_issuer_that_is_named_later(tmp_path: Path, way: str) -> None:
    async with place() as site, place() as honest, place() as evil:
        vault, config = tmp_path / "secrets.json", own_client(site)
        site.names = honest.url
        assert await another_token(vault, config) == "access"
        if way == "no metadata":  # the server itself would be asked for a token
            honest.answers = {"/.well-known/oauth-authorization-server": (404, b"{}")}
        else:
            site.names = evil.url
        registered = b'{"client_id": "theirs", "client_secret": "theirs", "redirect_uris": ["http://127.0.0.1/"]}'
        if way == "one that registers":
            evil.answers = {"/register": (201, registered)}
        if way == "one that refuses to register":
            evil.answers = {"/register": (400, b'{"error": "invalid_client"}')}
        for _ in range(2):
            with pytest.raises(Unavailable, match=r"belongs to|does not say where its tokens are"):
                await another_token(vault, config)
        assert (evil.forms, site.forms) == ([], []) and SECRET in str(honest.forms)


async def test_a_client_that_its_issuer_refuses_stays_bound_to_it(tmp_path: Path) -> None:
    async with place() as site, place() as honest, place() as evil:
        vault, config = tmp_path / "secrets.json", own_client(site)
        site.names = honest.url
        assert await another_token(vault, config) == "access"
        honest.answers = {"/token": (401, b'{"error": "invalid_client"}')}
        assert await another_token(vault, config) == ""
        site.names = evil.url
        with pytest.raises(Unavailable, match="belongs to"):
            await another_token(vault, config)
        assert evil.forms == []


async def test_a_person_moves_a_client_to_another_issuer(tmp_path: Path) -> None:
    async with place() as site, place() as before, place() as after:
        vault = tmp_path / "secrets.json"
        site.names = before.url
        assert await another_token(vault, own_client(site)) == "access"
        site.names = after.url
        assert await another_token(vault, own_client(site, issuer=after.url)) == "access"
        site.names = before.url
        await SignIn(VaultCredentials(Vault(vault))).forget(own_client(site))
        assert await another_token(vault, own_client(site)) == "access"
        assert (len(before.forms), len(after.forms)) == (2, 1)


async def test_an_issuer_called_invalid_client_does_not_end_a_sign_in() -> None:
    """Nor does a registration that is refused so: the client of before is still known where it was registered."""
    async with place() as site:
        site.issuer = f"{site.url}/invalid_client"
        kept, store = (
            SignInCredentials(f"{site.url}/mcp", "good", "refresh", token_endpoint=site.url),
            CredentialsForNow(),
        )
        store.put("srv-1", kept)
        for _ in range(2):
            with pytest.raises(Unavailable, match="Signing in"):
                await SignIn(store).interactive(server(site), REDIRECT, nobody)
            site.issuer, site.answers = site.url, {"/register": (400, b'{"error": "invalid_client"}')}
        assert store.get("srv-1") == kept


@pytest.mark.parametrize("life", [10**20, 10**400, -5])
async def test_a_token_lasts_ten_years_at_most(life: int) -> None:
    async with place() as site:
        site.token |= {"expires_in": life}
        store, client = CredentialsForNow(), {"client_id": "c", "redirect_uris": [REDIRECT]}
        url = f"{site.url}/mcp"
        store.put("srv-1", SignInCredentials(url, "", "refresh", token_endpoint=f"{site.url}/token", client=client))
        sign_in = SignIn(store)
        assert await sign_in.token(server(site)) == "access"
        kept = store.get("srv-1")
        assert kept and (kept.is_valid, kept.is_due) == (True, False)
        assert (kept.expires_at == 0) is (life < 0)
        # and a version that believed the number may have kept it
        store.put("srv-1", SignInCredentials(url, "access", expires_at=1e20))
        assert 0 < sign_in.ends_at(server(site)) <= time.time() + LONGEST_LIFE_S


@pytest.mark.parametrize("odd", ["port", "deep", "long life"])
async def test_an_answer_that_cannot_be_read_is_the_reason_of_a_failed_sign_in(odd: str) -> None:
    async with place() as site:
        if odd == "port":
            site.metadata_at = "http://127.0.0.1:999999/"
        if odd == "deep":
            site.answers = {"/.well-known/oauth-authorization-server": (200, b"[" * 100_000)}
        site.token |= {"expires_in": 10**400}
        registered = json.dumps({"client_id": "c", "redirect_uris": [REDIRECT]}).encode()
        site.answers |= {"/register": (201, registered)}
        with pytest.raises(Unavailable, match="Signing in to 127") as caught:
            await SignIn(CredentialsForNow()).interactive(server(site), REDIRECT, answering)
        assert "TaskGroup" not in caught.value.message
        assert bool(site.forms) is (odd != "port")


async def answering(address: str) -> AuthorizationAnswer:
    return AuthorizationAnswer("code", parse_qs(address)["state"][0])


INSIDE = [
    "https://127.0.0.1:{port}/",
    "https://[::1]:{port}/",
    "https://2130706433:{port}/",
    "https://localhost:{port}/",
]


@pytest.mark.parametrize("inside", INSIDE)
async def test_a_public_server_sends_nobody_into_this_network(inside: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = inside.format(port=listening.getsockname()[1])
        sign_in = SignIn(CredentialsForNow())
        sign_in.challenge = Challenge(f'Bearer resource_metadata="{address}"')
        config = ServerConfig("srv-1", "far", transport="http", url="https://8.8.8.8/mcp")
        with pytest.raises(Unavailable, match="is not on the public internet"):
            await sign_in.interactive(config, REDIRECT, nobody)
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()


@pytest.mark.parametrize("named", [False, True])
async def test_a_server_of_this_network_or_a_named_issuer_may_be_signed_in_to_here(named: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"https://localhost:{listening.getsockname()[1]}/"  # where nobody is any more
    async with place() as site:
        config = server(site)
        if named:
            config = replace(config, url="https://8.8.8.8/mcp", issuer=address)
        sign_in = SignIn(CredentialsForNow())
        sign_in.challenge = Challenge(f'Bearer resource_metadata="{address}"')
        with pytest.raises(Unavailable, match="could not be reached"):  # it was tried
            await sign_in.interactive(config, REDIRECT, nobody)
