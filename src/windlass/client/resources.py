"""The verbs of the API as methods, grouped as the routes are. Each gives what its route gives, unwrapped."""

from typing import Any, Literal, cast

from msgspec import UNSET, ValidationError, convert

from windlass.api import schemas
from windlass.client.transport import Transport
from windlass.core.errors import BadInput

Approval = Literal["auto", "ask", "deny"]
Scope = Literal["once", "conversation", "always"]
# In a class with a verb `list`, the word means that verb.
Texts = list[str]
ConversationRows = list[schemas.Conversation]
TurnRows = list[schemas.TurnSummary]
ServerRows = list[schemas.Server]
LocalRows = list[schemas.LocalServer]
ModelRows = list[schemas.ModelInfo]


class Resource:
    def __init__(self, wire: Transport) -> None:
        self._transport = wire


class ConversationsResource(Resource):
    async def create(self, title: str = "", **fields: Any) -> schemas.Conversation:
        body = _converted(schemas.NewConversation, {"title": title, **fields})
        return cast(
            schemas.ConversationAnswer, await self._transport.call("conversations.create", body=body)
        ).conversation

    async def list(self, limit: int = 50, cursor: str = "") -> schemas.ConversationList:
        query = schemas.PageQuery(limit=limit, cursor=cursor)
        return cast(schemas.ConversationList, await self._transport.call("conversations.recent", query=query))

    async def search(self, text: str, limit: int = 50) -> ConversationRows:
        query = schemas.SearchQuery(q=text, limit=limit)
        return cast(
            schemas.ConversationList, await self._transport.call("conversations.search", query=query)
        ).conversations

    async def get(self, conversation_id: str) -> schemas.Conversation:
        answer: schemas.ConversationAnswer = await self._transport.call("conversations.get", conversation_id)
        return answer.conversation

    async def change(self, conversation_id: str, **fields: Any) -> schemas.Conversation:
        body = _converted(schemas.ConversationChange, fields)
        answer: schemas.ConversationAnswer = await self._transport.call(
            "conversations.change", conversation_id, body=body
        )
        return answer.conversation

    async def delete(self, conversation_id: str) -> None:
        await self._transport.call("conversations.delete", conversation_id)

    async def export(self, conversation_id: str) -> schemas.Export:
        return cast(schemas.Export, await self._transport.call("conversations.export", conversation_id))

    async def markdown(self, conversation_id: str) -> str:
        query = schemas.ExportQuery(format="markdown")
        return cast(str, await self._transport.call("conversations.export", conversation_id, query=query))

    async def take_in(self, exported: object) -> schemas.Imported:
        return cast(schemas.Imported, await self._transport.call("conversations.take_in", body=exported))

    async def turns(self, conversation_id: str) -> TurnRows:
        return cast(schemas.TurnList, await self._transport.call("conversations.turns", conversation_id)).turns


class MessagesResource(Resource):
    async def add(
        self,
        conversation_id: str,
        role: Literal["user", "assistant", "system", "tool"],
        content: str | None = None,
        *,
        tool_calls: list[schemas.CallInMessage] | None = None,
        tool_call_id: str | None = None,
        name: str | None = None,
    ) -> schemas.Message:
        body = schemas.NewMessage(role, content, tool_calls, tool_call_id, name)
        return cast(
            schemas.MessageAnswer, await self._transport.call("messages.add", conversation_id, body=body)
        ).message

    async def get_all(self, conversation_id: str, head: str = "") -> list[schemas.Message]:
        query = schemas.HeadQuery(head=head)
        return cast(
            schemas.MessageList, await self._transport.call("messages.get_all", conversation_id, query=query)
        ).messages

    async def delete(self, conversation_id: str, message_id: str) -> list[str]:
        """The ids of all that is gone: half a tool pair takes the other along."""
        return cast(schemas.Deleted, await self._transport.call("messages.delete", conversation_id, message_id)).deleted


class ContextResource(Resource):
    async def add(
        self, conversation_id: str, descriptive_name: str, content: str, **fields: Any
    ) -> schemas.ContextItem:
        body = _converted(schemas.NewContextItem, {"descriptive_name": descriptive_name, "content": content, **fields})
        return cast(
            schemas.ContextAnswer, await self._transport.call("context.add", conversation_id, body=body)
        ).context

    async def list(self, conversation_id: str) -> list[schemas.ContextItem]:
        return cast(schemas.ContextList, await self._transport.call("context.all", conversation_id)).context

    async def get(self, conversation_id: str, context_id: str) -> schemas.ContextItem:
        return cast(
            schemas.ContextAnswer, await self._transport.call("context.get", conversation_id, context_id)
        ).context

    async def change(self, conversation_id: str, context_id: str, **fields: Any) -> schemas.ContextItem:
        body = _converted(schemas.ContextItemChange, fields)
        answer: schemas.ContextAnswer = await self._transport.call(
            "context.change", conversation_id, context_id, body=body
        )
        return answer.context

    async def delete(self, conversation_id: str, context_id: str) -> None:
        await self._transport.call("context.delete", conversation_id, context_id)


