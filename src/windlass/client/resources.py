"""The verbs of the API as methods, grouped as the routes are. Each gives what its route gives, unwrapped."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import UNSET, ValidationError, convert, to_builtins
from msgspec.structs import asdict

from windlass.api import routes, schemas
from windlass.client.renamed import renamed
from windlass.client.transport import Transport
from windlass.core.errors import BadInput

Approval = Literal["auto", "ask", "deny"]
Scope = Literal["once", "conversation", "always"]
Covers = Literal["tool", "arguments", "server"]
# In a class with a method `list`, that name means the method.
Texts = list[str]
ConversationRows = list[schemas.Conversation]
TurnRows = list[schemas.TurnSummary]
GalleryRows = list[schemas.GalleryEntry]
LocalRows = list[schemas.LocalServer]
ContentRows = list[schemas.ResourceContent]
ModelRows = list[schemas.ModelInfo]


class Resource:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport


class ConversationsResource(Resource):
    async def create(self, title: str = "", **fields: Any) -> schemas.Conversation:
        body = _converted(schemas.NewConversation, {"title": title, **fields})
        return (await self._transport.call(routes.conversations.create, body)).conversation

    async def list(self, limit: int = 50, cursor: str = "") -> schemas.ConversationList:
        query = schemas.PageQuery(limit=limit, cursor=cursor)
        return await self._transport.call(routes.conversations.recent, query)

    async def search(self, words: str, limit: int = 50) -> ConversationRows:
        query = schemas.SearchQuery(q=words, limit=limit)
        return (await self._transport.call(routes.conversations.search, query)).conversations

    async def get(self, conversation_id: str) -> schemas.Conversation:
        answer = await self._transport.call(routes.conversations.get, conversation_id)
        return answer.conversation

    async def change(self, conversation_id: str, **fields: Any) -> schemas.Conversation:
        body = _converted(schemas.ConversationChange, fields)
        answer = await self._transport.call(routes.conversations.change, conversation_id, body)
        return answer.conversation

    async def delete(self, conversation_id: str) -> None:
        await self._transport.call(routes.conversations.delete, conversation_id)

    async def export(self, conversation_id: str) -> schemas.Export:
        query = schemas.ExportQuery(format="json")
        return convert(await self._transport.call(routes.conversations.export, conversation_id, query), schemas.Export)

    async def markdown(self, conversation_id: str) -> str:
        query = schemas.ExportQuery(format="markdown")
        return str(await self._transport.call(routes.conversations.export, conversation_id, query))

    async def import_(self, exported: object) -> schemas.Imported:
        return await self._transport.call(routes.conversations.import_, exported)

    take_in = renamed("conversations.take_in", import_)

    async def turns(self, conversation_id: str) -> TurnRows:
        return (await self._transport.call(routes.conversations.turns, conversation_id)).turns


class MessagesResource(Resource):
    async def add(
        self,
        conversation_id: str,
        role: Literal["user", "assistant", "system", "tool"],
        content: str | None = None,
        *,
        tool_calls: Sequence[schemas.CallInMessage | Mapping[str, Any]] | None = None,
        tool_call_id: str | None = None,
        name: str | None = None,
    ) -> schemas.Message:
        """Calls as OpenAI writes them. A tool message follows the assistant message whose call it answers."""
        fields = {"role": role, "content": content, "tool_call_id": tool_call_id, "name": name}
        calls = None if tool_calls is None else to_builtins(tool_calls)
        body = _converted(schemas.NewMessage, {**fields, "tool_calls": calls})
        return (await self._transport.call(routes.messages.add, conversation_id, body)).message

    async def get_all(self, conversation_id: str, head: str = "") -> list[schemas.Message]:
        query = schemas.MessagesQuery(head=head)
        return (await self._transport.call(routes.messages.get_all, conversation_id, query)).messages

    async def delete(self, conversation_id: str, message_id: str) -> list[str]:
        """The ids of all that is gone: half a tool pair takes the other along."""
        return (await self._transport.call(routes.messages.delete, conversation_id, message_id)).deleted


class ContextResource(Resource):
    async def add(
        self, conversation_id: str, descriptive_name: str, content: str, **fields: Any
    ) -> schemas.ContextItem:
        body = _converted(schemas.NewContextItem, {"descriptive_name": descriptive_name, "content": content, **fields})
        return (await self._transport.call(routes.context.add, conversation_id, body)).context

    async def list(self, conversation_id: str) -> list[schemas.ContextItem]:
        return (await self._transport.call(routes.context.all, conversation_id)).context

    async def get(self, conversation_id: str, context_id: str) -> schemas.ContextItem:
        return (await self._transport.call(routes.context.get, conversation_id, context_id)).context

    async def change(self, conversation_id: str, context_id: str, **fields: Any) -> schemas.ContextItem:
        body = _converted(schemas.ContextItemChange, fields)
        answer = await self._transport.call(routes.context.change, conversation_id, context_id, body)
        return answer.context

    async def delete(self, conversation_id: str, context_id: str) -> None:
        await self._transport.call(routes.context.delete, conversation_id, context_id)


class ToolsResource(Resource):
    async def available(self, conversation_id: str) -> schemas.AvailableTools:
        return await self._transport.call(routes.tools.available, conversation_id)

    async def enabled(self, conversation_id: str) -> list[schemas.EnabledTool]:
        return (await self._transport.call(routes.tools.enabled, conversation_id)).enabled_tools

    async def enable(
        self, conversation_id: str, server: str, tool: str, approval: Approval | None = None
    ) -> list[schemas.EnabledTool]:
        """Naming a tool is consent to run it without asking, unless it says it destroys things or it has changed."""
        body = schemas.EnableTool(server, tool, approval if approval else UNSET)
        return (await self._transport.call(routes.tools.enable, conversation_id, body)).enabled_tools

    async def disable(self, conversation_id: str, server: str, tool: str) -> list[schemas.EnabledTool]:
        query = schemas.ToolNamed(server, tool)
        answer = await self._transport.call(routes.tools.disable, conversation_id, query)
        return answer.enabled_tools


class TurnsResource(Resource):
    async def get(self, turn_id: str, wait: float = 0) -> schemas.Turn:
        """With `wait`, return once the turn has ended or needs a person, or after so many seconds."""
        query = schemas.WaitQuery(wait=wait)
        return (await self._transport.call(routes.turns.get, turn_id, query)).turn

    async def log(self, turn_id: str) -> list[dict[str, Any]]:
        return (await self._transport.call(routes.turns.log, turn_id)).events

    async def prompt(self, turn_id: str, request: int = 1) -> schemas.PromptSent:
        query = schemas.PromptQuery(request=request)
        return await self._transport.call(routes.turns.prompt, turn_id, query)

    async def stop(self, turn_id: str, call_id: str = "") -> schemas.Turn:
        if call_id:
            return (await self._transport.call(routes.turns.stop_call, turn_id, call_id)).turn
        return (await self._transport.call(routes.turns.stop, turn_id)).turn

    async def decide(
        self,
        turn_id: str,
        call_id: str,
        *,
        allow: bool,
        scope: Scope = "once",
        arguments: dict[str, Any] | None = None,
        reason: str = "",
        hash: str = "",
        covers: Covers | None = None,
        conditions: dict[str, str] | None = None,
        expires_at: str | None = None,
    ) -> schemas.Turn:
        """With the scope `conversation` or `always` a grant is saved: for this tool, for it with exactly these
        arguments or with arguments that match `conditions`, or for every tool of its server."""
        body = schemas.Decision(
            "allow" if allow else "deny",
            scope,
            arguments,
            reason,
            hash,
            covers=covers or UNSET,
            conditions=conditions or {},
            expires_at=expires_at or UNSET,
        )
        return (await self._transport.call(routes.turns.decide, turn_id, call_id, body)).turn

    async def resolve(self, turn_id: str, call_id: str, how: Literal["retry", "done", "skip"]) -> schemas.Turn:
        body = schemas.Resolution(as_=how)
        return (await self._transport.call(routes.turns.resolve, turn_id, call_id, body)).turn

    async def answer(
        self,
        turn_id: str,
        call_id: str,
        action: Literal["accept", "decline", "cancel"],
        content: dict[str, Any] | None = None,
    ) -> schemas.Turn:
        """Answer what a tool's server asks the person."""
        body = schemas.InputAnswer(action, content)
        return (await self._transport.call(routes.turns.answer, turn_id, call_id, body)).turn

    async def continue_(self, turn_id: str, rounds: int | None = None) -> schemas.Turn:
        """After a limit, a stop or a failure: a new turn that takes the work up."""
        body = schemas.Continue(rounds)
        return (await self._transport.call(routes.turns.continue_, turn_id, body)).turn

    go_on = renamed("turns.go_on", continue_)

    async def retry(
        self, turn_id: str, *, model: str = "", web_search: Literal["auto", "on", "off"] = "auto"
    ) -> schemas.Turn:
        body = schemas.Retry(model, web_search)
        return (await self._transport.call(routes.turns.retry, turn_id, body)).turn

    async def retry_call(self, turn_id: str, call_id: str) -> schemas.Turn:
        return (await self._transport.call(routes.turns.retry_call, turn_id, call_id)).turn

    async def result(self, result_id: str, offset: int = 0, length: int = 100_000) -> schemas.ResultPiece:
        query = schemas.PieceQuery(offset=offset, length=length)
        return await self._transport.call(routes.turns.result, result_id, query)


