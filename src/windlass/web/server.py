"""The ASGI app: the table's routes, the page, the guard around both."""

from collections.abc import Collection, Mapping
from typing import Any

from starlette.routing import Route as StarletteRoute
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from windlass.api import routes
from windlass.api.route import BODY, IMPORT, Route
from windlass.api.routes import ROUTES
from windlass.core.errors import BadInput, NotFound
from windlass.services import Services
from windlass.web.auth import Access
from windlass.web.endpoints import (
    ChatEndpoint,
    Endpoint,
    EventsEndpoint,
    ExportEndpoint,
    Path,
    TextEndpoint,
)
from windlass.web.gateway import GatewayEndpoint, GatewayHost
from windlass.web.guard import Rates, RequestGuard
from windlass.web.http import send_error, send_json
from windlass.web.links import LinkEndpoint, Links
from windlass.web.openai_compat import CompletionEndpoint, EmbeddingsEndpoint, V1Endpoint
from windlass.web.openapi import openapi
from windlass.web.origin import NOWHERE, Reach, browser_origin
from windlass.web.sessions import SessionEndpoint
from windlass.web.sign_in import CallbackEndpoint, LoginEndpoint
from windlass.web.static import Static
from windlass.web.sudo import Sudo

PLAIN: dict[str, type[Endpoint]] = {  # what needs nothing but the method of its service
    "json": Endpoint,
    "events": EventsEndpoint,
    "export": ExportEndpoint,
    "text": TextEndpoint,
    "v1": V1Endpoint,
}


def build(
    services: Services,
    access: Access,
    *,
    version: str,
    hosts: Collection[str] = (),
    most_body: int = BODY,
    most_import: int = IMPORT,
    requests_min: int | None = None,
    reach: Reach = NOWHERE,
) -> RequestGuard:
    by_path: dict[str, dict[str, Endpoint]] = {}
    sudo, links = Sudo(services), Links()
    mcp = GatewayHost(services.gateway, most_body)
    for route in ROUTES:
        most = most_import if route.max_bytes == IMPORT else most_body
        if route.kind == "mcp":
            endpoint: Endpoint = GatewayEndpoint(route, mcp, most)
        else:
            endpoint = _endpoint(route, services, access, links, version, most)
        endpoint.sudo = sudo if route.sudo else None
        by_path.setdefault(route.path, {})[route.method] = endpoint
    page, rates = Static(), Rates(requests_min)
    matched = [
        StarletteRoute(_pattern(path), Path(methods, access, rates)) for path, methods in _literal_first(by_path)
    ]
    matched += [StarletteRoute(path, page) for path in ("/", "/ui", "/ui/{rest:path}", "/docs", "/docs/{file}")]
    router = links.router = Router(matched, redirect_slashes=False, default=_not_found)
    return RequestGuard(router, hosts, version, reach=reach, any_port=not access.open_to_all)


def check_base(base: str) -> None:
    """Below a path of its own, Windlass could not tell whether a proxy has taken it off."""
    first = base.split("/", 2)[1] if base else ""
    if first in {"ui", "docs", *(route.path.split("/", 2)[1] for route in ROUTES)}:
        raise BadInput(
            f"public_url: the path /{first} is one of Windlass's own.", hint="Choose another, such as /windlass."
        )


def _endpoint(
    route: Route[..., Any], services: Services, access: Access, links: Links, version: str, most: int
) -> Endpoint:
    match route.kind:
        case "access":
            return SessionEndpoint(route, access, services.audit, most)
        case "link":
            return LinkEndpoint(route, links, most)
        case "login":
            return LoginEndpoint(route, services.method(route), most)
        case "callback":
            return CallbackEndpoint(route, services.sign_ins.finish_login, most)
        case "description":
            return DescriptionEndpoint(route, Description(version).read, most)
        case "v1" if route is routes.v1.begin:
            return CompletionEndpoint(route, services.v1, most)
        case "v1" if route is routes.v1.embeddings:
            return EmbeddingsEndpoint(route, services.v1, most)
        case "chat":
            return ChatEndpoint(route, services.method(route), services.turns.chat_watched, most)
        case kind:
            return PLAIN[kind](route, services.method(route), most)


class DescriptionEndpoint(Endpoint):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        described: dict[str, Any] = await self.verb()
        if base := browser_origin(scope).base:
            described = {**described, "servers": [{"url": base}]}
        await send_json(send, self.route.status, described)


class Description:
    """`/openapi.json`, made when it is first asked for."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._made: dict[str, Any] | None = None

    async def read(self) -> dict[str, Any]:
        if self._made is None:
            self._made = openapi(ROUTES, self._version)
        return self._made


def _literal_first(by_path: Mapping[str, dict[str, Endpoint]]) -> list[tuple[str, dict[str, Endpoint]]]:
    """`/conversations/search` is no conversation's id. Else the table's order holds, the busiest routes first."""
    return sorted(by_path.items(), key=lambda item: "{" in item[0].rpartition("/")[2])


def _pattern(path: str) -> str:
    """Ids of models may hold slashes."""
    return path.replace("{model}", "{model:path}")


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    path = scope["path"]
    await send_error(send, NotFound(f"No route matches {path[:200]}.", hint="See /docs."), path)
