"""The tools of running servers, made ready to be offered: hashed, their schemas cleaned and compiled. Done once for
each list a server gives, since a turn must not pay for the size of the catalogue."""

import json
from dataclasses import replace

from windlass.core.errors import BadInput
from windlass.core.messages import ToolSpec
from windlass.core.values import value_object
from windlass.servers import ServerConfig, Servers, ToolDefinition
from windlass.servers.values import Approval
from windlass.toolbox.hashes import identity_hash, tool_hash
from windlass.toolbox.schemas import Checker, visible

LETTERS_PER_TOKEN = 4  # an estimate, and labelled as one wherever it is shown


@value_object
class Offer:
    server: ServerConfig
    tool: ToolDefinition
    hash: str
    schema: str = ""
    checker: Checker | None = None
    problem: str = ""  # why it cannot be offered
    program: str = ""  # the server's own name and version
    approval: Approval = ""  # set by the operator for this tool or its server
    identity: str = ""  # of what the server runs; "" where that is not the operator's own word

    @property
    def key(self) -> tuple[str, str]:
        return self.server.slug, self.tool.name

    @property
    def tokens(self) -> int:
        return (len(self.tool.name) + len(self.tool.description) + len(self.schema)) // LETTERS_PER_TOKEN

    @property
    def safe(self) -> bool:
        """Whether an interrupted call may be repeated: the server's claim, believed where the operator trusts it."""
        return self.server.trusted and bool(self.tool.read_only or self.tool.idempotent)

    def spec(self, name: str, approval: str) -> ToolSpec:
        return ToolSpec(
            name,
            self.server.id,
            self.tool.name,
            visible(self.tool.description),
            self.schema,
            self.hash,
            self.safe,
            approval,
            read_only=bool(self.tool.read_only),
            destructive=self.tool.destructive is True,
            open_world=self.tool.open_world is True,
        )


class Offers:
    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._known: dict[str, tuple[tuple[ToolDefinition, ...], ServerConfig, dict[str, Offer]]] = {}

    def of(self, server_id: str) -> dict[str, Offer]:
        """By the tool's own name; empty while the server does not run, or when it is not there."""
        if (found := self._servers.offered(server_id)) is None:
            return {}
        tools, config = found
        known = self._known.get(config.id)
        if known is None or known[0] is not tools or known[1] is not config:
            program, identity = self._servers.status(config.id).program, _identity(config)
            offers = [replace(_offer(config, tool), program=program, identity=identity) for tool in tools]
            known = (tools, config, {offer.tool.name: offer for offer in offers})
            self._known[config.id] = known
        return known[2]

    def get(self, server_id: str, tool: str) -> Offer | None:
        return self.of(server_id).get(tool)


def _identity(config: ServerConfig) -> str:
    """What runs is the operator's own word where it stands in their file: with another command, another first time."""
    return identity_hash(config)[:16] if config.operator else ""


def _offer(config: ServerConfig, tool: ToolDefinition) -> Offer:
    hash, approval = tool_hash(tool, config), config.approval_of(tool.name)
    try:
        checker = Checker(tool.input_schema)
    except BadInput as error:
        return Offer(config, tool, hash, problem=error.message, approval=approval)
    schema = json.dumps(checker.shown, ensure_ascii=False, separators=(",", ":"))
    return Offer(config, tool, hash, schema, checker, approval=approval)