class ToolsResource(Resource):
    async def available(self, conversation_id: str) -> schemas.AvailableTools:
        return cast(schemas.AvailableTools, await self._transport.call("tools.available", conversation_id))

    async def enabled(self, conversation_id: str) -> list[schemas.EnabledTool]:
        return cast(schemas.EnabledTools, await self._transport.call("tools.enabled", conversation_id)).enabled_tools

    async def enable(
        self, conversation_id: str, server: str, tool: str, approval: Approval | None = None
    ) -> list[schemas.EnabledTool]:
        """Naming a tool is consent to run it without asking, unless it says it destroys things or it has changed."""
        body = schemas.EnableTool(server, tool, approval if approval else UNSET)
        return cast(
            schemas.EnabledTools, await self._transport.call("tools.enable", conversation_id, body=body)
        ).enabled_tools

    async def disable(self, conversation_id: str, server: str, tool: str) -> list[schemas.EnabledTool]:
        query = schemas.ToolNamed(server, tool)
        answer: schemas.EnabledTools = await self._transport.call("tools.disable", conversation_id, query=query)
        return answer.enabled_tools


class TurnsResource(Resource):
    async def get(self, turn_id: str, wait: float = 0) -> schemas.Turn:
        """With `wait`, return once the turn has ended or needs a person, or after so many seconds."""
        query = schemas.WaitQuery(wait=wait)
        return cast(schemas.TurnAnswer, await self._transport.call("turns.get", turn_id, query=query)).turn

    async def log(self, turn_id: str) -> list[dict[str, Any]]:
        return cast(schemas.EventLog, await self._transport.call("turns.log", turn_id)).events

    async def prompt(self, turn_id: str, request: int = 1) -> schemas.PromptSent:
        query = schemas.PromptQuery(request=request)
        return cast(schemas.PromptSent, await self._transport.call("turns.prompt", turn_id, query=query))

    async def stop(self, turn_id: str, call_id: str = "") -> schemas.Turn:
        verb, path = ("turns.stop_call", (turn_id, call_id)) if call_id else ("turns.stop", (turn_id,))
        return cast(schemas.TurnAnswer, await self._transport.call(verb, *path)).turn

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
    ) -> schemas.Turn:
        body = schemas.Decision("allow" if allow else "deny", scope, arguments, reason, hash)
        return cast(schemas.TurnAnswer, await self._transport.call("turns.decide", turn_id, call_id, body=body)).turn

    async def resolve(self, turn_id: str, call_id: str, how: Literal["retry", "done", "skip"]) -> schemas.Turn:
        body = schemas.Resolution(as_=how)
        return cast(schemas.TurnAnswer, await self._transport.call("turns.resolve", turn_id, call_id, body=body)).turn

    async def answer(
        self,
        turn_id: str,
        call_id: str,
        action: Literal["accept", "decline", "cancel"],
        content: dict[str, Any] | None = None,
    ) -> schemas.Turn:
        """Answer what a tool's server asks the person."""
        body = schemas.InputAnswer(action, content)
        return cast(schemas.TurnAnswer, await self._transport.call("turns.answer", turn_id, call_id, body=body)).turn

    async def go_on(self, turn_id: str, rounds: int | None = None) -> schemas.Turn:
        """After a limit, a stop or a failure: a new turn that takes the work up."""
        body = schemas.Continue(rounds)
        return cast(schemas.TurnAnswer, await self._transport.call("turns.go_on", turn_id, body=body)).turn

    async def retry(
        self, turn_id: str, *, model: str = "", web_search: Literal["auto", "on", "off"] = "auto"
    ) -> schemas.Turn:
        body = schemas.Retry(model, web_search)
        return cast(schemas.TurnAnswer, await self._transport.call("turns.retry", turn_id, body=body)).turn

    async def retry_call(self, turn_id: str, call_id: str) -> schemas.Turn:
        return cast(schemas.TurnAnswer, await self._transport.call("turns.retry_call", turn_id, call_id)).turn

    async def result(self, result_id: str, offset: int = 0, length: int = 100_000) -> schemas.ResultPiece:
        query = schemas.PieceQuery(offset=offset, length=length)
        return cast(schemas.ResultPiece, await self._transport.call("turns.result", result_id, query=query))