class ServersResource(Resource):
    async def list(self) -> list[schemas.Server]:
        return (await self._transport.call(routes.servers.all)).servers

    async def get(self, server: str) -> schemas.Server:
        return (await self._transport.call(routes.servers.get, server)).server

    async def add(self, name: str, **fields: Any) -> schemas.Server:
        """A stdio server is a draft until `confirm` is given its exact argv."""
        body = _converted(schemas.NewServer, {"name": name, **fields})
        return (await self._transport.call(routes.servers.add, body)).server

    async def import_(
        self,
        document: dict[str, Any] | str = "",
        *,
        values: dict[str, str] | None = None,
        found: Sequence[str] = (),
        only: Sequence[str] | None = None,
    ) -> schemas.ImportedServers:
        """The config of another client, as an object (`{"mcpServers": {...}}`) or as the text of its file; or those of
        `found`. `values` are for its placeholders. Nothing starts: all become drafts."""
        body: dict[str, Any] = {"text": document} if isinstance(document, str) else dict(document)
        body |= {"found": list(found)} | ({} if only is None else {"only": list(only)}) | {"values": values or {}}
        return await self._transport.call(routes.servers.import_, body)

    async def found(self) -> schemas.FoundConfigs:
        """The config files of other clients on the machine that Windlass runs on."""
        return await self._transport.call(routes.servers.found)

    async def find(self, words: str = "") -> GalleryRows:
        """Known servers of the gallery that comes with Windlass."""
        return (await self._transport.call(routes.gallery.find, schemas.GalleryQuery(words))).entries

    async def add_known(self, entry: str, values: dict[str, str] | None = None, name: str = "") -> schemas.Server:
        """A known server as a draft, with `values` for what it asks for."""
        body = schemas.GalleryAdd(name, values or {})
        return (await self._transport.call(routes.gallery.add, entry, body)).server

    take_in = renamed("servers.take_in", import_)

    async def change(self, server: str, **fields: Any) -> schemas.Server:
        body = _converted(schemas.ServerChange, fields)
        return (await self._transport.call(routes.servers.change, server, body)).server

    async def confirm(self, server: str, argv: Texts, env_values: dict[str, str] | None = None) -> schemas.Server:
        """With the `env_values` that were looked at, it is refused when they are others by now."""
        body = schemas.Confirm(argv, UNSET if env_values is None else env_values)
        return (await self._transport.call(routes.servers.confirm, server, body)).server

    async def start(self, server: str) -> schemas.Server:
        return (await self._transport.call(routes.servers.start, server)).server

    async def stop(self, server: str) -> schemas.Server:
        return (await self._transport.call(routes.servers.stop, server)).server

    async def login(self, server: str, redirect_uri: str = "") -> str:
        """The address at which a person signs in. The browser comes back to `redirect_uri`, over HTTP to Windlass
        itself when it is left out."""
        return (await self.begin_login(server, redirect_uri)).authorize_url

    async def begin_login(self, server: str, redirect_uri: str = "") -> schemas.ServerLoginBegun:
        """As `login`, with who is asked for what."""
        return await self._transport.call(routes.servers.login, server, schemas.ServerLogin(redirect_uri))

    async def cancel_login(self, server: str) -> schemas.Server:
        return (await self._transport.call(routes.servers.cancel_login, server)).server

    async def finish_login(self, **answer: str) -> schemas.Server:
        """With the fields of the address that the browser came back to: `state`, `code`, `iss`, `error`."""
        body = _converted(schemas.ServerLoginAnswer, answer)
        return (await self._transport.call(routes.servers.finish_login, body)).server

    async def logout(self, server: str) -> schemas.Server:
        return (await self._transport.call(routes.servers.logout, server)).server

    async def delete(self, server: str) -> None:
        await self._transport.call(routes.servers.delete, server)

    async def tools(self, server: str) -> schemas.ServerTools:
        return await self._transport.call(routes.servers.tools, server)

    async def correct_kind(self, server: str, tool: str, kind: Literal["reads", "changes", "sends"] | None) -> None:
        """Whether a tool reads, changes or sends; None returns to Windlass's guess."""
        await self._transport.call(routes.servers.correct_kind, server, tool, schemas.ToolKind(kind))

    async def call_tool(
        self, server: str, tool: str, arguments: dict[str, Any] | None = None, *, file_data: bool = False
    ) -> schemas.ToolResult:
        """With `file_data`, `files` hold the bytes of pictures, sounds and files, in base64."""
        body = schemas.CallTool(tool, arguments or {}, file_data)
        return (await self._transport.call(routes.servers.call_tool, server, body)).result

    async def resources(self, server: str, query: str = "", limit: int = 200) -> schemas.ServerResources:
        """Those whose address, name or description holds the words of `query`."""
        asked = schemas.OfferedQuery(query, limit)
        return await self._transport.call(routes.servers.resources, server, asked)

    async def templates(self, server: str) -> schemas.ServerTemplates:
        """Of the addresses of resources that are not listed one by one."""
        return await self._transport.call(routes.servers.templates, server)

    async def read(self, server: str, uri: str) -> ContentRows:
        body = schemas.ReadServerResource(uri)
        return (await self._transport.call(routes.servers.read_resource, server, body)).contents

    async def prompts(self, server: str) -> schemas.ServerPrompts:
        return await self._transport.call(routes.servers.prompts, server)

    async def prompt(
        self, server: str, name: str, arguments: dict[str, str] | None = None
    ) -> schemas.FilledServerPrompt:
        """A prompt filled in: `text` is all of it as one message, `messages` are its own."""
        body = _converted(schemas.FillServerPrompt, {"name": name, "arguments": arguments or {}})
        return await self._transport.call(routes.servers.fill_prompt, server, body)

    async def complete(
        self,
        server: str,
        argument: str,
        value: str = "",
        *,
        prompt: str = "",
        template: str = "",
        arguments: dict[str, str] | None = None,
    ) -> Texts:
        """What may be meant by an argument that is half typed, of a prompt or of a template."""
        body = schemas.CompleteArgument(argument, prompt, template, value, arguments or {})
        return (await self._transport.call(routes.servers.complete, server, body)).values

    async def log(self, server: str) -> Texts:
        return (await self._transport.call(routes.servers.log, server)).lines


