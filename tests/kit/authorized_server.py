"""A remote MCP server that wants a sign-in, with its own authorization server: the SDK's, in this process, so that a
test can let tokens expire and count what was asked of it."""

import asyncio
import secrets
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.server import MCPServer
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl

from tests.kit.served import served

LONG_S = 3600


class Authority:
    """Approves everybody at once. Refresh tokens are good for one use; a second use revokes the whole grant."""

    def __init__(self) -> None:
        self.life_s = LONG_S
        self.redemptions = 0
        self.redirects: list[str] = []  # where browsers were to be sent back to
        self.refuses_to_renew = False
        self.answers_with = 200  # a token request
        self.refuses = False  # the person says no
        self.renewing = asyncio.Event()  # a renewal has come in
        self.renewals = asyncio.Event()  # it is answered once this is set
        self.renewals.set()
        self._clients: dict[str, OAuthClientInformationFull] = {}
        self._codes: dict[str, AuthorizationCode] = {}
        self._access: dict[str, AccessToken] = {}
        self._refresh: dict[str, RefreshToken] = {}
        self._used: set[str] = set()

    @property
    def secrets(self) -> set[str]:
        """Every token it gave out and still knows."""
        return {*self._access, *self._refresh, *self._used}

    def expire_all(self) -> None:
        """Every token's time is over, whatever the client believes."""
        self._access.clear()

    def revoke_all(self) -> None:
        self._access.clear()
        self._refresh.clear()

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self._clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.redirects.append(str(params.redirect_uri))
        if self.refuses:
            return construct_redirect_uri(str(params.redirect_uri), error="access_denied", state=params.state)
        code = AuthorizationCode(
            code=secrets.token_hex(16),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self._codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self._codes[authorization_code.code]
        return self._issued(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        self.renewing.set()
        await self.renewals.wait()
        if refresh_token in self._used:
            self.revoke_all()
        return None if self.refuses_to_renew else self._refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.redemptions += 1
        if self._refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant")
        self._used.add(refresh_token.token)
        return self._issued(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        found = self._access.get(token)
        return found if found and (found.expires_at or 0) > time.time() else None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.revoke_all()

    async def exchange_identity_assertion(self, *_: Any) -> OAuthToken:
        raise NotImplementedError

    def _issued(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        ends = int(time.time() + self.life_s)
        kept: dict[str, Any] = {"client_id": client_id, "scopes": scopes, "resource": resource}
        self._access[access] = AccessToken(token=access, expires_at=ends, **kept)
        self._refresh[refresh] = RefreshToken(token=refresh, **kept)
        return OAuthToken(
            access_token=access, expires_in=self.life_s, refresh_token=refresh, scope=" ".join(scopes) or None
        )


class AuthorizedServer:
    def __init__(self, port: int, authority: Authority) -> None:
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.authority = authority
        self.requests: Counter[str] = Counter()
        self.calls: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.requests[f"{scope['method']} {scope['path']}"] += 1
        is_token = scope["type"] == "http" and scope["path"] == "/token" and self.authority.answers_with != 200

        async def sent(message: Any) -> None:
            if is_token and message["type"] == "http.response.start":
                message["status"] = self.authority.answers_with
            await send(message)

        await self.app(scope, receive, sent)

    def build(self) -> None:
        origin = self.url.removesuffix("/mcp")
        server = MCPServer(
            "guarded",
            auth_server_provider=self.authority,
            auth=AuthSettings(
                issuer_url=AnyHttpUrl(origin),
                resource_server_url=AnyHttpUrl(self.url),
                validate_token_resource=False,
                client_registration_options=ClientRegistrationOptions(enabled=True),
                revocation_options=RevocationOptions(enabled=True),
            ),
        )

        @server.tool()
        async def keep(text: str) -> str:
            """Keep a text."""
            self.calls.append(text)
            return f"kept {text}"

        self.app = server.streamable_http_app()


@asynccontextmanager
async def authorized_server(authority: Authority | None = None, port: int = 0) -> AsyncIterator[AuthorizedServer]:
    listening = socket.create_server(("127.0.0.1", port))
    site = AuthorizedServer(listening.getsockname()[1], authority or Authority())
    site.build()
    async with served(site, listening):
        yield site


async def follow(address: str, until: str) -> dict[str, str]:
    """As a browser would: the fields of the first address that begins so."""
    found = await final_address(address, until)
    return {name: values[0] for name, values in parse_qs(urlsplit(found).query).items()}


async def final_address(address: str, until: str = "") -> str:
    """Where the authorization server sends the browser: `until` or whatever the address itself says."""
    until = until or parse_qs(urlsplit(address).query)["redirect_uri"][0]
    async with httpx2.AsyncClient() as browser:
        response = await browser.get(address)
        while not (there := response.headers.get("location", "")).startswith(until):
            assert there, f"{response.status_code} at {response.url}: {response.text[:300]}"
            response = await browser.get(there)
    return str(there)
