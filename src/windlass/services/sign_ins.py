"""Signing in to servers, and out: the flow between a person's browser, the authorization server and the vault."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.core.errors import BadInput, NotFound, Unavailable, WindlassError
from windlass.core.values import value_object
from windlass.servers import AuthorizationAnswer, Credentials, Servers
from windlass.services.servers import McpServers
from windlass.store.vault import PREFIX, Vault

FLOW_S = 600.0  # a person has so long to sign in
OPEN_S = 90.0  # and the authorization server to say where
EXCHANGE_S = 60.0
_SECRET = ("access_token", "refresh_token")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class VaultCredentials:
    """Tokens stand in slots of their own, so that they are redacted like any other secret; the rest is one more."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def get(self, server_id: str) -> Credentials | None:
        kept = self._vault.reveal(f"{PREFIX}{server_id}/oauth/record")
        if not kept:
            return None
        fields = json.loads(kept)
        fields |= {name: self._vault.reveal(f"{PREFIX}{server_id}/oauth/{name}") for name in _SECRET}
        if secret := self._vault.reveal(f"{PREFIX}{server_id}/oauth/client_secret"):
            fields["client"]["client_secret"] = secret
        return Credentials(**fields)

    def put(self, server_id: str, credentials: Credentials) -> None:
        fields = {**asdict(replace(credentials, client={})), "client": dict(credentials.client)}
        secret = fields["client"].pop("client_secret", None)
        slots = {name: fields.pop(name) for name in _SECRET}
        slots |= {"client_secret": secret or "", "record": json.dumps(fields)}
        self._vault.put_all({f"{server_id}/oauth/{name}": value for name, value in slots.items()})

    def delete(self, server_id: str) -> None:
        self._vault.drop(f"{server_id}/oauth/")


@value_object
class OpenSignIn:
    """One flow: the address is known, the answer of the authorization server is not."""

    server_id: str
    answer: "asyncio.Future[AuthorizationAnswer]"
    task: "asyncio.Task[None]"
    due: float


class SignIns:
    """Flows are in memory alone: after a restart a person begins again."""

    def __init__(self, servers: Servers, kept: McpServers) -> None:
        self._servers = servers
        self._kept = kept
        self._open: dict[str, OpenSignIn] = {}  # by `state`, which only the browser that was sent there knows

    @serves(routes.servers.login)
    async def login(self, server: str, request: schemas.ServerLogin) -> schemas.ServerLoginBegun:
        """The flow goes on in a task of its own; `finish_login` ends it, or ten minutes do."""
        config = self._servers.config(server)
        if not request.redirect_uri:
            raise BadInput("redirect_uri: say where the browser should come back to.", detail={"field": "redirect_uri"})
        self._cancel(config.id)
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        answer: asyncio.Future[AuthorizationAnswer] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._flow(config.id, request.redirect_uri, address, answer))
        waited: set[asyncio.Future[Any]] = {task, address}
        await asyncio.wait(waited, timeout=OPEN_S, return_when=asyncio.FIRST_COMPLETED)
        if not address.done():
            task.cancel()
            await asyncio.wait({task})
            raise _failure(task) or Unavailable(f"{urlsplit(config.url).hostname} did not answer in time.")
        due = time.time() + FLOW_S
        self._open[_state_in(address.result())] = OpenSignIn(config.id, answer, task, due)
        return schemas.ServerLoginBegun(address.result())

    @serves(routes.servers.finish_login)
    async def finish_login(self, answer: schemas.ServerLoginAnswer) -> schemas.ServerAnswer:
        """`state` is good for one answer; who knows it needs nothing else."""
        flow = self._open.pop(answer.state, None) if answer.state else None
        if flow is None or flow.due < time.time() or flow.task.done():
            raise NotFound("This sign-in is over, or was never begun.", hint="Begin it again: Servers, Sign in.")
        if answer.error or not answer.code:
            flow.task.cancel()
            said = answer.error_description or answer.error or "no code came back"
            raise Unavailable(f"The sign-in was refused: {said[:300]}", hint="Begin it again: Servers, Sign in.")
        flow.answer.set_result(AuthorizationAnswer(answer.code, answer.state, answer.iss or None))
        await asyncio.wait({flow.task}, timeout=EXCHANGE_S)
        if not flow.task.done():
            flow.task.cancel()
            raise Unavailable("The authorization server did not answer in time.")
        if failure := _failure(flow.task):
            raise failure
        return await self._kept.start(flow.server_id)

    @serves(routes.servers.logout)
    async def logout(self, server: str) -> schemas.ServerAnswer:
        config = self._servers.config(server)
        self._cancel(config.id)
        await self._servers.sign_out(config.id)
        return await self._kept.get(config.id)

    async def aclose(self) -> None:
        tasks = {flow.task for flow in self._open.values() if not flow.task.done()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _flow(
        self,
        server_id: str,
        redirect_uri: str,
        address: "asyncio.Future[str]",
        answer: "asyncio.Future[AuthorizationAnswer]",
    ) -> None:
        async def ask(where: str) -> AuthorizationAnswer:
            address.set_result(where)
            return await answer

        try:
            async with asyncio.timeout(FLOW_S):
                await self._servers.sign_in(server_id, redirect_uri, ask)
        except TimeoutError:
            raise Unavailable("Nobody signed in within ten minutes.") from None

    def _cancel(self, server_id: str) -> None:
        """A second try ends the first: one browser at a time."""
        now = time.time()
        for state, flow in list(self._open.items()):
            if flow.server_id == server_id or flow.due < now:
                flow.task.cancel()
                del self._open[state]


def is_own_callback(redirect_uri: str) -> bool:
    """A program on this machine that waits for the browser, such as the command line. No other address may be named:
    codes would go there."""
    parts = urlsplit(redirect_uri)
    return parts.scheme == "http" and parts.hostname in _LOOPBACK and parts.username is None


def _state_in(address: str) -> str:
    found: Mapping[str, list[str]] = parse_qs(urlsplit(address).query)
    return found.get("state", [""])[0]


def _failure(task: "asyncio.Task[None]") -> WindlassError | None:
    if task.cancelled():
        return None
    error = task.exception()
    if error is None or isinstance(error, WindlassError):
        return error
    raise error
