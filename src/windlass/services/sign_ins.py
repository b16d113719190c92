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
from windlass.servers import AuthorizationAnswer, Servers, SignInAttempt, SignInCredentials
from windlass.services.scope_text import clean_line, scope_text
from windlass.services.servers import McpServers
from windlass.store.vault import PREFIX, Vault

FLOW_S = 600.0  # a person has so long to sign in
OPEN_S = 90.0  # and the authorization server to say where
EXCHANGE_S = 60.0
AGAIN = "Begin it again: Servers, Sign in, or `windlass servers login NAME`."
_SECRET = ("access_token", "refresh_token")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class VaultCredentials:
    """Tokens stand in slots of their own, so that they are redacted like any other secret; the rest is one more."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def get(self, server_id: str) -> SignInCredentials | None:
        kept = self._vault.reveal(f"{PREFIX}{server_id}/oauth/record")
        if not kept:
            return None
        fields = json.loads(kept)
        fields |= {name: self._vault.reveal(f"{PREFIX}{server_id}/oauth/{name}") for name in _SECRET}
        if secret := self._vault.reveal(f"{PREFIX}{server_id}/oauth/client_secret"):
            fields["client"]["client_secret"] = secret
        return SignInCredentials(**fields)

    def put(self, server_id: str, credentials: SignInCredentials) -> None:
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
    host: str
    answer: "asyncio.Future[AuthorizationAnswer]"
    task: "asyncio.Task[None]"
    due: float


class SignIns:
    """Flows are in memory alone: after a restart a person begins again."""

    def __init__(self, servers: Servers, kept: McpServers) -> None:
        self._servers = servers
        self._kept = kept
        self._open: dict[str, OpenSignIn] = {}  # by `state`, which only the browser that was sent there knows
        self._flows: dict[str, asyncio.Task[None]] = {}  # the newest of each server, from its first moment on

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
        self._flows[config.id] = task
        task.add_done_callback(lambda done: self._forget(config.id, done))
        waited: set[asyncio.Future[Any]] = {task, address}
        try:
            await asyncio.wait(waited, timeout=OPEN_S, return_when=asyncio.FIRST_COMPLETED)
        finally:  # also when the caller has gone: nobody else learns the address
            if not address.done():
                task.cancel()
        if not address.done():
            await asyncio.wait({task})
            raise _failure(task) or Unavailable(f"{urlsplit(config.url).hostname} did not answer in time.")
        attempt = SignInAttempt.at(address.result())
        flow = OpenSignIn(config.id, attempt.host, answer, task, time.time() + FLOW_S)
        self._open[_state_in(address.result())] = flow
        scopes = [schemas.SignInScope(name, scope_text(name)) for name in attempt.scopes]
        return schemas.ServerLoginBegun(address.result(), attempt.host, scopes)

    @serves(routes.servers.finish_login)
    async def finish_login(self, answer: schemas.ServerLoginAnswer) -> schemas.ServerAnswer:
        """`state` is good for one answer; who knows it needs nothing else."""
        flow = self._open.pop(answer.state, None) if answer.state else None
        if flow is None or flow.due < time.time() or flow.task.done():
            raise NotFound("This sign-in is over, or was never begun.", hint=AGAIN)
        if answer.error or not answer.code:
            flow.answer.set_exception(_refused(flow.host, answer))
        else:
            flow.answer.set_result(AuthorizationAnswer(answer.code, answer.state, answer.iss or None))
        await asyncio.wait({flow.task}, timeout=EXCHANGE_S)
        if not flow.task.done():
            flow.task.cancel()
            raise Unavailable(f"{flow.host} did not answer in time. Nothing was saved.", hint=AGAIN)
        if failure := _failure(flow.task):
            raise failure
        if flow.task.cancelled():
            raise NotFound("This sign-in was cancelled. Nothing was saved.", hint=AGAIN)
        return await self._kept.start(flow.server_id)

    @serves(routes.servers.cancel_login)
    async def cancel_login(self, server: str) -> schemas.ServerAnswer:
        config = self._servers.config(server)
        self._cancel(config.id)
        return await self._kept.get(config.id)

    @serves(routes.servers.logout)
    async def logout(self, server: str) -> schemas.ServerAnswer:
        config = self._servers.config(server)
        self._cancel(config.id)
        await self._servers.sign_out(config.id)
        return await self._kept.get(config.id)

    async def aclose(self) -> None:
        tasks = set(self._flows.values())
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
        if task := self._flows.get(server_id):
            task.cancel()

    def _forget(self, server_id: str, task: "asyncio.Task[None]") -> None:
        if not task.cancelled():
            task.exception()  # whoever asked may be gone; without this look asyncio logs an error nobody retrieved
        if self._flows.get(server_id) is task:
            del self._flows[server_id]
        self._open = {state: flow for state, flow in self._open.items() if flow.task is not task}


def _refused(host: str, answer: schemas.ServerLoginAnswer) -> Unavailable:
    why = clean_line(answer.error or "no code came back")
    more = f" ({clean_line(answer.error_description)})" if answer.error_description else ""
    return Unavailable(f"{host} refused: {why}{more}. Nothing was saved.", hint=AGAIN, code="sign_in_refused")


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