class ProvidersResource(Resource):
    async def list(self) -> list[schemas.Provider]:
        return (await self._transport.call(routes.providers.all)).providers

    async def add(self, name: str, base_url: str, **fields: Any) -> schemas.Provider:
        body = _converted(schemas.NewProvider, {"name": name, "base_url": base_url, **fields})
        return (await self._transport.call(routes.providers.add, body)).provider

    async def get(self, provider_id: str) -> schemas.Provider:
        return (await self._transport.call(routes.providers.get, provider_id)).provider

    async def change(self, provider_id: str, **fields: Any) -> schemas.Provider:
        body = _converted(schemas.ProviderChange, fields)
        return (await self._transport.call(routes.providers.change, provider_id, body)).provider

    async def delete(self, provider_id: str) -> None:
        await self._transport.call(routes.providers.delete, provider_id)

    async def test(self, provider_id: str) -> schemas.ProviderTest:
        return await self._transport.call(routes.providers.test, provider_id)

    async def check(self, provider_id: str) -> schemas.LiveReport:
        """Try its account with at most 12 small requests."""
        return await self._transport.call(routes.providers.check, provider_id)

    async def local(self) -> LocalRows:
        """Model servers that answer on the machine Windlass runs on."""
        return (await self._transport.call(routes.providers.local)).servers

    async def models(self, provider_id: str) -> ModelRows:
        return (await self._transport.call(routes.providers.models, provider_id)).models


