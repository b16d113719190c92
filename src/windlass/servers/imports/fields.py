"""The fields of an entry, by every name that clients have for them, as the configuration of a draft. What Windlass does
not take is named with what to do instead."""

import re
from collections import ChainMap
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from windlass.core.errors import BadInput
from windlass.core.ids import new_id
from windlass.servers.code_arguments import is_shell
from windlass.servers.imports.documents import ListedServer
from windlass.servers.imports.entry import ImportEntry
from windlass.servers.placeholders import InputHint, placeholders_in
from windlass.servers.values import ServerConfig, Transport, config_texts

_TRANSPORTS: dict[str, Transport] = {
    **dict.fromkeys(("stdio", "local"), "stdio"),
    **dict.fromkeys(("http", "https", "streamablehttp", "remote", "url"), "http"),
    "sse": "sse",
}
_OF_THE_CLIENT = {"builtin", "platform", "frontend", "inlinepython"}
_LONGEST_IN_SECONDS = 3600  # of a client that may mean either, a larger number is one of milliseconds
_TOOL = re.compile(r"[^,\s]{1,200}")
LONGEST_TEXT = 10_000
_ASKS = "Windlass asks before a tool changes or sends something; allow it there, or on the page Permissions."
_RULES = "A rule on the page Permissions can deny a tool, or some of its arguments, everywhere."
_ENV_FILE = "No file is read by itself; give what the server needs of it as its environment."


def server_config(listed: ListedServer, entry: ImportEntry, hints: dict[str, InputHint], slug: str) -> ServerConfig:
    """Raises `BadInput` where it cannot be a server."""
    kind = _kind(entry)
    command, args = _command(entry)
    url = entry.text("httpUrl", "url", "serverUrl", "uri")
    config = ServerConfig(
        id=new_id("srv"),
        slug=slug,
        name=(entry.text("display_name", "name", "title") or listed.name)[:100],
        transport=kind or ("http" if url and not command else "stdio"),
        command=command,
        args=args,
        env=_environment(entry),
        cwd=entry.text("cwd", "working_directory", "workingDirectory"),
        url=url,
        headers=_headers(entry),
        tools=_tools(entry),
        tools_are_named=False,
    )
    if config.transport != "stdio" and (config.command or config.args):
        entry.notes.append("It has an address, so its command was left out.")
        config = replace(config, command="", args=())
    config = _with_sign_in(_with_times(config, entry, listed), entry)
    _check_sizes(config)
    _name_what_is_not_taken(config, entry, listed)
    known_hints = ChainMap(dict(_user_hints(entry)), hints)
    placeholders = placeholders_in(_searched(config), config.url, known_hints)
    if lost := [one.name for one in placeholders if one.secret and known_hints.get(one.name, InputHint()).default]:
        entry.notes.append(f"{', '.join(lost)[:200]}: a default of a secret is not taken; give its value yourself.")
    return replace(config, placeholders=placeholders)


def _kind(entry: ImportEntry) -> Transport | None:
    named = entry.text("type", "transport")
    plain = re.sub(r"[-_]", "", named.lower())
    if plain in _OF_THE_CLIENT:
        raise BadInput(f"type: {named[:40]!r} is a part of the other client, and no server of its own")
    if named and plain not in _TRANSPORTS:
        raise BadInput(f"type: {named[:40]!r} is not known; use stdio, http or sse")
    return _TRANSPORTS[plain] if named else None


def _command(entry: ImportEntry) -> tuple[str, tuple[str, ...]]:
    """A text with arguments beside it; OpenCode has all of it in one list."""
    found = entry.take("command", "cmd")
    if isinstance(found, list):
        command, *first = ImportEntry({"command": found}).texts("command")
        return command, (*first, *entry.texts("args"))
    if not isinstance(found, str | None):
        raise BadInput("command: must be text")
    return found or "", entry.texts("args", "arguments")


def _environment(entry: ImportEntry) -> dict[str, str]:
    """Some clients only name variables, and keep or inherit their values: those are asked for."""
    env = entry.pairs("env", "envs", "environment")
    for name in (*entry.texts("env_keys"), *entry.texts("env_vars")):
        env.setdefault(name, f"${{{name}}}")
    return env


