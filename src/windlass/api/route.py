"""A route as a typed value: what it takes and what it gives, for the type checker on both sides of the wire."""

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypedDict, TypeVar, Unpack, overload

Kind = Literal[
    "json", "chat", "events", "export", "text", "access", "link", "v1", "description", "login", "callback", "mcp"
]
AccessScope = Literal["any", "ops", "read", "chat", "approve", "admin"]
BODY = 4 * 1024 * 1024
IMPORT = 20 * 1024 * 1024

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, R]]


class RouteOptions(TypedDict, total=False):
    response_schema: object  # the schema of what comes out, where no class says it
    request_schema: object  # the schema of what goes in, likewise
    status: int
    kind: Kind
    public: bool  # needs no token
    scope: AccessScope  # what a token must have; `read` for GET and `admin` for all else where nothing is said
    sudo: Literal["always", "depends"]  # a browser confirms it again; what it depends on stands in web/sudo.py
    audit: str  # what `/audit` calls it, as `kind.action`; "" for what changes nothing that others should know of
    max_bytes: int  # bytes of the body
    match_first: bool  # matched before the others
    wrapped: str  # the body may also stand under this one name
    operation: str  # the operation's id where it is not the row's name: ids stay, clients are made from them


class Route(Generic[P, R]):
    """`P` is what the route's method takes, `R` what it gives. Its group and name are the class and the attribute of
    the table that hold it."""

    group: str
    name: str

    def __init__(
        self, method: str, path: str, summary: str, gives: object, takes: object, options: RouteOptions
    ) -> None:
        self.method = method
        self.path = path
        self.summary = summary
        self.gives = options.get("response_schema", gives)
        takes = options.get("request_schema", takes)
        self.query = takes if method in ("GET", "DELETE") else None
        self.takes = None if self.query else takes
        self.status = options.get("status", 200)
        self.kind = options.get("kind", "json")
        self.public = options.get("public", False)
        self.scope: AccessScope = options.get("scope", "read" if method == "GET" else "admin")
        self.sudo = options.get("sudo")
        self._audit = options.get("audit")
        self.max_bytes = options.get("max_bytes", BODY)
        self.match_first = options.get("match_first", False)
        self.wrapped = options.get("wrapped", "")
        self.operation = options.get("operation", "")

    def __set_name__(self, owner: type, name: str) -> None:
        self.group, self.name = owner.__name__, name
        self.operation = self.operation or f"{self.group}_{self.name}"

    @property
    def audit(self) -> str:
        """Whoever may approve or administer leaves an entry with every change, unless the row says that none is due."""
        changes = self.method != "GET" and self.scope in ("approve", "admin")
        return (f"{self.group}.{self.name}" if changes else "") if self._audit is None else self._audit

    def __repr__(self) -> str:
        return f"{self.method} {self.path}"


@overload
def row(method: str, path: str, summary: str, gives: type[R], /, **options: Unpack[RouteOptions]) -> Route[[], R]: ...
@overload
def row(
    method: str, path: str, summary: str, gives: type[R], a: type[A], /, **options: Unpack[RouteOptions]
) -> Route[[A], R]: ...
@overload
def row(
    method: str, path: str, summary: str, gives: type[R], a: type[A], b: type[B], /, **options: Unpack[RouteOptions]
) -> Route[[A, B], R]: ...
@overload
def row(
    method: str,
    path: str,
    summary: str,
    gives: type[R],
    a: type[A],
    b: type[B],
    c: type[C],
    /,
    **options: Unpack[RouteOptions],
) -> Route[[A, B, C], R]: ...
def row(
    method: str, path: str, summary: str, gives: type, /, *takes: type, **options: Unpack[RouteOptions]
) -> Route[..., Any]:
    """`takes` is a `str` for each `{name}` of the path, in order, and last the query (GET, DELETE) or the body."""
    rest = takes[path.count("{") :]
    return Route(method, path, summary, gives, rest[0] if rest else None, options)


def serves(route: Route[P, R]) -> Callable[[Method[S, P, R]], Method[S, P, R]]:
    """Marks the method of a service that answers a route. Both have the same types, or the type checker objects."""

    def mark(method: Method[S, P, R]) -> Method[S, P, R]:
        method.routes = (*getattr(method, "routes", ()), route)  # type: ignore[attr-defined]
        return method

    return mark
