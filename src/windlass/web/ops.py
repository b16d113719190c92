"""What `ops_port` answers, without a token: liveness, readiness and counters for probes and scrapers. Nothing else."""

from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from windlass.api.route import Route
from windlass.api.routes import system
from windlass.core.errors import NotFound, WindlassError
from windlass.services import Services
from windlass.web.endpoints import Endpoint, TextEndpoint
from windlass.web.errors import NotAllowed, unforeseen
from windlass.web.http import send_error

OPEN: tuple[Route[..., Any], ...] = (system.health, system.ready, system.metrics)


def build_ops(services: Services) -> ASGIApp:
    endpoints = {route.path: _endpoint(route, services) for route in OPEN}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            endpoint = endpoints.get(scope["path"])
            if endpoint is None:
                raise NotFound(f"This port answers {', '.join(endpoints)} alone.", hint="The rest is on the main port.")
            if scope["method"] not in {"GET", "HEAD"}:
                raise NotAllowed("Only GET is possible here.", detail={"allow": ["GET", "HEAD"]})
            scope["path_params"] = {}
            await endpoint.answer(scope, receive, send)
        except WindlassError as error:
            await send_error(send, error)
        except Exception as error:  # the HTTP edge: whatever it is, the caller gets an answer
            await send_error(send, unforeseen(error))

    return answer


def _endpoint(route: Route[..., Any], services: Services) -> Endpoint:
    kind = TextEndpoint if route.kind == "text" else Endpoint
    return kind(route, services.method(route), 0)
