"""A server that keeps what it is sent and answers nothing useful."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass(slots=True)
class Recorder:
    port: int = 0
    heads: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, request: web.Request) -> web.Response:
        self.heads.append(f"{request.method} {request.path_qs} {dict(request.headers)}")
        return web.json_response({"data": []}, status=404)


@asynccontextmanager
async def recorder() -> AsyncIterator[Recorder]:
    made, app = Recorder(), web.Application()
    app.router.add_route("*", "/{path:.*}", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        made.port = runner.addresses[0][1]
        yield made
    finally:
        await runner.cleanup()
