"""Where a document holds its servers. Each client has a name of its own for the list; a person may also paste the bare
list, or one entry."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from windlass.core.errors import BadInput
from windlass.core.values import value_object
from windlass.servers.placeholders import InputHint

Dialect = Literal["", "goose", "opencode"]
HINT = 'The text should look like {"mcpServers": {"name": {"command": ...}}}, or like the file of another client.'
# Some of these stand in settings that are about other things too; a list counts where its entries look like servers.
_LISTS = ("mcpServers", "amp.mcpServers", "context_servers", "mcp_servers")
_LOOSE_LISTS = ("servers", "extensions")
_ENTRY_KEYS = {"command", "cmd", "url", "serverUrl", "httpUrl", "uri"}


@value_object
class ListedServer:
    name: str
    fields: object
    dialect: Dialect = ""
    folder: str = ""  # of the project that it is for


@value_object
class ServerDocument:
    servers: tuple[ListedServer, ...]
    hints: dict[str, InputHint]
    unread: tuple[str, ...]  # keys of the file that name no server


def server_document(document: object) -> ServerDocument:
    if isinstance(document, list):
        return _checked(ServerDocument(tuple(_listed(document)), {}, ()))
    if not isinstance(document, dict):
        raise BadInput("No servers were found.", hint=HINT)
    used = {"inputs"} if isinstance(document.get("inputs"), list) else set()
    servers: list[ListedServer] = []
    for key, found in _lists(document):
        used.add(key)
        servers += found
    if not servers and not used - {"inputs"}:
        used |= set(document)
        servers = _bare(document)
        used -= {"inputs"} if not isinstance(document.get("inputs"), list) else set()
    unread = [str(key) for key in document if key not in used]
    unread += [key for key in _project_keys(document.get("projects")) if "projects" in used]
    return _checked(ServerDocument(tuple(servers), dict(_hints(document.get("inputs"))), tuple(unread)))


def _checked(found: ServerDocument) -> ServerDocument:
    if not found.servers:
        raise BadInput("No servers were found.", hint=HINT)
    return found


def _lists(document: Mapping[str, Any]) -> Iterator[tuple[str, list[ListedServer]]]:
    """By the key of the document that holds them."""
    for key in _LISTS:
        if isinstance(document.get(key), dict | list):
            yield key, list(_listed(document[key]))
    for key in _LOOSE_LISTS:
        if _holds_servers(document.get(key)):
            yield key, list(_listed(document[key], "goose" if key == "extensions" else ""))
    match document.get("mcp"):
        case {"servers": dict() | list() as inner}:
            yield "mcp", list(_listed(inner))
        case dict() as inner if _holds_servers(inner):
            yield "mcp", list(_listed(inner, "opencode"))
    if isinstance(document.get("projects"), dict):
        yield from (("projects", list(_of_project(*item))) for item in document["projects"].items())


def _of_project(folder: object, project: object) -> Iterator[ListedServer]:
    """Claude Code keeps the servers of each project under the project's folder."""
    if isinstance(project, dict) and isinstance(project.get("mcpServers"), dict):
        for one in _listed(project["mcpServers"]):
            yield ListedServer(one.name, one.fields, folder=str(folder))


def _project_keys(projects: object) -> list[str]:
    found = projects.values() if isinstance(projects, dict) else ()
    keys = (key for project in found if isinstance(project, dict) for key, value in project.items() if value)
    return list(dict.fromkeys(f"projects.{key}" for key in keys if key != "mcpServers"))


def _listed(found: object, dialect: Dialect = "") -> Iterator[ListedServer]:
    """By name, or as a list of entries that name themselves."""
    if isinstance(found, dict):
        for name, fields in found.items():
            yield ListedServer(str(name), fields, dialect)
    elif isinstance(found, list):
        for number, fields in enumerate(found, 1):
            name = fields.get("name") if isinstance(fields, dict) else None
            yield ListedServer(str(name or f"server {number}"), fields, dialect)


def _bare(document: Mapping[str, Any]) -> list[ListedServer]:
    if _ENTRY_KEYS & document.keys():
        return [ListedServer(str(document.get("name") or "server"), document)]
    return list(_listed(document)) if _holds_servers(document) else []


def _holds_servers(found: object) -> bool:
    if isinstance(found, dict):
        found = list(found.values())
    return isinstance(found, list) and any(_looks_like_one(entry) for entry in found)


def _looks_like_one(entry: object) -> bool:
    return isinstance(entry, dict) and (bool(_ENTRY_KEYS & entry.keys()) or entry.get("type") == "builtin")


def _hints(inputs: object) -> Iterator[tuple[str, InputHint]]:
    """VS Code describes its inputs beside the servers."""
    for one in inputs if isinstance(inputs, list) else []:
        if isinstance(one, dict) and isinstance(one.get("id"), str):
            label = one.get("description") if isinstance(one.get("description"), str) else ""
            options = [item for item in one.get("options") or [] if isinstance(item, str)]
            choice = f"{label or one['id']} ({', '.join(options)})" if options else label or ""
            default = one.get("default") if isinstance(one.get("default"), str) else None
            yield one["id"], InputHint(choice, one.get("password") is True, default)