class SearchResource(Resource):
    async def test(self, query: str) -> list[schemas.SearchTrial]:
        """Each backend that `//` may use, tried by itself; none when search is off."""
        body = _converted(schemas.SearchTest, {"query": query})
        return (await self._transport.call(routes.search.test, body)).trials


class PersonasResource(Resource):
    async def list(self) -> list[schemas.Persona]:
        return (await self._transport.call(routes.personas.all)).personas

    async def add(self, name: str, **fields: Any) -> schemas.Persona:
        body = _converted(schemas.NewPersona, {"name": name, **fields})
        return (await self._transport.call(routes.personas.add, body)).persona

    async def get(self, persona_id: str) -> schemas.Persona:
        return (await self._transport.call(routes.personas.get, persona_id)).persona

    async def change(self, persona_id: str, **fields: Any) -> schemas.Persona:
        body = _converted(schemas.PersonaChange, fields)
        return (await self._transport.call(routes.personas.change, persona_id, body)).persona

    async def delete(self, persona_id: str) -> None:
        await self._transport.call(routes.personas.delete, persona_id)


class PolicyResource(Resource):
    async def get(self) -> list[schemas.Rule]:
        return (await self._transport.call(routes.policy.get)).rules

    async def put(self, rules: list[schemas.Rule], version: str = "") -> list[schemas.Rule]:
        """With the `version` that was read, it is refused when the rules are others by now."""
        body = schemas.Policy(rules, version or UNSET)
        return (await self._transport.call(routes.policy.put, body)).rules


