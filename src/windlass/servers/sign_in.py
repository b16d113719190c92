"""Signing in to a remote server: what is kept of a sign-in, and the token that its requests carry.

A refresh token is good for one use, and a provider that sees it twice may revoke the whole grant. So a server has one
`SignIn`, which renews in one task however many requests need it; that task outlives a request that was cancelled."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, Protocol, cast
from urllib.parse import parse_qs, urlsplit

from windlass.core.errors import Unavailable
from windlass.core.values import value_object
from windlass.servers.values import ServerConfig, revealed

_LATE = "windlass.servers.oauth"
LONGEST_LIFE_S = 10 * 365 * 86400  # of a token, whatever its authorization server says
LAST_S = 5.0  # for a renewal, when Windlass stops


class SignInNeeded(Unavailable):
    """Nobody is signed in, or the sign-in has ended. Trying again does not help; a person does."""


class ClientUnknown(SignInNeeded):
    """The authorization server has dropped the client that was registered there: the next sign-in registers anew."""


class AccessRefused(Unavailable):
    """The server refuses the headers it was given. Trying again does not help either."""


@value_object
class Challenge:
    """What a server answered instead of a result: the sign-in it asks for."""

    header: str = ""  # WWW-Authenticate
    scope: str = ""  # that a call needed beyond those of the sign-in


@value_object
class SignInCredentials:
    """What a sign-in gave, with its end and the address that renews it: without those a restart would need a person."""

    url: str  # of the server they are for
    access_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    renew_at: float = 0  # 0 where the end was not told
    expires_at: float = 0
    scope: str = ""
    token_endpoint: str = ""
    resource: str = ""
    # the registration, with its issuer
    client: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    @property
    def is_valid(self) -> bool:
        return bool(self.access_token) and (not self.expires_at or time.time() < self.expires_at)

    @property
    def is_due(self) -> bool:
        return not self.access_token or (bool(self.renew_at) and time.time() >= self.renew_at)


class CredentialStore(Protocol):
    """Where sign-ins are kept, by the server's id. Writing blocks for the disk."""

    def get(self, server_id: str) -> SignInCredentials | None: ...

    def put(self, server_id: str, credentials: SignInCredentials) -> None: ...

    def delete(self, server_id: str) -> None: ...


class CredentialsForNow:
    """For a process that keeps nothing."""

    def __init__(self) -> None:
        self._kept: dict[str, SignInCredentials] = {}

    def get(self, server_id: str) -> SignInCredentials | None:
        return self._kept.get(server_id)

    def put(self, server_id: str, credentials: SignInCredentials) -> None:
        self._kept[server_id] = credentials

    def delete(self, server_id: str) -> None:
        self._kept.pop(server_id, None)


@value_object
class AuthorizationAnswer:
    """What the authorization server sent back with the person's browser."""

    code: str = field(repr=False)
    state: str = field(repr=False)
    issuer: str | None = None


@value_object
class SignInAttempt:
    """A person was sent to sign in. `error` says why that came to nothing; "" while it is waited for."""

    host: str
    scopes: tuple[str, ...] = ()
    error: str = ""

    @classmethod
    def at(cls, address: str) -> "SignInAttempt":
        """What the address shows of where the person goes, and of what is asked for there."""
        parts = urlsplit(address)
        return cls(parts.hostname or "", tuple(" ".join(parse_qs(parts.query).get("scope", [])).split()))


AskPerson = Callable[[str], Awaitable[AuthorizationAnswer]]  # an address to open -> the answer


