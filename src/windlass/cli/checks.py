"""The checks of `windlass doctor`. The first two groups open nothing: data folder, port, programs, settings that cannot
work. The last asks models and servers, since keys, endpoints and commands only show when they are tried."""

import os
import shutil
import socket
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from windlass.api import routes, schemas
from windlass.cli.local_server import PAGE, find_server
from windlass.cli.options import Options
from windlass.cli.session import Connected
from windlass.config import (
    ENVIRONMENT,
    HOW_TO_MAKE_ONE,
    KEYLESS_SEARCH,
    SHORTEST_TOKEN,
    Config,
    ProviderSettings,
    ServerSettings,
)
from windlass.core.errors import WindlassError

Level = Literal["ok", "note", "warn", "bad"]
LEAST_FREE = 200 << 20
START_S = 30.0
SHOWN_MODELS = 10
PRIVATE = ("token", "tokens", "secrets.json", "sessions", "fence.key")


class CheckResult(msgspec.Struct, frozen=True, rename={"message": "told"}):  # `doctor --json` has always said `told`
    about: str
    level: Level
    message: str
    fix: str = ""


def folder_findings(config: Config) -> Iterator[CheckResult]:
    """The data folder and what lies in it."""
    home = config.home
    yield _writable(home)
    if not home.is_dir():
        return
    yield from _readable_by_others(home)
    free = shutil.disk_usage(home).free
    if free < LEAST_FREE:
        yield CheckResult(
            "disk", "bad", f"Only {free >> 20} MiB are free under {home}.", "Free some space, or move WINDLASS_HOME."
        )
    if (home / "windlass.db").exists():
        yield _database(home / "windlass.db")
    url, _ = find_server(Options(), config)
    if (home / "server.json").exists() and not url:
        yield CheckResult(
            "server",
            "warn",
            "server.json names a server that does not answer.",
            "It was killed or crashed; start it again.",
        )
    if url:
        yield CheckResult("server", "ok", f"A server runs at {url}")
    else:
        yield _port(config)
    yield _page()


def settings_findings(config: Config, offline: bool) -> Iterator[CheckResult]:
    """`offline`: no other check will ask the models."""
    if 0 < len(config.token) < SHORTEST_TOKEN:
        yield CheckResult(
            "token", "bad", f"WINDLASS_TOKEN is too short: {SHORTEST_TOKEN} characters are the least.", HOW_TO_MAKE_ONE
        )
    url, _ = find_server(Options(), config)
    if not config.providers and not url:  # a running server has its own settings; live_findings asks it
        yield CheckResult(
            "model",
            "note",
            "No model is configured: a local one is used if found, else the demo model.",
            "Set OPENAI_API_KEY, OPENAI_BASE_URL and LLM_MODEL, or [provider] in windlass.toml.",
        )
    for number, provider in enumerate(config.providers, 1):
        yield from _provider(provider, number, config, offline)
    for slug, server in config.servers.items():
        yield from _server(slug, server, config)
    yield from _search(config)


def live_findings(session: Connected) -> Iterator[CheckResult]:
    if session.url and not session.run(session.w.transport.call(routes.access.state)).auth:
        yield CheckResult(
            "token",
            "warn",
            f"{session.url} needs no token: any local program, tool servers included, can approve calls.",
            "Start it without --no-auth.",
        )
    for provider in session.run(session.w.providers.list()):
        yield from _live_provider(session, provider)
    for server in session.run(session.w.servers.list()):
        yield _live_server(session, server)
    yield from _tool_cost(session)


def _writable(home: Path) -> CheckResult:
    nearest = home  # the folder itself, or the deepest one above it that exists
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        return CheckResult("folder", "bad", f"{nearest} is not a folder.", "Move it away, or set WINDLASS_HOME.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return CheckResult(
            "folder", "bad", f"{nearest} cannot be written to.", "Fix its permissions, or set WINDLASS_HOME."
        )
    return CheckResult("folder", "ok", f"Data is kept in {home}")


