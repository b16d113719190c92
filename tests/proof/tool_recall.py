"""How well `tools_search` finds real tools: starts servers that others wrote, asks it the questions of
`tool_questions.json`, and prints recall@1, recall@5 and what was missed. The servers are not installed here:

    python -m tests.proof.tool_recall --node FOLDER --python FOLDER [--lists FILE] [--set held-out] [--misses]

FOLDER/node_modules/.bin and FOLDER/*/bin hold their commands, as npm and venvs put them there; a server that is not
there is left out, and so are its questions. With --lists the tool lists are read from the file, or kept there."""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

from windlass.core.values import value_object
from windlass.servers import ServerConfig, ToolDefinition
from windlass.toolbox.offers import Offer, offered_names
from windlass.toolbox.offers import _offer as prepared
from windlass.toolbox.tool_list import tokens_of
from windlass.toolbox.tool_search import SearchEntry, ranked, stems

QUESTIONS = Path(__file__).with_name("tool_questions.json")
START_S = 45
KEY = "0123456789abcdef0123456789abcdef"  # servers want one before they list anything; none is called
SERVERS: dict[str, tuple[list[str], dict[str, str]]] = {
    "files": (["mcp-server-filesystem", "/tmp"], {}),
    "memory": (["mcp-server-memory"], {}),
    "github": (["mcp-server-github"], {"GITHUB_PERSONAL_ACCESS_TOKEN": KEY}),
    "gitlab": (["mcp-server-gitlab"], {"GITLAB_PERSONAL_ACCESS_TOKEN": KEY}),
    "slack": (["mcp-server-slack"], {"SLACK_BOT_TOKEN": f"xoxb-{KEY}", "SLACK_TEAM_ID": "T01234567"}),
    "maps": (["mcp-server-google-maps"], {"GOOGLE_MAPS_API_KEY": KEY}),
    "browser": (["playwright-mcp", "--headless", "--caps", "vision,pdf"], {}),
    "devtools": (["chrome-devtools-mcp", "--headless"], {}),
    "notion": (["notion-mcp-server"], {"NOTION_TOKEN": f"ntn_{KEY}"}),
    "firecrawl": (["firecrawl-mcp"], {"FIRECRAWL_API_KEY": f"fc-{KEY}"}),
    "sentry": (["sentry-mcp", f"--access-token={KEY}"], {"SENTRY_ACCESS_TOKEN": KEY}),
    "kubernetes": (["mcp-server-kubernetes"], {}),
    "supabase": (["mcp-server-supabase", "--access-token", f"sbp_{KEY}"], {}),
    "heroku": (["heroku-mcp-server"], {"HEROKU_API_KEY": KEY}),
    "mongodb": (["mongodb-mcp-server", "--connectionString", "mongodb://127.0.0.1:1/x"], {}),
    "circleci": (["mcp-server-circleci"], {"CIRCLECI_TOKEN": KEY}),
    "airtable": (["airtable-mcp-server"], {"AIRTABLE_API_KEY": f"pat123.{KEY}"}),
    "gmail": (["gmail-mcp"], {}),
    "hubspot": (["mcp-hubspot"], {"PRIVATE_APP_ACCESS_TOKEN": f"pat-{KEY}"}),
    "figma": (["figma-developer-mcp", "--stdio", f"--figma-api-key={KEY}"], {}),
    "calendar": (["google-calendar-mcp"], {}),
    "elastic": (["mcp-server-elasticsearch"], {"ES_URL": "http://127.0.0.1:1", "ES_API_KEY": KEY}),
    "tavily": (["tavily-mcp"], {"TAVILY_API_KEY": f"tvly-{KEY}"}),
    "context7": (["context7-mcp"], {}),
    "everything": (["mcp-server-everything"], {}),
    "linear": (["mcp-linear", "--token", KEY], {"LINEAR_API_TOKEN": KEY}),
    "git": (["mcp-server-git"], {}),
    "time": (["mcp-server-time", "--local-timezone", "UTC"], {}),
    "fetch": (["mcp-server-fetch"], {}),
    "sqlite": (["mcp-server-sqlite", "--db-path", "/tmp/recall.sqlite"], {}),
    "atlassian": (
        ["mcp-atlassian"],
        {
            **{"JIRA_URL": "http://127.0.0.1:1", "JIRA_USERNAME": "a@example.com", "JIRA_API_TOKEN": KEY},
            **{"CONFLUENCE_URL": "http://127.0.0.1:1", "CONFLUENCE_USERNAME": "a@example.com"},
            **{"CONFLUENCE_API_TOKEN": KEY},
        },
    ),
    "excel": (["excel-mcp-server", "stdio"], {}),
    "word": (["word_mcp_server"], {}),
    "slides": (["ppt_mcp_server"], {}),
    "redis": (["redis-mcp-server", "--url", "redis://127.0.0.1:1/0"], {}),
    "google": (
        ["workspace-mcp", "--single-user"],
        {"GOOGLE_OAUTH_CLIENT_ID": "x.apps.googleusercontent.com", "GOOGLE_OAUTH_CLIENT_SECRET": KEY},
    ),
    "arxiv": (["arxiv-mcp-server"], {}),
    "markitdown": (["markitdown-mcp"], {}),
    "duckduckgo": (["duckduckgo-mcp-server"], {}),
    "dynamodb": (["awslabs.dynamodb-mcp-server"], {"AWS_REGION": "eu-west-1"}),
}


