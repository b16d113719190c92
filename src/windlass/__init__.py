"""Windlass: a durable chat loop between language models and MCP tools."""