class SignIn:
    def __init__(self, store: CredentialStore, reveal: Callable[[str], str] = lambda value: value) -> None:
        self.challenge = Challenge()
        self._store = store
        self._reveal = reveal
        self._renewing: asyncio.Task[SignInCredentials | None] | None = None
        self.attempt: SignInAttempt | None = None
        self._sign_outs = 0
        self._writing = threading.Lock()  # in threads: a caller that is cancelled ends no write half way

    async def token(self, config: ServerConfig) -> str:
        """The token to send now; "" while nobody is signed in. Raises `Unavailable` where it should be renewed and the
        authorization server cannot be reached."""
        kept = self._kept(config)
        if kept and not kept.is_due:
            return kept.access_token
        if config.auth != "client_credentials" and not (kept and kept.refresh_token):
            return kept.access_token if kept and kept.is_valid else ""
        try:
            renewed = await self._renewed(config)
        except Unavailable:
            if kept and kept.is_valid:
                return kept.access_token  # due, and still good
            raise
        return renewed.access_token if renewed else ""

    async def token_instead(self, config: ServerConfig, refused: str) -> str:
        """Another token than the one that was refused, though its time was not over; "" where there is none."""
        kept = self._kept(config)
        if kept and kept.access_token and kept.access_token != refused:
            return kept.access_token  # renewed meanwhile
        if config.auth != "client_credentials" and not (kept and kept.refresh_token):
            return ""
        renewed = await self._renewed(config)
        return renewed.access_token if renewed else ""

    async def ended(self, config: ServerConfig, refused: str) -> None:
        """The server takes this token no more, and there is nothing to renew it with."""
        kept = self._kept(config)
        if kept and kept.access_token == refused:
            await self._end(config, kept)

    async def interactive(self, config: ServerConfig, redirect_uri: str, ask: AskPerson) -> None:
        """Let a person sign in. Raises `Unavailable` with the reason."""
        late, known, sign_outs = await _late(), self._kept(config), self._sign_outs

        there = SignInAttempt("")

        async def ask_there(address: str) -> AuthorizationAnswer:
            nonlocal there
            self.attempt = there = SignInAttempt.at(address)
            return await ask(address)

        self.attempt = there
        try:
            made = await late.signed_in(self._revealed(config), known, redirect_uri, self._wanted(config), ask_there)
        except Unavailable as error:
            if isinstance(error, ClientUnknown):
                await self._without_client(config, known)
            self.attempt = replace(there, error=error.message)
            raise
        finally:
            if self.attempt is there:  # not that of a later try, which cancelled this one
                self.attempt = None
        if self._sign_outs != sign_outs:
            raise Unavailable("Somebody signed out meanwhile.", hint="Sign in again.")
        await asyncio.to_thread(self._put, config, made, sign_outs)
        self.challenge = Challenge()

    async def forget(self, config: ServerConfig) -> None:
        """Whatever is under way comes to nothing: it must not bring back what is forgotten."""
        self._sign_outs += 1
        self.attempt = None
        await asyncio.to_thread(self._delete, config)

    async def aclose(self) -> None:
        """A refresh token that was redeemed is used up: what came for it should still be kept."""
        if self._renewing and not self._renewing.done():
            await asyncio.wait({self._renewing}, timeout=LAST_S)
            self._renewing.cancel()

    def is_signed_in(self, config: ServerConfig) -> bool:
        kept = self._kept(config)
        return kept is not None and (kept.is_valid or bool(kept.refresh_token))

    def ends_at(self, config: ServerConfig) -> float:
        """When a person has to sign in again; 0 where it is renewed, or its end was not told."""
        kept = self._kept(config)
        if not (kept and kept.is_valid and not kept.refresh_token):
            return 0
        return min(kept.expires_at, time.time() + LONGEST_LIFE_S)  # kept by a version that believed any number

    def _revealed(self, config: ServerConfig) -> ServerConfig:
        known = revealed(config, self._reveal)
        return replace(config, client_id=known.client_id, client_secret=known.client_secret)

    def _kept(self, config: ServerConfig) -> SignInCredentials | None:
        """A token belongs to the address it was given for."""
        kept = self._store.get(config.id)
        return kept if kept and kept.url == config.url else None

    def _wanted(self, config: ServerConfig) -> Challenge:
        """A call that needed a further scope keeps those that were granted."""
        kept = self._kept(config)
        if not (self.challenge.scope and kept):
            return self.challenge
        scopes = dict.fromkeys([*kept.scope.split(), *self.challenge.scope.split()])
        return Challenge(self.challenge.header, " ".join(scopes))

    async def _renewed(self, config: ServerConfig) -> SignInCredentials | None:
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew(config), name=f"token of {config.slug}")
        return await asyncio.shield(self._renewing)

    async def _renew(self, config: ServerConfig) -> SignInCredentials | None:
        """None where the grant has ended: what renews it is dropped, so that it is never sent again."""
        late, kept = await _late(), self._kept(config)
        try:
            if config.auth == "client_credentials":
                made = await late.signed_in_as_client(self._revealed(config), kept, self._wanted(config))
            else:
                made = await late.renewed(cast(SignInCredentials, kept))
        except ClientUnknown:
            await self._without_client(config, kept)
            return None
        except SignInNeeded:
            await self._end(config, kept)
            return None
        return made if await self._replace(config, kept, made) else self._kept(config)

    async def _without_client(self, config: ServerConfig, kept: SignInCredentials | None) -> None:
        """One that was registered by hand stays, bound to its issuer: its secret goes to no other."""
        if config.client_id:
            await self._end(config, kept)
        else:
            await self._replace(config, kept, None)

    async def _end(self, config: ServerConfig, kept: SignInCredentials | None) -> None:
        """The client stays registered: the next sign-in needs no other."""
        if kept:
            await self._replace(
                config, kept, replace(kept, access_token="", refresh_token="", renew_at=0, expires_at=0)
            )

    async def _replace(
        self, config: ServerConfig, old: SignInCredentials | None, new: SignInCredentials | None
    ) -> bool:
        """Only what is still there: meanwhile a person may have signed in, or out."""
        return await asyncio.to_thread(self._swap, config, old, new)

    def _swap(self, config: ServerConfig, old: SignInCredentials | None, new: SignInCredentials | None) -> bool:
        with self._writing:
            if self._kept(config) != old:
                return False
            if new:
                self._store.put(config.id, new)
            else:
                self._store.delete(config.id)
            return True

    def _put(self, config: ServerConfig, made: SignInCredentials, sign_outs: int) -> None:
        with self._writing:
            if self._sign_outs == sign_outs:
                self._store.put(config.id, made)

    def _delete(self, config: ServerConfig) -> None:
        with self._writing:
            self._store.delete(config.id)


class _Late(Protocol):
    """What is used of `oauth`."""

    async def renewed(self, kept: SignInCredentials) -> SignInCredentials: ...

    async def signed_in(
        self,
        config: ServerConfig,
        kept: SignInCredentials | None,
        redirect_uri: str,
        challenge: Challenge,
        ask: AskPerson,
    ) -> SignInCredentials: ...

    async def signed_in_as_client(
        self, config: ServerConfig, kept: SignInCredentials | None, challenge: Challenge
    ) -> SignInCredentials: ...


async def _late() -> _Late:
    """It imports the `mcp` package, which takes long."""
    return cast(_Late, await asyncio.to_thread(import_module, _LATE))