def _readable_by_others(home: Path) -> Iterator[CheckResult]:
    for name in PRIVATE:
        path = home / name
        if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO) and os.name == "posix":
            yield CheckResult("secrets", "bad", f"Others on this machine can read {path}.", f"chmod 600 {path}")
    for path in sorted([*home.glob("windlass.db*"), *home.glob("windlass.*.bak"), *home.glob("blobs")]):
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO) and os.name == "posix":
            yield CheckResult("data", "bad", f"Others on this machine can read {path}.", f"chmod -R go= {path}")
    if home.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO) and os.name == "posix":
        yield CheckResult("folder", "warn", f"Others on this machine can look into {home}.", f"chmod 700 {home}")


def _database(path: Path) -> CheckResult:
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            [[found]] = db.execute("pragma quick_check(1)").fetchall()
        db.close()
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        return CheckResult(
            "database", "bad", f"{path} is damaged: {found}.", "Restore a backup; keep the damaged file."
        )
    return CheckResult("database", "ok", "The database passes its integrity check.")


def _port(config: Config) -> CheckResult:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.host, config.port))
        except OSError as error:
            message = f"Port {config.port} on {config.host} cannot be used: {error.strerror}."
            return CheckResult("port", "bad", message, "Stop what uses it, or set WINDLASS_PORT.")
    return CheckResult("port", "ok", f"Port {config.port} on {config.host} is free.")


def _page() -> CheckResult:
    if PAGE.exists():
        return CheckResult("page", "ok", "The page is built.")
    return CheckResult(
        "page", "warn", "The page is not built; the API and the command line work.", "Install Node, then `make setup`."
    )


def _provider(provider: ProviderSettings, number: int, config: Config, offline: bool) -> Iterator[CheckResult]:
    by_variable = provider.name == ENVIRONMENT
    section = "[provider]" if len(config.providers) == 1 else f"provider {provider.name or number}"
    if offline and not provider.model:
        fix = "Set LLM_MODEL" if by_variable else f"Set model under {section} in windlass.toml"
        fix += "; `windlass models list` shows those it has."
        yield CheckResult("model", "bad", f"No model is named for {provider.base_url}.", fix)
    if not provider.api_key and "://127." not in provider.base_url and "://localhost" not in provider.base_url:
        fix = "Set OPENAI_API_KEY." if by_variable else f"Set api_key under {section} in windlass.toml."
        yield CheckResult("model", "bad", f"{provider.base_url} has no API key.", fix)
    names = [one.name or f"provider-{position}" for position, one in enumerate(config.providers, 1)]
    for name in provider.fallback:
        if not any(name.startswith(f"{one}/") for one in names):
            known = ", ".join(f"{one}/MODEL" for one in names)
            fix = f"Write PROVIDER/MODEL with a provider that is configured: {known}."
            yield CheckResult("model", "warn", f"The fallback {name} names no provider of windlass.toml.", fix)


def _server(slug: str, server: ServerSettings, config: Config) -> Iterator[CheckResult]:
    about = f"server {slug}"
    if server.command and not shutil.which(server.command):
        hint = "Install Node.js." if server.command in ("npx", "node") else "Install it, or give its full path."
        yield CheckResult(about, "bad", f"The command {server.command} is not found.", hint)
    if server.cwd and not Path(server.cwd).is_dir():
        yield CheckResult(about, "bad", f"Its folder {server.cwd} does not exist.", "Create it, or correct cwd.")
    if server.sandbox in ("strict", "bwrap") and not shutil.which("bwrap"):
        yield CheckResult(
            about,
            "bad",
            "It is set to run in a sandbox, but bubblewrap is not installed.",
            "Install bubblewrap (bwrap).",
        )
    if not server.command and not server.url:
        yield CheckResult(about, "bad", "It has neither a command nor a url.", "Give one of them in windlass.toml.")
    for name, value in {**server.env, **server.headers}.items():
        try:
            config.secret(value)
        except WindlassError as error:
            yield CheckResult(about, "bad", f"{name}: {error.message}", error.hint or "Correct it in windlass.toml.")


def _search(config: Config) -> Iterator[CheckResult]:
    search = config.web_search
    needs = {**search.keys, "searxng_url": search.searxng_url, "mcp_tool": search.mcp_tool}
    for name, value in needs.items():
        if name.partition("_")[0] == search.backend and not value:
            yield CheckResult(
                "web search", "bad", f"The backend {search.backend} needs {name}.", f"Set web_search.{name}."
            )
    slug = search.mcp_tool.partition(".")[0]
    if search.mcp_tool and slug not in config.servers:
        yield CheckResult(
            "web search",
            "warn",
            f"mcp_tool names the server {slug}, which is not in windlass.toml.",
            "Add it, or correct web_search.mcp_tool.",
        )
    if search.backend == "off":
        yield CheckResult("web search", "note", "Web search is off.")
    if search.says_keyless:
        yield CheckResult("web search", "note", KEYLESS_SEARCH, "Set keyless = true or false under [web_search].")