def _headers(entry: ImportEntry) -> dict[str, str]:
    headers = entry.pairs("headers", "http_headers") | entry.inner("requestOptions").pairs("headers")
    headers |= {name: f"${{{variable}}}" for name, variable in entry.pairs("env_http_headers").items()}
    if variable := entry.text("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    if key := entry.text("apiKey", "api_key"):
        headers.setdefault("Authorization", f"Bearer {key}")
    return headers


def _tools(entry: ImportEntry) -> str:
    """The tools that are on in new chats. Those that are excluded are off anyway, unless all others are on."""
    listed = entry.texts("enabled_tools", "includeTools", "available_tools", "allowedTools", "tools")
    excluded = entry.texts("disabled_tools", "excludeTools", "disabledTools")
    plain = [name.partition("(")[0] for name in listed]  # Gemini allows a limit of arguments behind a name
    unwanted = set(excluded)
    names = [name for name in plain if _TOOL.fullmatch(name) and name not in unwanted]
    if odd := sorted(set(plain) - set(names) - unwanted):
        entry.notes.append(f"These tools cannot be named here and stay off: {', '.join(odd)[:200]}.")
    if limited := [name for name in listed if "(" in name]:
        entry.notes.append(f"Limits on arguments ({', '.join(limited)[:200]}): not taken. {_RULES}")
    if excluded:
        entry.notes.append(
            f"Excluded tools ({', '.join(excluded)[:200]}): a tool is off here until it is switched on in a chat. "
            f"{_RULES}"
        )
    if names:
        entry.notes.append(f"On in new chats, as the file lists them: {', '.join(names)[:200]}.")
    return ",".join(names)


def _with_times(config: ServerConfig, entry: ImportEntry, listed: ListedServer) -> ServerConfig:
    connect = entry.number("startup_timeout_sec")
    for name in ("startup_timeout_ms", "initTimeout"):
        if (found := entry.number(name)) and connect is None:
            connect = found / 1000
            entry.notes.append(f"{name}: read as {connect:g} seconds.")
    call = entry.number("tool_timeout_sec")
    if (found := entry.number("timeout")) and call is None:
        in_ms = listed.dialect == "opencode" or found > _LONGEST_IN_SECONDS
        call = found / 1000 if in_ms else found
        entry.notes.append(f"timeout: read as {call:g} seconds.")
    call = call or config.timeout_s
    return replace(config, connect_s=connect or config.connect_s, timeout_s=call, longest_s=max(call, config.longest_s))


def _with_sign_in(config: ServerConfig, entry: ImportEntry) -> ServerConfig:
    """Reached servers alone can ask for a sign-in; what is said of it for a command is named as not taken."""
    if config.transport == "stdio":
        return config
    auth = entry.inner("auth", "oauth")
    client_id = auth.text("CLIENT_ID", "clientId", "client_id")
    secret = auth.text("CLIENT_SECRET", "clientSecret", "client_secret")
    enabled = auth.flag("enabled")
    named = entry.text("auth") if not auth.had_content else ""
    if named and named != "oauth":
        entry.notes.append(
            f"auth ({named[:40]}): not taken. Windlass signs in with OAuth where the server asks for it."
        )
    return replace(
        config,
        auth="oauth" if named == "oauth" or client_id or enabled else "",
        client_id=client_id,
        client_secret=secret,
        scopes=_scopes(auth) or _scopes(entry),
    )


def _scopes(entry: ImportEntry) -> str:
    """As a list, or as one text."""
    given = entry.take("scopes", "scope")
    found = ImportEntry({"scopes": given})
    return " ".join(found.texts("scopes")) if isinstance(given, list) else found.text("scopes")


def _name_what_is_not_taken(config: ServerConfig, entry: ImportEntry, listed: ListedServer) -> None:
    if entry.flag("disabled") or entry.flag("enabled") is False:
        entry.notes.append("It was switched off in the other client.")
    entry.named(_ASKS, "autoApprove", "alwaysAllow", "autoAllow", "trust", "approval", "default_tools_approval_mode")
    entry.named(_ENV_FILE, "envFile", "env_file")
    if entry.text("source") not in ("", "custom"):
        entry.notes.append("source: it comes from an extension of the other client, which is not installed here.")
    if listed.folder:
        entry.notes.append(f"The other client uses it in {listed.folder[:200]} alone; here it belongs to no folder.")


def _user_hints(entry: ImportEntry) -> Iterator[tuple[str, InputHint]]:
    """LibreChat asks each of its users for these."""
    asked: Any = entry.take("customUserVars")
    for name, about in asked.items() if isinstance(asked, dict) else ():
        texts = [about.get("title"), about.get("description")] if isinstance(about, dict) else []
        label = ": ".join(text for text in texts if isinstance(text, str) and text)
        yield str(name), InputHint(label, secret=True)


def _check_sizes(config: ServerConfig) -> None:
    """The bounds of a server that is added by hand; what looks through its texts counts on them."""
    for name, found, most in (("args", config.args, 500), ("env", config.env, 200), ("headers", config.headers, 200)):
        if len(found) > most:
            raise BadInput(f"{name}: it has {len(found)}; at most {most} are read")
    if position := next((where for where, text in config_texts(config) if len(text) > LONGEST_TEXT), ""):
        raise BadInput(f"{position[:200]}: it is longer than {LONGEST_TEXT:,} characters")


def _searched(config: ServerConfig) -> list[tuple[str, str]]:
    """A shell fills in its own variables."""
    shell = is_shell(config.command)
    return [(where, text) for where, text in config_texts(config) if not (shell and where.startswith("argument"))]
