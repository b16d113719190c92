"""`windlass mcp`: what a desktop program starts to use Windlass as an MCP server. Standard output is the protocol's."""

from dataclasses import replace
from typing import Annotated

import typer

from windlass.cli.local_server import find_server
from windlass.cli.options import options_of
from windlass.cli.session import opened
from windlass.client.mcp import serve_stdio


def mcp(
    ctx: typer.Context,
    server: Annotated[str, typer.Option(help="Offer the tools of this server alone.")] = "",
    url: Annotated[str, typer.Option(help="A running Windlass; default: the one of the data folder.")] = "",
    token: Annotated[str, typer.Option(help="Its token. WINDLASS_TOKEN hides it better from other users.")] = "",
) -> None:
    """Serve MCP on standard input and output, for Claude Desktop, Cursor and others. Passes everything to the running
    Windlass; without one, works in process, where nobody sees the page."""
    if url:
        ctx.obj = replace(options_of(ctx), url=url)
    with opened(ctx) as session:
        known = find_server(options_of(ctx), session.config)[1] if session.url else ""
        session.run(serve_stdio(session.w, session.url, token or known, server))