def _live_provider(session: Connected, provider: schemas.Provider) -> Iterator[CheckResult]:
    about = f"model {provider.name}"
    if provider.demo:
        yield CheckResult(about, "note", "The demo model answers; it is not a language model.")
        return
    if not provider.model:
        yield _nameless(session, provider)
        return
    try:
        tested = session.run(session.w.providers.test(provider.id))
    except WindlassError as error:
        yield CheckResult(about, "bad", error.message, error.hint)
        return
    if not tested.ok:
        yield CheckResult(about, "bad", tested.message, tested.hint or "Check its address, key and model.")
        return
    yield CheckResult(about, "ok", f"{tested.model} works ({tested.took_ms} ms).")
    if tested.missing:
        missing = ", ".join(tested.missing)
        fix = f"Choose another model; `windlass models test {provider.id}` shows what this one can do."
        yield CheckResult(f"{about} abilities", "warn", f"{tested.model} answers, but not all works: {missing}.", fix)


def _tool_cost(session: Connected) -> Iterator[CheckResult]:
    cost = session.run(session.w.transport.call(routes.servers.all)).cost
    if not isinstance(cost, schemas.ToolCost) or not cost.tools:  # a server of an older version does not say it
        return
    message = f"A new chat has {cost.tools:,} tools, about {cost.tokens:,} tokens in each request."
    if not cost.exceeded:
        yield CheckResult("tools", "ok", message)
        return
    message = (
        f"A new chat has {cost.tools:,} tools, about {cost.tokens:,} tokens; the budget is {cost.budget_tools:,} tools "
        f"and {cost.budget_tokens:,} tokens. Each request lists {cost.listed_tools:,} of them, about "
        f"{cost.listed_tokens:,} tokens; the model searches for the others."
    )
    yield CheckResult("tools", "note", message, "Name the tools that every chat needs, or raise limits.tools.")


def _nameless(session: Connected, provider: schemas.Provider) -> CheckResult:
    listed = session.run(session.w.transport.call(routes.providers.models, provider.id))
    names = ", ".join([model.id for model in listed.models if model.chats][:SHOWN_MODELS])
    fix = "Choose one on the Models page."
    if provider.from_config:
        fix = "Set model for it in windlass.toml and start again."
    if provider.id == ENVIRONMENT:
        fix = "Set LLM_MODEL and start again."
    return CheckResult(
        f"model {provider.name}",
        "bad",
        f"No model is named for {provider.base_url}: chats that name none are refused."
        + (f" Its list cannot be read: {listed.error.message}" if listed.error else ""),
        f"{fix} Its models: {names}." if names else fix,
    )


def _live_server(session: Connected, server: schemas.Server) -> CheckResult:
    about = f"server {server.slug}"
    ends = time.monotonic() + START_S
    while server.status == "starting" and time.monotonic() < ends:
        time.sleep(0.05)
        server = session.run(session.w.servers.get(server.id))
    match server.status:
        case "running":
            return CheckResult(about, "ok", f"It runs and offers {server.tool_count} tools.")
        case "draft" if server.transport != "stdio":
            return CheckResult(
                about, "warn", "It was imported and never started.", f"windlass servers start {server.slug}"
            )
        case "draft":
            return CheckResult(
                about, "warn", "Its command is not confirmed.", f"windlass servers confirm {server.slug}"
            )
        case "needs_sign_in":
            message = server.error or "It asks for a sign-in."
            return CheckResult(about, "warn", message, f"windlass servers login {server.slug}")
        case "stopped" | "configured":
            return CheckResult(about, "note", "It is stopped.", f"windlass servers start {server.slug}")
        case _:
            lines = session.run(session.w.servers.log(server.id))
            last = f" Last log line: {lines[-1]}" if lines else ""
            message = f"{server.error or 'It does not start.'}{last}"
            return CheckResult(about, "bad", message, f"windlass servers log {server.slug} shows more.")
