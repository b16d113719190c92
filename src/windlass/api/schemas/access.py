"""Tokens, sessions, and what a browser needs to come in."""

from typing import Annotated

from msgspec import Meta, field

from windlass.api.schemas.base import Request, Response, Time


class LogIn(Request):
    """One of the two."""

    token: Annotated[str, Meta(max_length=1000)] = ""
    key: Annotated[str, Meta(max_length=1000, description="The one-time key of a login URL")] = ""


class SessionOpened(Response):
    half: Annotated[
        str, Meta(description="Goes with every request as `x-windlass-session`; the cookie alone is refused")
    ]
    name: Annotated[str, Meta(description="Of the token that opened the session")]
    scopes: list[str]
    expires_at: Time
    success: bool = True
    message: str = "Signed in"


class SessionState(Response):
    """`name` and what follows only when signed in; all of it is null where the server runs without a token."""

    signed_in: bool
    auth: Annotated[bool, Meta(description="Whether this server asks for a token at all")]
    name: str | None = None
    scopes: list[str] = field(default_factory=list)
    expires_at: Time | None = None
    confirmed_until: Annotated[
        Time | None, Meta(description="Until then, what needs a fresh confirmation does not ask for one")
    ] = None
    success: bool = True


class LoginUrl(Response):
    url: Annotated[str, Meta(description="Opens the page and logs in, once")]
    success: bool = True


class NewToken(Response):
    token: str
    success: bool = True
    message: str = "The old token and its sessions are void"