class ServersResource(Resource):
    async def list(self) -> list[schemas.Server]:
        return cast(schemas.ServerList, await self._transport.call("servers.all")).servers

    async def get(self, server: str) -> schemas.Server:
        return cast(schemas.ServerAnswer, await self._transport.call("servers.get", server)).server

    async def add(self, name: str, **fields: Any) -> schemas.Server:
        """A stdio server is a draft until `confirm` is given its exact argv."""
        body = _converted(schemas.NewServer, {"name": name, **fields})
        return cast(schemas.ServerAnswer, await self._transport.call("servers.add", body=body)).server

    async def take_in(self, document: dict[str, Any]) -> schemas.ImportedServers:
        """`{"mcpServers": {...}}` as other clients write it. Nothing starts: all become drafts."""
        return cast(schemas.ImportedServers, await self._transport.call("servers.take_in", body=document))

    async def change(self, server: str, **fields: Any) -> schemas.Server:
        body = _converted(schemas.ServerChange, fields)
        return cast(schemas.ServerAnswer, await self._transport.call("servers.change", server, body=body)).server

    async def confirm(self, server: str, argv: Texts) -> schemas.Server:
        body = schemas.Confirm(argv)
        return cast(schemas.ServerAnswer, await self._transport.call("servers.confirm", server, body=body)).server

    async def start(self, server: str) -> schemas.Server:
        return cast(schemas.ServerAnswer, await self._transport.call("servers.start", server)).server

    async def stop(self, server: str) -> schemas.Server:
        return cast(schemas.ServerAnswer, await self._transport.call("servers.stop", server)).server

    async def delete(self, server: str) -> None:
        await self._transport.call("servers.delete", server)

    async def tools(self, server: str) -> schemas.ServerTools:
        return cast(schemas.ServerTools, await self._transport.call("servers.tools", server))

    async def call_tool(self, server: str, tool: str, arguments: dict[str, Any] | None = None) -> schemas.ToolResult:
        body = schemas.CallTool(tool, arguments or {})
        return cast(schemas.ToolResultAnswer, await self._transport.call("servers.call_tool", server, body=body)).result

    async def log(self, server: str) -> Texts:
        return cast(schemas.ServerLog, await self._transport.call("servers.log", server)).lines


class ProvidersResource(Resource):
    async def list(self) -> list[schemas.Provider]:
        return cast(schemas.ProviderList, await self._transport.call("providers.all")).providers

    async def add(self, name: str, base_url: str, **fields: Any) -> schemas.Provider:
        body = _converted(schemas.NewProvider, {"name": name, "base_url": base_url, **fields})
        return cast(schemas.ProviderAnswer, await self._transport.call("providers.add", body=body)).provider

    async def get(self, provider_id: str) -> schemas.Provider:
        return cast(schemas.ProviderAnswer, await self._transport.call("providers.get", provider_id)).provider

    async def change(self, provider_id: str, **fields: Any) -> schemas.Provider:
        body = _converted(schemas.ProviderChange, fields)
        return cast(
            schemas.ProviderAnswer, await self._transport.call("providers.change", provider_id, body=body)
        ).provider

    async def delete(self, provider_id: str) -> None:
        await self._transport.call("providers.delete", provider_id)

    async def test(self, provider_id: str) -> schemas.ProviderTest:
        return cast(schemas.ProviderTest, await self._transport.call("providers.test", provider_id))

    async def local(self) -> LocalRows:
        """Model servers that answer on the machine Windlass runs on."""
        return cast(schemas.LocalServers, await self._transport.call("providers.local")).servers

    async def models(self, provider_id: str) -> ModelRows:
        return cast(schemas.ModelList, await self._transport.call("providers.models", provider_id)).models


class SearchResource(Resource):
    async def test(self, query: str) -> list[schemas.SearchTrial]:
        """Each backend that `//` may use, tried by itself; none when search is off."""
        body = _converted(schemas.SearchTest, {"query": query})
        return cast(schemas.SearchTrials, await self._transport.call("search.test", body=body)).trials


class PersonasResource(Resource):
    async def list(self) -> list[schemas.Persona]:
        return cast(schemas.PersonaList, await self._transport.call("personas.all")).personas

    async def add(self, name: str, **fields: Any) -> schemas.Persona:
        body = _converted(schemas.NewPersona, {"name": name, **fields})
        return cast(schemas.PersonaAnswer, await self._transport.call("personas.add", body=body)).persona

    async def get(self, persona_id: str) -> schemas.Persona:
        return cast(schemas.PersonaAnswer, await self._transport.call("personas.get", persona_id)).persona

    async def change(self, persona_id: str, **fields: Any) -> schemas.Persona:
        body = _converted(schemas.PersonaChange, fields)
        return cast(schemas.PersonaAnswer, await self._transport.call("personas.change", persona_id, body=body)).persona

    async def delete(self, persona_id: str) -> None:
        await self._transport.call("personas.delete", persona_id)


class PolicyResource(Resource):
    async def get(self) -> list[schemas.Rule]:
        return cast(schemas.PolicyAnswer, await self._transport.call("policy.get")).rules

    async def put(self, rules: list[schemas.Rule]) -> list[schemas.Rule]:
        return cast(schemas.PolicyAnswer, await self._transport.call("policy.put", body=schemas.Policy(rules))).rules


def _converted(shape: type[Any], fields: dict[str, Any]) -> Any:
    try:
        return convert(fields, shape)
    except ValidationError as error:
        raise BadInput(f"{shape.__name__}: {error}.") from None