class PermissionsResource(Resource):
    async def list(self, *, server: str = "", tool: str = "", conversation_id: str = "") -> list[schemas.Permission]:
        """Every rule, grant and setting that decides calls, in the order in which they are tried."""
        query = schemas.PermissionQuery(server, tool, conversation_id)
        return (await self._transport.call(routes.permissions.all, query)).permissions

    async def revoke(self, permission_id: str) -> None:
        await self._transport.call(routes.permissions.delete, permission_id)

    async def restore(self, permission_id: str) -> None:
        """Take a revocation back: the same rule or grant, as long as Windlass was not restarted since."""
        await self._transport.call(routes.permissions.restore, permission_id)

    async def test(
        self, server: str, tool: str, arguments: dict[str, Any] | None = None, *, conversation_id: str = ""
    ) -> schemas.PermissionVerdict:
        """What this call would do now, and why. Nothing is called."""
        body = schemas.PermissionTest(server, tool, arguments or {}, conversation_id)
        return await self._transport.call(routes.permissions.test, body)

    async def replay(self, rule: schemas.Rule, last: int = 200) -> schemas.Replayed:
        """What this rule would have made of past calls."""
        tried = schemas.TriedRule(**asdict(rule))
        return await self._transport.call(routes.permissions.replay, schemas.Replay(tried, last))


class AuditResource(Resource):
    async def list(self, *, since: str = "", until: str = "", limit: int = 50, cursor: str = "") -> schemas.AuditList:
        """Who confirmed, approved, denied and changed what, newest first; times as ISO 8601."""
        return await self._transport.call(routes.audit.all, schemas.AuditQuery(limit, cursor, since, until))


def _converted(shape: type[Any], fields: dict[str, Any]) -> Any:
    try:
        return convert(fields, shape)
    except ValidationError as error:
        raise BadInput(f"{shape.__name__}: {error}.") from None
