"""Windlass as an MCP server: the protocol around `services/gateway.py`. All but this file imports the SDK, which takes
half a second, so it is loaded late: `windlass.gateway.protocol` by the HTTP server, `windlass.gateway.bridge` by the
command line."""
