"""Windlass inside another web app: it starts with the app, and the app's own functions are tools.

uvicorn embed:app --app-dir examples
curl -d "/stock item=rope" http://127.0.0.1:8000/ask
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from windlass import Windlass, tool

STOCK = {"rope": 12, "pawl": 3}


@tool(read_only=True)
def stock(item: str) -> int:
    """How many of an item are on the shelf."""
    return STOCK.get(item, 0)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Windlass]]:
    async with Windlass(functions=[stock]) as windlass:
        yield {"windlass": windlass}


async def ask(request: Request) -> JSONResponse:
    turn = await request.state.windlass.ask((await request.body()).decode())
    return JSONResponse({"outcome": turn.outcome, "answer": turn.answer, "calls": [call.name for call in turn.calls]})


app = Starlette(routes=[Route("/ask", ask, methods=["POST"])], lifespan=lifespan)