async def main() -> None:
    options = _options()
    lists = json.loads(options.lists.read_text()) if options.lists and options.lists.exists() else {}
    if not lists:
        lists = await _lists(options.node, options.python)
        if options.lists:
            options.lists.write_text(json.dumps(lists))
    began = time.perf_counter()
    offers = [offer for slug, tools in lists.items() for offer in _offers(slug, tools)]
    took = time.perf_counter() - began
    names = offered_names([offer.key for offer in offers])
    entries = [SearchEntry(names[one.key], one.terms, frozenset(stems(one.server.slug))) for one in offers]
    specs = [one.spec(names[one.key], "") for one in offers]
    print(f"{len(entries)} tools of {len(lists)} servers, about {tokens_of(specs):,} tokens; prepared in {took:.2f} s")
    for part in [options.set] if options.set else ["development", "held-out"]:
        for form in ("task", "query"):
            _measure(part, form, entries, names, options.misses)


def _measure(
    part: str, form: str, entries: Sequence[SearchEntry], names: dict[tuple[str, str], str], misses: bool
) -> None:
    ranks: list[int] = []
    began = time.perf_counter()
    for question in _questions(part, names):
        asked = question.task if form == "task" else question.query
        found = [name for name, _ in ranked(asked, entries)]
        rank = min((found.index(name) + 1 for name in question.tools if name in found), default=0)
        ranks.append(rank)
        if misses and not 0 < rank <= 5:
            print(f"  {rank or '-':>3}  {asked}  [{' or '.join(question.tools)}]  {', '.join(found[:5])}")
    each = (time.perf_counter() - began) / max(1, len(ranks)) * 1000
    at = {top: sum(0 < rank <= top for rank in ranks) / max(1, len(ranks)) for top in (1, 3, 5, 10, 15)}
    recalls = ", ".join(f"@{top} {share:.1%}" for top, share in at.items())
    print(f"{part}, the {form}: {len(ranks)} questions, recall {recalls}; {each:.1f} ms a search")


@value_object
class Question:
    """`task` is what a person says, `query` what a model may search for after reading it; `tools` do the job."""

    task: str
    query: str
    tools: list[str]


def _questions(part: str, names: dict[tuple[str, str], str]) -> Iterator[Question]:
    for row in json.loads(QUESTIONS.read_text())[part]:
        keys = [(slug, tool) for slug, _, tool in (one.partition(".") for one in row["tools"])]
        if tools := [names[key] for key in keys if key in names]:
            yield Question(row["task"], row["query"], tools)


def _offers(slug: str, tools: list[dict[str, Any]]) -> Iterator[Offer]:
    config = ServerConfig(f"server-{slug}", slug, slug)
    for tool in tools:
        offer = prepared(config, ToolDefinition(tool["name"], "", tool.get("description", ""), tool.get("inputSchema")))
        if not offer.problem:
            yield offer


async def _lists(node: Path, python: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for slug, (argv, env) in SERVERS.items():
        program = next(filter(Path.exists, _places(argv[0], node, python)), None)
        if program is None:
            print(f"{slug}: {argv[0]} is not installed")
            continue
        try:
            async with asyncio.timeout(START_S):
                found[slug] = await _list([str(program), *argv[1:]], env)
            print(f"{slug}: {len(found[slug])} tools", flush=True)
        except Exception as error:  # another's program may fail in any way; the others are measured
            print(f"{slug}: did not start: {type(error).__name__} {str(error)[:100]}", flush=True)
    return found


def _places(command: str, node: Path, python: Path) -> Iterator[Path]:
    yield node / "node_modules" / ".bin" / command
    yield from (folder / "bin" / command for folder in sorted(python.iterdir()) if folder.is_dir())


async def _list(argv: list[str], env: dict[str, str]) -> list[dict[str, Any]]:
    parameters = StdioServerParameters(command=argv[0], args=argv[1:], env={**os.environ, **env})
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(parameters, errlog=nowhere)) as client:
            tools: list[dict[str, Any]] = []
            cursor: str | None = None
            while True:
                page = await client.list_tools(cursor=cursor)
                tools += [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools]
                cursor = page.next_cursor
                if not cursor:
                    return tools


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--node", type=Path, default=Path("."), help="with node_modules/.bin")
    parser.add_argument("--python", type=Path, default=Path("."), help="with venvs")
    parser.add_argument("--lists", type=Path, help="keep the tool lists here, or read them")
    parser.add_argument("--set", choices=["development", "held-out"])
    parser.add_argument("--misses", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
