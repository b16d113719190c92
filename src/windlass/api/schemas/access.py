"""Tokens, sessions, and what a browser needs to come in."""

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from windlass.api.schemas.base import Request, Response, Time

Scope = Literal["ops", "read", "chat", "approve", "admin"]


class LogIn(Request):
    """One of the two."""

    token: Annotated[str, Meta(max_length=1000)] = ""
    key: Annotated[str, Meta(max_length=1000, description="The one-time key of a login URL")] = ""


class SessionOpened(Response):
    half: Annotated[
        str, Meta(description="Goes with every request as `x-windlass-session`; the cookie alone is refused")
    ]
    name: Annotated[str, Meta(description="Of the token that opened the session")]
    scopes: list[Scope]
    expires_at: Time
    success: bool = True
    message: str = "Signed in"


class SessionState(Response):
    """`name` and what follows only when signed in; all of it is null where the server runs without a token."""

    signed_in: bool
    auth: Annotated[bool, Meta(description="Whether this server asks for a token at all")]
    name: str | None = None
    scopes: list[Scope] = field(default_factory=list)
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


class ConfirmSession(Request):
    """One of the three."""

    token: Annotated[str, Meta(max_length=1000)] = ""
    key: Annotated[str, Meta(max_length=1000, description="The one-time key of a fresh login URL")] = ""
    code: Annotated[str, Meta(max_length=20, description="The digits that `windlass serve` prints")] = ""


class SessionInfo(Response):
    id: str
    name: Annotated[str, Meta(description="Of the token that opened it")]
    scopes: list[Scope]
    browser: Annotated[str, Meta(description="What the browser calls itself, shortened", examples=["Firefox on Linux"])]
    created_at: Time
    last_used_at: Annotated[Time, Meta(description="To the minute")]
    expires_at: Time
    current: Annotated[bool, Meta(description="Whether this request comes from it")]


class SessionList(Response):
    sessions: list[SessionInfo]
    count: int
    success: bool = True


class TokenRequest(Request):
    name: Annotated[str, Meta(max_length=60, pattern=r"^\S([^\x00-\x1f\x7f]*\S)?$", examples=["phone"])]
    scopes: Annotated[
        list[Scope],
        Meta(
            min_length=1,
            max_length=5,
            description="`chat` and `approve` include `read`; `admin` includes all",
            examples=[["chat", "approve"]],
        ),
    ]
    expires_at: Time | None = None


class TokenInfo(Response):
    id: str
    name: str
    scopes: list[Scope]
    created_at: Time | None
    last_used_at: Annotated[Time | None, Meta(description="To the minute")]
    expires_at: Time | None
    sessions: Annotated[int, Meta(description="How many browsers are signed in with it")]
    from_config: Annotated[bool, Meta(description="The token of the data folder or of WINDLASS_TOKEN")] = False


class TokenList(Response):
    tokens: list[TokenInfo]
    count: int
    success: bool = True


class TokenMade(Response):
    token: TokenInfo
    secret: Annotated[str, Meta(description="Shown this once", examples=["wl_…"])]
    success: bool = True
    message: str = "Keep the secret: it is shown this once"


class NewLink(Request):
    path: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=2000,
            pattern=r"^/[^/]",
            description="What to read, with its query",
            examples=["/conversations/conv-1/export?format=markdown"],
        ),
    ]


class LinkMade(Response):
    url: Annotated[str, Meta(description="On this server; good for one GET", examples=["/l/…"])]
    expires_at: Time
    success: bool = True


Linked = Annotated[Any, Meta(description="What the path of the link gives, to be saved or shown in a sandbox")]
